import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.model.intervals import (
    complement,
    covered_before,
    difference,
    intersection,
    join,
    union,
)

_spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=20)


def _intervals(spans):
    starts = np.array([start for start, _ in spans], np.int64)
    return union(starts, starts + np.array([dur for _, dur in spans], np.int64))


def _points(spans):
    return {t for start, dur in spans for t in range(start, start + dur)}


def test_spans_that_touch_or_overlap_become_one():
    spans = union(np.array([5, 0, 3, 20]), np.array([10, 3, 5, 21]))

    assert (spans.starts.tolist(), spans.ends.tolist()) == ([0, 20], [10, 21])
    assert (spans.total_ns, spans.span_ns) == (11, 21)


@given(_spans, _spans)
def test_set_operations_equal_those_on_single_nanoseconds(first, second):
    a, b = _intervals(first), _intervals(second)

    assert a.total_ns == len(_points(first))
    assert join(a, b).total_ns == len(_points(first) | _points(second))
    assert intersection(a, b).total_ns == len(_points(first) & _points(second))
    assert difference(a, b).total_ns == len(_points(first) - _points(second))


@given(_spans)
def test_covered_and_uncovered_make_the_whole(spans):
    covered = _intervals(spans)

    assert covered.total_ns + complement(covered, 0, 50).total_ns == 50


@given(_spans, st.lists(st.integers(-5, 60), min_size=1, max_size=5))
def test_covered_before_counts_the_nanoseconds_before(spans, times):
    points = _points(spans)

    found = covered_before(_intervals(spans), np.array(times, np.int64)).tolist()

    assert found == [sum(p < t for p in points) for t in times]
