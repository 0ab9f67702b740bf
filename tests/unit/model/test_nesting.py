import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, trace_of
from tracetui.model.nesting import nest, self_times
from tracetui.model.slices import SliceFlag


def _parents(trace):
    return {
        trace.name_of(row): (trace.name_of(parent) if parent >= 0 else None)
        for row, parent in enumerate(trace.slices.parent_id.tolist())
    }


def test_a_slice_that_crosses_is_kept_and_holds_what_starts_in_it():
    trace = trace_of(("A", 100, 10), ("B", 105, 10), ("C", 106, 2))

    assert _parents(trace) == {"A": None, "B": None, "C": "B"}
    assert sum(trace.report.flagged.values()) == 1
    assert trace.slices.flags.tolist() == [0, SliceFlag.CROSSES, 0]


def test_a_child_may_end_one_nanosecond_after_its_parent():
    trace = trace_of(("linear", 0, 10_000), ("addmm", 6_000, 4_001), ("copy", 7_001, 3_000))

    assert _parents(trace) == {"linear": None, "addmm": "linear", "copy": "addmm"}
    slices = trace.slices
    crosses = (slices.flags & np.uint8(SliceFlag.CROSSES)) != 0
    self_ns = self_times(slices.parent_id, slices.ts_ns, slices.end_ns, crosses)
    assert self_ns.tolist() == [6_000, 1_001, 3_000]


def test_slices_that_touch_are_siblings():
    trace = trace_of(("P", 0, 10), ("A", 0, 5), ("B", 5, 5), ("Q", 10, 4))

    assert _parents(trace) == {"P": None, "A": "P", "B": "P", "Q": None}


def test_of_two_equal_slices_the_first_in_the_file_is_the_parent():
    trace = trace_of(("first", 0, 5), ("second", 0, 5))

    assert _parents(trace) == {"first": None, "second": "first"}


def test_threads_do_not_nest_in_one_another():
    trace = trace_of(Row("A", 0, 10, tid="1"), Row("B", 2, 3, tid="2"))

    assert _parents(trace) == {"A": None, "B": None}


def test_a_tower_of_slices_has_its_height_as_depth():
    trace = trace_of(*((f"s{i}", i, 4_000 - 2 * i) for i in range(2_000)))

    assert trace.slices.depth.tolist() == list(range(2_000))


def _slow_parents(rows):
    parents = []
    for i, (track, start, end) in enumerate(rows):
        holders = [
            j
            for j in range(i)
            if rows[j][0] == track and rows[j][2] > start and rows[j][2] >= end - 1
        ]
        parents.append(max(holders, default=-1))
    return parents


_rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 15)), min_size=0, max_size=40
)


@given(_rows)
def test_parents_equal_those_of_a_slow_search(rows):
    spans = sorted((track, start, -(start + dur)) for track, start, dur in rows)
    spans = [(track, start, -end) for track, start, end in spans]
    columns = np.array(spans, np.int64).reshape(len(spans), 3)

    result = nest(columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 2])

    assert result.parent_id.tolist() == _slow_parents(spans)


@given(_rows)
def test_a_child_is_one_deeper_than_its_parent(rows):
    trace = trace_of(*(Row("x", start, dur, tid=str(track)) for track, start, dur in rows))
    parent, depth = trace.slices.parent_id, trace.slices.depth

    for row in range(len(parent)):
        assert depth[row] == (depth[parent[row]] + 1 if parent[row] >= 0 else 0)


@given(_rows)
def test_where_nothing_crosses_self_times_add_up_to_the_roots(rows):
    trace = trace_of(*(Row("x", start, dur, tid=str(track)) for track, start, dur in rows))
    slices = trace.slices
    crosses = (slices.flags & np.uint8(SliceFlag.CROSSES)) != 0
    self_ns = self_times(slices.parent_id, slices.ts_ns, slices.end_ns, crosses)

    assert (self_ns >= 0).all()
    late = slices.end_ns > slices.end_ns[slices.parent_id]
    if not crosses.any() and not (late & (slices.parent_id >= 0)).any():
        assert self_ns.sum() == slices.dur_ns[slices.parent_id < 0].sum()


@pytest.mark.parametrize("n", [0, 1])
def test_empty_and_single(n):
    trace = trace_of(*([("x", 0, 1)] * n))

    assert len(trace.slices) == n
