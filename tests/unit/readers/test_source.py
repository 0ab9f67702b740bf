"""Packed, padded, cut and damaged files: the content decides, and what is wrong is said."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from tracetui.errors import TraceFormatError
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

EVENTS = [
    {"ph": "X", "name": f"op{i}", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5}
    for i in range(3000)
]
TEXT = json.dumps({"traceEvents": EVENTS}).encode()


def _read(tmp_path: Path, content: bytes, name: str = "trace.bin") -> Trace:
    path = tmp_path / name
    path.write_bytes(content)
    return read_trace(path, use_cache=False)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(TEXT, id="plain"),
        pytest.param(b"\xef\xbb\xbf" + TEXT, id="byte order mark"),
        pytest.param(gzip.compress(TEXT), id="gzip"),
        pytest.param(gzip.compress(b"\xef\xbb\xbf" + TEXT), id="byte order mark in gzip"),
        pytest.param(gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:]), id="two members"),
        pytest.param(gzip.compress(TEXT) + bytes(70_000), id="zero padding"),
        pytest.param(
            gzip.compress(TEXT[:999]) + bytes(512) + gzip.compress(TEXT[999:]), id="zeros between"
        ),
        pytest.param(gzip.compress(TEXT) + gzip.compress(b""), id="empty member last"),
    ],
)
def test_legal_packing_gives_every_event_and_no_warning(tmp_path: Path, content: bytes) -> None:
    trace = _read(tmp_path, content)
    assert trace.report.n_complete == 3000
    assert trace.report.status == "ok"
    assert int(trace.slices.dur_ns.sum()) == 3000 * 5000


@pytest.mark.parametrize(
    "content",
    [TEXT, b"\xef\xbb\xbf" + TEXT, gzip.compress(TEXT)],
    ids=["plain", "byte order mark", "gzip"],
)
def test_raw_record_of_an_event_is_found_again(tmp_path: Path, content: bytes) -> None:
    trace = _read(tmp_path, content)
    for event_id in (0, 1, 1500, 2999):
        assert trace.details.event(event_id) == EVENTS[event_id]
    assert trace.details.event(3000) is None


def test_changed_file_gives_no_record(tmp_path: Path) -> None:
    trace = _read(tmp_path, TEXT)
    (tmp_path / "trace.bin").write_bytes(TEXT + b" ")
    assert trace.details.event(0) is None


def test_garbage_after_gzip_is_noted(tmp_path: Path) -> None:
    trace = _read(tmp_path, gzip.compress(TEXT) + bytes(10) + b"garbage" * 50)
    assert trace.report.n_complete == 3000
    assert trace.report.notes == ["bytes after the gzip data ignored"]
    assert not trace.report.is_damaged


def test_cut_gzip_is_truncated(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT)
    trace = _read(tmp_path, packed[: len(packed) * 3 // 4])
    assert trace.report.is_truncated
    assert 0 < trace.report.n_complete < 3000


def test_wrong_checksum_behind_the_last_event_is_damage(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-8] ^= 0xFF
    trace = _read(tmp_path, bytes(packed))
    assert trace.report.is_damaged
    assert trace.report.n_complete > 2000


def test_zip_with_one_trace_opens(tmp_path: Path) -> None:
    path = tmp_path / "named.json"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", TEXT)
        archive.writestr("notes.txt", "no trace")
    assert read_trace(path, use_cache=False).report.n_complete == 3000


def test_zip_with_two_traces_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", TEXT)
        archive.writestr("b.json", TEXT)
    with pytest.raises(TraceFormatError, match="unzip it first"):
        read_trace(path, use_cache=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"empty \(0 bytes\)"),
        (b"  \n", "white space"),
        (b"<html>", "not JSON"),
        (b'"traceEvents"', "not JSON"),
        (b'{"a": 1}', "traceEvents"),
        (b'{"a": "\\"traceEvents\\": ["}', "traceEvents"),
        (b'{"a": {"traceEvents": []}}', "traceEvents"),
        (b'{"traceEvents": 7}', "not a list"),
        (b"[1, 2, 3]", "none of its members"),
        (b'[["a", "b"], ["c"]]', "none of its members"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(TraceFormatError, match=message) as caught:
        _read(tmp_path, content)
    assert "\n" not in str(caught.value)
