"""A file that torch exported: whole or not, and what it lacks."""

import gzip
import json
from pathlib import Path

import pytest

from tracetui.capture import exported_file
from tracetui.capture.exported_file import check_folder, name_itself, notes_on, pack
from tracetui.errors import CaptureError

KERNEL = '{"schemaVersion": 1, "traceEvents": [\n{"ph": "X", "cat": "kernel", "name": "gemm"}\n]}\n'
HOST = KERNEL.replace("kernel", "cpu_op")


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / ".trace.json.part"
    path.write_text(text)
    return path


def test_whole_file_has_no_notes(tmp_path: Path):
    assert list(notes_on(_file(tmp_path, HOST), "cpu")) == []
    assert list(notes_on(_file(tmp_path, KERNEL), "cuda")) == []
    for category in ("gpu_memcpy", "gpu_memset"):
        assert list(notes_on(_file(tmp_path, KERNEL.replace("kernel", category)), "cuda")) == []


def test_device_without_kernels_names_the_permission(tmp_path: Path):
    (note,) = notes_on(_file(tmp_path, HOST), "cuda")

    assert note.startswith("cuda was recorded and left no kernel")
    assert "NVreg_RestrictProfilingToAdminUsers" in note
    assert "CAP_SYS_ADMIN" in note


def test_kernel_is_found_wherever_a_block_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = _file(tmp_path, KERNEL)
    for n_bytes in range(1, 40):
        monkeypatch.setattr(exported_file, "_BLOCK_BYTES", n_bytes)
        assert list(notes_on(path, "cuda")) == []


@pytest.mark.parametrize("text", ["", HOST[:40], "not a trace at all"])
def test_file_that_was_cut_off_is_no_trace(tmp_path: Path, text: str):
    with pytest.raises(CaptureError, match=r"torch wrote \d+ bytes and no end of the trace"):
        list(notes_on(_file(tmp_path, text), "cpu"))


def test_missing_file_is_no_trace(tmp_path: Path):
    with pytest.raises(CaptureError, match="torch wrote no file"):
        list(notes_on(tmp_path / "gone", "cpu"))


def test_quotes_in_names_are_escaped(tmp_path: Path):
    path = _file(
        tmp_path, '{"traceEvents": [\n  {\n    "name": "a "b" "c",\n    "ph": "X"\n  }\n]}\n'
    )
    (note,) = notes_on(path, "cpu")

    assert "hold quotes" in note
    assert json.loads(path.read_text())["traceEvents"][0]["name"] == 'a "b" "c'


def test_other_damage_is_said(tmp_path: Path):
    (note,) = notes_on(_file(tmp_path, '{"traceEvents": [],, "x": 1}'), "cpu")

    assert "damaged its JSON" in note


def test_trace_takes_the_name_of_its_file(tmp_path: Path):
    text = '{"traceEvents": [], "traceName": "/tmp/.x.part" }\n'
    path = _file(tmp_path, text)
    name_itself(path, 'mlp "a".json')
    assert json.loads(path.read_text()) == {"traceEvents": [], "traceName": "mlp 'a'.json"}

    path.write_text(HOST)
    name_itself(path, "mlp.json")
    assert path.read_text() == HOST


def test_same_trace_gives_the_same_bytes(tmp_path: Path):
    raw = _file(tmp_path, HOST)
    packed = []
    for name in ("a.part", "b.part"):
        pack(raw, tmp_path / name)
        packed.append((tmp_path / name).read_bytes())

    assert packed[0] == packed[1]
    assert gzip.decompress(packed[0]).decode() == HOST


def test_folder_that_is_missing_is_seen_before_the_export(tmp_path: Path):
    check_folder(tmp_path / "trace.json")
    with pytest.raises(CaptureError, match="no such folder"):
        check_folder(tmp_path / "gone" / "trace.json")
