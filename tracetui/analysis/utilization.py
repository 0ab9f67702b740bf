"""How busy each device was, with what, and why it stood still."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.intervals import (
    Intervals,
    complement,
    covered_before,
    difference,
    intersection,
    union,
)
from tracetui.model.slices import SliceFlag, SliceKind, SliceTable
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

KERNEL_WAIT_NS: Final = 30_000
"""A wait shorter than this, with the launch done, is the device's own latency."""

_SYNCHRONISES: Final = re.compile(r"synchronize", re.IGNORECASE)
_COSTS_THE_PROGRAM: Final = re.compile(r"loading", re.IGNORECASE)
"""Overhead that is there without the profiler too: modules are loaded on their first use."""


class GapCause(IntEnum):
    """Why a device had nothing to do; the order is the order in which a gap is cut."""

    ARTEFACT = 0
    """The profiler itself was at work."""
    SYNC = 1
    """The host sat in a synchronise call."""
    LAUNCH = 2
    """The call that launches the next work was running."""
    HOST_WAIT = 3
    """That call had not begun."""
    KERNEL_WAIT = 4
    """What is left, where it is shorter than ``KERNEL_WAIT_NS``."""
    OTHER = 5


@dataclass(frozen=True, slots=True)
class IdleCauses:
    """A device's idle time by cause; the parts add up to it."""

    artefact_ns: int
    sync_ns: int
    launch_ns: int
    host_wait_ns: int
    kernel_wait_ns: int
    other_ns: int


@dataclass(frozen=True, slots=True)
class StreamIdle:
    """Holistic Trace Analysis' split of one stream's gaps, each gap as a whole.

    A gap whose next launch call began after the stream ran dry is host wait, one shorter than
    30 us kernel wait. Pairs of slices that overlap on the stream are no gaps.
    """

    host_wait_ns: int
    kernel_wait_ns: int
    other_ns: int
    n_host_wait: int
    n_kernel_wait: int
    n_other: int


@dataclass(frozen=True, slots=True)
class StreamUse:
    """One stream of a device."""

    stream: int
    track_id: int
    sum_ns: int
    busy_ns: int
    idle_ns: int
    span_ns: int
    n_slices: int
    idle_hta: StreamIdle


@dataclass(frozen=True, slots=True, eq=False)
class DeviceUse:
    """One device.

    ``compute_ns``, ``comm_exposed_ns`` and ``memcpy_exposed_ns`` add up to ``busy_ns``.
    """

    device: int
    name: str
    kind: str
    """``cuda``, ``hip``, ``xpu``, ``npu`` or ``mtia``."""
    sum_ns: int
    """All durations added up."""
    busy_ns: int
    """The union of all device work."""
    idle_ns: int
    """Span less busy."""
    span_ns: int
    """First start to last end."""
    start_ns: int
    end_ns: int
    n_kernels: int
    n_memcpys: int
    n_memsets: int
    compute_ns: int
    """The union of kernels that are no communication."""
    comm_ns: int
    """The union of communication kernels."""
    comm_overlap_ns: int
    """Communication while computing."""
    comm_exposed_ns: int
    """Communication while not computing."""
    memcpy_exposed_ns: int
    """Copies and memsets while no kernel runs."""
    class_ns: Int64s
    """Durations added up by ``WorkClass``."""
    streams: tuple[StreamUse, ...]
    idle: IdleCauses
    unattributed_ns: int
    """Durations of the work that belongs to no operator or annotation."""
    n_unattributed: int
    n_impossible: int
    """Slices that cannot have run as long as the file says."""
    clipped_sum_ns: int
    """``sum_ns`` with those cut where the next slice on their stream starts."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """A device's idle time in pieces of one cause each, in order; neighbours may touch."""

    start_ns: Int64s
    end_ns: Int64s
    cause: Int8s
    """``GapCause``."""
    next_slice_id: Int32s
    """The work that ends the gap; the pieces of one gap share it."""

    def __len__(self) -> int:
        return len(self.start_ns)

    def total_ns(self, cause: GapCause) -> int:
        """Return the idle time of this cause."""
        return int((self.end_ns - self.start_ns)[self.cause == cause].sum())


@dataclass(frozen=True, slots=True)
class HostUse:
    """The host's threads together."""

    n_threads: int
    """Threads with a slice: pairs of process and thread."""
    busy_ns: int
    """The union of each thread's slices, added up."""
    span_ns: int
    """First start to last end."""
    overhead_ns: int
    """What the profiler says it cost, added up."""


