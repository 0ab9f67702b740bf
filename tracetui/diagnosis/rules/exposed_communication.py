"""Communication that no computation hides."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.utilization import DeviceUse, utilization
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.format import duration, percent
from tracetui.model.arrays import Int64s
from tracetui.model.intervals import Intervals, covered_before, difference, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class ExposedCommunication:
    """Fires when a device spends much of its time in collectives while it computes nothing."""

    name: str = "exposed-communication"
    about: str = "collectives that no computation hides"
    needs: tuple[Need, ...] = (DEVICE_WORK,)
    min_share_ratio: float = 0.1
    """Of the device's span."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each such device."""
        for use in utilization(trace):
            if use.span_ns and use.comm_exposed_ns >= self.min_share_ratio * use.span_ns:
                yield self._finding(trace, use)

    def _finding(self, trace: Trace, use: DeviceUse) -> Finding:
        slices = trace.slices
        of_track = np.array([track.device for track in trace.tracks], np.int64)
        kernels = np.flatnonzero(slices.kind == SliceKind.KERNEL)
        kernels = kernels[of_track[slices.track_id[kernels]] == use.device]
        is_comm = slice_classes(trace)[kernels] == WorkClass.COMM

        def spans(rows: Int64s) -> tuple[Int64s, Int64s]:
            return slices.ts_ns[rows], slices.end_ns[rows]

        bare = difference(union(*spans(kernels[is_comm])), union(*spans(kernels[~is_comm])))
        comm = kernels[is_comm]
        start_ns, end_ns = spans(comm)
        shown: Int64s = comm[covered_before(bare, end_ns) > covered_before(bare, start_ns)]
        ratio = use.comm_exposed_ns / use.span_ns
        return Finding(
            self.name,
            severity_of(ratio),
            f"Device {use.device} communicates for {duration(use.comm_exposed_ns)} without"
            f" computing, {percent(ratio)} of its time; {duration(use.comm_overlap_ns)} more is"
            f" hidden",
            in_time_order(trace, shown),
            "Start collectives earlier and wait later: smaller DDP buckets (bucket_cap_mb), FSDP"
            " prefetching, async_op=True; see first whether ranks arrive at different times",
            _hidden(bare, use.compute_ns - use.comm_overlap_ns),
        )


def _hidden(bare: Intervals, room_ns: int) -> Saving:
    """Return the saving of communication that no kernel hides yet.

    Kernels can hide no more than they last, less what they hide already.
    """
    if room_ns >= bare.total_ns:
        return Saving.whole(bare.starts, bare.ends, "all of it, were it hidden behind kernels")
    lengths_ns = bare.ends - bare.starts
    saved_ns = np.floor(lengths_ns * (room_ns / bare.total_ns)).astype(np.int64)
    how = "as much of it as the kernels last that hide none yet"
    return Saving(bare.starts, bare.ends, saved_ns, how)
