"""A kernel whose mean is far from its usual run."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.work_class import WorkClass, short_kernel_name, slice_classes
from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, SHAPES, Need
from tracetui.diagnosis.scope import device_busy_ns
from tracetui.format import count, duration
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceFlag, SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class MeanMisleads:
    """Fires when runs of one kernel on equal shapes differ so much that their mean describes none.

    Communication waits for other ranks and is left out.
    """

    name: str = "mean-misleads"
    about: str = "a kernel on equal shapes whose mean is far from its median"
    needs: tuple[Need, ...] = (DEVICE_WORK, SHAPES)
    min_runs: int = 8
    min_mean_ratio: float = 1.3
    """Mean over median, from which on the mean misleads."""
    min_share_ratio: float = 0.03
    """Of device time, all runs of the kernel together."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each such kernel and shape."""
        for rows in _alike(trace, self.min_runs):
            yield from self._judged(trace, rows)

    def _judged(self, trace: Trace, rows: Int64s) -> Iterator[Finding]:
        dur_ns = trace.slices.dur_ns[rows]
        median_ns, mean_ns = float(np.median(dur_ns)), float(dur_ns.mean())
        busy_ns = device_busy_ns(trace)
        is_odd = median_ns > 0 and mean_ns >= self.min_mean_ratio * median_ns
        if not is_odd or dur_ns.sum() < self.min_share_ratio * busy_ns:
            return
        slow = rows[dur_ns > self.min_mean_ratio * median_ns]
        name = short_kernel_name(trace.name_of(int(rows[0])))
        yield Finding(
            self.name,
            severity_of(float((dur_ns - median_ns).sum()) / busy_ns),
            f"The mean of {name} misleads: {duration(round(mean_ns))}, where half of its"
            f" {count(len(rows))} runs on equal shapes take {duration(round(median_ns))} or less",
            in_time_order(trace, slow),
            "Quote the median; look at what ran beside the slow runs, and at the clocks"
            " (nvidia-smi -q -d CLOCK,PERFORMANCE)",
        )


def _alike(trace: Trace, min_runs: int) -> Iterator[Int64s]:
    """Yield the runs of each kernel by the geometry and the shapes that it was launched with."""
    slices = trace.slices
    rows = np.flatnonzero(slices.kind == SliceKind.KERNEL)
    owner = links(trace).owner_id[rows]
    shape = np.where(owner != NO_ID, slices.shape_id[owner], NO_ID)
    is_impossible = (slices.flags[rows] & np.uint8(SliceFlag.IMPOSSIBLE)) != 0
    kept = (shape != NO_ID) & ~is_impossible & (slice_classes(trace)[rows] != WorkClass.COMM)
    rows, shape = rows[kept], shape[kept]
    keys = np.stack((slices.name_id[rows], slices.geometry_id[rows], shape))
    _, group, n_runs = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(n_runs)
    for place in np.flatnonzero(n_runs >= min_runs).tolist():
        yield rows[order[ends[place] - n_runs[place] : ends[place]]]