@once_per_trace
def utilization(trace: Trace) -> tuple[DeviceUse, ...]:
    """Return the use of each device that did any work, by its number."""
    kind = _device_kind(trace)
    return tuple(
        _device_use(trace, device, rows, kind) for device, rows in _rows_by_device(trace).items()
    )


def gaps(trace: Trace, device: int) -> Gaps:
    """Return the idle time of a device, cut by cause; empty for a device without work."""
    found = _all_gaps(trace).get(device)
    if found is not None:
        return found
    none = np.empty(0, np.int64)
    return Gaps(none, none, none.astype(np.int8), none.astype(np.int32))


def busy_intervals(trace: Trace, device: int) -> Intervals:
    """Return when a device did any work."""
    rows = _rows_by_device(trace).get(device, np.empty(0, np.int64))
    return _union_of(trace.slices, rows)


@once_per_trace
def host_use(trace: Trace) -> HostUse:
    """Return how busy the host's threads were."""
    slices = trace.slices
    threads: dict[tuple[str, str], list[int]] = {}
    for track_id, track in enumerate(trace.tracks):
        if track.kind in (TrackKind.HOST, TrackKind.PYTHON):
            threads.setdefault((track.pid, track.tid), []).append(track_id)
    first_row = np.searchsorted(slices.track_id, np.arange(len(trace.tracks) + 1))
    busy_ns, starts, ends = 0, [], []
    end_ns = slices.end_ns
    for track_ids in threads.values():
        rows = np.concatenate([np.arange(first_row[t], first_row[t + 1]) for t in track_ids])
        busy_ns += union(slices.ts_ns[rows], end_ns[rows]).total_ns
        starts.append(int(slices.ts_ns[rows].min()))
        ends.append(int(end_ns[rows].max()))
    return HostUse(
        n_threads=len(threads),
        busy_ns=busy_ns,
        span_ns=max(ends) - min(starts) if starts else 0,
        overhead_ns=int(slices.dur_ns[slices.kind == SliceKind.OVERHEAD].sum()),
    )


@once_per_trace
def _rows_by_device(trace: Trace) -> dict[int, Int64s]:
    """Return the device work of each device, by the device's number."""
    rows = np.flatnonzero(trace.slices.is_device_work())
    of_track = np.array([track.device for track in trace.tracks], np.int64)
    device = of_track[trace.slices.track_id[rows]] if len(rows) else rows
    return {number: rows[device == number] for number in np.unique(device).tolist()}


def _union_of(slices: SliceTable, rows: Int64s) -> Intervals:
    starts = slices.ts_ns[rows]
    return union(starts, starts + slices.dur_ns[rows])


def _device_use(trace: Trace, device: int, rows: Int64s, kind: str) -> DeviceUse:
    slices = trace.slices
    classes = slice_classes(trace)[rows]
    kinds = slices.kind[rows]
    is_kernel = kinds == SliceKind.KERNEL
    is_comm = is_kernel & (classes == WorkClass.COMM)
    busy = _union_of(slices, rows)
    compute = _union_of(slices, rows[is_kernel & ~is_comm])
    comm = _union_of(slices, rows[is_comm])
    exposed = difference(comm, compute)
    start_ns = int(slices.ts_ns[rows].min())
    end_ns = int((slices.ts_ns[rows] + slices.dur_ns[rows]).max())
    unowned = links(trace).owner_id[rows] == NO_ID
    idle = gaps(trace, device)
    is_impossible = (slices.flags[rows] & np.uint8(SliceFlag.IMPOSSIBLE)) != 0
    # The flag is never on the last slice of a stream, whose next row would be another stream's.
    until_next = np.diff(slices.ts_ns[rows], append=0)
    return DeviceUse(
        device=device,
        name=next((spec.name for spec in trace.devices if spec.index == device), ""),
        kind=kind,
        sum_ns=int(slices.dur_ns[rows].sum()),
        busy_ns=busy.total_ns,
        idle_ns=end_ns - start_ns - busy.total_ns,
        span_ns=end_ns - start_ns,
        start_ns=start_ns,
        end_ns=end_ns,
        n_kernels=int(is_kernel.sum()),
        n_memcpys=int((kinds == SliceKind.MEMCPY).sum()),
        n_memsets=int((kinds == SliceKind.MEMSET).sum()),
        compute_ns=compute.total_ns,
        comm_ns=comm.total_ns,
        comm_overlap_ns=comm.total_ns - exposed.total_ns,
        comm_exposed_ns=exposed.total_ns,
        memcpy_exposed_ns=busy.total_ns - compute.total_ns - exposed.total_ns,
        class_ns=frozen(group_sums(classes, slices.dur_ns[rows], len(WorkClass))),
        streams=tuple(
            _stream_use(trace, track_id, rows[slices.track_id[rows] == track_id])
            for track_id in np.unique(slices.track_id[rows]).tolist()
        ),
        idle=IdleCauses(*(idle.total_ns(cause) for cause in GapCause)),
        unattributed_ns=int(slices.dur_ns[rows[unowned]].sum()),
        n_unattributed=int(unowned.sum()),
        n_impossible=int(is_impossible.sum()),
        clipped_sum_ns=int(
            slices.dur_ns[rows[~is_impossible]].sum() + until_next[is_impossible].sum()
        ),
    )


