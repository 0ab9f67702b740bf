"""Blocks, who asked for them and who held the peak: by hand, and against a walk through all."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, launch, trace_of, with_memory
from tracetui.analysis.allocations import (
    BARE_ALLOCATORS,
    OperatorMemory,
    allocations,
    held_bytes,
    operator_memory,
    running_at,
)
from tracetui.analysis.memory import Peak, memory_use
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

CPU = (0, -1)
GPU = (1, 0)


def id_of(trace: Trace, name: str) -> int:
    return next(row for row in range(len(trace.slices)) if trace.name_of(row) == name)


def names(trace: Trace, ids: Any) -> list[str]:
    return [trace.name_of(int(each)) if each >= 0 else "" for each in ids]


def step_of_training() -> Trace:
    """Return a step whose linear layer keeps 300 of the 1000 bytes that it takes at most."""
    trace = trace_of(
        annotation("ProfilerStep#4", 0, 100),
        annotation("forward", 5, 60),
        Row("aten::linear", 10, 40),
        Row("aten::empty", 12, 4),
        Row("aten::addmm", 20, 20),
        launch(22, 2, 0, name="cudaMalloc"),
        Row("aten::empty_like", 70, 10),
        Row("aten::empty_strided", 72, 4),
    )
    return with_memory(
        trace,
        (13, 300, 5300, 8000, *GPU),  # in aten::empty, for aten::linear
        (23, 600, 5900, 8000, *GPU),  # in cudaMalloc, for aten::addmm
        (30, 100, 6000, 8000, *GPU),  # in aten::addmm: the peak
        (38, -600, 5400, 8000, *GPU),
        (60, -2000, 3400, 8000, *GPU),  # from before the recording
        (73, 40, 3440, 8000, *GPU),  # for aten::empty_like: nobody called it but "forward"'s step
        (90, 7, 3447, 8000, *GPU),  # outside of any operator
        (95, -100, 3347, 8000, *GPU),
        addresses=(0x10, 0x20, 0x30, 0x20, 0x99, 0x20, 0x50, 0x30),
    )


def memory_of(trace: Trace, **chosen: Any) -> OperatorMemory:
    use = memory_use(trace)
    assert use is not None
    (curve,) = use.curves
    return operator_memory(trace, curve, curve.peak(chosen.get("span_ns")), **chosen)


def row_of(trace: Trace, found: OperatorMemory, name: str) -> dict[str, int | None]:
    (row,) = [
        place for place, name_id in enumerate(found.name_id) if trace.names[int(name_id)] == name
    ]
    return {
        "total": int(found.total_bytes[row]),
        "self": int(found.self_bytes[row]),
        "allocated": int(found.allocated_bytes[row]),
        "blocks": int(found.n_blocks[row]),
        "peak": None if found.peak_bytes is None else int(found.peak_bytes[row]),
    }


def test_a_block_ends_with_the_next_record_at_its_address() -> None:
    trace = step_of_training()
    blocks = allocations(trace)
    assert blocks.record.tolist() == [0, 1, 2, 5, 6]
    assert blocks.freed.tolist() == [NO_ID, 3, 7, NO_ID, NO_ID]
    assert blocks.has_address.all()


def test_a_block_is_put_down_to_the_operator_that_asked() -> None:
    trace = step_of_training()
    blocks = allocations(trace)
    assert names(trace, blocks.slice_id) == [
        "aten::empty", "cudaMalloc", "aten::addmm", "aten::empty_strided", "ProfilerStep#4",
    ]  # fmt: skip
    assert names(trace, blocks.maker_id) == [
        "aten::linear", "aten::addmm", "aten::addmm", "aten::empty_like", "",
    ]  # fmt: skip


def test_what_is_there_at_the_peak_adds_up() -> None:
    trace = step_of_training()
    found = memory_of(trace)
    assert row_of(trace, found, "aten::linear") == {
        "total": 400, "self": 0, "allocated": 300, "blocks": 1, "peak": 300,
    }  # fmt: skip
    # Its self is what torch says: 600 of its own are its child's, cudaMalloc's.
    assert row_of(trace, found, "aten::addmm") == {
        "total": 100, "self": -500, "allocated": 700, "blocks": 2, "peak": 700,
    }  # fmt: skip
    assert row_of(trace, found, "aten::empty") == {
        "total": 300, "self": 300, "allocated": 0, "blocks": 0, "peak": 0,
    }  # fmt: skip
    assert row_of(trace, found, "aten::empty_like")["allocated"] == 40
    assert row_of(trace, found, "forward")["total"] == 400 - 2000
    assert found.outside_blocks == 1
    assert found.outside_allocated_bytes == 7
    assert found.outside_peak_bytes == 0
    # 6000 at the peak, of which linear and addmm asked for 1000 while it was recorded.
    assert found.before_bytes == 5000


def test_the_call_to_look_at_holds_most_at_the_peak() -> None:
    trace = with_memory(
        trace_of(Row("a", 0, 5), Row("a", 10, 5), Row("a", 20, 5)),
        (1, 500, 500, 0, *CPU),
        (6, -500, 0, 0, *CPU),
        (11, 200, 200, 0, *CPU),
        (21, 400, 600, 0, *CPU),
        addresses=(1, 1, 2, 3),
    )
    assert memory_of(trace).slice_id.tolist() == [2]
    assert memory_of(trace, span_ns=(0, 8)).slice_id.tolist() == [0]


def test_a_range_counts_what_happened_in_it_and_its_own_peak() -> None:
    trace = step_of_training()
    found = memory_of(trace, span_ns=(25, 50))
    assert row_of(trace, found, "aten::addmm") == {
        "total": -500, "self": -500, "allocated": 100, "blocks": 1, "peak": 700,
    }  # fmt: skip
    assert row_of(trace, found, "aten::linear")["peak"] == 300
    assert found.outside_blocks == 0


def test_chosen_slices_alone_are_counted() -> None:
    trace = step_of_training()
    found = memory_of(trace, chosen=np.arange(len(trace.slices)) == id_of(trace, "aten::addmm"))
    assert [trace.names[int(each)] for each in found.name_id] == ["aten::addmm"]


def test_without_addresses_nobody_knows_what_the_peak_held() -> None:
    trace = with_memory(trace_of(Row("a", 0, 5)), (1, 8, 8, 0, *CPU), (2, -8, 0, 0, *CPU))
    blocks, found = allocations(trace), memory_of(trace)
    assert blocks.freed.tolist() == [NO_ID]
    assert not blocks.has_address.any()
    assert not blocks.alive_after(0).any()
    assert (found.peak_bytes, found.before_bytes, found.outside_peak_bytes) == (None, None, None)
    assert row_of(trace, found, "a") == {
        "total": 0, "self": 0, "allocated": 8, "blocks": 1, "peak": None,
    }  # fmt: skip


def test_an_address_that_is_given_out_again_was_free() -> None:
    trace = with_memory(
        trace_of(Row("a", 0, 50)),
        (1, 8, 8, 0, *CPU),
        (2, 16, 16, 0, *CPU),
        (3, 4, 4, 0, *GPU),
        addresses=(7, 7, 7),
    )
    assert allocations(trace).freed.tolist() == [1, NO_ID, NO_ID]
    assert allocations(trace).alive_after(1).tolist() == [False, True, False]


def test_a_record_without_a_thread_belongs_to_nobody() -> None:
    trace = with_memory(
        trace_of(Row("a", 0, 50)), (1, 8, 8, 0, *CPU), addresses=(7,), tracks=(NO_ID,)
    )
    assert allocations(trace).slice_id.tolist() == [NO_ID]
    assert allocations(trace).maker_id.tolist() == [NO_ID]


def moment(trace: Trace, record: int) -> Peak:
    ts_ns = 0 if record == NO_ID else int(trace.memory.ts_ns[record])
    return Peak(ts_ns, 0, None, record)


def test_what_ran_at_a_moment() -> None:
    trace = step_of_training()
    step = np.array([id_of(trace, "ProfilerStep#4")])
    running = running_at(trace, moment(trace, 1), step)
    assert names(trace, running.path) == ["forward", "aten::linear", "aten::addmm", "cudaMalloc"]
    assert trace.name_of(running.annotation_id) == "forward"
    assert running.step_id == step[0]
    late = running_at(trace, moment(trace, 6), step)
    assert (late.path, late.annotation_id, late.step_id) == ((), NO_ID, int(step[0]))
    assert running_at(trace, moment(trace, NO_ID), step).step_id == NO_ID


def test_the_annotation_may_be_another_threads() -> None:
    trace = trace_of(annotation("backward", 0, 50), Row("aten::mm", 10, 10, tid="2"))
    track = int(trace.slices.track_id[id_of(trace, "aten::mm")])
    trace = with_memory(trace, (15, 8, 8, 0, *GPU), addresses=(1,), tracks=(track,))
    running = running_at(trace, moment(trace, 0), np.empty(0, np.int64))
    assert names(trace, running.path) == ["aten::mm"]
    assert trace.name_of(running.annotation_id) == "backward"


def test_no_records_no_blocks() -> None:
    assert len(allocations(trace_of(Row("a", 0, 5)))) == 0


_NAMES = ("aten::mm", "aten::empty", "aten::resize_", "forward", "cudaMalloc")


@st.composite
def recordings(draw: st.DrawFn) -> Trace:
    """Return nested slices of one thread and records at any time."""
    rows: list[Row] = []
    at = 0

    def below(start: int, end: int, level: int) -> None:
        nonlocal at
        for _ in range(draw(st.integers(0, 3))):
            length = draw(st.integers(0, max(end - start, 0)))
            if start + length > end or len(rows) > 12:
                return
            name = draw(st.sampled_from(_NAMES))
            category = {"forward": "user_annotation", "cudaMalloc": "cuda_runtime"}.get(name)
            rows.append(Row(name, start, length, category or "cpu_op"))
            if level < 3 and length > 2:
                below(start + 1, start + length - 1, level + 1)
            start += length + draw(st.integers(1, 4))

    below(0, 60, 0)
    records = draw(
        st.lists(
            st.tuples(st.integers(0, 70), st.integers(-9, 9), st.integers(0, 3), st.booleans()),
            min_size=1,
            max_size=14,
        )
    )
    records.sort(key=lambda each: each[0])
    trace = trace_of(*rows, Row("end", 200, 1))
    return with_memory(
        trace,
        *((t, n, -1, -1, *(GPU if is_gpu else CPU)) for t, n, _, is_gpu in records),
        addresses=[address for _, _, address, _ in records],
    )


def asking(trace: Trace, ts_ns: int) -> int:
    """Return the last slice to start that is open, found one by one."""
    slices = trace.slices
    found = NO_ID
    for row in range(len(slices)):
        if slices.ts_ns[row] <= ts_ns <= slices.end_ns[row]:
            found = row
    return found


def maker(trace: Trace, slice_id: int) -> int:
    """Return who asked for a block, climbing step by step."""
    found = NO_ID
    while slice_id >= 0:
        kind = trace.slices.kind[slice_id]
        if kind == SliceKind.ANNOTATION and found >= 0:
            return found
        if kind == SliceKind.OPERATOR:
            found = slice_id
            if trace.name_of(slice_id) not in BARE_ALLOCATORS:
                return found
        slice_id = int(trace.slices.parent_id[slice_id])
    return found


@given(recordings())
def test_blocks_are_those_of_a_walk_through_the_records(trace: Trace) -> None:
    memory, blocks = trace.memory, allocations(trace)
    assert names(trace, blocks.slice_id) == names(
        trace, [asking(trace, int(memory.ts_ns[row])) for row in blocks.record]
    )
    assert blocks.maker_id.tolist() == [maker(trace, int(row)) for row in blocks.slice_id]
    alive: dict[tuple[int, int], int] = {}
    for record in range(len(memory)):
        place = (int(memory.device_type[record]), int(memory.address[record]))
        if memory.address[record] and memory.n_bytes[record]:
            alive.pop(place, None)
            if memory.n_bytes[record] > 0:
                alive[place] = record
        assert sorted(alive.values()) == blocks.record[blocks.alive_after(record)].tolist()


@given(recordings())
def test_the_peak_is_the_sum_of_its_holders(trace: Trace) -> None:
    use = memory_use(trace)
    assert use is not None
    for curve in use.curves:
        peak = curve.peak()
        found = operator_memory(trace, curve, peak)
        if found.peak_bytes is None:
            continue
        assert found.outside_peak_bytes is not None
        assert found.before_bytes is not None
        held = int(found.peak_bytes.sum()) + found.outside_peak_bytes + found.before_bytes
        assert held == peak.n_bytes
        own = trace.memory.n_bytes[curve.record]
        asked = int(found.allocated_bytes.sum()) + found.outside_allocated_bytes
        assert asked == int(own[own > 0].sum())


def test_what_some_blocks_hold_rises_and_falls() -> None:
    trace = step_of_training()
    blocks = allocations(trace)
    by_addmm = blocks.maker_id == id_of(trace, "aten::addmm")
    ts_ns, levels = held_bytes(trace, by_addmm)
    assert ts_ns.tolist() == [23, 30, 38, 95]
    assert levels.tolist() == [600, 700, 100, 0]
    assert held_bytes(trace, np.zeros(len(blocks), bool))[0].tolist() == []
