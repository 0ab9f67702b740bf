"""A trace cut into the steps, calls or total that are compared."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.steps import steps
from tracetui.compare.scope import Range, Scope, calls_named
from tracetui.errors import UsageError
from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

_FEWEST_BESIDE_COLD: Final = 2
"""The cold first instance is left out only where at least so many remain."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One trace, cut into the instances that are compared.

    An instance is a step, a call or the total; columns ending in ``_ns`` have one row for each.
    """

    trace: Trace
    scope: Scope
    instance_of: Int32s
    """One for each slice of the trace: its instance among all, or ``NO_ID``."""
    call_id: Int32s
    """The slices that are the steps or calls; empty for everything."""
    call_instance: Int32s
    """The instance of each of them."""
    labels: tuple[str, ...]
    """How each instance is called."""
    kept: Int64s
    """The instances that count, in time order; the cold first one is not among them."""
    left_out: tuple[str, ...]
    """The labels of those that do not, and why."""
    start_ns: Int64s
    end_ns: Int64s
    """On the host."""
    host_ns: Int64s
    gpu_ns: Int64s | None
    """Durations of the device work launched, added up; ``None`` without device work."""
    wall_start_ns: Int64s
    wall_end_ns: Int64s
    wall_instance: Int32s
    """The stretches of time whose lengths add up to an instance's wall time."""
    n_device: Int64s
    """Pieces of device work: kernels, copies and memsets."""
    n_launches: Int64s
    """Calls that launched at least one kernel."""
    n_copies: Int64s
    completion_ns: Int64s
    """When the last device work ended; ``NO_ID`` where there is none."""

    @property
    def has_device(self) -> bool:
        """Return whether the trace holds any device work."""
        return self.gpu_ns is not None

    def wall_samples(self) -> Int64s:
        """Return the wall time of each kept instance that has one."""
        total = group_sums(
            self.wall_instance, self.wall_end_ns - self.wall_start_ns, len(self.labels)
        )
        known = self.kept[np.isin(self.kept, self.wall_instance)]
        samples: Int64s = total[known]
        return samples


def side(trace: Trace, scope: Scope, within: Range | None = None) -> Side:
    """Return a trace cut into instances.

    Args:
        trace: The trace.
        scope: What is compared.
        within: A stretch of this trace instead of the scope's name; one instance.
    """
    if within is not None:
        return _side_of_everything(trace, scope, within)
    if scope.per == "step":
        return _side_of_steps(trace, scope)
    if scope.within is None:
        return _side_of_everything(trace, scope, None)
    calls = calls_named(trace, scope.within)
    if scope.per == "total":
        return _finished(trace, scope, calls, np.zeros(len(calls), np.int32), ("total",))
    labels = tuple(f"call {number}" for number in range(1, len(calls) + 1))
    return _finished(trace, scope, calls, np.arange(len(calls), dtype=np.int32), labels)


def _side_of_steps(trace: Trace, scope: Scope) -> Side:
    all_steps = steps(trace)
    step_ids = np.array([step.slice_id for step in all_steps], np.int32)
    labels = tuple(f"step {step.number}" for step in all_steps)
    if scope.within is None:
        return _finished(trace, scope, step_ids, np.arange(len(step_ids), dtype=np.int32), labels)
    calls = calls_named(trace, scope.within)
    starts = np.array([step.start_ns for step in all_steps], np.int64)
    ends = np.array([step.end_ns for step in all_steps], np.int64)
    called_ns = trace.slices.ts_ns[calls]
    step = np.searchsorted(starts, called_ns, side="right") - 1
    inside = (step >= 0) & (called_ns < ends[np.maximum(step, 0)])
    used, instance = np.unique(step[inside], return_inverse=True)
    if not len(used):
        raise UsageError(
            f"{trace.origin.path}: {scope.within!r} is called in no profiler step; use --per call"
        )
    kept_labels = tuple(labels[row] for row in used.tolist())
    return _finished(trace, scope, calls[inside], instance.astype(np.int32), kept_labels)


