"""Which launch started a device slice, which operator owns it, and what that sums up to."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, Numbers, frozen, group_sums
from tracetui.model.nesting import self_times
from tracetui.model.slices import SliceFlag, SliceKind, SliceTable
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

_LAUNCH_FLOWS: Final = ("ac2g", "async")
"""Categories of the arrows from a launch to its device work, new and old."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Columns of one row for each slice of the trace."""

    has_device: bool
    """Whether the trace holds any device work."""
    launch_id: Int32s
    """Device slice to the runtime call that launched it, or ``NO_ID``."""
    owner_id: Int32s
    """Device slice to its innermost operator, else its innermost annotation, or ``NO_ID``."""
    operator_id: Int32s
    """Host slice to the innermost operator around it or itself, or ``NO_ID``."""
    device_self_ns: Int64s
    """Device work that the slice owns itself, summed.

    A Python frame owns what is launched in it and in no frame below it.
    """
    device_total_ns: Int64s
    """Device work of the slice and all below it, summed; 0 for runtime calls."""
    n_device_self: Int32s
    n_device_total: Int32s
    self_ns: Int64s
    """Duration less the children's."""
    subtree_end: Int32s
    """One past the last slice below this one; the slices between are its subtree."""
    anchored_id: Int32s
    """Device slices that hang in a host tree, sorted by where and then by time.

    One that was launched under a Python frame hangs in the tree of frames as well.
    """
    anchor_id: Int32s
    """The slice at which each of ``anchored_id`` hangs: its launch, its owner or its frame."""
    launched_id: Int32s
    """Device slices that have a launch, sorted by it and then by time."""

    def device_slices_of(self, slice_id: int) -> Int64s:
        """Return the device slices that the slice and all below it own, in order of launch."""
        return _between(self.anchored_id, self.anchor_id, slice_id, int(self.subtree_end[slice_id]))

    def launched_by(self, launch_slice_id: int) -> Int64s:
        """Return the device slices that one call launched, in time order."""
        launches = self.launch_id[self.launched_id]
        return _between(self.launched_id, launches, launch_slice_id, launch_slice_id + 1)


def _between(ids: Int32s, keys: Int32s, low: int, high: int) -> Int64s:
    first, last = np.searchsorted(keys, (low, high))
    return ids[first:last].astype(np.int64)


@once_per_trace
def links(trace: Trace) -> Links:
    """Return who launched and who owns each device slice.

    The launch is the runtime call with the same correlation; the owner is the innermost operator
    around that call. Only where there is none does the external id name the operator, and only
    where there is no correlation do the arrows of the file count.
    """
    slices = trace.slices
    n = len(slices)
    device_ids = np.flatnonzero(slices.is_device_work())
    is_host = _is_on(trace, TrackKind.HOST)
    operator_id = nearest(slices.parent_id, is_host & (slices.kind == SliceKind.OPERATOR))
    annotation_id = nearest(slices.parent_id, is_host & (slices.kind == SliceKind.ANNOTATION))

    launch, arrow = _launches(trace, device_ids)
    source = np.where(launch >= 0, launch, arrow)
    owner = _looked_up(operator_id, source)
    anchor = np.where((owner >= 0) & (launch >= 0), launch, owner)
    _adopt_by_external_id(slices, device_ids, launch, owner)
    by_annotation = (owner < 0) & (source >= 0)
    owner[by_annotation] = annotation_id[source[by_annotation]]
    anchor = np.where((anchor < 0) & by_annotation & (owner >= 0), source, anchor)
    anchor = np.where(anchor < 0, owner, anchor)

    hung = anchor >= 0
    # A frame may launch without any operator, as Triton kernels do: the call itself counts.
    frame = _frames_at(trace, np.where(launch >= 0, launch, anchor))
    in_frame = frame >= 0
    work_id = np.concatenate((device_ids[hung], device_ids[in_frame]))
    hook = np.concatenate((anchor[hung], frame[in_frame]))
    holder = np.concatenate((owner[hung], frame[in_frame]))
    dur_ns = slices.dur_ns[work_id]
    device_self_ns = group_sums(holder, dur_ns, n)
    n_self = np.bincount(holder, minlength=n)
    device_total_ns = group_sums(hook, dur_ns, n)
    n_total = np.bincount(hook, minlength=n).astype(np.int64)
    size = np.ones(n, np.int64)
    for column in (device_total_ns, n_total, size):
        add_to_ancestors(slices.parent_id, slices.depth, column)
    is_runtime = slices.kind == SliceKind.RUNTIME
    device_total_ns[is_runtime] = 0
    n_total[is_runtime] = 0

    by_hook = np.lexsort((slices.ts_ns[work_id], hook))
    by_launch = np.flatnonzero(launch >= 0)
    by_launch = by_launch[np.lexsort((slices.ts_ns[device_ids[by_launch]], launch[by_launch]))]
    crosses = (slices.flags & np.uint8(SliceFlag.CROSSES)) != 0
    return Links(
        has_device=bool(len(device_ids)),
        launch_id=_spread(device_ids, launch, n),
        owner_id=_spread(device_ids, owner, n),
        operator_id=frozen(operator_id.astype(np.int32)),
        device_self_ns=frozen(device_self_ns),
        device_total_ns=frozen(device_total_ns),
        n_device_self=frozen(n_self.astype(np.int32)),
        n_device_total=frozen(n_total.astype(np.int32)),
        self_ns=frozen(self_times(slices.parent_id, slices.ts_ns, slices.end_ns, crosses)),
        subtree_end=frozen((np.arange(n) + size).astype(np.int32)),
        anchored_id=frozen(work_id[by_hook].astype(np.int32)),
        anchor_id=frozen(hook[by_hook].astype(np.int32)),
        launched_id=frozen(device_ids[by_launch].astype(np.int32)),
    )


