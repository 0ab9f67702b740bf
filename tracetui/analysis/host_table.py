"""The calls of the host by name: the call tree as one flat table."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.call_tree import words
from tracetui.analysis.slice_sums import SliceSums
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind


@dataclass(frozen=True, slots=True, eq=False)
class HostTable:
    """One row for each name and kind, the longest total first; columns of one length."""

    names: StringTable
    shapes: StringTable
    has_device: bool
    name_id: Int32s
    shape_id: Int32s
    """Into ``shapes`` where calls are grouped by shape and the file gives one, else ``NO_ID``."""
    kind: Int8s
    """``SliceKind``."""
    slice_id: Int32s
    """The first call."""
    calls: Int64s
    total_ns: Int64s
    self_ns: Int64s
    device_total_ns: Int64s
    device_self_ns: Int64s
    n_kernels: Int64s

    def __len__(self) -> int:
        return len(self.name_id)


def host_table(
    trace: Trace, sums: SliceSums, chosen: Bools | None = None, *, by_shape: bool = False
) -> HostTable:
    """Return the chosen calls of host threads by name and kind, and with ``by_shape`` by shapes.

    A name inside itself counts at every level, as in torch's own table.
    """
    slices = trace.slices
    on_host = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    is_row = on_host[slices.track_id] if len(slices) else np.empty(0, bool)
    rows = np.flatnonzero(is_row if chosen is None else is_row & chosen)
    group = words(trace, rows, by_shape=by_shape)
    n_groups = int(group.max(initial=-1)) + 1

    def summed(values: Int64s) -> Int64s:
        return group_sums(group, values[rows], n_groups)

    first = np.full(n_groups, len(slices), np.int64)
    np.minimum.at(first, group, rows)
    total_ns = summed(sums.total_ns)
    order = np.lexsort((first, -total_ns))
    first = first[order]
    shape_id = slices.shape_id[first] if by_shape else np.full(n_groups, NO_ID, np.int32)
    return HostTable(
        names=trace.names,
        shapes=trace.shapes,
        has_device=sums.has_device,
        name_id=frozen(slices.name_id[first]),
        shape_id=frozen(shape_id),
        kind=frozen(slices.kind[first]),
        slice_id=frozen(first.astype(np.int32)),
        calls=frozen(summed(sums.calls)[order]),
        total_ns=frozen(total_ns[order]),
        self_ns=frozen(summed(sums.self_ns)[order]),
        device_total_ns=frozen(summed(sums.device_total_ns)[order]),
        device_self_ns=frozen(summed(sums.device_self_ns)[order]),
        n_kernels=frozen(summed(sums.n_kernels)[order]),
    )
