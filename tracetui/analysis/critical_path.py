"""The longest path through host, launches and device work: what had to be quicker for all to be.

In a recording every dependency has been kept, so the longest path is found backwards: from what
ended last to what it waited for, and so on to the start (``waits`` has the rules). Unlike in Holistic
Trace Analysis no piece of time weighs nothing: waiting between two slices is on the path as a class
of its own, so that the pieces touch and add up to the whole recording.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from tracetui.analysis.innermost import innermost_host
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import KERNEL_WAIT_NS
from tracetui.analysis.waits import device_waits, handovers, host_waits
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.model.arrays import NO_ID, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_LOADS_DATA: Final = re.compile(r"data_?loader", re.IGNORECASE)
_STEP: Final = re.compile(r"ProfilerStep#")
"""Files of before 2022 write a step as an operator; between its operators runs Python all the same."""


class PathClass(IntEnum):
    """What a piece of the critical path is spent on."""

    COMPUTE = 0
    """A kernel."""
    COMMUNICATION = 1
    COPY = 2
    """A copy or memset."""
    LAUNCH = 3
    """From the launch call to the start of its work, nothing else being in the way."""
    KERNEL_GAP = 4
    """From the end of one piece of work to the start of the next, which was launched already.

    Also what lies between a launch and its work where that is too long to be the launch's doing.
    """
    OPERATOR = 5
    """An operator on the host."""
    RUNTIME = 6
    """A call of the runtime that waits for no work: a launch that others follow, an allocation."""
    DATA = 7
    """Loading data."""
    UNTRACED = 8
    """The host between operators: Python, or what was not recorded."""
    SYNC = 9
    """From the end of the work that a call waited for to the call's return."""


@dataclass(frozen=True, slots=True, eq=False)
class CriticalPath:
    """Touching pieces in time order, from the first start to the last end of host and device."""

    start_ns: Int64s
    end_ns: Int64s
    path_class: Int8s
    """``PathClass``."""
    slice_id: Int32s
    """The slice that the piece belongs to; ``NO_ID`` where none was open.

    A launch belongs to its call, a gap before device work to that work.
    """

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def total_ns(self) -> int:
        """Return the path's length."""
        return int((self.end_ns - self.start_ns).sum())

    def class_ns(self, start_ns: int | None = None, end_ns: int | None = None) -> Int64s:
        """Return the time of each ``PathClass``, of the whole path or of a part of it."""
        low = self.start_ns if start_ns is None else np.maximum(self.start_ns, start_ns)
        high = self.end_ns if end_ns is None else np.minimum(self.end_ns, end_ns)
        return group_sums(self.path_class, np.maximum(high - low, 0), len(PathClass))


@dataclass(frozen=True, slots=True)
class PathShare:
    """Slices of one name on the path, in one class."""

    path_class: PathClass
    name: str
    """Empty where no slice was open."""
    n_pieces: int
    total_ns: int
    first_id: int
    """The first of them, or ``NO_ID``."""


@once_per_trace
def critical_path(trace: Trace) -> CriticalPath:
    """Return the longest path through a recording; empty where nothing was recorded."""
    return _Walk(trace).path()


@once_per_trace
def path_shares(trace: Trace) -> tuple[PathShare, ...]:
    """Return what the path is made of, by class and name, the longest first."""
    path = critical_path(trace)
    if not len(path):
        return ()
    name_id = np.where(path.slice_id >= 0, trace.slices.name_id[path.slice_id], NO_ID)
    n_names = len(trace.names) + 1
    key = path.path_class.astype(np.int64) * n_names + name_id + 1
    keys, first, group = np.unique(key, return_index=True, return_inverse=True)
    total_ns = group_sums(group, path.end_ns - path.start_ns, len(keys))
    n_pieces = np.bincount(group, minlength=len(keys))
    found = []
    for row in np.argsort(-total_ns, kind="stable").tolist():
        path_class, name = divmod(int(keys[row]), n_names)
        found.append(
            PathShare(
                path_class=PathClass(path_class),
                name=trace.names[name - 1] if name else "",
                n_pieces=int(n_pieces[row]),
                total_ns=int(total_ns[row]),
                first_id=int(path.slice_id[first[row]]),
            )
        )
    return tuple(found)


