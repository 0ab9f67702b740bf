"""Whether a file fits is told from its size and from what the system and its groups leave free."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from tracetui.model.load_report import LoadReport
from tracetui.readers import cache, read_trace
from tracetui.readers import shortage as shortage_module
from tracetui.readers.shortage import available_bytes, memory_need, shortage, text_bytes
from tracetui.readers.source import ByteSource
from tracetui.units import BYTES_PER_GIB, BYTES_PER_MIB

_EVENT = {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}


def _file(folder: Path, n_events: int = 100) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": [_EVENT] * n_events}))
    return path


def _with_free(monkeypatch: pytest.MonkeyPatch, n_bytes: int | None) -> None:
    monkeypatch.setattr(shortage_module, "available_bytes", lambda: n_bytes)


def test_need_grows_with_the_slices() -> None:
    assert memory_need(0) == 60 * BYTES_PER_MIB
    assert memory_need(1_000_000) - memory_need(0) == 500_000_000


def test_enough_or_unknown_memory_is_no_shortage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path)
    _with_free(monkeypatch, None)
    assert shortage(path) is None
    _with_free(monkeypatch, memory_need(100))
    assert shortage(path) is None


def test_shortage_says_what_is_needed_and_what_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path, 1000)
    # Half of what the slices take is free, above what the program takes by itself.
    _with_free(monkeypatch, memory_need(500))
    short = shortage(path)
    assert short is not None
    assert short.n_file_bytes == path.stat().st_size
    assert short.n_needed_bytes == memory_need(1000)
    assert short.n_free_bytes == memory_need(500)
    assert short.n_events_that_fit == 500


def test_arrows_take_no_memory_to_speak_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.json"
    arrow = {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 1, "cat": "ac2g", "name": "ac2g"}
    path.write_text(json.dumps({"traceEvents": [_EVENT, arrow, arrow] * 100}))
    _with_free(monkeypatch, memory_need(50))
    short = shortage(path)
    assert short is not None
    assert short.n_needed_bytes == memory_need(100)
    # Half of the slices fit, and with them half of the 300 events.
    assert short.n_events_that_fit == 150


@pytest.mark.parametrize("is_packed", [False, True])
def test_big_file_is_judged_by_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_packed: bool
) -> None:
    monkeypatch.setattr(shortage_module, "_SAMPLE_BYTES", 4096)
    text = json.dumps({"traceEvents": [_EVENT] * 60_000}).encode()
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.compress(text) if is_packed else text)
    _with_free(monkeypatch, BYTES_PER_MIB)
    short = shortage(path)
    assert short is not None
    assert short.n_needed_bytes == pytest.approx(memory_need(60_000), rel=0.02)


def test_text_without_events_is_left_to_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.txt"
    path.write_text("no trace at all\n" * 100_000)
    _with_free(monkeypatch, memory_need(10))
    assert shortage(path) is None


def test_nothing_fits_where_the_program_itself_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_free(monkeypatch, BYTES_PER_MIB)
    short = shortage(_file(tmp_path))
    assert short is not None
    assert short.n_events_that_fit == 0


def test_file_in_the_cache_is_no_shortage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MIN_BYTES", 0)
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cache")
    path = _file(tmp_path)
    read_trace(path)
    _with_free(monkeypatch, BYTES_PER_MIB)
    assert shortage(path) is None
    assert shortage(path, use_cache=False) is not None


def test_file_that_cannot_be_read_is_no_shortage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_free(monkeypatch, 0)
    assert shortage(tmp_path / "absent.json") is None
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 and no more")
    assert shortage(broken) is None


def test_packed_text_counts_unpacked(tmp_path: Path) -> None:
    text = b"x" * 1_000_000
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(text))
    assert text_bytes(ByteSource(packed, LoadReport())) == 1_000_000
    archive = tmp_path / "trace.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("trace.json", text)
    assert text_bytes(ByteSource(archive, LoadReport())) == 1_000_000


def test_count_that_went_round_is_put_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A real file of 4.7 GB ends in the count 4,700,000,000 modulo 2**32; here only the count is real.
    packed = tmp_path / "trace.json.gz"
    n_text = 4_700_000_000
    packed.write_bytes(b"\x1f\x8b")
    source = ByteSource(packed, LoadReport())
    monkeypatch.setattr(source, "n_bytes_total", 600_000_000)
    monkeypatch.setattr(ByteSource, "n_text_bytes", n_text % 2**32)
    assert text_bytes(source) == n_text


def _groups(monkeypatch: pytest.MonkeyPatch, folder: Path, own: str) -> Path:
    """Let the system look as if ``folder`` held what it says of memory."""
    info = folder / "meminfo"
    info.write_text("MemTotal:  16000000 kB\nMemAvailable:  8000000 kB\n")
    groups = folder / "own"
    groups.write_text(own)
    monkeypatch.setattr(shortage_module, "_MEMORY_INFO", info)
    monkeypatch.setattr(shortage_module, "_OWN_GROUPS", groups)
    monkeypatch.setattr(shortage_module, "_GROUP_ROOT", folder / "groups")
    return folder / "groups"


def _limit(group: Path, limit: str, used: str, *, version: int = 2) -> None:
    names = ("memory.max", "memory.current", "inactive_file")
    if version == 1:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    group.mkdir(parents=True)
    (group / names[0]).write_text(limit)
    (group / names[1]).write_text(used)
    (group / "memory.stat").write_text(f"anon 5\n{names[2]} 1000\n")


def test_without_a_limit_the_system_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _groups(monkeypatch, tmp_path, "0::/user.slice\n")
    _limit(root / "user.slice", "max\n", "7\n")
    assert available_bytes() == 8_000_000 * 1024


def test_limit_of_any_group_around_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _groups(monkeypatch, tmp_path, "0::/outer/inner\n")
    _limit(root / "outer", f"{BYTES_PER_GIB}\n", "10000\n")
    _limit(root / "outer" / "inner", "max\n", "10000\n")
    # Of 10000 bytes in use, 1000 are cached pages that can be given back.
    assert available_bytes() == BYTES_PER_GIB - 9000


def test_group_known_by_a_path_outside_of_the_container_is_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _groups(monkeypatch, tmp_path, "0::/kubepods/pod1/abc\n")
    _limit(root, f"{BYTES_PER_GIB}\n", "1000\n")
    assert available_bytes() == BYTES_PER_GIB


def test_first_version_of_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _groups(monkeypatch, tmp_path, "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n")
    _limit(root / "memory" / "x", f"{BYTES_PER_GIB}\n", "3000\n", version=1)
    assert available_bytes() == BYTES_PER_GIB - 2000


def test_elsewhere_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MEMORY_INFO", "_OWN_GROUPS"):
        monkeypatch.setattr(shortage_module, name, tmp_path / "absent")
    assert available_bytes() is None
