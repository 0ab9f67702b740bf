"""What slices add inside a range, by hand and against a slow count."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.links import links
from tracetui.analysis.slice_sums import (
    SliceSums,
    slice_sums,
    slice_sums_within,
    touching,
    with_parents,
)
from tracetui.model.trace import Trace

_COLUMNS = ("calls", "total_ns", "self_ns", "device_total_ns", "device_self_ns", "n_kernels")


def figures(trace: Trace, sums: SliceSums, name: str) -> tuple[int, ...]:
    row = next(row for row in range(len(trace.slices)) if trace.name_of(row) == name)
    return tuple(int(getattr(sums, column)[row]) for column in _COLUMNS)


def small_trace() -> Trace:
    """A step of 100 ns with an operator that launches a kernel, which runs from 60 to 120."""
    return trace_of(
        annotation("step", 0, 100),
        ("aten::mm", 10, 40),
        launch(20, 10, 1),
        kernel("gemm", 60, 60, 1),
    )


def test_a_range_counts_the_parts_inside_it() -> None:
    trace = small_trace()
    sums = slice_sums_within(trace, 40, 80)
    # Of the step 40-80, of the operator 40-50, of the kernel 60-80; the launch ended at 30.
    assert figures(trace, sums, "step") == (1, 40, 30, 20, 0, 1)
    assert figures(trace, sums, "aten::mm") == (1, 10, 10, 20, 20, 1)
    assert figures(trace, sums, "cudaLaunchKernel") == (0, 0, 0, 0, 0, 0)
    assert figures(trace, sums, "gemm")[:2] == (1, 20)


def test_device_time_counts_when_it_ran_and_not_when_it_was_launched() -> None:
    trace = small_trace()
    before, after = slice_sums_within(trace, 0, 60), slice_sums_within(trace, 100, 200)
    assert figures(trace, before, "aten::mm") == (1, 40, 30, 0, 0, 0)
    assert figures(trace, after, "aten::mm") == (0, 0, 0, 20, 20, 1)


def test_a_python_frame_owns_what_it_launches_inside_the_range() -> None:
    trace = trace_of(
        Row("f.py(1): f", 0, 100, "python_function"),
        launch(20, 10, 1),
        kernel("triton_", 40, 30, 1),
    )
    sums = slice_sums_within(trace, 50, 90)
    assert figures(trace, sums, "f.py(1): f") == (1, 40, 40, 20, 20, 1)


def test_an_instant_belongs_to_the_range_it_lies_in_and_edges_do_not_touch() -> None:
    trace = trace_of(("instant", 50, 0), ("before", 0, 50), ("after", 60, 5))
    names = {trace.name_of(row) for row in np.flatnonzero(touching(trace, 50, 60)).tolist()}
    assert names == {"instant"}


def test_parents_come_along() -> None:
    trace = trace_of(("a", 0, 100), ("b", 10, 50), ("c", 20, 5), ("d", 70, 5))
    chosen = np.array([trace.name_of(row) == "c" for row in range(4)])
    kept = with_parents(trace, chosen)
    assert {trace.name_of(row) for row in np.flatnonzero(kept).tolist()} == {"a", "b", "c"}
    assert not with_parents(trace, np.zeros(4, bool)).any()


@given(host_and_device_rows())
def test_the_range_of_everything_is_the_whole(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    whole, within = slice_sums(trace), slice_sums_within(trace, -1, 100_000)
    for column in _COLUMNS:
        assert getattr(whole, column).tolist() == getattr(within, column).tolist(), column


@given(host_and_device_rows(), st.integers(0, 9000), st.integers(0, 3000))
def test_ranges_side_by_side_add_up_and_owners_hold_what_ran(
    rows: list[Row], start_ns: int, span_ns: int
) -> None:
    trace = trace_of(*rows)
    bounds = [-1, start_ns, start_ns + span_ns, 100_000]
    parts = [slice_sums_within(trace, *bounds[at : at + 2]) for at in range(3)]
    for column in ("total_ns", "self_ns", "device_total_ns", "device_self_ns"):
        added = sum(getattr(part, column) for part in parts)
        assert added.tolist() == getattr(slice_sums(trace), column).tolist(), column
    slices, owner = trace.slices, links(trace).owner_id
    ran = sum(
        max(0, min(int(slices.end_ns[row]), bounds[2]) - max(int(slices.ts_ns[row]), bounds[1]))
        for row in np.flatnonzero(slices.is_device_work() & (owner >= 0)).tolist()
    )
    assert int(parts[1].device_self_ns.sum()) == ran
