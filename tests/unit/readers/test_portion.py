"""A part of a file: what is read is as in the whole trace, and what is left out is said."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.literal import Row
from tests.strategies import host_and_device_rows
from tracetui.analysis.steps import steps
from tracetui.errors import LoadCancelledError, TraceFormatError
from tracetui.model.portion import Portion
from tracetui.model.trace import Trace
from tracetui.readers import cache, read_trace

_BASE_US = 1_700_000
_SAME_FILE = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _event(row: Row) -> dict[str, Any]:
    event: dict[str, Any] = {
        "ph": "X",
        "cat": row.category,
        "name": row.name,
        "pid": row.pid,
        "tid": row.tid,
        "ts": _BASE_US + row.ts_ns / 1000,
        "dur": row.dur_ns / 1000,
    }
    if row.correlation:
        event["args"] = {"correlation": row.correlation}
    return event


def _file(folder: Path, events: list[dict[str, Any]], **members: Any) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events, **members}))
    return path


def _rows(trace: Trace) -> list[tuple[int, str, str, int, int, int]]:
    """Return each slice in the file's own times, whatever the trace begins with, by its event."""
    slices = trace.slices
    return sorted(
        (
            int(slices.event_id[row]),
            trace.names[slices.name_id[row]],
            trace.categories[slices.category_id[row]],
            int(slices.ts_ns[row]) + trace.origin_ns,
            int(slices.dur_ns[row]),
            int(slices.correlation[row]),
        )
        for row in range(len(slices))
    )


def _whole(path: Path) -> Trace:
    return read_trace(path, use_cache=False)


@_SAME_FILE
@given(host_and_device_rows(), st.integers(1, 30))
def test_first_events_are_those_of_the_whole_trace(
    tmp_path: Path, rows: list[Row], n_events: int
) -> None:
    path = _file(tmp_path, [_event(row) for row in rows])
    part = read_trace(path, portion=Portion(n_events=n_events))
    assert _rows(part) == [row for row in _rows(_whole(path)) if row[0] < n_events]
    assert part.report.n_events == min(n_events, len(rows))
    assert bool(part.report.notes) == (n_events < len(rows))
    assert not part.report.is_truncated


@_SAME_FILE
@given(host_and_device_rows())
def test_device_rows_are_those_of_the_whole_trace(tmp_path: Path, rows: list[Row]) -> None:
    path = _file(tmp_path, [_event(row) for row in rows])
    part = read_trace(path, portion=Portion(is_device_only=True))
    assert _rows(part) == [row for row in _rows(_whole(path)) if row[2] == "kernel"]


@_SAME_FILE
@given(host_and_device_rows(), st.integers(0, 5000), st.integers(1, 4000))
def test_window_holds_what_starts_or_is_launched_in_it(
    tmp_path: Path, rows: list[Row], start_ns: int, length_ns: int
) -> None:
    path = _file(tmp_path, [_event(row) for row in rows])
    whole = _rows(_whole(path))
    part = read_trace(path, portion=Portion(window_ns=(start_ns, start_ns + length_ns)))
    first_ns = min((row[3] for row in whole), default=0)

    def is_inside(row: tuple[int, str, str, int, int, int]) -> bool:
        return start_ns <= row[3] - first_ns < start_ns + length_ns

    launched = {row[5] for row in whole if row[2] == "cuda_runtime" and is_inside(row)}
    assert _rows(part) == [
        row for row in whole if is_inside(row) or (row[2] == "kernel" and row[5] in launched)
    ]


def _stepped() -> list[dict[str, Any]]:
    """Return three steps of 100 µs, each launching one kernel that runs in the step after it."""
    events = []
    for step in range(3):
        at = step * 100
        events += [
            _event(Row(f"ProfilerStep#{step + 5}", at * 1000, 100_000, "user_annotation")),
            _event(Row("aten::mm", (at + 10) * 1000, 50_000)),
            _event(Row("cudaLaunchKernel", (at + 20) * 1000, 5_000, "cuda_runtime", "1", "1", step + 1)),
            _event(Row("gemm", (at + 110) * 1000, 30_000, "kernel", "0", "7", step + 1)),
            {"ph": "s", "id": step + 1, "pid": 1, "tid": 1, "ts": _BASE_US + at + 20,
             "cat": "ac2g", "name": "ac2g"},
            {"ph": "f", "id": step + 1, "pid": 0, "tid": 7, "ts": _BASE_US + at + 110,
             "cat": "ac2g", "name": "ac2g", "bp": "e"},
        ]  # fmt: skip
    return events