def _stream_use(trace: Trace, track_id: int, rows: Int64s) -> StreamUse:
    slices = trace.slices
    ends = slices.ts_ns[rows] + slices.dur_ns[rows]
    span_ns = int(ends.max() - slices.ts_ns[rows].min())
    busy_ns = _union_of(slices, rows).total_ns
    return StreamUse(
        stream=trace.tracks[track_id].stream,
        track_id=track_id,
        sum_ns=int(slices.dur_ns[rows].sum()),
        busy_ns=busy_ns,
        idle_ns=span_ns - busy_ns,
        span_ns=span_ns,
        n_slices=len(rows),
        idle_hta=_stream_idle(trace, rows),
    )


def _stream_idle(trace: Trace, rows: Int64s) -> StreamIdle:
    """Return the split of the gaps between the slices of one stream, given in start order."""
    slices = trace.slices
    previous_end = slices.end_ns[rows[:-1]]
    gap_ns = slices.ts_ns[rows[1:]] - previous_end
    launch = links(trace).launch_id[rows[1:]]
    is_late = (launch != NO_ID) & (slices.ts_ns[launch] > previous_end)
    is_gap = gap_ns >= 0
    host_wait = is_gap & is_late
    kernel_wait = is_gap & ~is_late & (gap_ns < KERNEL_WAIT_NS)
    other = is_gap & ~host_wait & ~kernel_wait
    parts = (host_wait, kernel_wait, other)
    return StreamIdle(
        *(int(gap_ns[part].sum()) for part in parts), *(int(part.sum()) for part in parts)
    )


@once_per_trace
def _all_gaps(trace: Trace) -> dict[int, Gaps]:
    artefacts = _union_of(trace.slices, artefact_slices(trace))
    syncs = _union_of(trace.slices, sync_slices(trace))
    cut = partial(_cut, trace, artefacts=artefacts, syncs=difference(syncs, artefacts))
    return {device: cut(rows) for device, rows in _rows_by_device(trace).items()}


@once_per_trace
def artefact_slices(trace: Trace) -> Int64s:
    """Return the slices in which the profiler itself was at work, in the order of slices."""
    overhead = trace.slices.kind == SliceKind.OVERHEAD
    return frozen(np.flatnonzero(overhead & ~_named(trace, overhead, _COSTS_THE_PROGRAM)))


@once_per_trace
def sync_slices(trace: Trace) -> Int64s:
    """Return the runtime calls in which the host waits for a device, in the order of slices."""
    runtime = trace.slices.kind == SliceKind.RUNTIME
    return frozen(np.flatnonzero(_named(trace, runtime, _SYNCHRONISES)))


def _named(trace: Trace, among: Bools, pattern: re.Pattern[str]) -> Bools:
    """Return which of the slices ``among`` have a name with the pattern in it."""
    name_id = trace.slices.name_id
    matching = [
        number
        for number in np.unique(name_id[among]).tolist()
        if pattern.search(trace.names[number])
    ]
    named: Bools = among & np.isin(name_id, matching)
    return named


