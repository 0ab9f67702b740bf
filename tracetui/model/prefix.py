"""Sums over any window of spans that do not overlap, by binary search."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.model.arrays import NO_ID, Int64s, frozen

BLOCK: Final = 16
"""How many spans share one maximum in ``BlockMaxima``."""


@dataclass(frozen=True, slots=True, eq=False)
class PrefixSums:
    """Spans in order that do not overlap; what a window holds costs two searches at any zoom."""

    starts: Int64s
    ends: Int64s
    touch_ends: Int64s
    """As ``ends``, but a span without length lasts 1 ns, so that one window holds it."""
    sums: Int64s
    """Covered time before each span, and the total; one longer than ``starts``."""

    @classmethod
    def of(cls, starts: Int64s, ends: Int64s) -> "PrefixSums":
        """Return the sums of spans sorted by start, of which none reaches into the next."""
        touch_ends = ends
        if bool((ends <= starts).any()):
            touch_ends = frozen(np.maximum(ends, starts + 1))
        sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(ends - starts)))
        return cls(starts, ends, touch_ends, frozen(sums))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def total_ns(self) -> int:
        """Return the covered time."""
        return int(self.sums[-1])

    def covered_before(self, times: Int64s) -> Int64s:
        """Return how much of the time before each of ``times`` is covered, exactly."""
        if not len(self.starts):
            return np.zeros(len(times), np.int64)
        row = np.searchsorted(self.starts, times, side="right") - 1
        at = np.maximum(row, 0)
        inside = np.clip(times - self.starts[at], 0, self.ends[at] - self.starts[at])
        covered: Int64s = np.where(row < 0, 0, self.sums[at] + inside)
        return covered

    def covered(self, edges: Int64s) -> Int64s:
        """Return the covered time between each two neighbours of ``edges``."""
        return np.diff(self.covered_before(edges))

    def covered_between(self, start_ns: int, end_ns: int) -> int:
        """Return the covered time of one window."""
        return int(self.covered(np.array([start_ns, end_ns], np.int64))[0])

    def touching(self, edges: Int64s) -> tuple[Int64s, Int64s]:
        """Return the first row that touches each window and the first row after those that do.

        A window holds its left edge and not its right one.
        """
        first = np.searchsorted(self.touch_ends, edges[:-1], side="right").astype(np.int64)
        after = np.searchsorted(self.starts, edges[1:], side="left").astype(np.int64)
        return first, np.maximum(after, first)

    def count_between(self, start_ns: int, end_ns: int) -> int:
        """Return how many spans touch one window."""
        first, after = self.touching(np.array([start_ns, end_ns], np.int64))
        return int(after[0] - first[0])


@dataclass(frozen=True, slots=True, eq=False)
class BlockMaxima:
    """The longest of any run of spans, found by looking at blocks of them."""

    durations: Int64s
    maxima: Int64s
    """The longest duration of each block."""

    @classmethod
    def of(cls, durations: Int64s) -> "BlockMaxima":
        """Return the maxima of these durations."""
        starts = np.arange(0, len(durations), BLOCK)
        maxima = np.maximum.reduceat(durations, starts) if len(durations) else durations
        return cls(durations, frozen(maxima))

    def longest(self, first: int, after: int) -> int:
        """Return the row with the longest span of ``first`` to ``after``, or ``NO_ID`` of none.

        Of equals the earliest wins.
        """
        if after <= first:
            return NO_ID
        left, right = -(-first // BLOCK), after // BLOCK
        if left >= right:
            return first + int(self.durations[first:after].argmax())
        block = left + int(self.maxima[left:right].argmax())
        runs = (
            (first, left * BLOCK),
            (block * BLOCK, (block + 1) * BLOCK),
            (right * BLOCK, after),
        )
        rows = [low + int(self.durations[low:high].argmax()) for low, high in runs if high > low]
        return max(rows, key=lambda row: (int(self.durations[row]), -row))