def test_step_comes_with_the_work_it_launched(tmp_path: Path) -> None:
    part = read_trace(_file(tmp_path, _stepped()), portion=Portion(steps=(6, 6)))
    # The kernel that the step before launched runs in the window too; it is no work of this step.
    assert [row[1] for row in _rows(part)] == [
        "gemm",
        "ProfilerStep#6",
        "aten::mm",
        "cudaLaunchKernel",
        "gemm",
    ]
    (step,) = steps(part)
    assert (step.number, step.wall_ns, step.gpu_by_launch_ns, step.n_kernels) == (
        6,
        100_000,
        30_000,
        1,
    )
    assert part.report.notes == [
        "read in part: what starts or is launched in step 6 (8 of 18 events)"
    ]
    assert part.report.status == "ok-with-warnings"


def test_steps_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="its steps are 5 to 7"):
        read_trace(_file(tmp_path, _stepped()), portion=Portion(steps=(9, 12)))
    with pytest.raises(TraceFormatError, match="no ProfilerStep in it"):
        read_trace(_file(tmp_path, _stepped()[1:2]), portion=Portion(steps=(5, 5)))


def test_first_steps_are_counted_from_the_first_recorded(tmp_path: Path) -> None:
    part = read_trace(_file(tmp_path, _stepped()), portion=Portion(n_steps=2))
    assert [step.number for step in steps(part)] == [5, 6]
    assert [step.gpu_by_launch_ns for step in steps(part)] == [30_000, 30_000]


def test_names_of_threads_are_kept_wherever_they_stand(tmp_path: Path) -> None:
    named = {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}}
    path = _file(tmp_path, [*_stepped(), named])
    part = read_trace(path, portion=Portion(is_device_only=True))
    assert [track.thread_name for track in part.tracks] == [
        track.thread_name for track in _whole(path).tracks if track.tid == "7"
    ]


def test_two_limits_hold_together(tmp_path: Path) -> None:
    path = _file(tmp_path, _stepped())
    part = read_trace(path, portion=Portion(n_events=10, is_device_only=True))
    assert [row[1:5] for row in _rows(part)] == [
        ("gemm", "kernel", _BASE_US * 1000 + 110_000, 30_000),
        ("gemm", "kernel", _BASE_US * 1000 + 210_000, 30_000),
    ]


def test_list_that_is_no_trace_is_refused_in_part_too(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text("[1, 2, 3]")
    with pytest.raises(TraceFormatError, match="none of its members"):
        read_trace(path, portion=Portion(n_events=2))


def test_damage_in_a_bare_list_is_no_reason_to_refuse_a_part(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    events = ",".join(json.dumps(event) for event in _stepped())
    path.write_text(f"[nothing,{events}]")
    part = read_trace(path, portion=Portion(window_ns=(10_000_000, 20_000_000)))
    assert len(part.slices) == 0
    assert sum(part.report.skipped.values()) == 1


def test_part_is_neither_kept_nor_taken_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MIN_BYTES", 0)
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cache")
    path = _file(tmp_path, _stepped())
    read_trace(path, portion=Portion(n_events=3))
    assert cache.lookup(path) is None
    assert len(read_trace(path).slices) == 12
    assert cache.lookup(path) is not None
    assert len(read_trace(path, portion=Portion(n_events=3)).slices) == 3


def test_reading_stops_soon_after_the_last_wanted_event(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    line = json.dumps(_event(Row("aten::mm", 0, 10)))
    path.write_text('{"traceEvents":[' + ",\n".join([line] * 40_000) + "]}")
    n_read: list[int] = []
    part = read_trace(
        path, lambda _, progress: n_read.append(progress.n_bytes_read), portion=Portion(n_events=5)
    )
    assert part.slices.event_id.tolist() == [0, 1, 2, 3, 4]
    assert n_read[-1] < path.stat().st_size * 0.6
    assert part.report.notes == ["read in part: the first 5 events"]


def test_stopping_while_the_window_is_sought_ends_the_load(tmp_path: Path) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(LoadCancelledError):
        read_trace(_file(tmp_path, _stepped()), stop=stop, portion=Portion(window_ns=(0, 10)))


def test_arguments_of_a_part_are_found_in_the_file(tmp_path: Path) -> None:
    part = read_trace(_file(tmp_path, _stepped()), portion=Portion(is_device_only=True))
    record = part.details.event(int(part.slices.event_id[1]))
    assert record is not None
    assert (record["name"], record["args"]) == ("gemm", {"correlation": 2})


@pytest.mark.parametrize(
    ("portion", "words"),
    [
        (Portion(), "the whole file"),
        (Portion(n_events=1_000_000), "the first 1,000,000 events"),
        (Portion(is_device_only=True), "device rows only, nothing of what launched them"),
        (
            Portion(window_ns=(5_000_000, 7_500_000)),
            "what starts or is launched from 5.000 ms to 7.500 ms",
        ),
        (Portion(n_steps=3), "what starts or is launched in the first 3 steps"),
        (Portion(steps=(3, 5)), "what starts or is launched in steps 3 to 5"),
    ],
)
def test_part_in_words(portion: Portion, words: str) -> None:
    assert str(portion) == words
    assert portion.is_whole == (words == "the whole file")
