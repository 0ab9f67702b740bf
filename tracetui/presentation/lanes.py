"""The lanes of a trace: slices that do not overlap, ready to be cut into cells at any zoom."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen
from tracetui.model.intervals import union
from tracetui.model.nesting import TOLERANCE_NS
from tracetui.model.prefix import BlockMaxima, PrefixSums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.hues import slice_hues


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Slices of one track that do not overlap, in order."""

    track_id: int
    level: int
    """0 is the topmost of its track."""
    slice_ids: Int32s
    """Of a folded track: the slice that opens each covered span."""
    spans: PrefixSums
    longest: BlockMaxima
    hues: Int8s
    by_hue: tuple[tuple[int, PrefixSums], ...]
    """The sums of each hue that occurs; empty where there is but one."""
    is_union: bool = False
    """Whether a span stands for all that a folded track does in it."""

    @property
    def present(self) -> tuple[int, ...]:
        """Return the hues that occur."""
        return tuple(hue for hue, _ in self.by_hue) or tuple(self.hues[:1].tolist())

    def row_of(self, slice_id: int) -> int:
        """Return the row of a slice, or ``NO_ID`` if it lies elsewhere."""
        row = int(np.searchsorted(self.slice_ids, slice_id))
        is_here = row < len(self.slice_ids) and int(self.slice_ids[row]) == slice_id
        return row if is_here else NO_ID

    def row_at(self, at_ns: int) -> int:
        """Return the row that covers a time, else the next, else the last; ``NO_ID`` of none."""
        if not len(self.spans):
            return NO_ID
        row = int(np.searchsorted(self.spans.touch_ends, at_ns, side="right"))
        return min(row, len(self.spans) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class LaneIndex:
    """All lanes of a trace and what drawing them takes; built once."""

    lanes: tuple[Lane, ...]
    """By track, then level."""
    folded: dict[int, Lane]
    """The one lane of each track when folded."""
    lane_of: Int32s
    """The lane of each slice."""
    device_busy: PrefixSums
    """When any device works."""
    host_busy: PrefixSums
    total_ns: int
    has_device: bool
    hues: tuple[int, ...]
    """The hues that occur, in the order of legends."""

    def lanes_of(self, track_id: int) -> tuple[Lane, ...]:
        """Return a track's lanes, topmost first."""
        return tuple(lane for lane in self.lanes if lane.track_id == track_id)


def pack(starts: Int64s, ends: Int64s, depths: Int32s) -> Int32s:
    """Return a level for each slice of one track, sorted by start, so that none overlap in one.

    A slice takes the level of its depth, or the next free one below where it crosses another.
    Slices that overlap by no more than rounding share a level.
    """
    levels = depths.astype(np.int32)
    pending = np.empty(0, np.int64)
    level = 0
    deepest = int(levels.max()) if len(levels) else -1
    while level <= deepest or len(pending):
        rows = np.union1d(np.flatnonzero(depths == level), pending) if level <= deepest else pending
        levels[rows] = level
        pending = rows[_crossing(starts[rows], ends[rows])]
        level += 1
    return levels


def _crossing(starts: Int64s, ends: Int64s) -> Int64s:
    """Return the rows that reach into an earlier kept one; walks only through knots of them."""
    if len(starts) < 2:
        return np.empty(0, np.int64)
    reach = np.maximum.accumulate(ends)
    is_free = np.concatenate(([True], starts[1:] >= reach[:-1] - TOLERANCE_NS))
    if bool(is_free.all()):
        return np.empty(0, np.int64)
    evicted: list[int] = []
    opens = np.flatnonzero(is_free)
    closes = np.append(opens[1:], len(starts))
    knots = closes - opens > 1
    for low, high in zip(opens[knots].tolist(), closes[knots].tolist(), strict=True):
        kept_end = int(ends[low])
        rows = zip(starts[low + 1 : high].tolist(), ends[low + 1 : high].tolist(), strict=True)
        for row, (start, end) in enumerate(rows, start=low + 1):
            if start >= kept_end - TOLERANCE_NS:
                kept_end = max(kept_end, end)
            else:
                evicted.append(row)
    return np.array(evicted, np.int64)


def _lane(track_id: int, level: int, slice_ids: Int32s, trace: Trace, hues: Int8s) -> Lane:
    starts = trace.slices.ts_ns[slice_ids]
    ends = np.maximum.accumulate(starts + trace.slices.dur_ns[slice_ids])
    if len(starts) > 1:
        # Rounding may let a slice reach 1 ns into the next, which then is drawn from there on.
        starts[1:] = np.maximum(starts[1:], ends[:-1])
    return _lane_of(track_id, level, slice_ids, (starts, ends), hues[slice_ids])


def _lane_of(
    track_id: int, level: int, slice_ids: Int32s, spans: tuple[Int64s, Int64s], hues: Int8s
) -> Lane:
    starts, ends = spans
    present = np.unique(hues).tolist()
    by_hue = (
        tuple((hue, PrefixSums.of(starts[hues == hue], ends[hues == hue])) for hue in present)
        if len(present) > 1
        else ()
    )
    return Lane(
        track_id,
        level,
        slice_ids,
        PrefixSums.of(starts, ends),
        BlockMaxima.of(ends - starts),
        hues,
        by_hue,
    )


def lane_part(lane: Lane, chosen: Bools) -> Lane:
    """Return the lane of some of a lane's rows, which lie where they lay; not of a folded one."""
    spans = lane.spans.starts[chosen], lane.spans.ends[chosen]
    return _lane_of(lane.track_id, lane.level, lane.slice_ids[chosen], spans, lane.hues[chosen])


def folded_lane(track_id: int, slice_ids: Int32s, trace: Trace, hues: Int8s) -> Lane:
    """Return the one lane of some slices of a track, by start: a span wherever any of them is."""
    starts = trace.slices.ts_ns[slice_ids]
    covered = union(starts, starts + trace.slices.dur_ns[slice_ids])
    openers = slice_ids[np.searchsorted(starts, covered.starts, side="left")]
    return Lane(
        track_id,
        0,
        openers,
        PrefixSums.of(covered.starts, covered.ends),
        BlockMaxima.of(covered.ends - covered.starts),
        hues[openers],
        (),
        is_union=True,
    )


def _busy(trace: Trace, chosen: Bools) -> PrefixSums:
    starts = trace.slices.ts_ns[chosen]
    spans = union(starts, starts + trace.slices.dur_ns[chosen])
    return PrefixSums.of(spans.starts, spans.ends)


@once_per_trace
def lane_index(trace: Trace) -> LaneIndex:
    """Return the lanes of a trace."""
    slices = trace.slices
    hues = slice_hues(trace)
    bounds = np.searchsorted(slices.track_id, np.arange(len(trace.tracks) + 1))
    lanes: list[Lane] = []
    folded: dict[int, Lane] = {}
    lane_of = np.full(len(slices), NO_ID, np.int32)
    for track_id in range(len(trace.tracks)):
        low, high = int(bounds[track_id]), int(bounds[track_id + 1])
        if low == high:
            continue
        rows = np.arange(low, high, dtype=np.int32)
        ends = slices.ts_ns[low:high] + slices.dur_ns[low:high]
        levels = pack(slices.ts_ns[low:high], ends, slices.depth[low:high])
        order = np.argsort(levels, kind="stable")
        cuts = np.flatnonzero(np.diff(levels[order])) + 1
        own = [
            _lane(track_id, level, ids, trace, hues)
            for level, ids in enumerate(np.split(rows[order], cuts))
        ]
        for lane in own:
            lane_of[lane.slice_ids] = len(lanes)
            lanes.append(lane)
        folded[track_id] = own[0] if len(own) == 1 else folded_lane(track_id, rows, trace, hues)
    device = slices.is_device_work()
    host = np.isin(slices.kind, (SliceKind.OPERATOR, SliceKind.RUNTIME))
    return LaneIndex(
        tuple(lanes),
        folded,
        frozen(lane_of),
        _busy(trace, device),
        _busy(trace, host),
        trace.end_ns,
        bool(device.any()),
        tuple(np.unique(hues).tolist()),
    )
