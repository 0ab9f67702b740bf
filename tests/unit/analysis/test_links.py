"""Launches, owners and sums of device time, worked out by hand."""

from dataclasses import replace

import numpy as np
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.links import Links, latest_before, links, nearest
from tracetui.model.arrays import NO_ID
from tracetui.model.flows import FlowTable
from tracetui.model.slices import SliceKind
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace


def ids(trace: Trace, name: str) -> list[int]:
    return [row for row in range(len(trace.slices)) if trace.name_of(row) == name]


def owner_of(trace: Trace, name: str) -> str | None:
    (row,) = ids(trace, name)
    owner = int(links(trace).owner_id[row])
    return None if owner == NO_ID else trace.name_of(owner)


def with_arrow(trace: Trace, category: str, start: str, end: str) -> Trace:
    return replace(
        trace,
        categories=StringTable((*trace.categories.texts, category)),
        flows=FlowTable(
            np.array([len(trace.categories)], np.int32),
            np.array(ids(trace, start), np.int32),
            np.array(ids(trace, end), np.int32),
        ),
        memo={},
    )


def device_times(trace: Trace, name: str) -> tuple[int, int]:
    (row,) = ids(trace, name)
    link: Links = links(trace)
    return int(link.device_self_ns[row]), int(link.device_total_ns[row])


def test_correlation_leads_to_the_innermost_operator() -> None:
    trace = trace_of(
        ("aten::linear", 0, 100),
        ("aten::addmm", 10, 40),
        launch(20, 10, 5),
        launch(60, 10, 6),
        kernel("gemm", 200, 30, 5),
        kernel("bias", 240, 4, 6),
    )
    assert owner_of(trace, "gemm") == "aten::addmm"
    assert owner_of(trace, "bias") == "aten::linear"
    assert device_times(trace, "aten::addmm") == (30, 30)
    assert device_times(trace, "aten::linear") == (4, 34)
    (linear,) = ids(trace, "aten::linear")
    assert links(trace).n_device_total[linear] == 2
    assert links(trace).n_device_self[linear] == 1


def test_external_id_never_overrides_containment() -> None:
    """The launch inside aten::mm has correlation 57; aten::add has external id 57."""
    trace = trace_of(
        Row("aten::mm", 100, 20, external_id=23),
        Row("cudaLaunchKernel", 105, 5, "cuda_runtime", correlation=57, external_id=57),
        Row("aten::add", 130, 20, external_id=57),
        Row("gemm", 140, 40, "kernel", "0", "7", correlation=57, external_id=57),
    )
    assert owner_of(trace, "gemm") == "aten::mm"


def test_external_id_names_the_operator_of_a_launch_on_another_thread() -> None:
    trace = trace_of(
        Row("aten::matmul", 0, 40, external_id=1),
        Row("aten::mm", 15, 20, external_id=2),
        Row("cudaLaunchKernel", 18, 6, "Runtime", tid="9", correlation=106, external_id=2),
        Row("sgemm", 50, 33, "Kernel", "0", "7", correlation=106, external_id=2),
    )
    assert owner_of(trace, "sgemm") == "aten::mm"
    assert device_times(trace, "aten::matmul") == (0, 33)


def test_external_id_of_another_number_space_means_nothing() -> None:
    """The operator with the same number had ended long before the call."""
    trace = trace_of(
        Row("aten::mm", 0, 10, external_id=2),
        Row("cudaLaunchKernel", 500, 6, "cuda_runtime", tid="9", correlation=7, external_id=2),
        kernel("gemm", 600, 5, 7),
    )
    assert owner_of(trace, "gemm") is None


def test_annotation_owns_what_no_operator_encloses() -> None:
    trace = trace_of(
        annotation("decode", 0, 100),
        launch(10, 20, 77, name="cudaGraphLaunch"),
        kernel("rope", 200, 5, 77),
        kernel("attn", 206, 7, 77),
        kernel("mlp", 214, 3, 77, stream=13),
    )
    assert [owner_of(trace, name) for name in ("rope", "attn", "mlp")] == ["decode"] * 3
    assert device_times(trace, "decode") == (15, 15)
    (call,) = ids(trace, "cudaGraphLaunch")
    launched = links(trace).launched_by(call).tolist()
    assert [trace.name_of(row) for row in launched] == ["rope", "attn", "mlp"]


def test_annotation_inside_an_operator_sums_but_does_not_own() -> None:
    trace = trace_of(
        ("aten::op", 0, 100), annotation("part", 10, 50), launch(20, 5, 3), kernel("k", 90, 8, 3)
    )
    assert owner_of(trace, "k") == "aten::op"
    assert device_times(trace, "part") == (0, 8)
    assert device_times(trace, "aten::op") == (8, 8)


