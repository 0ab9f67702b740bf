"""Each gap of a device: why, which host slice and Python frame held it, how full the queue was.

``utilization`` cuts idle time into pieces of one cause, for sums that add up. Here a gap is looked
at as a whole, as somebody does who puts the cursor into it.
"""

from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from tracetui.analysis.innermost import (
    frame_tracks,
    innermost_frames,
    innermost_host,
    with_source,
)
from tracetui.analysis.launches import queue_depth
from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import (
    GapCause,
    Gaps,
    artefact_slices,
    gaps,
    sync_slices,
    utilization,
)
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.trace import Trace

NO_DEPTH: Final = -1
"""The depth of a queue that cannot be told."""
N_CAUSES: Final = len(GapCause)


@dataclass(frozen=True, slots=True, eq=False)
class WholeGaps:
    """The gaps of a device between its first and its last work, in order; columns of one length."""

    start_ns: Int64s
    end_ns: Int64s
    cause: Int8s
    """``GapCause`` of most of the gap."""
    cause_ns: Int64s
    """How long each cause lasted; one row for each gap, one column for each ``GapCause``."""
    next_slice_id: Int32s
    """The work that ends the gap."""
    launch_id: Int32s
    """The call that launched that work, or ``NO_ID``."""
    longest_start_ns: Int64s
    """Where the longest piece of the gap's cause starts."""
    longest_end_ns: Int64s
    waited_id: Int32s
    """The synchronise call or the profiler's record that is the cause, or ``NO_ID``."""
    is_queued: Bools
    """Whether that call had returned when the gap began: what the host did then held nothing.

    A work of unknown call was queued if it starts while the host still sits in a synchronise call.
    """

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def dur_ns(self) -> Int64s:
        """Return the length of each gap."""
        return self.end_ns - self.start_ns

    @property
    def main_ns(self) -> Int64s:
        """Return how long each gap's main cause lasted."""
        longest: Int64s = self.cause_ns.max(axis=1, initial=0)
        return longest

    @property
    def hidden_launch_ns(self) -> Int64s:
        """Return how long each gap would be if the launch had come early enough."""
        avoidable = self.cause_ns[:, [GapCause.LAUNCH, GapCause.HOST_WAIT]].sum(axis=1)
        rest: Int64s = self.dur_ns - avoidable
        return rest

    def at(self, time_ns: int) -> int:
        """Return the gap that holds a moment, or ``NO_ID``."""
        row = int(np.searchsorted(self.start_ns, time_ns, side="right")) - 1
        return row if row >= 0 and time_ns < self.end_ns[row] else NO_ID


@dataclass(frozen=True, slots=True, eq=False)
class IdleGaps(WholeGaps):
    """The same with what lies around each gap on host and device."""

    previous_slice_id: Int32s
    """The work that ended last before the gap."""
    holder_id: Int32s
    """The host slice that held the gap, or ``NO_ID``.

    The synchronise call, the launch call or the profiler's own overhead where one of these is the
    cause; where the host came late, the slice that was the innermost for longest on the thread that
    was to launch. None where that thread had no slice open, where the device itself took its time,
    and where the work was queued already and no profiler stood in between.
    """
    frame_id: Int32s
    """The Python frame that was the innermost for longest meanwhile, or ``NO_ID``."""
    source_id: Int32s
    """The nearest frame that says file and line: that one or one above it; else that one."""
    depth_before: Int64s
    """Work that had been launched and had not begun when the gap started; ``NO_DEPTH`` unknown."""
    drained_from: Int64s
    """The deepest the queue had been since it was last empty, before the gap; ``NO_DEPTH`` unknown."""


@dataclass(frozen=True, slots=True)
class IdleHolder:
    """Idle time of one cause that slices of one name held, over all devices.

    Of each gap only the time of its main cause counts.
    """

    cause: GapCause
    name: str
    """The host slice's name; empty where no slice was open."""
    frame: str
    """The name of the nearest Python frame with file and line; empty where none was recorded."""
    n_gaps: int
    total_ns: int
    longest_id: int
    """The host slice that held the longest of these gaps, or ``NO_ID``."""
    longest_ns: int
    longest_start_ns: int


@once_per_trace
def whole_gaps(trace: Trace) -> dict[int, WholeGaps]:
    """Return the gaps of each device that did any work, by its number, without their surroundings."""
    return {use.device: _whole_gaps(trace, use.device) for use in utilization(trace)}


@once_per_trace
def idle_gaps(trace: Trace) -> dict[int, IdleGaps]:
    """Return the gaps of each device that did any work, by its number."""
    return {use.device: _idle_gaps(trace, use.device) for use in utilization(trace)}


