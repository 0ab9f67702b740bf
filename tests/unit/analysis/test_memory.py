"""What the allocator recorded, worked out by hand."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, trace_of, with_memory
from tracetui.analysis.memory import MemoryCurve, MemoryUse, Peak, memory_use
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace


def linear() -> Trace:
    return with_memory(
        trace_of(("aten::linear", 0, 40), ("aten::empty", 4, 2)),
        (5, 4096, 4096, 0, 0, -1),
        (10, 8192, 12288, 0, 0, -1),
        (20, 1048576, 3145728, 20971520, 1, 0),
        (50, -4096, 8192, 0, 0, -1),
        (60, -1048576, 2097152, 20971520, 1, 0),
    )


def use_of(trace: Trace) -> MemoryUse:
    use = memory_use(trace)
    assert use is not None
    return use


def test_peaks_and_curves_of_each_device() -> None:
    use = use_of(linear())
    assert use.peak_bytes == {"cpu": 12288, "cuda:0": 3145728}
    cpu, gpu = use.curves
    assert cpu.allocated_bytes.tolist() == [4096, 12288, 8192]
    assert gpu.ts_ns.tolist() == [20, 60]
    assert gpu.reserved_bytes is not None
    assert gpu.reserved_bytes.tolist() == [20971520, 20971520]


def test_bytes_of_each_operator() -> None:
    use = use_of(linear())
    assert use.total_bytes.tolist() == [12288, 4096]
    assert use.self_bytes.tolist() == [8192, 4096]
    assert use.device_total_bytes.tolist() == [1048576, 0]
    assert use.device_self_bytes.tolist() == [1048576, 0]
    assert use.outside_bytes == {"cpu": -4096, "cuda:0": -1048576}


def test_both_ends_count_and_so_does_any_thread() -> None:
    trace = with_memory(
        trace_of(("a", 0, 10), Row("b", 5, 15, tid="2")),
        (0, 1, -1, -1, 0, -1),
        (10, 20, -1, -1, 0, -1),
        (20, 300, -1, -1, 0, -1),
        (21, 4000, -1, -1, 0, -1),
    )
    use = use_of(trace)
    assert use.total_bytes.tolist() == [21, 320]
    assert use.outside_bytes == {"cpu": 4000}


def test_without_the_allocators_sum_the_level_starts_as_low_as_it_can() -> None:
    trace = with_memory(trace_of(("a", 0, 10)), (1, -30, -1, -1, 0, -1), (2, 50, -1, -1, 0, -1))
    (curve,) = use_of(trace).curves
    assert curve.allocated_bytes.tolist() == [0, 50]
    assert curve.peak_bytes == 50
    assert curve.reserved_bytes is None


def level_at(curve: MemoryCurve, time_ns: int) -> int:
    """Return the level after all records up to a moment, one by one."""
    level = curve.start_bytes
    for ts_ns, allocated in zip(curve.ts_ns, curve.allocated_bytes, strict=True):
        if ts_ns <= time_ns:
            level = int(allocated)
    return level


def test_the_peak_of_a_range_may_be_what_was_there_at_its_start() -> None:
    cpu, gpu = use_of(linear()).curves
    assert gpu.start_bytes == 2097152
    assert cpu.peak() == Peak(10, 12288, 0, 1)
    assert cpu.peak((0, 7)) == Peak(5, 4096, 0, 0)
    assert cpu.peak((20, 90)) == Peak(20, 12288, 0, 1)
    assert cpu.peak((0, 4)) == Peak(0, 0, 0, NO_ID)
    assert gpu.peak((0, 19)) == Peak(0, 2097152, 20971520, NO_ID)
    assert gpu.peak((0, 20)) == Peak(20, 3145728, 20971520, 2)
    # What the record at 50 released was gone at 50.
    assert cpu.peak((50, 90)) == Peak(50, 8192, 0, 3)


def test_the_highest_level_of_a_span_counts_what_it_starts_with() -> None:
    cpu, gpu = use_of(linear()).curves
    allocated, reserved = cpu.highest(np.array([0, 5, 10, 11, 50, 51, 90]))
    assert allocated.tolist() == [0, 4096, 12288, 12288, 8192, 8192]
    assert reserved is not None
    assert reserved.tolist() == [0] * 6
    assert gpu.highest(np.array([0, 20, 61]))[0].tolist() == [2097152, 3145728]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(-50, 50)), min_size=1, max_size=12),
    st.lists(st.integers(-5, 40), min_size=2, max_size=8, unique=True),
)
def test_levels_are_those_of_a_walk_through_the_records(
    changes: list[tuple[int, int]], edges: list[int]
) -> None:
    records = [(ts_ns, n_bytes, -1, -1, 0, -1) for ts_ns, n_bytes in sorted(changes)]
    (curve,) = use_of(with_memory(trace_of(), *records)).curves
    edges = sorted(edges)
    highest, reserved = curve.highest(np.array(edges))
    assert reserved is None
    for place, (start, after) in enumerate(pairwise(edges)):
        # All levels between two moments: the one held at the start, and each record's own.
        own = [int(a) for t, a in zip(curve.ts_ns, curve.allocated_bytes, strict=True)
               if start <= t < after]  # fmt: skip
        assert highest[place] == max([level_at(curve, start), *own])
        peak = curve.peak((start, after - 1))
        assert peak.n_bytes == highest[place]


def test_unknown_devices_are_named_by_number() -> None:
    use = use_of(with_memory(trace_of(("a", 0, 10)), (1, 8, 8, 8, 77, 2)))
    assert use.peak_bytes == {"device type 77:2": 8}


def test_records_without_any_slice_are_all_outside() -> None:
    use = use_of(with_memory(trace_of(), (1, 8, 8, 8, 0, -1)))
    assert use.outside_bytes == {"cpu": 8}


def test_no_records_no_result() -> None:
    assert memory_use(trace_of(("a", 0, 10))) is None


def test_data_frame_holds_every_record() -> None:
    frame = use_of(linear()).to_pandas()
    assert frame["device"].tolist() == ["cpu"] * 3 + ["cuda:0"] * 2
