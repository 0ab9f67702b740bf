"""Medians, percentiles and how many runs there are, worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.capture.measure import (
    MAX_RUNS,
    MIN_RUNS,
    N_ROUNDS,
    quantile_ns,
    run_times_ns,
    runs_per_round,
    timing,
)


def test_median_and_percentiles_of_eleven_runs():
    found = timing([50, 10, 40, 20, 30, 60, 110, 70, 100, 80, 90], 5)

    assert (found.p10_ns, found.median_ns, found.p90_ns) == (20, 60, 100)
    assert found.runs_ns[0] == 50
    assert found.members()["runs_ns"][:2] == [50, 10]


def test_quantile_lies_between_neighbours():
    assert quantile_ns([10, 20], 0.5) == 15
    assert quantile_ns([7], 0.9) == 7


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=50), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(runs: list[int], ratio: float):
    assert quantile_ns(runs, ratio) == pytest.approx(float(np.quantile(runs, ratio)), abs=1)


def test_no_runs_have_no_quantile():
    with pytest.raises(ValueError, match="no runs"):
        quantile_ns([], 0.5)


def test_runs_are_between_few_and_many_and_at_least_one_a_round():
    assert runs_per_round(1) * N_ROUNDS == MAX_RUNS
    assert runs_per_round(10**10) * N_ROUNDS == MIN_RUNS
    assert runs_per_round(10**10, asked=1) == 1
    # A second over 20 ms is 50 runs, 10 in each of 5 rounds.
    assert runs_per_round(20_000_000) == 10


def test_every_run_is_synchronised_at_both_edges():
    order: list[str] = []

    times = run_times_ns(lambda: order.append("run"), lambda: order.append("wait"), 2)

    assert order == ["wait", "run", "wait"] * 2
    assert len(times) == 2
    assert min(times) > 0
