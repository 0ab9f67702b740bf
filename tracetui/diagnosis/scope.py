"""What the rules measure against: how long a recording is, and which work lies inside what."""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import host_use, utilization
from tracetui.model.arrays import NO_ID, Bools, Int64s
from tracetui.model.intervals import Intervals, complement, difference, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

BACKWARD: Final = re.compile(r"^autograd::engine|Backward\d*$")
"""What belongs to a backward pass: autograd's engine and its nodes."""
_ATEN: Final = re.compile(r"^aten::")


@once_per_trace
def device_busy_ns(trace: Trace) -> int:
    """Return how long the devices were busy, added up; 0 without a device."""
    return sum(use.busy_ns for use in utilization(trace))


@once_per_trace
def recorded_ns(trace: Trace) -> int:
    """Return how long the recording is: its steps together, else its host threads' span."""
    found = steps(trace)
    if found:
        return max(each.end_ns for each in found) - found[0].start_ns
    spans = [use.span_ns for use in utilization(trace)]
    return max([host_use(trace).span_ns, *spans])


@once_per_trace
def steady_ns(trace: Trace) -> tuple[int, int]:
    """Return the time that a rule about speed may judge: without a cold first step."""
    found = steps(trace)
    if found and found[0].is_outlier:
        return found[0].end_ns, trace.end_ns
    return 0, trace.end_ns


def named(trace: Trace, pattern: re.Pattern[str], kind: SliceKind | None = None) -> Int64s:
    """Return the slices whose name the pattern finds, ascending.

    Of one kind if one is given; else of any but the device's shadows of annotations.
    """
    name_ids = [row for row, name in enumerate(trace.names) if pattern.search(name)]
    wanted: Bools = np.isin(trace.slices.name_id, name_ids)
    if kind is None:
        wanted &= trace.slices.kind != SliceKind.DEVICE_ANNOTATION
    else:
        wanted &= trace.slices.kind == kind
    return np.flatnonzero(wanted)


def outermost(trace: Trace, slice_ids: Int64s) -> Int64s:
    """Return those of some slices, ascending, that do not lie inside another of them."""
    if not len(slice_ids):
        return slice_ids
    reach = np.maximum.accumulate(links(trace).subtree_end[slice_ids])
    inside = np.concatenate(([False], reach[:-1] > slice_ids[1:]))
    kept: Int64s = slice_ids[~inside]
    return kept


def holder_of(trace: Trace, slice_ids: Int64s, outer: Int64s) -> Int64s:
    """Return which row of ``outer`` each slice lies in or is, or ``NO_ID``.

    Args:
        trace: The recording.
        slice_ids: Host slices in any order; ``NO_ID`` stays ``NO_ID``.
        outer: Host slices, ascending, none inside another.
    """
    if not len(outer):
        return np.full(len(slice_ids), NO_ID, np.int64)
    place = np.searchsorted(outer, slice_ids, side="right") - 1
    inside = (place >= 0) & (slice_ids < links(trace).subtree_end[outer[place]])
    return np.where(inside, place, NO_ID)


def not_inside(trace: Trace, slice_ids: Int64s, pattern: re.Pattern[str]) -> Int64s:
    """Return those of some slices that neither are nor lie in what a pattern finds by name."""
    outer = outermost(trace, named(trace, pattern))
    kept: Int64s = slice_ids[holder_of(trace, slice_ids.astype(np.int64), outer) == NO_ID]
    return kept


@once_per_trace
def top_operators(trace: Trace) -> Int64s:
    """Return torch's own operators that no other of them calls, ascending.

    Those of one thread follow one another in time.
    """
    return outermost(trace, named(trace, _ATEN, SliceKind.OPERATOR))


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """What some operators cost, of all the time that counts."""

    slices: Int64s
    """Their device work; in a recording without a device the operators themselves. By time."""
    cost_ns: int
    ratio: float
    """Of the time in which the devices were busy; without a device, of the recording."""
    of_what: str
    """Which of the two, in words."""


