"""How much device work hangs below each call: kernels, copies and launches, call by call."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.model.arrays import NO_ID, Bools, Int64s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class CallCounts:
    """One row for each call asked about, in the order in which they were asked for."""

    n_kernels: Int64s
    """Device slices, copies and memsets included."""
    n_copies: Int64s
    """The copies among them, as the recording calls them; kernels that copy are kernels."""
    n_launches: Int64s
    """Calls of the runtime that put work on a stream; a graph is one."""
    device_ns: Int64s
    """Durations of that work added up."""
    device_ids: Int64s
    """All that device work, each slice once, ascending."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    copies: Int64s
    launches: Int64s
    device_ns: Int64s


def call_counts(trace: Trace, slice_ids: Int64s) -> CallCounts:
    """Return what hangs below each of these host slices.

    Args:
        trace: The recording.
        slice_ids: Host slices: operators, annotations, Python frames or runtime calls.
    """
    link, sums = links(trace), _sums(trace)
    first = np.searchsorted(link.anchor_id, slice_ids)
    last = np.searchsorted(link.anchor_id, link.subtree_end[slice_ids])
    inside = np.zeros(len(link.anchored_id) + 1, np.int64)
    np.add.at(inside, first, 1)
    np.add.at(inside, last, -1)
    return CallCounts(
        n_kernels=frozen((last - first).astype(np.int64)),
        n_copies=frozen(sums.copies[last] - sums.copies[first]),
        n_launches=frozen(sums.launches[last] - sums.launches[first]),
        device_ns=frozen(sums.device_ns[last] - sums.device_ns[first]),
        device_ids=frozen(np.unique(link.anchored_id[np.cumsum(inside[:-1]) > 0]).astype(np.int64)),
    )


@once_per_trace
def copying_slices(trace: Trace) -> Bools:
    """Return which slices copy: copies, and the kernels that copy as ATen writes them."""
    slices = trace.slices
    is_copy = slices.kind == SliceKind.MEMCPY
    kernels = np.flatnonzero(
        (slices.kind == SliceKind.KERNEL) & (slice_classes(trace) == WorkClass.COPY)
    )
    fills = [
        name_id
        for name_id in np.unique(slices.name_id[kernels]).tolist()
        if any(word in trace.names[name_id].lower() for word in ("fill", "memset"))
    ]
    is_copy[kernels[~np.isin(slices.name_id[kernels], fills)]] = True
    return frozen(is_copy)


@once_per_trace
def _sums(trace: Trace) -> _Sums:
    """Return running sums along the device slices as they hang in the host's trees."""
    link = links(trace)
    work = link.anchored_id
    launch = link.launch_id[work]
    # The rows are sorted by where they hang, which for known calls is the call itself.
    before = np.concatenate((np.array([NO_ID], np.int32), launch))[: len(launch)]
    is_new_call = (launch != NO_ID) & (launch != before)

    def running(values: Bools | Int64s) -> Int64s:
        return np.concatenate(([0], np.cumsum(values))).astype(np.int64)

    return _Sums(
        copies=running(trace.slices.kind[work] == SliceKind.MEMCPY),
        launches=running(is_new_call),
        device_ns=running(trace.slices.dur_ns[work]),
    )