def test_correlation_zero_links_nothing() -> None:
    trace = trace_of(
        ("aten::mm", 0, 10), launch(2, 3, 0, name="hipGetDevice"), kernel("nccl", 20, 40, 0)
    )
    assert owner_of(trace, "nccl") is None
    assert links(trace).has_device


def test_launch_outside_the_window_leaves_the_kernel_alone() -> None:
    trace = trace_of(("aten::mm", 100, 20), launch(105, 5, 901), kernel("leftover", 90, 30, 900))
    assert owner_of(trace, "leftover") is None


def test_repeated_correlations_are_told_apart_by_time() -> None:
    trace = trace_of(
        ("aten::first", 0, 10),
        launch(2, 3, 5),
        Row("k1", 20, 4, "kernel", "0", "7", correlation=5),
        ("aten::second", 100, 10),
        launch(102, 3, 5),
        Row("k2", 120, 6, "kernel", "0", "7", correlation=5),
    )
    assert owner_of(trace, "k1") == "aten::first"
    assert owner_of(trace, "k2") == "aten::second"


def test_arrow_counts_where_there_is_no_correlation() -> None:
    bare = trace_of(("aten::mm", 0, 10), launch(2, 3, 0), kernel("k", 20, 4))
    assert owner_of(bare, "k") is None
    assert owner_of(with_arrow(bare, "ac2g", "cudaLaunchKernel", "k"), "k") == "aten::mm"
    assert owner_of(with_arrow(bare, "async", "aten::mm", "k"), "k") == "aten::mm"
    assert owner_of(with_arrow(bare, "fwdbwd", "cudaLaunchKernel", "k"), "k") is None


def test_device_slices_of_a_subtree() -> None:
    trace = trace_of(
        annotation("step", 0, 100),
        ("aten::a", 10, 20),
        launch(12, 2, 1),
        ("aten::b", 40, 20),
        launch(42, 2, 2),
        kernel("ka", 200, 5, 1),
        kernel("kb", 210, 5, 2),
    )
    (step,), (b,), (kb,) = ids(trace, "step"), ids(trace, "aten::b"), ids(trace, "kb")
    assert len(links(trace).device_slices_of(step)) == 2
    assert links(trace).device_slices_of(b).tolist() == [kb]


def test_python_frames_sum_what_is_launched_under_them() -> None:
    trace = trace_of(
        Row("outer", 0, 100, "python_function"),
        Row("inner", 10, 50, "python_function"),
        ("aten::mm", 20, 20),
        launch(25, 5, 1),
        launch(70, 5, 2),
        kernel("k1", 200, 9, 1),
        kernel("k2", 210, 2, 2),
    )
    assert device_times(trace, "inner") == (9, 9)
    assert device_times(trace, "outer") == (2, 11)
    assert owner_of(trace, "k2") is None


def test_self_time_subtracts_runtime_calls_and_clips_late_children() -> None:
    trace = trace_of(("aten::mm", 0, 100), launch(90, 11, 1))
    (row,) = ids(trace, "aten::mm")
    assert links(trace).self_ns[row] == 90


def test_empty_trace() -> None:
    link = links(trace_of())
    assert not link.has_device
    assert len(link.owner_id) == 0


def test_nearest_includes_the_slice_itself() -> None:
    parent = np.array([NO_ID, 0, 1, 2, NO_ID], np.int32)
    wanted = np.array([True, False, True, False, False])
    assert nearest(parent, wanted).tolist() == [0, 0, 2, 2, NO_ID]


def test_latest_before_takes_the_first_row_when_all_are_later() -> None:
    key, time = np.array([1, 1, 2]), np.array([10, 20, 5])
    query_key, query_time = np.array([1, 1, 1, 3, 2]), np.array([10, 19, 9, 9, 99])
    assert latest_before(key, time, query_key, query_time).tolist() == [0, 0, 0, NO_ID, 2]


@given(host_and_device_rows())
def test_each_device_slice_is_owned_at_most_once(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    slices, link = trace.slices, links(trace)
    device = slices.is_device_work()
    owned = device & (link.owner_id >= 0)
    roots = (slices.parent_id < 0) & ~device & (slices.kind != SliceKind.RUNTIME)
    assert link.device_self_ns.sum() == slices.dur_ns[owned].sum()
    assert link.device_total_ns[roots].sum() == slices.dur_ns[owned].sum()
    assert (link.self_ns >= 0).all()
    host_roots = (slices.parent_id < 0) & ~device
    assert link.self_ns[~device].sum() == slices.dur_ns[host_roots].sum()
    for row in np.flatnonzero(~device).tolist():
        below = link.device_slices_of(row)
        if slices.kind[row] != SliceKind.RUNTIME:
            assert slices.dur_ns[below].sum() == link.device_total_ns[row]
            assert len(below) == link.n_device_total[row]