def nearest(parent_id: Int32s, wanted: Bools) -> Int64s:
    """Return the nearest wanted slice from each slice upwards, itself included, or ``NO_ID``."""
    found = np.where(wanted, np.arange(len(parent_id)), parent_id)
    rows = np.flatnonzero(~wanted & (found >= 0))
    while len(rows):
        above = found[rows]
        rows, above = rows[~wanted[above]], above[~wanted[above]]
        found[rows] = found[above]
        rows = rows[found[rows] >= 0]
    return found


def add_to_ancestors(parent_id: Int32s, depth: Int32s, values: Int64s) -> None:
    """Add to each slice's value those of all slices below it."""
    rows = np.flatnonzero(parent_id >= 0)
    rows = rows[np.argsort(-depth[rows], kind="stable")]
    bounds = np.flatnonzero(np.diff(depth[rows])) + 1
    for level in np.split(rows, bounds):
        np.add.at(values, parent_id[level], values[level])


def latest_before(key: Numbers, time: Int64s, query_key: Numbers, query_time: Int64s) -> Int64s:
    """Return for each query the last row of its key no later than it, else the key's first row.

    ``NO_ID`` where no row has the key.
    """
    if not len(key):
        return np.full(len(query_key), NO_ID, np.int64)
    keys = np.concatenate((key, query_key))
    is_query = np.arange(len(keys)) >= len(key)
    order = np.lexsort((is_query, np.concatenate((time, query_time)), keys))
    is_row = ~is_query[order]
    place = np.arange(len(order))
    before = np.maximum.accumulate(np.where(is_row, place, NO_ID))
    after = np.minimum.accumulate(np.where(is_row, place, len(order))[::-1])[::-1]
    found = np.full(len(query_key), NO_ID, np.int64)
    for side in (after, before):
        held = order[np.clip(side, 0, len(order) - 1)]
        fits = ~is_row & (side >= 0) & (side < len(order)) & (keys[held] == keys[order])
        found[order[fits] - len(key)] = held[fits]
    return found


def _is_on(trace: Trace, kind: TrackKind) -> Bools:
    of_track = np.array([track.kind == kind for track in trace.tracks], bool)
    return of_track[trace.slices.track_id] if len(trace.slices) else np.empty(0, bool)


def _looked_up(column: Int64s | Int32s, ids: Int64s) -> Int64s:
    found = np.full(len(ids), NO_ID, np.int64)
    found[ids >= 0] = column[ids[ids >= 0]]
    return found