def _side_of_everything(trace: Trace, scope: Scope, within: Range | None) -> Side:
    slices, link = trace.slices, links(trace)
    on_host = _is_on(trace, TrackKind.HOST)
    is_device = slices.is_device_work()
    instance_of = np.full(len(slices), NO_ID, np.int32)
    if within is None:
        instance_of[on_host | is_device] = 0
    else:
        inside = (slices.ts_ns >= within.start_ns) & (slices.ts_ns < within.end_ns)
        instance_of[on_host & inside] = 0
        source = np.where(link.launch_id >= 0, link.launch_id, link.owner_id)
        instance_of[is_device & (source >= 0) & inside[source]] = 0
        instance_of[is_device & (source < 0) & inside] = 0
    rows = np.flatnonzero(instance_of == 0)
    hosts = rows[on_host[rows]]
    first = int(slices.ts_ns[rows].min()) if len(rows) else 0
    last = int(slices.end_ns[rows].max()) if len(rows) else 0
    start = int(slices.ts_ns[hosts].min()) if len(hosts) else first
    end = int(slices.end_ns[hosts].max()) if len(hosts) else first
    if within is not None:
        first, start, end = within.start_ns, within.start_ns, within.end_ns
        last = max(last, end)
    counted = _device_columns(trace, instance_of, 1)
    return Side(
        trace,
        scope,
        frozen(instance_of),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        ("total" if within is None else "range",),
        np.zeros(1, np.int64),
        (),
        np.array([start], np.int64),
        np.array([end], np.int64),
        np.array([end - start], np.int64),
        counted.gpu_ns,
        np.array([first], np.int64),
        np.array([last], np.int64),
        np.zeros(1, np.int32),
        counted.n_device,
        counted.n_launches,
        counted.n_copies,
        counted.completion_ns,
    )


def _finished(
    trace: Trace, scope: Scope, calls: Int32s, call_instance: Int32s, labels: tuple[str, ...]
) -> Side:
    """Return the side whose instances are made of these calls, given in time order."""
    slices = trace.slices
    n = len(labels)
    instance_of = _instances(trace, calls, call_instance)
    starts, ends = slices.ts_ns[calls], slices.end_ns[calls]
    start_ns = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(start_ns, call_instance, starts)
    end_ns = np.full(n, np.iinfo(np.int64).min)
    np.maximum.at(end_ns, call_instance, ends)
    counted = _device_columns(trace, instance_of, n)
    is_step = scope.per == "step" and scope.within is None
    if is_step:
        wall = _periods(starts, ends, counted.completion_ns, counted.gpu_ns is not None)
    else:
        wall = _call_walls(trace, calls, call_instance, instance_of)
    kept = np.arange(n)
    left_out: tuple[str, ...] = ()
    cold = _cold(trace, scope, start_ns)
    if scope.per != "total" and len(cold) and n - len(cold) >= _FEWEST_BESIDE_COLD:
        kept = np.setdiff1d(kept, cold)
        left_out = tuple(labels[row] for row in cold.tolist())
    return Side(
        trace,
        scope,
        frozen(instance_of),
        calls,
        call_instance,
        labels,
        kept,
        left_out,
        start_ns,
        end_ns,
        group_sums(call_instance, ends - starts, n),
        counted.gpu_ns,
        *wall,
        counted.n_device,
        counted.n_launches,
        counted.n_copies,
        counted.completion_ns,
    )


def _cold(trace: Trace, scope: Scope, start_ns: Int64s) -> Int64s:
    """Return the instances that ran while everything was cold: all of the first step, or the first."""
    all_steps = steps(trace)
    if scope.per == "call" and all_steps:
        return np.flatnonzero(start_ns < all_steps[0].end_ns)
    return np.flatnonzero(start_ns == start_ns.min()) if len(start_ns) else start_ns


def _instances(trace: Trace, calls: Int32s, call_instance: Int32s) -> Int32s:
    """Return the instance of each host slice and each piece of device work.

    A host slice belongs to the call around it on its thread. Where all calls stand on one thread,
    work that other threads begin while one of them runs, such as a backward pass, is its work too.
    Device work belongs to its launch call's instance, else to its owner's.
    """
    slices, link = trace.slices, links(trace)
    instance_of = np.full(len(slices), NO_ID, np.int32)
    on_host = np.flatnonzero(_is_on(trace, TrackKind.HOST))
    order = np.argsort(calls, kind="stable")
    by_row = calls[order]
    is_frame = bool(len(calls)) and slices.kind[calls[0]] == SliceKind.PYTHON
    if not is_frame:
        place = np.searchsorted(by_row, on_host, side="right") - 1
        inside = (place >= 0) & (on_host < link.subtree_end[by_row[place]])
        instance_of[on_host[inside]] = call_instance[order][place[inside]]
    track_of = slices.track_id[calls]
    for track_id in np.unique(track_of).tolist():
        if is_frame:
            own = np.flatnonzero(track_of == track_id)
            elsewhere = on_host[_is_same_thread(trace, track_id)[slices.track_id[on_host]]]
        elif len(np.unique(track_of)) == 1 and slices.kind[calls[0]] == SliceKind.ANNOTATION:
            own = np.arange(len(calls))
            elsewhere = on_host[slices.track_id[on_host] != track_id]
        else:
            continue
        window = np.searchsorted(slices.ts_ns[calls[own]], slices.ts_ns[elsewhere], "right") - 1
        held = (window >= 0) & (
            slices.ts_ns[elsewhere] < slices.end_ns[calls[own[np.maximum(window, 0)]]]
        )
        instance_of[elsewhere[held]] = call_instance[own[window[held]]]
    works = np.flatnonzero(slices.is_device_work())
    source = np.where(link.launch_id[works] >= 0, link.launch_id[works], link.owner_id[works])
    instance_of[works] = np.where(source >= 0, instance_of[source], NO_ID)
    return instance_of