class _Walk:
    """Goes from the last end back to the start, one dependency after the other.

    It cannot be done on whole columns, for where it goes next depends on where it is. It walks over
    plain lists, visits only what is on the path, and leaves the pieces of host time to numpy.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        slices, device = trace.slices, device_waits(trace)
        self._line = innermost_host(trace)
        self._device = device
        self._starts, self._ends = device.start_ns.tolist(), device.end_ns.tolist()
        self._before, self._launch = device.before.tolist(), device.launch_id.tolist()
        self._work_class = _device_classes(trace, device.slice_id).tolist()
        is_known = device.launch_id >= 0
        self._called = np.where(is_known, slices.ts_ns[device.launch_id], 0).tolist()
        self._returned = np.where(is_known, slices.end_ns[device.launch_id], 0).tolist()
        self._waits = {
            track: (each.end_ns.tolist(), each.call_id.tolist(), each.row.tolist())
            for track, each in host_waits(trace).items()
        }
        self._handovers = {
            track: (each.at_ns.tolist(), each.from_track.tolist())
            for track, each in handovers(trace).items()
        }
        # Each wait and each handover is passed once at most, so that the walk comes to an end
        # even where clocks disagree.
        self._waits_left = {track: len(each[0]) for track, each in self._waits.items()}
        self._handovers_left = {track: len(each[0]) for track, each in self._handovers.items()}
        self._pieces: list[tuple[int, int, int, int]] = []
        self._host_spans: list[tuple[int, int, int]] = []

    def path(self) -> CriticalPath:
        """Return the path."""
        n_host = len(self._line.start_ns)
        if not n_host and not len(self._device):
            return _path_of(np.empty((0, 4), np.int64))
        host_end = int(self._line.end_ns.max()) if n_host else 0
        device_end = max(self._ends, default=0)
        starts = [
            int(each.min()) for each in (self._line.start_ns, self._device.start_ns) if len(each)
        ]
        self._first_ns = min(starts)
        if n_host and host_end >= device_end:
            place = int(np.argmax(self._line.end_ns))
            track = int(np.searchsorted(self._line.first, place, side="right")) - 1
            self._walk_host(track, host_end)
        else:
            self._walk_device(int(np.argmax(self._device.end_ns)), device_end)
        own = np.array(self._pieces, np.int64).reshape(-1, 4)
        return _path_of(np.concatenate((own, self._host_pieces())))

    def _add(self, start_ns: int, end_ns: int, path_class: PathClass, slice_id: int) -> None:
        if end_ns > start_ns:
            self._pieces.append((start_ns, end_ns, path_class, slice_id))

    def _walk_host(self, track: int, until_ns: int) -> None:
        """Go back on a thread, and on from there, until the start is reached."""
        while True:
            call_ns, handover_ns = self._next_stops(track, until_ns)
            if call_ns is None and handover_ns is None:
                self._host_spans.append((track, self._first_ns, until_ns))
                return
            if handover_ns is not None and (call_ns is None or handover_ns > call_ns):
                self._host_spans.append((track, handover_ns, until_ns))
                track = self._handovers[track][1][self._handovers_left[track]]
                until_ns = handover_ns
                continue
            place = self._waits_left[track]
            ends, calls, rows = self._waits[track]
            self._host_spans.append((track, ends[place], until_ns))
            row = rows[place]
            self._add(self._ends[row], ends[place], PathClass.SYNC, calls[place])
            found = self._back_to_launch(row, self._ends[row])
            if found is None:
                return
            track, until_ns = found

    def _next_stops(self, track: int, until_ns: int) -> tuple[int | None, int | None]:
        """Return when the thread last waited for a device, and when it last took over.

        The later of the two is marked as passed.
        """
        call_ns = handover_ns = None
        call_place = handover_place = NO_ID
        if track in self._waits:
            ends = self._waits[track][0]
            call_place = bisect_right(ends, until_ns, 0, self._waits_left[track]) - 1
            call_ns = ends[call_place] if call_place >= 0 else None
        if track in self._handovers:
            times = self._handovers[track][0]
            handover_place = bisect_right(times, until_ns, 0, self._handovers_left[track]) - 1
            handover_ns = times[handover_place] if handover_place >= 0 else None
        if handover_ns is not None and (call_ns is None or handover_ns > call_ns):
            self._handovers_left[track] = handover_place
        elif call_ns is not None:
            self._waits_left[track] = call_place
        return call_ns, handover_ns

    def _walk_device(self, row: int, until_ns: int) -> None:
        found = self._back_to_launch(row, until_ns)
        if found is not None:
            self._walk_host(*found)

    def _back_to_launch(self, row: int, until_ns: int) -> tuple[int, int] | None:
        """Go back along device work to the call that started it.

        Returns:
            The thread of the call and when it began; ``None`` if there is no host to go on with.
        """
        at_ns = until_ns
        while True:
            slice_id = int(self._device.slice_id[row])
            start_ns = min(self._starts[row], at_ns)
            self._add(start_ns, at_ns, self._work_class[row], slice_id)
            before, launch = self._before[row], self._launch[row]
            if before == NO_ID:
                break
            at_ns = min(self._ends[before], start_ns)
            launched_ns = at_ns
            if launch != NO_ID and self._called[row] <= at_ns:
                launched_ns = min(max(self._returned[row], at_ns), start_ns)
                self._add(at_ns, launched_ns, PathClass.LAUNCH, launch)
            self._add(launched_ns, start_ns, PathClass.KERNEL_GAP, slice_id)
            row = before
        if launch != NO_ID:
            called_ns = min(self._called[row], start_ns)
            begun_ns = start_ns
            returned_ns = min(max(self._returned[row], called_ns), start_ns)
            # So long after its call's return it is not the launch that the work waits for.
            if start_ns - returned_ns >= KERNEL_WAIT_NS:
                begun_ns = returned_ns
            self._add(called_ns, begun_ns, PathClass.LAUNCH, launch)
            self._add(begun_ns, start_ns, PathClass.KERNEL_GAP, slice_id)
            return int(self._trace.slices.track_id[launch]), called_ns
        if not len(self._line.start_ns):
            self._add(self._first_ns, start_ns, PathClass.KERNEL_GAP, slice_id)
            return None
        # Nobody knows who launched it: the thread that records most is the likeliest.
        return int(np.argmax(np.diff(self._line.first))), start_ns

    def _host_pieces(self) -> Int64s:
        """Return the stretches of host time as pieces: start, end, class and slice."""
        spans = [span for span in self._host_spans if span[2] > span[1]]
        if not spans:
            return np.empty((0, 4), np.int64)
        track, low, high = np.array(spans, np.int64).T
        span, piece = self._line.met(track, low, high)
        start = np.maximum(self._line.start_ns[piece], low[span])
        end = np.minimum(self._line.end_ns[piece], high[span])
        slice_id = self._line.slice_id[piece].astype(np.int64)
        # What lies before a thread's first slice and after its last is host time too.
        first_ns, last_ns = high.copy(), high.copy()
        np.minimum.at(first_ns, span, start)
        last_ns[np.unique(span)] = low[np.unique(span)]
        np.maximum.at(last_ns, span, end)
        start = np.concatenate((start, low, last_ns))
        end = np.concatenate((end, first_ns, high))
        slice_id = np.concatenate((slice_id, np.full(2 * len(low), NO_ID, np.int64)))
        kept = end > start
        start, end, slice_id = start[kept], end[kept], slice_id[kept]
        return np.stack((start, end, _host_classes(self._trace, slice_id), slice_id), axis=1)


def _path_of(pieces: Int64s) -> CriticalPath:
    ordered = pieces[np.argsort(pieces[:, 0], kind="stable")]
    return CriticalPath(
        start_ns=frozen(ordered[:, 0].copy()),
        end_ns=frozen(ordered[:, 1].copy()),
        path_class=frozen(ordered[:, 2].astype(np.int8)),
        slice_id=frozen(ordered[:, 3].astype(np.int32)),
    )


def _device_classes(trace: Trace, slice_ids: Int64s) -> Int8s:
    kind = trace.slices.kind[slice_ids]
    classes = np.full(len(slice_ids), PathClass.COPY, np.int8)
    is_kernel = kind == SliceKind.KERNEL
    is_comm = slice_classes(trace)[slice_ids] == WorkClass.COMM
    classes[is_kernel] = np.where(is_comm[is_kernel], PathClass.COMMUNICATION, PathClass.COMPUTE)
    return classes


def _host_classes(trace: Trace, slice_ids: Int64s) -> Int64s:
    """Return the class of host time whose innermost slice is this; ``NO_ID`` is untraced."""
    slices = trace.slices
    kind = np.where(slice_ids >= 0, slices.kind[slice_ids], SliceKind.ANNOTATION)
    classes = np.full(len(slice_ids), PathClass.UNTRACED, np.int64)
    classes[kind == SliceKind.OPERATOR] = PathClass.OPERATOR
    classes[kind == SliceKind.RUNTIME] = PathClass.RUNTIME
    named = np.where(slice_ids >= 0, slices.name_id[slice_ids], NO_ID)
    names = np.unique(named[named >= 0]).tolist()
    for pattern, path_class in ((_STEP, PathClass.UNTRACED), (_LOADS_DATA, PathClass.DATA)):
        fitting = [name_id for name_id in names if pattern.search(trace.names[name_id])]
        classes[np.isin(named, fitting)] = path_class
    return classes
