"""What each kernel, copy and memset added up to."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.work_class import work_class
from tracetui.model.arrays import NO_ID, Float64s, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceFlag, SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class KernelStats:
    """One row for each kernel name, most time first."""

    name_id: Int32s
    calls: Int64s
    total_ns: Int64s
    mean_ns: Float64s
    median_ns: Float64s
    """Exact: the mean of the middle two where their number is even."""
    min_ns: Int64s
    max_ns: Int64s
    work_class: Int8s
    """``WorkClass``."""
    geometry_id: Int32s
    """The most common launch geometry, or ``NO_ID``; of equals, the first in the file's list."""
    operators: tuple[tuple[str, ...], ...]
    """Which operators or annotations launch it, most device time first."""
    streams: tuple[tuple[int, ...], ...]
    """The streams it ran on."""
    n_impossible: Int64s
    """How many cannot have run as long as the file says; a ranking has to mark such a row."""
    slice_ids: Int64s
    """All kernels, row after row and in time order within each."""
    first: Int64s
    """Where each row's kernels start in ``slice_ids``; one longer than the rows."""

    def __len__(self) -> int:
        return len(self.name_id)

    def instances(self, name_id: int) -> Int64s:
        """Return the kernels of this name in time order; none for another name."""
        found = np.flatnonzero(self.name_id == name_id)
        if not len(found):
            return np.empty(0, np.int64)
        row = int(found[0])
        return self.slice_ids[self.first[row] : self.first[row + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class MemopStats:
    """One row for each name of a copy or memset, most time first."""

    name_id: Int32s
    calls: Int64s
    total_ns: Int64s
    n_bytes: Int64s
    """Bytes moved, of the calls that say so; -1 where none does."""

    def __len__(self) -> int:
        return len(self.name_id)


@once_per_trace
def kernel_stats(trace: Trace) -> KernelStats:
    """Return the statistics of each kernel name; of kernels alone, no copies or memsets."""
    rows = np.flatnonzero(trace.slices.kind == SliceKind.KERNEL)
    return device_stats(trace, rows, trace.slices.dur_ns[rows])


def device_stats(trace: Trace, rows: Int64s, dur_ns: Int64s) -> KernelStats:
    """Return the statistics by name of some device slices.

    Args:
        trace: The trace.
        rows: The slices, ascending.
        dur_ns: How long each of them counts: all of it, or the part inside a range of time.
    """
    slices = trace.slices
    names, group = np.unique(slices.name_id[rows], return_inverse=True)
    n = len(names)
    calls = np.bincount(group, minlength=n).astype(np.int64)
    total_ns = group_sums(group, dur_ns, n)
    rank = np.lexsort((names, -total_ns))
    place_of = np.empty(n, np.int64)
    place_of[rank] = np.arange(n)
    group = place_of[group]
    names, calls, total_ns = names[rank].astype(np.int32), calls[rank], total_ns[rank]
    first = np.concatenate(([0], np.cumsum(calls)))

    by_time = rows[np.lexsort((rows, slices.ts_ns[rows], group))]
    ordered_ns = dur_ns[np.lexsort((dur_ns, group))]
    middle = first[:-1] + calls // 2
    below = first[:-1] + (calls - 1) // 2
    classes = [work_class(trace.names[name_id]) for name_id in names.tolist()]
    is_impossible = (slices.flags[rows] & np.uint8(SliceFlag.IMPOSSIBLE)) != 0
    owner = links(trace).owner_id[rows]
    owner_name = np.where(owner >= 0, slices.name_id[owner], NO_ID)
    stream_of_track = np.array([track.stream for track in trace.tracks], np.int64)
    stream = stream_of_track[slices.track_id[rows]] if len(rows) else rows
    return KernelStats(
        name_id=frozen(names),
        calls=frozen(calls),
        total_ns=frozen(total_ns),
        mean_ns=frozen(total_ns / calls),
        median_ns=frozen((ordered_ns[below] + ordered_ns[middle]) / 2),
        min_ns=frozen(ordered_ns[first[:-1]]),
        max_ns=frozen(ordered_ns[first[1:] - 1]),
        work_class=frozen(np.array(classes, np.int8).reshape(n)),
        geometry_id=frozen(_most_common(group, slices.geometry_id[rows], n)),
        operators=tuple(
            tuple(trace.names[name_id] for name_id in own)
            for own in _grouped(group, owner_name, dur_ns, n)
        ),
        streams=tuple(tuple(sorted(own)) for own in _grouped(group, stream, dur_ns, n)),
        n_impossible=frozen(group_sums(group, is_impossible.astype(np.int64), n)),
        slice_ids=frozen(by_time),
        first=frozen(first),
    )


@once_per_trace
def memop_stats(trace: Trace) -> MemopStats:
    """Return the statistics of each name of a copy or memset."""
    slices = trace.slices
    rows = np.flatnonzero((slices.kind == SliceKind.MEMCPY) | (slices.kind == SliceKind.MEMSET))
    names, group = np.unique(slices.name_id[rows], return_inverse=True)
    n = len(names)
    total_ns = group_sums(group, slices.dur_ns[rows], n)
    moved = slices.n_bytes[rows]
    says = np.bincount(group[moved >= 0], minlength=n) > 0
    n_bytes = np.where(says, group_sums(group, np.maximum(moved, 0), n), NO_ID)
    rank = np.lexsort((names, -total_ns))
    return MemopStats(
        name_id=frozen(names[rank].astype(np.int32)),
        calls=frozen(np.bincount(group, minlength=n).astype(np.int64)[rank]),
        total_ns=frozen(total_ns[rank]),
        n_bytes=frozen(n_bytes[rank]),
    )


def _pairs(group: Int64s, value: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return the distinct pairs of group and value, the unknown value aside, and each row's pair.

    Rows of an unknown value have the pair ``NO_ID``.
    """
    known = value != NO_ID
    values, dense = np.unique(value[known], return_inverse=True)
    code = group[known] * max(len(values), 1) + dense
    codes, pair_of_known = np.unique(code, return_inverse=True)
    pair = np.full(len(group), NO_ID, np.int64)
    pair[known] = pair_of_known
    if not len(values):
        return codes, codes, pair
    return codes // len(values), values[codes % len(values)].astype(np.int64), pair


def _most_common(group: Int64s, value: Int32s, n_groups: int) -> Int32s:
    groups, values, pair = _pairs(group, value.astype(np.int64))
    count = np.bincount(pair[pair >= 0], minlength=len(groups))
    order = np.lexsort((-values, count, groups))
    found = np.full(n_groups, NO_ID, np.int32)
    # Of several assignments to one group the last stays, which is the largest count.
    found[groups[order]] = values[order]
    return found


def _grouped(
    group: Int64s, value: Int64s, weight_ns: Int64s, n_groups: int
) -> tuple[tuple[int, ...], ...]:
    """Return each group's distinct values, the heaviest first."""
    groups, values, pair = _pairs(group, value)
    weight = group_sums(pair[pair >= 0], weight_ns[pair >= 0], len(groups))
    found: list[list[int]] = [[] for _ in range(n_groups)]
    for place in np.lexsort((values, -weight)).tolist():
        found[int(groups[place])].append(int(values[place]))
    return tuple(tuple(own) for own in found)