@dataclass(frozen=True, slots=True, eq=False)
class _DeviceColumns:
    gpu_ns: Int64s | None
    n_device: Int64s
    n_launches: Int64s
    n_copies: Int64s
    completion_ns: Int64s


def _device_columns(trace: Trace, instance_of: Int32s, n: int) -> _DeviceColumns:
    slices, link = trace.slices, links(trace)
    works = np.flatnonzero(slices.is_device_work() & (instance_of >= 0))
    own = instance_of[works]
    launch = link.launch_id[works]
    launched = (slices.kind[works] == SliceKind.KERNEL) & (launch >= 0)
    launches, place = np.unique(launch[launched], return_index=True)
    completion = np.full(n, NO_ID, np.int64)
    np.maximum.at(completion, own, slices.end_ns[works])
    is_copy = slices.kind[works] == SliceKind.MEMCPY
    return _DeviceColumns(
        gpu_ns=group_sums(own, slices.dur_ns[works], n) if link.has_device else None,
        n_device=np.bincount(own, minlength=n).astype(np.int64),
        n_launches=np.bincount(own[launched][place], minlength=n).astype(np.int64)
        if len(launches)
        else np.zeros(n, np.int64),
        n_copies=np.bincount(own[is_copy], minlength=n).astype(np.int64),
        completion_ns=completion,
    )


def _periods(
    starts: Int64s,
    ends: Int64s,
    completion_ns: Int64s,
    has_device: bool,  # noqa: FBT001
) -> tuple[Int64s, Int64s, Int32s]:
    """Return each step's period: completion to completion, or start to start without a device.

    The first step has no completion before it and the last no start after it: where another step
    has a period they go without, or by their own end, and a single step has its width.
    """
    n = len(starts)
    number = np.arange(n, dtype=np.int32)
    if not has_device:
        return starts, np.concatenate((starts[1:], ends[-1:])), number
    done = np.flatnonzero(completion_ns != NO_ID)
    if len(done) < 2:
        return starts, ends, number
    moments = np.maximum.accumulate(completion_ns[done])
    return moments[:-1], moments[1:], number[done[1:]]


def _call_walls(
    trace: Trace, calls: Int32s, call_instance: Int32s, instance_of: Int32s
) -> tuple[Int64s, Int64s, Int32s]:
    """Return each call's stretch: from its start to its end on host and device, none counted twice.

    What an earlier call left in the queue is that call's time: a call begins when it is done.
    """
    slices = trace.slices
    starts, ends = slices.ts_ns[calls], slices.end_ns[calls].copy()
    works = np.flatnonzero(slices.is_device_work() & (instance_of >= 0))
    if len(works):
        source = links(trace).launch_id[works]
        source = np.where(source >= 0, source, links(trace).owner_id[works])
        call = np.searchsorted(starts, slices.ts_ns[source], side="right") - 1
        known = call >= 0
        np.maximum.at(ends, call[known], slices.end_ns[works[known]])
    before = np.concatenate((starts[:1], np.maximum.accumulate(ends)[:-1]))
    begins = np.maximum(starts, before)
    return begins, np.maximum(ends, begins), call_instance


def _is_on(trace: Trace, kind: TrackKind) -> Bools:
    of_track = np.array([track.kind == kind for track in trace.tracks], bool)
    return of_track[trace.slices.track_id] if len(trace.slices) else np.empty(0, bool)


def _is_same_thread(trace: Trace, track_id: int) -> Bools:
    """Return for each track whether it is of the thread of ``track_id``."""
    own = trace.tracks[track_id]
    return np.array([(t.pid, t.tid) == (own.pid, own.tid) for t in trace.tracks], bool)