def _cut(trace: Trace, rows: Int64s, *, artefacts: Intervals, syncs: Intervals) -> Gaps:
    """Cut a device's gaps at every moment at which the cause may change, then name each piece."""
    slices = trace.slices
    starts = slices.ts_ns[rows]
    end_ns = int((starts + slices.dur_ns[rows]).max())
    idle = complement(_union_of(slices, rows), int(starts.min()), end_ns)
    after = _work_at(trace, rows, idle.ends)
    launch = links(trace).launch_id[after]
    has_launch = launch != NO_ID
    # Without a known launch call nothing is before or within it: it lies before every gap.
    call_start = np.where(has_launch, slices.ts_ns[launch], idle.starts)
    call_end = np.where(has_launch, call_start + slices.dur_ns[launch], idle.starts)
    named = [intersection(idle, artefacts), intersection(idle, syncs)]
    moments = np.unique(
        np.concatenate(
            [
                *(side for spans in (idle, *named) for side in (spans.starts, spans.ends)),
                np.clip(call_start, idle.starts, idle.ends),
                np.clip(call_end, idle.starts, idle.ends),
            ]
        )
    )
    piece_start, piece_end = moments[:-1], moments[1:]
    gap = np.searchsorted(idle.starts, piece_start, side="right") - 1
    inside = (gap >= 0) & (piece_start < idle.ends[np.maximum(gap, 0)])
    piece_start, piece_end, gap = piece_start[inside], piece_end[inside], gap[inside]
    is_artefact, is_sync = (_is_covered(spans, piece_start, piece_end) for spans in named)
    cause = np.select(
        [is_artefact, is_sync, piece_start < call_start[gap], piece_start < call_end[gap]],
        [GapCause.ARTEFACT, GapCause.SYNC, GapCause.HOST_WAIT, GapCause.LAUNCH],
        GapCause.OTHER,
    )
    left = cause == GapCause.OTHER
    left_ns = group_sums(gap[left], (piece_end - piece_start)[left], len(idle))
    cause[left & (left_ns[gap] < KERNEL_WAIT_NS)] = GapCause.KERNEL_WAIT
    return _joined(piece_start, piece_end, cause.astype(np.int8), gap, after)


def _work_at(trace: Trace, rows: Int64s, times: Int64s) -> Int32s:
    """Return the work that starts at each of ``times``; of several, one with a known launch."""
    slices = trace.slices
    unknown = links(trace).launch_id[rows] == NO_ID
    order = rows[np.lexsort((rows, unknown, slices.ts_ns[rows]))]
    found: Int32s = order[np.searchsorted(slices.ts_ns[order], times)].astype(np.int32)
    return found


def _is_covered(spans: Intervals, starts: Int64s, ends: Int64s) -> Bools:
    covered: Bools = covered_before(spans, ends) > covered_before(spans, starts)
    return covered


def _joined(start_ns: Int64s, end_ns: Int64s, cause: Int8s, gap: Int64s, after: Int32s) -> Gaps:
    """Return the pieces with touching ones of the same gap and cause made one."""
    if not len(start_ns):
        return Gaps(start_ns, end_ns, cause, after[gap])
    opens = np.concatenate(([True], (gap[1:] != gap[:-1]) | (cause[1:] != cause[:-1])))
    first = np.flatnonzero(opens)
    last = np.concatenate((first[1:] - 1, [len(start_ns) - 1]))
    return Gaps(
        frozen(start_ns[first]),
        frozen(end_ns[last]),
        frozen(cause[first]),
        frozen(after[gap[first]]),
    )


_KIND_WORDS: Final = (
    ("mtia", re.compile(r"mtia", re.IGNORECASE)),
    ("xpu", re.compile(r"xpu|sycl|intel", re.IGNORECASE)),
    ("npu", re.compile(r"(?<![a-z])npu|ascend|privateuse|aclrt", re.IGNORECASE)),
    ("hip", re.compile(r"^hip|\bamd\b|instinct|radeon", re.IGNORECASE)),
)


def _device_kind(trace: Trace) -> str:
    """Return the sort of the devices, from their names, the runtime calls and categories."""
    slices = trace.slices
    runtime = slices.kind == SliceKind.RUNTIME
    words = [spec.name for spec in trace.devices]
    words += [trace.categories[number] for number in np.unique(slices.category_id[runtime])]
    words += [trace.names[number] for number in np.unique(slices.name_id[runtime])]
    for kind, pattern in _KIND_WORDS:
        if any(pattern.search(word) for word in words):
            return kind
    return "cuda"
