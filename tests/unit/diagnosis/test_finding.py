import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.diagnosis.finding import Saving, Severity, saved_time, severity_of
from tracetui.model.intervals import Intervals


def _saving(*spans: tuple[int, int, int]) -> Saving:
    start, end, saved = (np.array(column, np.int64) for column in zip(*spans, strict=True))
    return Saving(start, end, saved, "by hand")


@pytest.mark.parametrize(
    ("ratio", "severity"),
    [(0.1, Severity.HIGH), (0.099, Severity.MEDIUM), (0.03, Severity.MEDIUM), (0.01, Severity.LOW)],
)
def test_severity_follows_the_share_of_the_time(ratio, severity):
    assert severity_of(ratio) == severity


def test_spans_apart_add_up():
    assert _saving((0, 100, 100), (200, 300, 40)).total_ns == 140


def test_a_moment_is_saved_once():
    # 0-100 whole, 50-150 half: 100 and then 50 at half.
    assert _saving((0, 100, 100), (50, 150, 50)).total_ns == 125


def test_of_two_findings_about_the_same_time_the_better_counts():
    copies = _saving((0, 100, 100))
    fused = _saving((0, 100, 40), (100, 200, 40))

    assert saved_time((copies, fused)).within_ns() == 140
    assert copies.total_ns + fused.total_ns == 180


def test_only_what_lies_within_counts():
    within = Intervals(np.array([50]), np.array([150]))

    assert saved_time([_saving((0, 100, 50), (120, 220, 100))]).within_ns(within) == 25 + 30


def test_nothing_saves_nothing():
    assert saved_time(()).within_ns() == 0
    assert _saving((5, 5, 0)).total_ns == 0


_SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(0, 4)), max_size=6)


@given(_SPANS, _SPANS)
def test_together_is_what_a_slow_count_of_each_moment_gives(first, second):
    def built(rows):
        rows = [(start, start + length, length * part // 4) for start, length, part in rows]
        return _saving(*rows) if rows else _saving((0, 0, 0))

    moments = [0.0] * 100
    savings = (built(first), built(second))
    for each in savings:
        columns = (each.start_ns.tolist(), each.end_ns.tolist(), each.saved_ns.tolist())
        for start, end, saved in zip(*columns, strict=True):
            for moment in range(start, end):
                moments[moment] = max(moments[moment], saved / (end - start))

    together_ns = saved_time(savings).within_ns()
    assert together_ns == pytest.approx(sum(moments), abs=0.51)
    assert together_ns <= savings[0].total_ns + savings[1].total_ns + 1
