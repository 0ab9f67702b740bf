"""Busy, idle and why: every number by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.utilization import (
    GapCause,
    IdleCauses,
    StreamIdle,
    busy_intervals,
    gaps,
    host_use,
    utilization,
)
from tracetui.analysis.work_class import WorkClass


def copy(ts_ns, dur_ns, correlation=0, *, stream=7):
    return Row("Memcpy HtoD", ts_ns, dur_ns, "gpu_memcpy", "0", str(stream), correlation)


def overhead(name, ts_ns, dur_ns):
    return Row(name, ts_ns, dur_ns, "overhead", "-1", "0")


def pieces(trace, device=0):
    found = gaps(trace, device)
    return [
        (start, end, GapCause(cause), trace.name_of(after))
        for start, end, cause, after in zip(
            found.start_ns.tolist(),
            found.end_ns.tolist(),
            found.cause.tolist(),
            found.next_slice_id.tolist(),
            strict=True,
        )
    ]


def test_streams_overlap_in_the_sum_and_not_in_busy():
    trace = trace_of(
        kernel("gemm", 0, 100),
        kernel("ncclKernel_AllReduce", 60, 80, stream=9),
        kernel("ncclDevKernel_AllReduce", 150, 30, stream=9),
    )

    (use,) = utilization(trace)

    assert (use.sum_ns, use.busy_ns, use.span_ns, use.idle_ns) == (210, 170, 180, 10)
    assert (use.start_ns, use.end_ns) == (0, 180)
    assert (use.compute_ns, use.comm_ns) == (100, 110)
    assert (use.comm_overlap_ns, use.comm_exposed_ns) == (40, 70)
    assert use.class_ns[WorkClass.COMM] == 110
    assert use.class_ns[WorkClass.GEMM] == 100
    assert [(stream.stream, stream.busy_ns, stream.idle_ns) for stream in use.streams] == [
        (7, 100, 0),
        (9, 110, 10),
    ]
    assert (use.n_kernels, use.n_memcpys, use.n_memsets) == (3, 0, 0)


def test_only_copies_that_no_kernel_hides_are_exposed():
    trace = trace_of(
        kernel("gemm", 0, 100),
        copy(50, 80, stream=8),
        Row("Memset", 200, 10, "gpu_memset", "0", "8"),
        Row("Stream Sync", 0, 900, "cuda_sync", "0", "7"),
        Row("forward", 0, 900, "gpu_user_annotation", "0", "7"),
    )

    (use,) = utilization(trace)

    assert (use.sum_ns, use.busy_ns, use.memcpy_exposed_ns) == (190, 140, 40)
    assert use.compute_ns + use.comm_exposed_ns + use.memcpy_exposed_ns == use.busy_ns
    assert (use.n_kernels, use.n_memcpys, use.n_memsets) == (1, 1, 1)


def test_each_device_is_a_row_of_its_own():
    trace = trace_of(kernel("gemm", 0, 10), kernel("gemm", 5, 20, device=1))

    assert [(use.device, use.busy_ns) for use in utilization(trace)] == [(0, 10), (1, 20)]
    assert busy_intervals(trace, 1).total_ns == 20
    assert busy_intervals(trace, 5).total_ns == 0


def test_work_of_nobody_is_counted():
    trace = trace_of(
        ("aten::mm", 0, 20),
        launch(5, 5, 1),
        kernel("gemm", 30, 12, 1),
        kernel("leftover", 50, 30, 77),
        kernel("no correlation", 90, 1),
    )

    (use,) = utilization(trace)

    assert (use.unattributed_ns, use.n_unattributed) == (31, 2)


def test_an_impossible_duration_is_counted_and_clipped_at_the_next_start():
    trace = trace_of(
        kernel("fmha_bwd", 0, 3_400_000_000), kernel("gemm", 10, 10), kernel("gemm", 30, 10)
    )

    (use,) = utilization(trace)

    assert (use.sum_ns, use.n_impossible, use.clipped_sum_ns) == (3_400_000_020, 1, 30)


def test_a_trace_without_device_work_has_no_device():
    trace = trace_of(("aten::mm", 0, 20))

    assert utilization(trace) == ()
    assert len(gaps(trace, 0)) == 0


def test_a_gap_is_cut_once_in_the_order_of_causes():
    trace = trace_of(
        kernel("first", 0, 1_000),
        Row("cudaDeviceSynchronize", 1_500, 2_000, "cuda_runtime"),
        overhead("Activity Buffer Request", 3_000, 1_000),
        launch(6_000, 2_000, 5),
        kernel("second", 9_000, 1_000, 5),
    )

    assert pieces(trace) == [
        (1_000, 1_500, GapCause.HOST_WAIT, "second"),
        (1_500, 3_000, GapCause.SYNC, "second"),
        (3_000, 4_000, GapCause.ARTEFACT, "second"),
        (4_000, 6_000, GapCause.HOST_WAIT, "second"),
        (6_000, 8_000, GapCause.LAUNCH, "second"),
        (8_000, 9_000, GapCause.KERNEL_WAIT, "second"),
    ]
    (use,) = utilization(trace)
    assert use.idle == IdleCauses(1_000, 1_500, 2_000, 2_500, 1_000, 0)


@pytest.mark.parametrize(
    ("wait_ns", "cause"), [(29_999, GapCause.KERNEL_WAIT), (30_000, GapCause.OTHER)]
)
def test_a_wait_with_the_launch_long_done_is_the_devices_own_up_to_thirty_microseconds(
    wait_ns, cause
):
    trace = trace_of(
        launch(0, 10, 1),
        launch(20, 10, 2),
        kernel("first", 100, 900, 1),
        kernel("second", 1_000 + wait_ns, 5, 2),
    )

    assert pieces(trace) == [(1_000, 1_000 + wait_ns, cause, "second")]


def test_a_launch_that_straddles_the_end_of_the_work_before_is_clipped_to_the_gap():
    trace = trace_of(
        kernel("first", 0, 1_000), launch(900, 400, 2), kernel("second", 1_200, 100, 2)
    )

    assert pieces(trace) == [(1_000, 1_200, GapCause.LAUNCH, "second")]


def test_loading_a_module_is_no_artefact_of_the_profiler():
    trace = trace_of(
        kernel("first", 0, 1_000),
        overhead("Lazy Function Loading", 1_000, 500),
        launch(1_000, 900, 2),
        kernel("second", 2_000, 100, 2),
    )

    (use,) = utilization(trace)
    assert use.idle == IdleCauses(0, 0, 900, 0, 100, 0)


def test_work_without_length_neither_ends_nor_hides_a_gap():
    trace = trace_of(kernel("first", 0, 10), kernel("nothing", 15, 0), kernel("second", 20, 10))

    assert pieces(trace) == [(10, 20, GapCause.KERNEL_WAIT, "second")]


def test_the_streams_split_takes_each_gap_whole():
    trace = trace_of(
        launch(0, 10, 1),
        launch(2_000, 10, 2),
        launch(2_020, 10, 3),
        kernel("first", 100, 900, 1),
        kernel("late", 2_100, 100, 2),
        kernel("queued", 2_250, 100, 3),
        kernel("unknown", 90_000, 10),
        kernel("overlapping", 90_005, 10),
    )

    (use,) = utilization(trace)
    (stream,) = use.streams
    assert stream.idle_hta == StreamIdle(1_100, 50, 87_650, 1, 1, 1)
    assert (stream.n_slices, stream.sum_ns, stream.busy_ns) == (5, 1_120, 1_115)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (launch(0, 1, 1), "cuda"),
        (launch(0, 1, 1, name="hipLaunchKernel"), "hip"),
        (Row("urEnqueueKernelLaunch", 0, 1, "xpu_runtime", correlation=1), "xpu"),
        (Row("runJob", 0, 1, "mtia_ccp_runtime", correlation=1), "mtia"),
        (Row("aclrtLaunch", 0, 1, "privateuse1_runtime", correlation=1), "npu"),
    ],
)
def test_the_runtime_tells_the_kind_of_device(call, kind):
    (use,) = utilization(trace_of(call, kernel("k", 5, 5, 1)))

    assert use.kind == kind


def test_host_threads_are_added_up_and_not_their_python_frames_twice():
    trace = trace_of(
        ("aten::mm", 0, 20),
        Row("forward", 10, 30, "python_function"),
        Row("aten::add", 5, 10, tid="2"),
        overhead("Buffer Flush", 500, 7),
        annotation("step", 100, 10),
        kernel("gemm", 0, 999),
    )

    use = host_use(trace)

    assert (use.n_threads, use.busy_ns, use.span_ns, use.overhead_ns) == (2, 60, 110, 7)


def test_an_empty_trace_has_an_idle_host():
    use = host_use(trace_of())

    assert (use.n_threads, use.busy_ns, use.span_ns, use.overhead_ns) == (0, 0, 0, 0)


KERNELS = st.lists(
    st.tuples(
        st.integers(0, 200_000), st.integers(0, 30_000), st.integers(1, 2), st.integers(0, 90_000)
    ),
    min_size=1,
    max_size=12,
)


@given(KERNELS, st.lists(st.tuples(st.integers(0, 200_000), st.integers(0, 50_000)), max_size=4))
def test_parts_always_add_up(kernels, waits):
    rows = []
    for number, (ts_ns, dur_ns, stream, before_ns) in enumerate(kernels, 1):
        rows.append(launch(max(ts_ns - before_ns, 0), 4_000, number))
        name = "ncclKernel" if number % 3 == 0 else "gemm"
        rows.append(kernel(name, ts_ns, dur_ns, number, stream=stream))
    for place, (ts_ns, dur_ns) in enumerate(waits):
        tid = str(10 + place)
        rows.append(Row("cudaStreamSynchronize", ts_ns, dur_ns, "cuda_runtime", tid=tid))
        rows.append(overhead("Buffer Flush", ts_ns // 2, dur_ns // 3))
    trace = trace_of(*rows)

    (use,) = utilization(trace)
    idle = use.idle
    parts = (
        idle.artefact_ns,
        idle.sync_ns,
        idle.launch_ns,
        idle.host_wait_ns,
        idle.kernel_wait_ns,
        idle.other_ns,
    )
    assert sum(parts) == use.idle_ns
    assert use.busy_ns + use.idle_ns == use.span_ns
    assert use.compute_ns + use.comm_exposed_ns + use.memcpy_exposed_ns == use.busy_ns
    assert use.comm_overlap_ns + use.comm_exposed_ns == use.comm_ns
    found = gaps(trace, 0)
    assert np.all(found.start_ns < found.end_ns)
    assert np.all(found.end_ns[:-1] <= found.start_ns[1:])