def share_of(trace: Trace, operators: Int64s) -> Share:
    """Return what operators cost where it hurts: on the device, where there is one.

    Args:
        trace: The recording.
        operators: Ascending, none inside another.
    """
    if links(trace).has_device:
        evidence, _ = device_work_in(trace, operators)
        whole_ns, of_what = device_busy_ns(trace), "device time"
    else:
        evidence = operators[np.argsort(trace.slices.ts_ns[operators], kind="stable")]
        whole_ns, of_what = recorded_ns(trace), "the recording"
    cost_ns = int(trace.slices.dur_ns[evidence].sum())
    return Share(evidence, cost_ns, cost_ns / whole_ns if whole_ns else 0.0, of_what)


def device_work_in(trace: Trace, outer: Int64s) -> tuple[Int64s, Int64s]:
    """Return the device work that some operators own, themselves or below, in time order.

    Args:
        trace: The recording.
        outer: Operators or annotations, ascending, none inside another.

    Returns:
        The device slices, and the row of ``outer`` that each belongs to.
    """
    device_ids = np.flatnonzero(trace.slices.is_device_work())
    holder = holder_of(trace, links(trace).owner_id[device_ids].astype(np.int64), outer)
    device_ids, holder = device_ids[holder != NO_ID], holder[holder != NO_ID]
    order = np.argsort(trace.slices.ts_ns[device_ids], kind="stable")
    return device_ids[order], holder[order]


def devices_of(trace: Trace, slice_ids: Int64s) -> Int64s:
    """Return the number of the device that each of some slices ran on."""
    of_track = np.array([track.device for track in trace.tracks], np.int64)
    return of_track[trace.slices.track_id[slice_ids]] if len(slice_ids) else slice_ids


@once_per_trace
def device_span_ns(trace: Trace) -> int:
    """Return the time from the first to the last device work; 0 without a device.

    With several devices in one recording: of all of them together, since idle time is that of all.
    """
    uses = utilization(trace)
    if not uses:
        return 0
    return max(use.end_ns for use in uses) - min(use.start_ns for use in uses)


@once_per_trace
def device_idle(trace: Trace) -> Intervals:
    """Return when no device did anything, between the first and the last device work.

    The time in which the profiler itself was at work is no idle time.
    """
    slices = trace.slices
    uses = utilization(trace)
    if not uses:
        return union(np.empty(0, np.int64), np.empty(0, np.int64))
    not_idle = slices.is_device_work() | (slices.kind == SliceKind.OVERHEAD)
    busy = union(slices.ts_ns[not_idle], slices.end_ns[not_idle])
    start_ns = min(use.start_ns for use in uses)
    return complement(busy, start_ns, start_ns + device_span_ns(trace))


def exposed(trace: Trace, device_ids: Int64s) -> Intervals:
    """Return the time in which some copies ran and no kernel did."""
    slices = trace.slices
    kernels = slices.kind == SliceKind.KERNEL
    return difference(
        union(slices.ts_ns[device_ids], slices.end_ns[device_ids]),
        union(slices.ts_ns[kernels], slices.end_ns[kernels]),
    )


def launch_of_work_at(trace: Trace, times_ns: Int64s) -> Int64s:
    """Return the launch call of the device work that starts at each of some moments.

    Of several, the call that began first; ``NO_ID`` where none is known.
    """
    slices = trace.slices
    device_ids = np.flatnonzero(slices.is_device_work())
    launch = links(trace).launch_id[device_ids].astype(np.int64)
    called_ns = np.where(launch != NO_ID, slices.ts_ns[launch], np.iinfo(np.int64).max)
    order = np.lexsort((called_ns, slices.ts_ns[device_ids]))
    place = np.searchsorted(slices.ts_ns[device_ids[order]], times_ns)
    place = np.minimum(place, len(order) - 1)
    found: Int64s = launch[order[place]]
    return np.where(slices.ts_ns[device_ids[order[place]]] == times_ns, found, NO_ID)
