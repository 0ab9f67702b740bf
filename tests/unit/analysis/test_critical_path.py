"""The critical path of graphs that can be followed with a finger."""

import numpy as np
import pytest
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.critical_path import PathClass, critical_path, path_shares
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import DEVICE_WORK
from tracetui.model.tracks import TrackKind


def sync(ts_ns, dur_ns, tid="1"):
    return Row("cudaDeviceSynchronize", ts_ns, dur_ns, "cuda_runtime", tid=tid)


def pieces(trace):
    path = critical_path(trace)
    return [
        (
            start,
            end,
            PathClass(path_class).name,
            trace.name_of(slice_id) if slice_id != NO_ID else None,
        )
        for start, end, path_class, slice_id in zip(
            path.start_ns.tolist(),
            path.end_ns.tolist(),
            path.path_class.tolist(),
            path.slice_id.tolist(),
            strict=True,
        )
    ]


def test_a_device_that_is_ahead_of_nothing_is_reached_through_its_launches():
    """Overhead-bound: the path is the host's, but for the last kernel and the wait for it."""
    trace = trace_of(
        ("aten::mm", 0, 100), launch(60, 20, 1), kernel("a", 90, 40, 1),
        ("aten::relu", 200, 100), launch(260, 20, 2), kernel("b", 290, 40, 2), sync(310, 30),
    )  # fmt: skip

    assert pieces(trace) == [
        (0, 60, "OPERATOR", "aten::mm"),
        (60, 80, "RUNTIME", "cudaLaunchKernel"),
        (80, 100, "OPERATOR", "aten::mm"),
        (100, 200, "UNTRACED", None),
        (200, 260, "OPERATOR", "aten::relu"),
        (260, 290, "LAUNCH", "cudaLaunchKernel"),
        (290, 330, "COMPUTE", "b"),
        (330, 340, "SYNC", "cudaDeviceSynchronize"),
    ]


def test_a_host_that_runs_ahead_is_on_the_path_once():
    """Compute-bound: one launch, then kernel after kernel, whatever the host did meanwhile."""
    trace = trace_of(
        ("aten::mm", 0, 50), launch(10, 20, 1), ("aten::mm", 50, 50), launch(60, 20, 2),
        ("aten::mm", 100, 50), launch(110, 20, 3), sync(200, 900),
        kernel("a", 40, 300, 1), kernel("b", 345, 300, 2),
        Row("Memcpy DtoD", 650, 400, "gpu_memcpy", "0", "7", 3),
    )  # fmt: skip

    assert pieces(trace) == [
        (0, 10, "OPERATOR", "aten::mm"),
        (10, 40, "LAUNCH", "cudaLaunchKernel"),
        (40, 340, "COMPUTE", "a"),
        (340, 345, "KERNEL_GAP", "b"),
        (345, 645, "COMPUTE", "b"),
        (645, 650, "KERNEL_GAP", "Memcpy DtoD"),
        (650, 1050, "COPY", "Memcpy DtoD"),
        (1050, 1100, "SYNC", "cudaDeviceSynchronize"),
    ]
    path = critical_path(trace)
    assert path.total_ns == 1_100
    assert path.class_ns()[PathClass.COMPUTE] == 600
    assert path.class_ns(100, 360)[PathClass.COMPUTE] == 240 + 15
    assert path.class_ns(100, 360).sum() == 260


def test_a_wait_in_the_middle_leads_to_the_device_and_back_to_the_host():
    """An item() between two operators: host, launch, kernel, copy, wait, host, launch, kernel."""
    trace = trace_of(
        launch(0, 10, 1), launch(20, 10, 2, name="cudaMemcpyAsync"), sync(40, 300),
        launch(400, 10, 3), kernel("gemm", 15, 200, 1),
        Row("Memcpy DtoH", 220, 50, "gpu_memcpy", "0", "7", 2), kernel("next", 420, 100, 3),
    )  # fmt: skip

    assert pieces(trace) == [
        (0, 15, "LAUNCH", "cudaLaunchKernel"),
        (15, 215, "COMPUTE", "gemm"),
        (215, 220, "KERNEL_GAP", "Memcpy DtoH"),
        (220, 270, "COPY", "Memcpy DtoH"),
        (270, 340, "SYNC", "cudaDeviceSynchronize"),
        (340, 400, "UNTRACED", None),
        (400, 420, "LAUNCH", "cudaLaunchKernel"),
        (420, 520, "COMPUTE", "next"),
    ]


def test_a_launch_that_straddles_the_work_before_is_partly_to_blame():
    trace = trace_of(
        launch(0, 10, 1), launch(90, 40, 2), kernel("a", 20, 80, 1), kernel("b", 150, 10, 2)
    )

    assert pieces(trace)[2:] == [
        (100, 130, "LAUNCH", "cudaLaunchKernel"),
        (130, 150, "KERNEL_GAP", "b"),
        (150, 160, "COMPUTE", "b"),
    ]


