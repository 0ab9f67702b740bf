"""What each piece of device work, and each call that waits for a device, waited for.

The rules follow Holistic Trace Analysis. Work waits for the work before it on its stream if that was
still running when its launch call began, else for the call. Recordings seldom hold the events by
which one stream waits for another: work that starts right after another stream's work ended, long
after its own call returned and its own stream ran dry, has waited for that.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.innermost import innermost_host
from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import KERNEL_WAIT_NS, sync_slices
from tracetui.model.arrays import NO_ID, Bools, Int64s, frozen
from tracetui.model.prefix import PrefixSums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

LEAST_HOLE_NS: Final = 20_000
"""A thread that records nothing for less than this was not waiting for another thread."""
_LONG_AGO: Final = -(1 << 62)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceWaits:
    """Device work by row, sorted by track and time; columns of one length."""

    slice_id: Int64s
    start_ns: Int64s
    end_ns: Int64s
    launch_id: Int64s
    """The call that launched it, or ``NO_ID``."""
    before: Int64s
    """The row that it waited for, or ``NO_ID`` where it waited for its launch call."""

    def __len__(self) -> int:
        return len(self.slice_id)


@dataclass(frozen=True, slots=True, eq=False)
class HostWaits:
    """The calls of one thread that returned because device work ended, by their return."""

    end_ns: Int64s
    call_id: Int64s
    row: Int64s
    """The row in ``DeviceWaits`` of the work whose end let the call return."""


@dataclass(frozen=True, slots=True, eq=False)
class Handovers:
    """The moments at which a thread took over from another, in time order.

    The thread records nothing for a while, during which another one runs operators; when it goes
    on, it goes on because of that one.
    """

    at_ns: Int64s
    """When the other thread's last operator before that ended."""
    from_track: Int64s
    """The other thread."""


@once_per_trace
def device_waits(trace: Trace) -> DeviceWaits:
    """Return all device work with what it waited for."""
    slices = trace.slices
    slice_id = np.flatnonzero(slices.is_device_work())
    start, end = slices.ts_ns[slice_id], slices.end_ns[slice_id]
    launch = links(trace).launch_id[slice_id].astype(np.int64)
    called = np.where(launch >= 0, slices.ts_ns[launch], _LONG_AGO)
    track = slices.track_id[slice_id].astype(np.int64)
    before = np.full(len(slice_id), NO_ID, np.int64)
    follows = np.flatnonzero(track[1:] == track[:-1]) + 1
    follows = follows[end[follows - 1] > called[follows]]
    before[follows] = follows - 1
    if len(slice_id):
        returned = np.where(launch >= 0, slices.end_ns[launch], _LONG_AGO)
        ready = np.where(before >= 0, end[before], returned)
        other = _other_stream(trace, track, start, end, ready)
        before = np.where(other >= 0, other, before)
    return DeviceWaits(
        slice_id=frozen(slice_id),
        start_ns=frozen(start),
        end_ns=frozen(end),
        launch_id=frozen(launch),
        before=frozen(before),
    )


def _other_stream(trace: Trace, track: Int64s, start: Int64s, end: Int64s, ready: Int64s) -> Int64s:
    """Return the row of another stream that each row waited for, or ``NO_ID``.

    ``ready`` is when the row's own call and stream were done with.
    """
    device = np.array([each.device for each in trace.tracks], np.int64)[track]
    by_end = np.lexsort((np.arange(len(end)), end))
    place = np.searchsorted(end[by_end], start, side="right") - 1
    latest = by_end[np.maximum(place, 0)]
    waited = (
        (place >= 0)
        & (track[latest] != track)
        & (device[latest] == device)
        & (start[latest] < start)
        & (end[latest] > ready)
        & (ready > _LONG_AGO)
        & (start - end[latest] < KERNEL_WAIT_NS)
    )
    return np.where(waited, latest, NO_ID)


