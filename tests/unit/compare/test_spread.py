"""Medians, intervals and verdicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.compare.spread import Verdict, median_ns, spread

SAMPLES = st.lists(st.integers(1, 10**9), min_size=1, max_size=12)


def ns(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize(("values", "median"), [((7,), 7), ((9, 1, 5), 5), ((4, 1, 2, 3), 2)])
def test_median_cuts_halves_off(values, median):
    assert median_ns(ns(*values)) == median


def test_one_instance_each_is_inconclusive_and_has_no_interval():
    found = spread(ns(100_000), ns(50_000))

    assert (found.ci, found.verdict) == (None, Verdict.INCONCLUSIVE)
    assert (found.delta_ns, found.ratio) == (-50_000, 0.5)


def test_one_instance_each_with_no_difference_is_no_change():
    assert spread(ns(100_000), ns(100_000)).verdict is Verdict.NO_CHANGE


@pytest.mark.parametrize(
    ("baseline", "candidate", "verdict"),
    [
        ((100_000, 101_000, 99_000, 100_500), (200_000, 202_000, 199_000, 201_000), Verdict.SLOWER),
        ((200_000, 202_000, 199_000, 201_000), (100_000, 101_000, 99_000, 100_500), Verdict.FASTER),
        # Four steps that lie within the other's range say nothing changed, for both are narrow.
        ((100_000, 100_800, 99_500), (100_200, 100_700, 99_400), Verdict.NO_CHANGE),
        # The same medians as a rise of 20 %, in noise of 40 %.
        ((100_000, 140_000, 80_000), (120_000, 170_000, 90_000), Verdict.INCONCLUSIVE),
        # Without any spread the difference is all there is.
        ((100_000, 100_000), (120_000, 120_000), Verdict.SLOWER),
        # Certain, and too small for two captures on one machine to differ in earnest.
        ((100_000, 100_000), (100_900, 100_900), Verdict.NO_CHANGE),
    ],
)
def test_verdict(baseline, candidate, verdict):
    assert spread(ns(*baseline), ns(*candidate)).verdict is verdict


def test_two_separate_pairs_are_not_enough_to_be_sure():
    # Of two and two samples of one kind, every third lies apart like this by chance.
    assert spread(ns(90, 100), ns(105, 125)).verdict is Verdict.INCONCLUSIVE


def test_interval_of_known_samples_holds_the_ratio_of_medians():
    found = spread(ns(*range(90, 111)), ns(*range(180, 221)))

    assert found.ci is not None
    low, high = found.ci
    assert 1.8 < low < 2.0 < high < 2.2


@given(SAMPLES, SAMPLES)
def test_exchanged_sides_invert_the_interval_and_turn_the_verdict(baseline, candidate):
    there, back = spread(ns(*baseline), ns(*candidate)), spread(ns(*candidate), ns(*baseline))

    assert back.delta_ns == -there.delta_ns
    assert back.verdict is there.verdict.swapped
    assert (there.ci is None) == (back.ci is None)
    if there.ci is not None and back.ci is not None:
        assert back.ci == pytest.approx((1 / there.ci[1], 1 / there.ci[0]))


@given(SAMPLES)
def test_samples_against_themselves_are_no_change(values):
    found = spread(ns(*values), ns(*reversed(values)))

    assert (found.delta_ns, found.verdict) == (0, Verdict.NO_CHANGE)


@given(SAMPLES, SAMPLES)
def test_same_samples_give_the_same_answer(baseline, candidate):
    first, second = (spread(ns(*baseline), ns(*candidate)) for _ in range(2))

    assert (first.ci, first.verdict) == (second.ci, second.verdict)


def test_zero_time_has_no_ratio():
    found = spread(ns(0, 0), ns(5, 5))

    assert (found.ratio, found.ci, found.verdict) == (None, None, Verdict.INCONCLUSIVE)


@pytest.mark.parametrize("n", [2, 4, 8, 30])
@pytest.mark.parametrize("kind", ["normal", "skewed", "outliers"])
def test_noise_alone_is_called_slower_in_fewer_than_one_in_twenty(n, kind):
    random = np.random.default_rng((4711, n))

    def drawn():
        factor = random.normal(1, 0.1, n)
        if kind == "skewed":
            factor = random.lognormal(0, 0.2, n)
        if kind == "outliers":
            factor = np.where(random.random(n) < 0.1, 3, factor)
        return (np.maximum(factor, 0.01) * 1_000_000).astype(np.int64)

    verdicts = [spread(drawn(), drawn()).verdict for _ in range(300)]

    assert verdicts.count(Verdict.SLOWER) < 0.05 * 300
    assert verdicts.count(Verdict.FASTER) < 0.05 * 300


def test_a_real_difference_in_noise_is_found():
    random = np.random.default_rng(1)
    found = [
        spread(
            (random.normal(1.0, 0.05, 20) * 1_000_000).astype(np.int64),
            (random.normal(1.2, 0.05, 20) * 1_000_000).astype(np.int64),
        ).verdict
        for _ in range(100)
    ]

    assert found.count(Verdict.SLOWER) >= 99
