"""Two processes read what one would have read, whatever happens to the second."""

import gzip
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from tracetui.model.trace import Trace
from tracetui.readers import second
from tracetui.readers.base import Progress
from tracetui.readers.chrome import ChromeReader

N_EVENTS = 40_000
DIES_AFTER_TWO_PARTS = """
import os
from tracetui.readers import second
send, sent = second.send, []
def send_and_die(part, pipe):
    send(part, pipe)
    sent.append(part)
    if len(sent) == 2:
        os._exit(1)
second.send = send_and_die
second._CHUNKS_PER_PART = 1
second.main()
"""
NEVER_STARTS = "raise SystemExit(3)"


def _event(number: int) -> dict[str, Any]:
    kind = number % 8
    base = {"pid": 1, "tid": number % 3, "ts": number * 10 + 0.125}
    if kind == 5:
        return {"ph": "s", "name": "ac2g", "cat": "ac2g", "id": f"flow {number % 50}", **base}
    if kind == 6:
        args = {"Bytes": 64, "Total Allocated": number, "Device Type": 0, "Device Id": -1}
        return {"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "args": args, **base}
    if kind == 7:
        return {"ph": "C", "name": f"load {number % 5}", "args": {"a": number}, **base}
    shape = [[number % 70, 3]]
    given: dict[str, Any] = {"External id": number, "Input Dims": shape, "Input type": ["float"]}
    return {
        "ph": "X",
        "name": f"op {number % 101}",
        "cat": "cpu_op",
        "dur": 7,
        "args": given,
        **base,
    }


@cache
def _text(*, is_bare: bool = False) -> bytes:
    events = ",\n".join(json.dumps(_event(number)) for number in range(N_EVENTS))
    if is_bare:
        return f"[\n{events}\n]".encode()
    head = '{"schemaVersion": 1, "baseTimeNanoseconds": 77,\n"traceEvents": [\n'
    return f'{head}{events}\n], "traceName": "after the list"}}'.encode()


@pytest.fixture
def with_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "MIN_TEXT_BYTES", 1_000_000)
    monkeypatch.setattr(second, "_HEAD_START", 0)
    monkeypatch.setattr(second, "n_free_cores", lambda: 2)


def _read_alone(path: Path) -> Trace:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second, "n_free_cores", lambda: 1)
        return ChromeReader(path, None, None).read()


def _assert_same(found: Trace, wanted: Trace) -> None:
    """Assert that all is equal but the events' numbers, whose order is."""
    for table in ("slices", "flows", "counters", "instants", "memory"):
        ours, theirs = getattr(found, table), getattr(wanted, table)
        for column in fields(theirs):
            mine, other = getattr(ours, column.name), getattr(theirs, column.name)
            if column.name == "event_id":
                mine, other = np.argsort(mine, kind="stable"), np.argsort(other, kind="stable")
            assert np.array_equal(mine, other), f"{table}.{column.name}"
    for name in ("names", "categories", "shapes", "signatures"):
        assert getattr(found, name).texts == getattr(wanted, name).texts
    assert (found.tracks, found.metadata) == (wanted.tracks, wanted.metadata)
    assert asdict(found.report) == asdict(wanted.report)
    for row in (0, len(wanted.slices) // 2, len(wanted.slices) - 1):
        ours_at = found.details.event(int(found.slices.event_id[row]))
        assert ours_at is not None
        assert ours_at == wanted.details.event(int(wanted.slices.event_id[row]))


def _cut_off(text: bytes) -> bytes:
    return text[: len(text) * 9 // 10]


def _damaged(text: bytes) -> bytes:
    """Break an event in each part, and one where the parts meet."""
    for share in (0.25, 0.5, 0.75):
        place = text.index(b'"name": "', int(len(text) * share)) + len(b'"name": "')
        text = text[:place] + b'a "quoted" name' + text[place:]
    return text


@pytest.mark.usefixtures("with_second")
@pytest.mark.parametrize(
    "change",
    [bytes, _cut_off, _damaged, b"\xef\xbb\xbf".__add__, gzip.compress],
    ids=["whole", "cut off", "damaged", "byte order mark", "gzip"],
)
def test_two_processes_read_the_same_as_one(tmp_path: Path, change: Callable[[bytes], bytes]):
    path = tmp_path / "trace.json"
    path.write_bytes(change(_text()))
    reader = ChromeReader(path, None, None)

    trace = reader.read()

    assert reader._second is not None
    assert reader._second.is_complete
    _assert_same(trace, _read_alone(path))


@pytest.mark.usefixtures("with_second")
def test_two_processes_read_a_bare_list(tmp_path: Path):
    path = tmp_path / "trace.json"
    path.write_bytes(_text(is_bare=True))

    _assert_same(ChromeReader(path, None, None).read(), _read_alone(path))


@pytest.mark.usefixtures("with_second")
@pytest.mark.parametrize("program", [DIES_AFTER_TWO_PARTS, NEVER_STARTS], ids=["dies", "no start"])
def test_death_of_the_second_process_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
):
    path = tmp_path / "trace.json"
    path.write_bytes(_text())
    monkeypatch.setattr(second, "_PROGRAM", program)
    reader = ChromeReader(path, None, None)

    trace = reader.read()

    assert reader._second is not None
    assert not reader._second.is_complete
    _assert_same(trace, _read_alone(path))


@pytest.mark.usefixtures("with_second")
def test_gzip_damaged_before_the_border_is_read_up_to_there(tmp_path: Path):
    packed = bytearray(gzip.compress(_text()))
    packed[len(packed) // 3 : len(packed) // 3 + 64] = bytes(64)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(packed)

    trace = ChromeReader(path, None, None).read()

    assert trace.report.is_damaged
    _assert_same(trace, _read_alone(path))


@pytest.mark.usefixtures("with_second")
def test_stop_keeps_what_was_read_and_ends_the_second_process(tmp_path: Path):
    path = tmp_path / "trace.json"
    path.write_bytes(_text())
    stop = Event()
    seen: list[Progress] = []

    def publish(_trace: Trace | None, progress: Progress) -> None:
        seen.append(progress)
        stop.set()

    reader = ChromeReader(path, publish, stop)
    reader._next_publish_s = 0

    trace = reader.read()

    assert trace.report.is_stopped
    assert 0 < trace.report.n_events < N_EVENTS
    assert seen[0].n_bytes_read <= path.stat().st_size
    assert reader._second is not None
    assert reader._second._process.poll() is not None
