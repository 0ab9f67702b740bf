"""Parents, depths and self times from starts and ends: vectorised, and exact where slices cross."""

from dataclasses import dataclass

import numpy as np

from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, group_sums
from tracetui.model.intervals import union

TOLERANCE_NS = 1
"""How much later than its parent a child may end: producers round to the nanosecond."""


@dataclass(frozen=True, slots=True, eq=False)
class Nesting:
    """Who lies in whom."""

    parent_id: Int32s
    crosses: Bools
    """Which slices overlap an earlier one of their track without lying in it."""

    @property
    def depth(self) -> Int32s:
        """Return how many ancestors each slice has."""
        return depths(self.parent_id)


def nest(track_id: Int32s, ts_ns: Int64s, end_ns: Int64s) -> Nesting:
    """Return the nesting of slices sorted by ``(track, start, -end, order)``.

    A slice's parent is the latest-starting earlier slice of its track that contains it, ends at
    most ``TOLERANCE_NS`` before it, and is still open when it starts. Rows between a slice and a
    candidate's own candidate cannot hold it if the candidate does not, so every open search may
    skip there: the searches of all slices advance together and halve their way.
    """
    n = len(ts_ns)
    candidate = np.arange(-1, n - 1, dtype=np.int64)
    if n:
        first = np.concatenate(([True], track_id[1:] != track_id[:-1]))
        candidate[first] = NO_ID
    crosses = np.zeros(n, bool)
    open_rows = np.flatnonzero(candidate >= 0)
    while len(open_rows):
        held_by = candidate[open_rows]
        is_open = end_ns[held_by] > ts_ns[open_rows]
        contains = is_open & (end_ns[held_by] >= end_ns[open_rows] - TOLERANCE_NS)
        crosses[open_rows[is_open & ~contains]] = True
        open_rows, held_by = open_rows[~contains], held_by[~contains]
        candidate[open_rows] = candidate[held_by]
        open_rows = open_rows[candidate[open_rows] >= 0]
    return Nesting(candidate.astype(np.int32), crosses)


def depths(parent_id: Int32s) -> Int32s:
    """Return how many ancestors each slice has."""
    depth = (parent_id >= 0).astype(np.int32)
    ancestor = parent_id.astype(np.int64)
    rows = np.flatnonzero(ancestor >= 0)
    while len(rows):
        above = ancestor[rows]
        step_depth, step_ancestor = depth[above], ancestor[above]
        depth[rows] += step_depth
        ancestor[rows] = step_ancestor
        rows = rows[step_ancestor >= 0]
    return depth


def self_times(parent_id: Int32s, ts_ns: Int64s, end_ns: Int64s, crosses: Bools) -> Int64s:
    """Return each slice's duration less the union of its children, clipped to it; never below 0."""
    children = np.flatnonzero(parent_id >= 0)
    parents = parent_id[children]
    starts = ts_ns[children]
    ends = np.minimum(end_ns[children], end_ns[parents])
    covered = group_sums(parents, np.maximum(ends - starts, 0), len(ts_ns))
    for parent in np.unique(parent_id[crosses & (parent_id >= 0)]).tolist():
        own = parents == parent
        covered[parent] = union(starts[own], ends[own]).total_ns
    own_ns: Int64s = np.maximum(end_ns - ts_ns - covered, 0)
    return own_ns
