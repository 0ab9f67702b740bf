"""Timing without the profiler: what is kept of many runs, and how many there are."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter_ns
from typing import Any, Final

N_ROUNDS: Final = 5
"""Variants take turns this many times: a machine that grows warm slows all of them alike."""
BUDGET_NS: Final = 1_000_000_000
"""How long one variant is timed in all."""
MIN_RUNS: Final = 5
MAX_RUNS: Final = 100


@dataclass(frozen=True, slots=True)
class Timing:
    """The runs of one variant, each synchronised at both edges."""

    runs_ns: tuple[int, ...]
    """In the order of running."""
    median_ns: int
    p10_ns: int
    p90_ns: int
    n_rounds: int
    """In how many rounds the variants took turns."""

    def members(self) -> dict[str, Any]:
        """Return the timing as members of a JSON object."""
        return {**asdict(self), "runs_ns": list(self.runs_ns)}


def quantile_ns(runs_ns: Sequence[int], ratio: float) -> int:
    """Return a quantile, interpolated between neighbours as numpy's default does.

    Raises:
        ValueError: There are no runs.
    """
    if not runs_ns:
        raise ValueError("no runs")
    ordered = sorted(runs_ns)
    place = ratio * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return round(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def timing(runs_ns: Sequence[int], n_rounds: int) -> Timing:
    """Return the runs with their median and their 10th and 90th percentile."""
    return Timing(
        tuple(runs_ns),
        quantile_ns(runs_ns, 0.5),
        quantile_ns(runs_ns, 0.1),
        quantile_ns(runs_ns, 0.9),
        n_rounds,
    )


def runs_per_round(run_ns: int, asked: int | None = None) -> int:
    """Return how many runs a variant has in each round, from how long one takes."""
    n_runs = asked or min(MAX_RUNS, max(MIN_RUNS, BUDGET_NS // max(1, run_ns)))
    return max(1, math.ceil(n_runs / N_ROUNDS))


def run_times_ns(
    run: Callable[[], object], synchronise: Callable[[], None], n_runs: int
) -> list[int]:
    """Return how long each of several runs took, the device idle before and after each."""
    times = []
    for _ in range(n_runs):
        synchronise()
        start = perf_counter_ns()
        run()
        synchronise()
        times.append(perf_counter_ns() - start)
    return times