@once_per_trace
def idle_holders(trace: Trace) -> tuple[IdleHolder, ...]:
    """Return who held how much idle time, the most first."""
    found = [each for each in idle_gaps(trace).values() if len(each)]
    if not found:
        return ()
    n_names = len(trace.names) + 1
    main_ns = np.concatenate([each.main_ns for each in found])
    holder_id = np.concatenate([each.holder_id for each in found])
    start_ns = np.concatenate([each.start_ns for each in found])
    key = np.concatenate(
        [
            (each.cause.astype(np.int64) * n_names + _name_ids(trace, each.holder_id) + 1) * n_names
            + (_name_ids(trace, each.source_id) + 1)
            for each in found
        ]
    )
    # Longest first, so that the first of each group is its longest.
    order = np.lexsort((start_ns, -main_ns))
    main_ns, holder_id, start_ns = main_ns[order], holder_id[order], start_ns[order]
    keys, first, group = np.unique(key[order], return_index=True, return_inverse=True)
    n_gaps = np.bincount(group, minlength=len(keys))
    total_ns = group_sums(group, main_ns, len(keys))
    holders = []
    for row in np.argsort(-total_ns, kind="stable").tolist():
        rest, frame = divmod(int(keys[row]), n_names)
        cause, name = divmod(rest, n_names)
        holders.append(
            IdleHolder(
                cause=GapCause(cause),
                name=trace.names[name - 1] if name else "",
                frame=trace.names[frame - 1] if frame else "",
                n_gaps=int(n_gaps[row]),
                total_ns=int(total_ns[row]),
                longest_id=int(holder_id[first[row]]),
                longest_ns=int(main_ns[first[row]]),
                longest_start_ns=int(start_ns[first[row]]),
            )
        )
    return tuple(holders)


def _name_ids(trace: Trace, slice_ids: Int32s) -> Int64s:
    return np.where(slice_ids >= 0, trace.slices.name_id[slice_ids], NO_ID).astype(np.int64)


def _whole_gaps(trace: Trace, device: int) -> WholeGaps:
    pieces = gaps(trace, device)
    n_pieces = len(pieces)
    is_first = np.ones(n_pieces, bool)
    is_first[1:] = pieces.start_ns[1:] != pieces.end_ns[:-1]
    # Touching pieces are one gap.
    first = np.flatnonzero(is_first)
    last = np.concatenate((first[1:] - 1, [n_pieces - 1]))[: len(first)]
    gap = np.cumsum(is_first) - 1
    cause_ns = np.zeros((len(first), N_CAUSES), np.int64)
    np.add.at(cause_ns, (gap, pieces.cause), pieces.end_ns - pieces.start_ns)
    cause = cause_ns.argmax(axis=1).astype(np.int8) if len(first) else np.empty(0, np.int8)
    longest = _longest_pieces(pieces, gap, cause)
    longest_start_ns = pieces.start_ns[longest]
    start_ns, end_ns = pieces.start_ns[first], pieces.end_ns[last]
    next_id = pieces.next_slice_id[last]
    launch_id = links(trace).launch_id[next_id]
    waited = np.full(len(first), NO_ID, np.int64)
    for which, rows in (
        (GapCause.SYNC, sync_slices(trace)),
        (GapCause.ARTEFACT, artefact_slices(trace)),
    ):
        own = cause == which
        waited[own] = _covering(trace, rows, longest_start_ns[own])
    ends = trace.slices.end_ns
    is_queued = (launch_id != NO_ID) & (ends[launch_id] <= start_ns)
    # A host that sits in a synchronise call launches nothing: what starts meanwhile was queued.
    is_sync = (cause == GapCause.SYNC) & (launch_id == NO_ID)
    is_queued |= is_sync & (ends[waited] >= end_ns)
    return WholeGaps(
        start_ns=frozen(start_ns),
        end_ns=frozen(end_ns),
        cause=frozen(cause),
        cause_ns=frozen(cause_ns),
        next_slice_id=frozen(next_id),
        launch_id=frozen(launch_id),
        longest_start_ns=frozen(longest_start_ns),
        longest_end_ns=frozen(pieces.end_ns[longest]),
        waited_id=frozen(waited.astype(np.int32)),
        is_queued=frozen(is_queued),
    )


def _longest_pieces(pieces: Gaps, gap: Int64s, cause: Int8s) -> Int64s:
    """Return for each gap its cause's longest piece."""
    length_ns = np.where(pieces.cause == cause[gap], pieces.end_ns - pieces.start_ns, -1)
    order = np.lexsort((-np.arange(len(gap)), length_ns, gap))
    longest = np.empty(len(cause), np.int64)
    # Of several assignments to one gap the last stays, which is the longest.
    longest[gap[order]] = order
    return longest