@once_per_trace
def host_waits(trace: Trace) -> dict[int, HostWaits]:
    """Return the calls that waited for device work, by the track of their thread.

    Synchronise calls wait for whatever ends last before they return. Any other call that returns
    only after the work it launched has ended waited for that, as a copy into pageable memory does.
    """
    slices, device = trace.slices, device_waits(trace)
    syncs = sync_slices(trace)
    by_end = np.lexsort((np.arange(len(device)), device.end_ns))
    place = np.searchsorted(device.end_ns[by_end], slices.end_ns[syncs], side="right") - 1
    latest = by_end[np.maximum(place, 0)] if len(device) else place
    waited = place >= 0
    waited[waited] = device.end_ns[latest[waited]] > slices.ts_ns[syncs[waited]]
    own = np.flatnonzero(device.launch_id >= 0)
    own_call = device.launch_id[own]
    blocks = (slices.end_ns[own_call] >= device.end_ns[own]) & (
        device.end_ns[own] > slices.ts_ns[own_call]
    )
    call = np.concatenate((syncs[waited], own_call[blocks]))
    row = np.concatenate((latest[waited], own[blocks]))
    # Of several works of one call the last to end counts, and of equal returns the inner call.
    order = np.lexsort((device.end_ns[row], slices.end_ns[call], slices.track_id[call]))
    call, row = call[order], row[order]
    track = slices.track_id[call]
    found = {}
    for track_id in np.unique(track).tolist():
        mine = track == track_id
        found[track_id] = HostWaits(
            end_ns=frozen(slices.end_ns[call[mine]]),
            call_id=frozen(call[mine].astype(np.int64)),
            row=frozen(row[mine]),
        )
    return found


@once_per_trace
def handovers(trace: Trace) -> dict[int, Handovers]:
    """Return for each thread's track when it took over from another of its process."""
    line = innermost_host(trace)
    kind = np.where(line.slice_id >= 0, trace.slices.kind[line.slice_id], SliceKind.ANNOTATION)
    is_work = kind != SliceKind.ANNOTATION
    tracks = np.flatnonzero(np.diff(line.first) > 0).tolist()
    work = {
        track: _spans_of(line.start_ns, line.end_ns, line.track(track), is_work) for track in tracks
    }
    found = {}
    for track in tracks:
        hole_start, hole_end = _holes(work[track])
        others = [
            other
            for other in tracks
            if other != track and trace.tracks[other].pid == trace.tracks[track].pid
        ]
        if others and len(hole_end):
            found[track] = _taken_over(hole_start, hole_end, others, work)
    return {track: each for track, each in found.items() if len(each.at_ns)}


def _spans_of(start: Int64s, end: Int64s, bounds: tuple[int, int], is_work: Bools) -> PrefixSums:
    """Return the pieces of one track in which an operator or a runtime call is the innermost."""
    rows = np.arange(*bounds)[is_work[bounds[0] : bounds[1]]]
    return PrefixSums.of(start[rows], end[rows])


def _holes(work: PrefixSums) -> tuple[Int64s, Int64s]:
    """Return the spans without work before each piece of it, the time before the first included."""
    if not len(work):
        return work.starts, work.ends
    hole_start = np.concatenate((np.array([_LONG_AGO], np.int64), work.ends[:-1]))
    wide = work.starts - hole_start >= LEAST_HOLE_NS
    return hole_start[wide], work.starts[wide]


def _taken_over(
    hole_start: Int64s, hole_end: Int64s, others: list[int], work: dict[int, PrefixSums]
) -> Handovers:
    """Return the holes in which another thread worked, with the one that worked most."""
    most_ns = np.zeros(len(hole_end), np.int64)
    from_track = np.full(len(hole_end), NO_ID, np.int64)
    at_ns = np.zeros(len(hole_end), np.int64)
    for other in others:
        spans = work[other]
        if not len(spans):
            continue
        worked_ns = spans.covered_before(hole_end) - spans.covered_before(hole_start)
        last = np.searchsorted(spans.starts, hole_end) - 1
        last_end = np.minimum(np.where(last >= 0, spans.ends[np.maximum(last, 0)], 0), hole_end)
        better = (worked_ns > most_ns) & (last >= 0) & (last_end > hole_start)
        most_ns[better] = worked_ns[better]
        from_track[better] = other
        at_ns[better] = last_end[better]
    taken = from_track >= 0
    return Handovers(frozen(at_ns[taken]), frozen(from_track[taken]))
