"""Whatever happens to a file: a trace or one clear error, never another exception."""

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracetui.errors import TraceFormatError
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}},
    *(
        {
            "ph": "X",
            "name": f"aten::op{i % 3}",
            "cat": "cpu_op",
            "pid": 1,
            "tid": 1,
            "ts": 100 * i + 0.125,
            "dur": 50.5,
            "args": {"External id": i, "Input Dims": [[2, i]], "note": 'a"b\\c\n'},
        }
        for i in range(6)
    ),
    {"ph": "C", "name": "load", "pid": 1, "ts": 5, "args": {"a": 1.5}},
    {"ph": "B", "name": "b", "cat": "x", "pid": 2, "tid": 1, "ts": 1},
    {"ph": "E", "name": "b", "cat": "x", "pid": 2, "tid": 1, "ts": 4},
]
SAMPLE = json.dumps(
    {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "H"}],
        "traceEvents": EVENTS,
        "z": 1,
    }
).encode()
PACKED = gzip.compress(SAMPLE)


def _read(path: Path, content: bytes) -> Trace | None:
    path.write_bytes(content)
    try:
        return read_trace(path, use_cache=False)
    except TraceFormatError as error:
        message = str(error)
    assert "\n" not in message
    return None


def test_cut_at_any_byte(tmp_path: Path) -> None:
    counts = []
    for n_bytes in range(len(SAMPLE) + 1):
        trace = _read(tmp_path / "cut.json", SAMPLE[:n_bytes])
        if trace is not None:
            counts.append(trace.report.n_complete)
            assert n_bytes == len(SAMPLE) or trace.report.is_truncated, n_bytes
    assert counts == sorted(counts)
    assert counts[-1] == 6


def test_packed_file_cut_at_any_byte(tmp_path: Path) -> None:
    for n_bytes in range(len(PACKED)):
        trace = _read(tmp_path / "cut.json.gz", PACKED[:n_bytes])
        assert trace is None or trace.report.has_warnings


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([SAMPLE, PACKED]),
    st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(1, 255)), max_size=3),
)
def test_flipped_bytes(tmp_path: Path, content: bytes, flips: list[tuple[int, int]]) -> None:
    changed = bytearray(content)
    for place, mask in flips:
        changed[place % len(changed)] ^= mask
    _read(tmp_path / "flipped.json", bytes(changed))


@pytest.mark.parametrize("seed", range(5))
def test_order_of_the_events_does_not_matter(tmp_path: Path, seed: int) -> None:
    shuffled = list(EVENTS)
    random.Random(seed).shuffle(shuffled)
    found = []
    for events in (EVENTS, shuffled):
        trace = _read(tmp_path / "order.json", json.dumps(events).encode())
        assert trace is not None
        table = trace.slices
        rows = range(len(table))
        found.append(
            [
                (trace.name_of(row), int(table.ts_ns[row]), int(table.dur_ns[row]),
                 int(table.depth[row]), trace.tracks[int(table.track_id[row])].process_name)
                for row in rows
            ]
        )  # fmt: skip
    assert found[0] == found[1]
