"""A device that mostly runs elementwise kernels one after another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, LAUNCHES, Need
from tracetui.diagnosis.scope import device_busy_ns, holder_of, named, outermost
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_US

_FEW_AT_ONCE: Final = re.compile(r"at::native::")
"""torch's own kernels, each for one operator; what a compiler makes is named otherwise."""
_OPTIMIZER: Final = re.compile(r"^Optimizer\.|^aten::_fused_|^aten::_foreach_")


@dataclass(frozen=True, slots=True)
class EagerElementwise:
    """Fires when runs of torch's own elementwise and copying kernels take much of the device.

    Each of them reads its input from memory and writes its result back, for the next to read. A
    run is two or more on one stream with no other work between them. An optimizer's are not
    counted, and neither are short ones, whose trouble is another.
    """

    name: str = "eager-elementwise"
    about: str = "a device that mostly runs elementwise kernels one after another, not compiled"
    needs: tuple[Need, ...] = (DEVICE_WORK, LAUNCHES)
    min_share_ratio: float = 0.3
    min_kernels: int = 50
    min_mean_ns: int = 10 * NS_PER_US

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such runs."""
        kernels, n_runs = _in_runs(trace)
        cost_ns, busy_ns = int(trace.slices.dur_ns[kernels].sum()), device_busy_ns(trace)
        are_few = len(kernels) < self.min_kernels or cost_ns < self.min_mean_ns * len(kernels)
        if are_few or cost_ns < self.min_share_ratio * busy_ns:
            return
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"Elementwise kernels one after another take {percent(cost_ns / busy_ns)} of device"
            f" time: {count(len(kernels))} kernels in {count(n_runs)} runs, {duration(cost_ns)},"
            f" each through memory",
            in_time_order(trace, kernels),
            "Compile the model with torch.compile, which makes one kernel or a few of each run",
        )


def _in_runs(trace: Trace) -> tuple[Int64s, int]:
    """Return the kernels that stand in runs of two or more, and how many runs those are."""
    slices = trace.slices
    work = np.flatnonzero(slices.is_device_work())
    work = work[np.lexsort((slices.ts_ns[work], slices.track_id[work]))]
    own = [row for row, name in enumerate(trace.names) if _FEW_AT_ONCE.search(name)]
    wanted = slices.kind[work] == SliceKind.KERNEL
    wanted &= np.isin(slice_classes(trace)[work], (WorkClass.POINTWISE, WorkClass.COPY))
    wanted &= np.isin(slices.name_id[work], own)
    owner = links(trace).owner_id[work].astype(np.int64)
    wanted &= holder_of(trace, owner, outermost(trace, named(trace, _OPTIMIZER))) == NO_ID
    track = slices.track_id[work]
    goes_on = wanted[1:] & wanted[:-1] & (track[1:] == track[:-1])
    in_run = np.append(goes_on, False) | np.append(False, goes_on)
    is_first = in_run & ~np.append(False, goes_on)
    return work[in_run], int(is_first.sum())
