"""The phases, ids and members of the trace-event format."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tracetui.errors import LoadCancelledError
from tracetui.model.device import OccupancyLimits
from tracetui.model.slices import SliceFlag
from tracetui.model.trace import Trace
from tracetui.readers import Progress, read_trace


def _read(tmp_path: Path, *events: dict[str, Any], **members: Any) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": list(events), **members}))
    return read_trace(path, use_cache=False)


def _complete(name: str = "op", **members: Any) -> dict[str, Any]:
    event = {"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 5, "dur": 2}
    return {**event, **members}


def test_thread_written_as_text_and_as_number_is_one(tmp_path: Path) -> None:
    trace = _read(
        tmp_path, _complete(pid="7", tid=8.0), _complete(pid=7, tid="8"), _complete(pid=7, tid=8)
    )
    assert [(track.pid, track.tid) for track in trace.tracks] == [("7", "8")]


def test_absent_and_negative_durations_count_as_nothing_and_are_flagged(tmp_path: Path) -> None:
    absent = _complete("absent")
    del absent["dur"]
    trace = _read(tmp_path, absent, _complete("negative", ts=50, dur=-1))
    assert trace.slices.dur_ns.tolist() == [0, 0]
    flags = {trace.name_of(row): int(trace.slices.flags[row]) for row in range(2)}
    assert flags["absent"] & SliceFlag.NO_DURATION
    assert flags["negative"] & SliceFlag.NEGATIVE_DURATION
    assert sum(trace.report.flagged.values()) == 2


def test_null_name_gets_a_stand_in(tmp_path: Path) -> None:
    assert _read(tmp_path, _complete(name=None)).name_of(0) == "(no name)"  # type: ignore[arg-type]


def test_counters_of_any_number_of_series(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "load", "pid": 1, "ts": 6, "args": {"a": 1, "b": "2.5", "c": "x"}}
    trace = _read(tmp_path, _complete(), counter)
    assert trace.counters.value.tolist() == [1.0, 2.5]
    assert trace.counters.ts_ns.tolist() == [1000, 1000]


def test_not_a_number_never_becomes_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(
        b'{"traceEvents":[{"ph":"C","name":"load","pid":1,"ts":6,"args":{"a":NaN,"b":3}}]}'
    )
    assert read_trace(path, use_cache=False).counters.value.tolist() == [3.0]


def test_begin_and_end_make_a_slice_and_flows_are_counted(tmp_path: Path) -> None:
    mark = {"name": "b", "cat": "x", "pid": 1, "tid": 1}
    flow = {"name": "f", "cat": "ac2g", "pid": 1, "tid": 1, "id": 3}
    trace = _read(
        tmp_path,
        {"ph": "B", "ts": 1, **mark},
        {"ph": "E", "ts": 4, "pid": 1, "tid": 1},
        {"ph": "s", "ts": 2, **flow},
        {"ph": "f", "ts": 3, "bp": "e", **flow},
    )
    assert trace.slices.dur_ns.tolist() == [3000]
    assert trace.report.n_flows == 2
    assert trace.report.status == "ok"


def test_other_phases_are_counted_and_no_damage(tmp_path: Path) -> None:
    trace = _read(tmp_path, _complete(), {"ph": "N", "ts": 1}, {"ph": "?", "ts": 1})
    assert sum(trace.report.other_phases.values()) == 2
    assert trace.report.status == "ok"


def test_what_limits_the_occupancy_is_read_from_where_kineto_writes_it(tmp_path: Path) -> None:
    occupancy = {
        "activeBlocksPerMultiprocessor": 3, "limitingFactors": "WARPS|REGS", "blockLimitRegs": 3,
        "blockLimitSharedMem": 2147483647, "blockLimitWarps": 3, "blockLimitBlocks": 32,
        "blockLimitBarriers": 16, "allocatedRegistersPerBlock": 20480,
        "allocatedSharedMemPerBlock": 1024,
    }  # fmt: skip
    sides = {"grid": [8, 1, 1], "block": [512, 1, 1]}
    kernels = [
        _complete(cat="kernel", ts=ts, args={**sides, "occupancy": said})
        for ts, said in ((1, occupancy), (2, "unknown"), (3, {"limitingFactors": "none"}))
    ]

    trace = _read(tmp_path, *kernels)

    assert [trace.geometries[row].limits for row in trace.slices.geometry_id] == [
        OccupancyLimits(3, ("WARPS", "REGS"), 3, None, 3, 32, 16, 20480, 1024),
        None,
        None,
    ]


def test_an_allocator_record_has_its_thread_and_its_address(tmp_path: Path) -> None:
    def record(ts: int, tid: int, **args: Any) -> dict[str, Any]:
        args = {"Bytes": 8, "Device Type": 1, "Device Id": 0, **args}
        return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": tid,
                "ts": ts, "args": args}  # fmt: skip

    trace = _read(
        tmp_path,
        _complete(tid=1),
        _complete(tid=2),
        record(8, 2, Addr=140580996775936),
        record(6, 3),
        record(7, 1, Addr=-1),
    )

    tids = [trace.tracks[row].tid if row >= 0 else "" for row in trace.memory.track_id]
    assert tids == ["", "1", "2"]
    assert trace.memory.address.tolist() == [0, -1, 140580996775936]


def test_geometry_and_shapes_are_kept_once(tmp_path: Path) -> None:
    values = {
        "grid": [4, 2, 1],
        "block": [128, 1, 1],
        "registers per thread": 32,
        "shared memory": 0,
        "est. achieved occupancy %": 50,
        "blocks per SM": 0.5,
        "warps per SM": 2.0,
    }
    trace = _read(
        tmp_path,
        _complete("k", cat="kernel", args=values),
        _complete("k", cat="kernel", ts=9, args=values),
        _complete("op", args={"Input Dims": [[2, 3], []]}),
        _complete("op", ts=9, args={"Input dims": [[2, 3], []]}),
    )
    assert len(trace.geometries) == 1
    assert trace.geometries[0].grid == (4, 2, 1)
    assert trace.geometries[0].occupancy_ratio == 0.5
    assert trace.shapes.texts == ("[[2,3],[]]",)


def test_metadata_counts_on_both_sides_of_the_events(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(
        '{"note": "\\"traceEvents\\": [", "deviceProperties": [{"id": 0, "name": "H", '
        '"numSms": 132}], "traceEvents": ['
        + json.dumps(_complete(ts="5.001"))
        + '], "baseTimeNanoseconds": 1000000000000000001}'
    )
    trace = read_trace(path, use_cache=False)
    assert trace.origin_ns == 1_000_000_000_000_000_001 + 5001
    assert trace.devices[0].n_sms == 132
    assert trace.metadata["note"] == '"traceEvents": ['


def test_records_in_arguments_that_look_like_events_are_no_cut(tmp_path: Path) -> None:
    inner = [{"name": f"n{i}", "ph": "X"} for i in range(20)]
    events = [_complete(f"op{i}", ts=10 * i, args={"inner": inner}) for i in range(6000)]
    trace = _read(tmp_path, *events)
    assert trace.report.n_complete == 6000
    assert trace.report.status == "ok"
    assert trace.details.event(4321) == events[4321]


def test_what_is_published_grows_and_never_changes(tmp_path: Path) -> None:
    seen: list[tuple[Trace, Progress, int]] = []
    told: list[Progress] = []
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([_complete(ts=10 * i) for i in range(60_000)]))

    def publish(trace: Trace | None, progress: Progress) -> None:
        told.append(progress)
        if trace is not None:
            seen.append((trace, progress, len(trace.slices)))

    final = read_trace(path, publish, use_cache=False)
    assert len(final.slices) == 60_000
    counts = [count for _, _, count in seen]
    assert counts == sorted(counts)
    assert [len(trace.slices) for trace, _, _ in seen] == counts
    assert all(progress.n_bytes_total == path.stat().st_size for _, progress, _ in seen)


def test_stop_before_anything_was_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([_complete()]))
    stop = Event()
    stop.set()
    with pytest.raises(LoadCancelledError):
        read_trace(path, stop=stop, use_cache=False)


def test_all_that_is_said_of_an_operators_inputs_is_kept_once(tmp_path: Path) -> None:
    said = {
        "Input Dims": [[2, 3], []],
        "Input type": ["long int", "Scalar"],
        "Concrete Inputs": ["", "1"],
        "Input Strides": [[3, 1], []],
    }
    other = {**said, "Concrete Inputs": ["", "2"]}
    trace = _read(
        tmp_path,
        _complete("a", ts=1, args=said),
        _complete("b", ts=4, args=other),
        _complete("c", ts=7, args=said),
        _complete("d", ts=10),
    )
    assert trace.slices.signature_id.tolist() == [0, 1, 0, -1]
    assert trace.slices.shape_id.tolist() == [0, 0, 0, -1]
    assert json.loads(trace.signatures[0]) == list(said.values())
    assert json.loads(trace.signatures[1])[2] == ["", "2"]


def test_inputs_without_types_or_values_are_kept_as_far_as_they_go(tmp_path: Path) -> None:
    trace = _read(tmp_path, _complete(args={"Input dims": [[4]]}))
    assert json.loads(trace.signatures[0]) == [[[4]], None, None, None]


def test_windows_path_is_one_name_however_it_was_escaped(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = r'{"ph":"X","name":"C:\temp\new.py(3): build","pid":1,"tid":1,"ts":%d,"dur":1%s}'
    # The second event also has an escape that is not legal, which makes all its backslashes plain.
    second = event % (5, r',"args":{"in":"C:\users"}')
    path.write_text(f'{{"traceEvents":[{event % (1, "")},{second}]}}')
    trace = read_trace(path, use_cache=False)
    assert trace.names.texts == (r"C:\temp\new.py(3): build",)
    assert trace.slices.name_id.tolist() == [0, 0]


@pytest.mark.parametrize("category", ["cpu_op", "kernel", "python_function", "made up"])
@pytest.mark.parametrize("args", [None, 5, "text", [1, 2], {}, {"External id": {"a": 1}}])
def test_arguments_that_are_not_what_they_should_be_say_nothing(
    tmp_path: Path, category: str, args: object
) -> None:
    odd = _complete("odd", cat=category, args=args)
    trace = _read(tmp_path, odd, _complete("fine", ts=50, args={"External id": "12"}))
    of_name = {trace.name_of(row): row for row in range(2)}
    assert trace.slices.external_id[of_name["odd"]] == 0
    assert trace.slices.external_id[of_name["fine"]] == 12
    assert not trace.report.skipped


def test_arguments_have_the_same_names_in_old_files(tmp_path: Path) -> None:
    old = {"external id": 7, "Input dims": [[2, 3]]}
    trace = _read(tmp_path, _complete(cat="Operator", args=old), _complete(ts=50))
    assert trace.slices.external_id.tolist() == [7, 0]
    assert [trace.shapes[row] if row >= 0 else "" for row in trace.slices.shape_id] == [
        "[[2,3]]",
        "",
    ]
