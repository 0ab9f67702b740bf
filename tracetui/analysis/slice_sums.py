"""What each slice adds to a table: whole, or the parts of it inside a range of time."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import add_to_ancestors, links
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int64s, frozen, group_sums
from tracetui.model.nesting import self_times
from tracetui.model.slices import SliceFlag, SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class SliceSums:
    """Columns of one row for each slice of the trace."""

    has_device: bool
    """Whether the trace holds any device work, be it inside the range or not."""
    calls: Int64s
    """1 for a slice that touches the range, else 0."""
    total_ns: Int64s
    self_ns: Int64s
    device_total_ns: Int64s
    """Device work that ran inside the range, owned by the slice and all below it."""
    device_self_ns: Int64s
    n_kernels: Int64s
    """How many device slices ``device_total_ns`` adds up."""


@once_per_trace
def slice_sums(trace: Trace) -> SliceSums:
    """Return what each slice adds as a whole."""
    link, slices = links(trace), trace.slices
    return SliceSums(
        has_device=link.has_device,
        calls=frozen(np.ones(len(slices), np.int64)),
        total_ns=slices.dur_ns,
        self_ns=link.self_ns,
        device_total_ns=link.device_total_ns,
        device_self_ns=link.device_self_ns,
        n_kernels=frozen(link.n_device_total.astype(np.int64)),
    )


def slice_sums_within(trace: Trace, start_ns: int, end_ns: int) -> SliceSums:
    """Return what each slice adds inside a range.

    Host time and device time go by their own clock: a call counts for the time it was open in the
    range, and the device work that it owns for the time that ran in the range, whenever it was
    launched. So the device self times of all owners sum up to what the devices did in the range.
    """
    link, slices = links(trace), trace.slices
    n = len(slices)
    starts = np.clip(slices.ts_ns, start_ns, end_ns)
    ends = np.clip(slices.end_ns, start_ns, end_ns)
    touches = touching(trace, start_ns, end_ns)
    inside_ns = ends - starts

    device_ids = np.flatnonzero(slices.is_device_work() & (link.owner_id >= 0) & touches)
    device_self_ns = group_sums(link.owner_id[device_ids], inside_ns[device_ids], n)
    on_frame = slices.kind[link.anchor_id] == SliceKind.PYTHON
    frame, under_frame = link.anchor_id[on_frame], link.anchored_id[on_frame]
    # A frame's own work is what is launched in it and in none below; an owner may be no frame.
    np.add.at(device_self_ns, frame, inside_ns[under_frame])
    device_total_ns = group_sums(link.anchor_id, inside_ns[link.anchored_id], n)
    n_kernels = group_sums(link.anchor_id, touches[link.anchored_id].astype(np.int64), n)
    for column in (device_total_ns, n_kernels):
        add_to_ancestors(slices.parent_id, slices.depth, column)
        column[slices.kind == SliceKind.RUNTIME] = 0
    crosses = (slices.flags & np.uint8(SliceFlag.CROSSES)) != 0
    return SliceSums(
        has_device=link.has_device,
        calls=frozen(touches.astype(np.int64)),
        total_ns=frozen(inside_ns),
        self_ns=frozen(self_times(slices.parent_id, starts, ends, crosses)),
        device_total_ns=frozen(device_total_ns),
        device_self_ns=frozen(device_self_ns),
        n_kernels=frozen(n_kernels),
    )


def touching(trace: Trace, start_ns: int, end_ns: int) -> Bools:
    """Return which slices have a part inside ``[start_ns, end_ns)``, or an instant in it."""
    ts_ns: Int64s = trace.slices.ts_ns
    ends: Int64s = trace.slices.end_ns
    has_part = ends > start_ns
    found: Bools = (ts_ns < end_ns) & (has_part | (ts_ns >= start_ns))
    return found


def with_parents(trace: Trace, chosen: Bools) -> Bools:
    """Return the chosen slices and everything that encloses one of them."""
    parent_id = trace.slices.parent_id
    kept: Bools = chosen.copy()
    above = np.unique(parent_id[chosen])
    while len(above):
        above = above[above != NO_ID]
        above = above[~kept[above]]
        kept[above] = True
        above = np.unique(parent_id[above])
    return kept
