"""Windows of spans: exact sums and counts, compared with a loop over every span."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.model.arrays import NO_ID
from tracetui.model.prefix import BLOCK, BlockMaxima, PrefixSums


def columns(*values: int):
    return np.array(values, np.int64)


@st.composite
def disjoint_spans(draw) -> PrefixSums:
    """Return spans in order that do not overlap, some without length, some adjacent."""
    steps = draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60))
    starts, ends, now = [], [], 0
    for gap, length in steps:
        starts.append(now + gap)
        now = now + gap + length
        ends.append(now)
    return PrefixSums.of(np.array(starts, np.int64), np.array(ends, np.int64))


@st.composite
def cuts(draw):
    return np.array(sorted(draw(st.sets(st.integers(0, 2_000), min_size=2, max_size=30))), np.int64)


def test_the_covered_time_of_windows_by_hand() -> None:
    spans = PrefixSums.of(columns(10, 30), columns(20, 60))
    # Before 5: nothing; before 15: half of the first; before 25: all of it; before 40: 10 + 10.
    assert spans.covered_before(columns(5, 15, 25, 40, 99)).tolist() == [0, 5, 10, 20, 40]
    assert spans.covered(columns(0, 15, 40, 100)).tolist() == [5, 15, 20]
    assert spans.total_ns == 40


def test_a_window_holds_its_left_edge_and_not_its_right_one() -> None:
    spans = PrefixSums.of(columns(10, 20), columns(20, 20))
    assert spans.count_between(0, 10) == 0
    assert spans.count_between(10, 20) == 1
    assert spans.count_between(20, 30) == 1, "the slice without length at 20"


def test_no_spans_cover_nothing() -> None:
    spans = PrefixSums.of(columns(), columns())
    assert spans.covered(columns(0, 5, 9)).tolist() == [0, 0]
    assert spans.count_between(0, 9) == 0


@given(disjoint_spans(), cuts())
def test_windows_add_up_exactly_and_agree_with_a_loop(spans: PrefixSums, edges) -> None:
    rows = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    first, after = spans.touching(edges)
    covered = spans.covered(edges).tolist()
    for column, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        assert covered[column] == sum(max(min(e, high) - max(s, low), 0) for s, e in rows)
        touching = [r for r, (s, e) in enumerate(rows) if s < high and max(e, s + 1) > low]
        assert list(range(int(first[column]), int(after[column]))) == touching
    assert sum(covered) == spans.covered_between(int(edges[0]), int(edges[-1]))


@given(st.lists(st.integers(0, 9), max_size=5 * BLOCK), st.integers(0, 80), st.integers(0, 80))
def test_the_longest_is_the_first_of_the_longest(durations, one, other) -> None:
    first, after = min(one, other, len(durations)), min(max(one, other), len(durations))
    maxima = BlockMaxima.of(np.array(durations, np.int64))
    expected = NO_ID
    for row in range(first, after):
        if expected == NO_ID or durations[row] > durations[expected]:
            expected = row
    assert maxima.longest(first, after) == expected