def _idle_gaps(trace: Trace, device: int) -> IdleGaps:
    whole = whole_gaps(trace)[device]
    holder, frame = _holders(trace, whole)
    is_free = whole.is_queued & (whole.cause != GapCause.ARTEFACT)
    holder[is_free], frame[is_free] = NO_ID, NO_ID
    depth, drained_from = _depths(trace, device, whole.start_ns)
    return IdleGaps(
        **{field.name: getattr(whole, field.name) for field in fields(WholeGaps)},
        previous_slice_id=frozen(_ended_last(trace, device, whole.start_ns)),
        holder_id=frozen(holder.astype(np.int32)),
        frame_id=frozen(frame.astype(np.int32)),
        source_id=frozen(with_source(trace, frame).astype(np.int32)),
        depth_before=frozen(depth),
        drained_from=frozen(drained_from),
    )


def _holders(trace: Trace, whole: WholeGaps) -> tuple[Int64s, Int64s]:
    """Return the host slice and the Python frame that held each gap, by its cause's longest piece."""
    slices = trace.slices
    holder = whole.waited_id.astype(np.int64)
    is_launch, is_late = whole.cause == GapCause.LAUNCH, whole.cause == GapCause.HOST_WAIT
    holder[is_launch] = whole.launch_id[is_launch]
    is_known = whole.launch_id >= 0
    launch_track = np.where(is_known, slices.track_id[whole.launch_id], NO_ID).astype(np.int64)
    start_ns, end_ns = whole.longest_start_ns, whole.longest_end_ns
    late_track = np.where(is_late, launch_track, NO_ID)
    late = innermost_host(trace).longest(late_track, start_ns, end_ns)
    holder[is_late] = late[is_late]

    held_track = np.where(holder >= 0, slices.track_id[holder], launch_track)
    by_host = is_late | is_launch | (whole.cause == GapCause.SYNC)
    frame_track = np.where(by_host & (held_track >= 0), frame_tracks(trace)[held_track], NO_ID)
    return holder, innermost_frames(trace).longest(frame_track, start_ns, end_ns)


def _covering(trace: Trace, rows: Int64s, times: Int64s) -> Int64s:
    """Return of ``rows`` that started before each moment the one that ends last."""
    slices = trace.slices
    order = rows[np.lexsort((rows, slices.ts_ns[rows]))]
    ends = slices.end_ns[order]
    reach = np.maximum.accumulate(ends) if len(ends) else ends
    longest = np.maximum.accumulate(np.where(ends == reach, np.arange(len(order)), 0))
    place = np.searchsorted(slices.ts_ns[order], times, side="right") - 1
    covering: Int64s = order[longest[place]]
    return covering


def _ended_last(trace: Trace, device: int, times: Int64s) -> Int32s:
    """Return the device's work that ends at each of ``times``, the longest of several."""
    slices = trace.slices
    of_track = np.array([track.device for track in trace.tracks], np.int64)
    rows = np.flatnonzero(slices.is_device_work())
    rows = rows[of_track[slices.track_id[rows]] == device]
    ends = slices.end_ns[rows]
    order = rows[np.lexsort((slices.dur_ns[rows], ends))]
    found: Int32s = order[np.searchsorted(slices.end_ns[order], times, side="right") - 1].astype(
        np.int32
    )
    return found


def _depths(trace: Trace, device: int, times: Int64s) -> tuple[Int64s, Int64s]:
    """Return the depth of the device's queues at each moment, and what they drained from."""
    queues = [queue for queue in queue_depth(trace) if queue.device == device]
    unknown = np.full(len(times), NO_DEPTH, np.int64)
    if not queues:
        return unknown, unknown
    time_ns = np.concatenate([queue.time_ns for queue in queues])
    change = np.concatenate([np.diff(queue.depth, prepend=0) for queue in queues])
    order = np.lexsort((-change, time_ns))
    time_ns, depth = time_ns[order], np.cumsum(change[order])
    # A clock that runs apart may start work before its call: less than nothing is not in a queue.
    depth = np.maximum(depth, 0)
    is_empty = depth == 0
    run = np.cumsum(is_empty)
    base = run * (int(depth.max()) + 1)
    deepest = np.maximum.accumulate(base + depth) - base
    row = np.searchsorted(time_ns, times, side="right") - 1
    before = np.where(row >= 0, depth[row], 0)
    # At an empty queue a new run starts; what drained is the run before it.
    peak_row = np.where(is_empty[row], row - 1, row)
    drained_from = np.where(peak_row >= 0, deepest[peak_row], 0)
    return before, np.maximum(drained_from, before)