def _spread(rows: Int64s, values: Int64s, n: int) -> Int32s:
    column = np.full(n, NO_ID, np.int32)
    column[rows] = values
    return frozen(column)


def _launches(trace: Trace, device_ids: Int64s) -> tuple[Int64s, Int64s]:
    """Return each device slice's runtime call and, where it has none, the start of its arrow."""
    slices = trace.slices
    launch = np.full(len(device_ids), NO_ID, np.int64)
    arrow = launch.copy()
    calls = np.flatnonzero((slices.kind == SliceKind.RUNTIME) & (slices.correlation != 0))
    linked = np.flatnonzero(slices.correlation[device_ids] != 0)
    # A recording of several processes repeats correlations: time then tells the calls apart.
    place = latest_before(
        slices.correlation[calls],
        slices.ts_ns[calls],
        slices.correlation[device_ids[linked]],
        slices.ts_ns[device_ids[linked]],
    )
    launch[linked[place >= 0]] = calls[place[place >= 0]]

    flows = trace.flows
    wanted = [
        category_id for category_id, text in enumerate(trace.categories) if text in _LAUNCH_FLOWS
    ]
    rows = np.flatnonzero(np.isin(flows.category_id, wanted))
    if len(rows):
        start_of = np.full(len(slices), NO_ID, np.int64)
        start_of[flows.to_id[rows]] = flows.from_id[rows]
        lonely = slices.correlation[device_ids] == 0
        arrow[lonely] = start_of[device_ids[lonely]]
        is_call = (arrow >= 0) & (slices.kind[arrow] == SliceKind.RUNTIME)
        launch[is_call] = arrow[is_call]
    return launch, arrow


def _frames_at(trace: Trace, host_id: Int64s) -> Int64s:
    """Return the innermost Python frame of the thread that is open when each slice starts.

    ``NO_ID`` for ``NO_ID`` and where there is none.
    """
    slices = trace.slices
    frame, end_ns = np.full(len(host_id), NO_ID, np.int64), slices.end_ns
    python_track = {
        (track.pid, track.tid): track_id
        for track_id, track in enumerate(trace.tracks)
        if track.kind == TrackKind.PYTHON
    }
    tracks = _looked_up(slices.track_id, host_id)
    for host_track in np.unique(tracks[tracks >= 0]).tolist():
        line = trace.tracks[host_track]
        track_id = python_track.get((line.pid, line.tid))
        if track_id is None:
            continue
        first, last = np.searchsorted(slices.track_id, (track_id, track_id + 1))
        here = np.flatnonzero(tracks == host_track)
        time = slices.ts_ns[host_id[here]]
        row = first - 1 + np.searchsorted(slices.ts_ns[first:last], time, side="right")
        row[row < first] = NO_ID
        while True:
            closed = np.flatnonzero((row >= 0) & (end_ns[row] < time))
            if not len(closed):
                break
            row[closed] = slices.parent_id[row[closed]]
        frame[here] = row
    return frame


def _adopt_by_external_id(
    slices: SliceTable, device_ids: Int64s, launch: Int64s, owner: Int64s
) -> None:
    """Set owners by external id where the launch stands on a thread without operators.

    The operator must be open while the call runs: in many files the external ids of calls are
    another space of numbers, and an equal number means nothing.
    """
    lonely = np.flatnonzero((owner < 0) & (launch >= 0))
    call = launch[lonely]
    external = np.where(
        slices.external_id[call] != 0,
        slices.external_id[call],
        slices.external_id[device_ids[lonely]],
    )
    lonely, call, external = (column[external != 0] for column in (lonely, call, external))
    operators = np.flatnonzero((slices.kind == SliceKind.OPERATOR) & (slices.external_id != 0))
    place = latest_before(
        slices.external_id[operators], slices.ts_ns[operators], external, slices.ts_ns[call]
    )
    lonely, call, operator = (
        lonely[place >= 0],
        call[place >= 0],
        operators[place[place >= 0]],
    )
    is_open = (slices.ts_ns[operator] <= slices.ts_ns[call]) & (
        slices.ts_ns[call] <= slices.end_ns[operator]
    )
    owner[lonely[is_open]] = operator[is_open]
