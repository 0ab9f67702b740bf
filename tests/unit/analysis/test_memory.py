"""What the allocator recorded, worked out by hand."""

from dataclasses import replace

import numpy as np

from tests.literal import Row, trace_of
from tracetui.analysis.memory import MemoryUse, memory_use
from tracetui.model.counters import MemoryTable
from tracetui.model.trace import Trace

Record = tuple[int, int, int, int, int, int]
"""Time, bytes, total allocated, total reserved, device type, device index."""


def with_memory(trace: Trace, *records: Record) -> Trace:
    table = np.array(records, np.int64).reshape(-1, 6)
    memory = MemoryTable(
        ts_ns=table[:, 0],
        n_bytes=table[:, 1],
        total_allocated=table[:, 2],
        total_reserved=table[:, 3],
        device_type=table[:, 4].astype(np.int32),
        device_index=table[:, 5].astype(np.int32),
        thread_key=np.zeros(len(table), np.int32),
    )
    return replace(trace, memory=memory, memo={})


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