def test_work_that_starts_long_after_its_launch_waited_for_something_else():
    trace = trace_of(launch(0, 1_000, 1), kernel("near", 30_999, 10, 1))
    far = trace_of(launch(0, 1_000, 1), kernel("far", 31_000, 10, 1))

    assert pieces(trace)[0] == (0, 30_999, "LAUNCH", "cudaLaunchKernel")
    assert pieces(far)[:2] == [
        (0, 1_000, "LAUNCH", "cudaLaunchKernel"),
        (1_000, 31_000, "KERNEL_GAP", "far"),
    ]


def test_communication_on_another_stream_is_waited_for():
    trace = trace_of(
        launch(0, 10, 1), launch(20, 10, 2), launch(40, 10, 3),
        kernel("gemm", 50, 100, 1), kernel("ncclDevKernel_AllReduce", 60, 900, 2, stream=9),
        kernel("after", 965, 35, 3),
    )  # fmt: skip

    assert pieces(trace)[-3:] == [
        (60, 960, "COMMUNICATION", "ncclDevKernel_AllReduce"),
        (960, 965, "KERNEL_GAP", "after"),
        (965, 1000, "COMPUTE", "after"),
    ]


def test_the_backward_leads_to_its_own_thread_and_from_there_to_the_forwards():
    trace = trace_of(
        annotation("step", 0, 500_000),
        ("aten::forward", 0, 100_000),
        Row("aten::backward", 110_000, 190_000, tid="2"),
        ("aten::optimizer", 310_000, 190_000),
    )

    assert pieces(trace) == [
        (0, 100_000, "OPERATOR", "aten::forward"),
        (100_000, 110_000, "UNTRACED", None),
        (110_000, 300_000, "OPERATOR", "aten::backward"),
        (300_000, 310_000, "UNTRACED", "step"),
        (310_000, 500_000, "OPERATOR", "aten::optimizer"),
    ]


def test_loading_data_is_a_class_of_its_own():
    trace = trace_of(
        annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 70),
        ("aten::stack", 10, 20),
        annotation("ProfilerStep#1", 70, 30),
    )

    assert [(piece[2], piece[1] - piece[0]) for piece in pieces(trace)] == [
        ("DATA", 10),
        ("OPERATOR", 20),
        ("DATA", 40),
        ("UNTRACED", 30),
    ]


def test_work_without_a_host_is_a_path_of_its_own():
    assert pieces(trace_of(kernel("a", 0, 10), kernel("b", 15, 10))) == [
        (0, 10, "COMPUTE", "a"),
        (10, 15, "KERNEL_GAP", "b"),
        (15, 25, "COMPUTE", "b"),
    ]
    assert pieces(trace_of()) == []
    assert path_shares(trace_of()) == ()


def test_shares_are_added_up_by_class_and_name():
    trace = trace_of(
        launch(0, 10, 1), launch(20, 10, 2), kernel("a", 15, 100, 1), kernel("a", 120, 100, 2)
    )

    first, *rest = path_shares(trace)

    assert (first.path_class, first.name, first.n_pieces, first.total_ns) == (
        PathClass.COMPUTE,
        "a",
        2,
        200,
    )
    assert trace.slices.ts_ns[first.first_id] == 15
    assert [(each.path_class, each.total_ns) for each in rest] == [
        (PathClass.LAUNCH, 15),
        (PathClass.KERNEL_GAP, 5),
    ]


@pytest.mark.parametrize("skew_ns", [-50, 0, 50])
def test_a_clock_that_runs_apart_ends_the_walk_all_the_same(skew_ns):
    trace = trace_of(
        *(launch(100 * n, 60, n) for n in range(1, 9)),
        *(sync(100 * n + 60, 30) for n in range(1, 9)),
        *(kernel("k", 100 * n + 20 + skew_ns, 50, n) for n in range(1, 9)),
    )

    check_path(trace)


def check_path(trace):
    path, slices = critical_path(trace), trace.slices
    hosts = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    on_path = np.isin(slices.kind, [int(kind) for kind in DEVICE_WORK])
    if len(slices):
        on_path |= hosts[slices.track_id]
    if not on_path.any():
        assert len(path) == 0
        return
    assert np.all(path.start_ns < path.end_ns)
    assert np.array_equal(path.start_ns[1:], path.end_ns[:-1])
    first, last = int(slices.ts_ns[on_path].min()), int(slices.end_ns[on_path].max())
    assert path.total_ns == last - first == int(path.class_ns().sum())
    assert sum(share.total_ns for share in path_shares(trace)) == path.total_ns


@given(host_and_device_rows())
def test_the_path_covers_everything_once(rows):
    check_path(trace_of(*rows))
