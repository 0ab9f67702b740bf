"""Is a difference more than noise: medians, an interval of their ratio, and a verdict."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from tracetui.model.arrays import Float64s, Int64s

_SEED: Final = 20_260_713
_N_RESAMPLES: Final = 1_000
_MOST_DRAWN: Final = 64
"""Beyond so many samples the rank of a resample's median is drawn instead of the resample."""
_CONFIDENCE: Final = 0.95
SAME_RATIO: Final = 0.01
"""Two captures of one program differ by this much, for clocks drift: below it nothing changed."""
_NARROW_RATIO: Final = 0.03
"""An interval that holds 1 and reaches no further than this says that nothing changed."""
_LEAST_RESOLVED: Final = 2
"""Samples on each side from which a spread can be told at all."""

_T_OF: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Student's t for 95 % two-sided, by whole degrees of freedom from 1."""
_T_BEYOND: Final = 1.96


class Verdict(Enum):
    """What may be said of the candidate."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_CHANGE = "no change"
    INCONCLUSIVE = "inconclusive"

    @property
    def swapped(self) -> "Verdict":
        """Return the verdict with the two sides exchanged."""
        exchanged = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
        return exchanged.get(self, self)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One quantity on both sides; smaller is better."""

    baseline_ns: int
    """The median of the samples."""
    candidate_ns: int
    ci: tuple[float, float] | None
    """95 % interval of candidate to baseline; ``None`` where a side has one sample only."""
    verdict: Verdict
    baseline_samples: Int64s
    candidate_samples: Int64s

    @property
    def delta_ns(self) -> int:
        """Return candidate less baseline."""
        return self.candidate_ns - self.baseline_ns

    @property
    def ratio(self) -> float | None:
        """Return candidate to baseline; ``None`` where the baseline is 0."""
        return self.candidate_ns / self.baseline_ns if self.baseline_ns else None


def median_ns(samples: Int64s) -> int:
    """Return the median, halves cut off; the mean of the middle two where their number is even."""
    ordered = np.sort(samples)
    return int(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def spread(baseline: Int64s, candidate: Int64s) -> Spread:
    """Return the medians of two samples, and what may be said of their difference.

    The interval is a seeded percentile bootstrap of the ratio of medians. A percentile bootstrap
    is too sure of itself on a handful of samples, so that a verdict also needs one of two tests at
    5 %: Welch's t on the logarithms, or the rank sum. Exchanged
    sides give exactly the inverse interval.

    Args:
        baseline: One duration for each instance, at least one.
        candidate: The same of the other side.
    """
    base_ns, cand_ns = median_ns(baseline), median_ns(candidate)
    is_resolved = min(len(baseline), len(candidate)) >= _LEAST_RESOLVED
    ci = _interval(baseline, candidate) if is_resolved and base_ns > 0 and cand_ns > 0 else None
    return Spread(
        baseline_ns=base_ns,
        candidate_ns=cand_ns,
        ci=ci,
        verdict=_verdict(baseline, candidate, cand_ns - base_ns, ci),
        baseline_samples=baseline,
        candidate_samples=candidate,
    )


def _verdict(
    baseline: Int64s, candidate: Int64s, delta_ns: int, ci: tuple[float, float] | None
) -> Verdict:
    if delta_ns == 0:
        return Verdict.NO_CHANGE
    if ci is None:
        return Verdict.INCONCLUSIVE
    low, high = ci
    if low <= 1 <= high:
        is_narrow = high <= 1 + _NARROW_RATIO and low >= 1 / (1 + _NARROW_RATIO)
        return Verdict.NO_CHANGE if is_narrow else Verdict.INCONCLUSIVE
    larger, smaller = (candidate, baseline) if delta_ns > 0 else (baseline, candidate)
    if median_ns(larger) < (1 + SAME_RATIO) * median_ns(smaller):
        return Verdict.NO_CHANGE
    if not (differ_by_t(baseline, candidate) or _differ_by_rank(baseline, candidate)):
        return Verdict.INCONCLUSIVE
    return Verdict.SLOWER if delta_ns > 0 else Verdict.FASTER


def _interval(baseline: Int64s, candidate: Int64s) -> tuple[float, float]:
    """Return the interval; each side's draws depend on its samples and not on its role."""
    first, second = np.sort(baseline), np.sort(candidate)
    is_swapped = first.tolist() > second.tolist()
    streams = (1, 0) if is_swapped else (0, 1)
    logs = _log_medians(second, streams[1]) - _log_medians(first, streams[0])
    if np.array_equal(first, second):
        # Equal sides have no order: their interval must be its own inverse.
        logs = np.concatenate((logs, -logs))
    tail = (1 - _CONFIDENCE) / 2
    # Mirrored ranks keep the interval of exchanged sides exactly the inverse.
    ordered = np.sort(logs)
    rank = int(tail * len(ordered))
    return float(np.exp(ordered[rank])), float(np.exp(ordered[-1 - rank]))


def _log_medians(ordered: Int64s, stream: int) -> Float64s:
    n = len(ordered)
    random = np.random.default_rng((_SEED, stream, n))
    if n <= _MOST_DRAWN:
        drawn = np.sort(ordered[random.integers(0, n, (_N_RESAMPLES, n))], axis=1)
        medians = (drawn[:, (n - 1) // 2] + drawn[:, n // 2]) / 2
    else:
        # The median of n uniform ranks follows a beta distribution.
        rank = random.beta((n + 1) / 2, (n + 1) / 2, _N_RESAMPLES)
        medians = ordered[np.minimum((rank * n).astype(np.int64), n - 1)].astype(np.float64)
    logs: Float64s = np.log(np.maximum(medians, 0.5))
    return logs


def differ_by_t(baseline: Int64s, candidate: Int64s) -> bool:
    """Return whether Welch's t on the logarithms tells the sides apart at 5 %."""
    logs = [np.log(np.maximum(side, 1).astype(np.float64)) for side in (baseline, candidate)]
    shares = [float(side.var(ddof=1)) / len(side) for side in logs]
    error = sum(shares)
    distance = float(abs(logs[0].mean() - logs[1].mean()))
    if error == 0:
        return distance > 0
    freedom = error**2 / sum(
        share**2 / (len(side) - 1) for share, side in zip(shares, logs, strict=True)
    )
    row = int(freedom) - 1
    limit = _T_OF[max(row, 0)] if row < len(_T_OF) else _T_BEYOND
    return bool(distance > limit * error**0.5)


def _differ_by_rank(baseline: Int64s, candidate: Int64s) -> bool:
    """Return whether the rank sum tells the sides apart at 5 %, by its normal approximation.

    Below eight samples on a side the approximation is poor and the answer is no.
    """
    n, m = len(baseline), len(candidate)
    if min(n, m) < 8:
        return False
    ordered = np.sort(baseline)
    below = np.searchsorted(ordered, candidate, side="left")
    ties = np.searchsorted(ordered, candidate, side="right") - below
    wins = float(below.sum() + ties.sum() / 2)
    deviation = (n * m * (n + m + 1) / 12) ** 0.5
    return bool(abs(wins - n * m / 2) > _T_BEYOND * deviation)
