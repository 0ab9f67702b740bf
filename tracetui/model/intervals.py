"""Union, overlap and difference of time spans, exact in integers."""

from dataclasses import dataclass

import numpy as np

from tracetui.model.arrays import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Spans that neither touch nor overlap, in order: the canonical form of a set of times."""

    starts: Int64s
    ends: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def total_ns(self) -> int:
        """Return the covered time."""
        return int((self.ends - self.starts).sum())

    @property
    def span_ns(self) -> int:
        """Return first start to last end; 0 if there is none."""
        return int(self.ends[-1] - self.starts[0]) if len(self.starts) else 0


def union(starts: Int64s, ends: Int64s) -> Intervals:
    """Return the union of spans in any order; spans without length vanish."""
    kept = ends > starts
    starts, ends = starts[kept], ends[kept]
    if not len(starts):
        return Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    reach = np.maximum.accumulate(ends[order])
    opens = np.flatnonzero(np.concatenate(([True], starts[1:] > reach[:-1])))
    closes = np.concatenate((opens[1:] - 1, [len(starts) - 1]))
    return Intervals(starts[opens], reach[closes])


def join(first: Intervals, second: Intervals) -> Intervals:
    """Return the time that either covers."""
    return union(
        np.concatenate((first.starts, second.starts)), np.concatenate((first.ends, second.ends))
    )


def complement(spans: Intervals, start_ns: int, end_ns: int) -> Intervals:
    """Return the part of ``start_ns`` to ``end_ns`` that is not covered."""
    starts = np.concatenate((np.array([start_ns], np.int64), np.clip(spans.ends, start_ns, end_ns)))
    ends = np.concatenate((np.clip(spans.starts, start_ns, end_ns), np.array([end_ns], np.int64)))
    kept = ends > starts
    return Intervals(starts[kept], ends[kept])


def intersection(first: Intervals, second: Intervals) -> Intervals:
    """Return the time that both cover."""
    if not len(first) or not len(second):
        return Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    low = min(int(first.starts[0]), int(second.starts[0]))
    high = max(int(first.ends[-1]), int(second.ends[-1]))
    outside = join(complement(first, low, high), complement(second, low, high))
    return complement(outside, low, high)


def difference(first: Intervals, second: Intervals) -> Intervals:
    """Return the time that the first covers and the second does not."""
    if not len(first):
        return first
    low, high = int(first.starts[0]), int(first.ends[-1])
    return intersection(first, complement(second, low, high))


def covered_before(spans: Intervals, times: Int64s) -> Int64s:
    """Return how much of the time before each of ``times`` is covered."""
    if not len(spans):
        return np.zeros(len(times), np.int64)
    prefix = np.concatenate(([0], np.cumsum(spans.ends - spans.starts)))
    row = np.searchsorted(spans.starts, times, side="right") - 1
    inside = np.clip(times - spans.starts[row], 0, (spans.ends - spans.starts)[row])
    return np.where(row < 0, 0, prefix[np.maximum(row, 0)] + inside)
