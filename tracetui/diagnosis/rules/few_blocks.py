"""Long kernels that leave most of the device's processors without work."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.occupancy import device_of
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, GRIDS, Need
from tracetui.diagnosis.scope import device_busy_ns, devices_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Bools, Float64s, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_US

_WAITING: Final = re.compile(
    r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|cross_device|shmem|deep_?ep"
    r"|broadcast|send_?recv|barrier|symm_?mem|dispatch|combine|wait|spin|sleep",
    re.IGNORECASE,
)
"""Kernels that talk to other devices: few blocks are enough to wait."""


@dataclass(frozen=True, slots=True)
class FewBlocks:
    """Fires when a kernel of few blocks holds the device for long, alone.

    A block runs on one processor, so with fewer blocks than processors the others have nothing
    to do. Where another kernel runs at the same time it may use them, and nothing is said.
    """

    name: str = "few-blocks"
    about: str = "long kernels in fewer blocks than half of the device's processors"
    needs: tuple[Need, ...] = (DEVICE_WORK, GRIDS)
    max_filled_ratio: float = 0.5
    """Blocks over processors."""
    min_mean_ns: int = 20 * NS_PER_US
    """A short kernel is a matter of launching, however few its blocks are."""
    min_share_ratio: float = 0.05
    """Of the time in which the device is busy."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each kernel's name."""
        slices, busy_ns = trace.slices, device_busy_ns(trace)
        kernels, filled, blocks = self._few(trace)
        for name_id in np.unique(slices.name_id[kernels]).tolist():
            own = slices.name_id[kernels] == name_id
            cost_ns = int(slices.dur_ns[kernels[own]].sum())
            is_short = cost_ns < self.min_mean_ns * own.sum()
            name = trace.names[name_id]
            if is_short or cost_ns < self.min_share_ratio * busy_ns or _WAITING.search(name):
                continue
            n_runs, most = int(own.sum()), int(blocks[own].max())
            runs = "1 run" if n_runs == 1 else f"{count(n_runs)} runs"
            yield Finding(
                self.name,
                severity_of(cost_ns / busy_ns),
                f"{decode(name).short_name} has work for {percent(float(filled[own].max()))} of the"
                f" device's processors, {count(most)} {'block' if most == 1 else 'blocks'}: {runs}"
                f" took {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
                in_time_order(trace, kernels[own]),
                "Give it more at once: a larger batch, several small calls as one, an algorithm"
                " that splits the long dimension; or run other work beside it on a second stream",
            )

    def _few(self, trace: Trace) -> tuple[Int64s, Float64s, Int64s]:
        """Return the kernels that run alone in few blocks, the share filled, and their blocks."""
        slices = trace.slices
        kernels = np.flatnonzero((slices.kind == SliceKind.KERNEL) & (slices.geometry_id != NO_ID))
        kernels = kernels[slice_classes(trace)[kernels] != WorkClass.COMM]
        grids = [each.grid for each in trace.geometries]
        amounts = np.array([prod(grid) if grid else 0 for grid in grids], np.int64)
        blocks = amounts[slices.geometry_id[kernels]]
        device = devices_of(trace, kernels)
        n_sms = np.zeros(len(kernels))
        for each in np.unique(device).tolist():
            spec = device_of(trace, each)
            n_sms[device == each] = (spec.n_sms or 0) if spec else 0
        filled = np.divide(blocks, n_sms, out=np.ones(len(kernels)), where=n_sms > 0)
        kept = (blocks > 0) & (filled < self.max_filled_ratio)
        kept &= _is_alone(trace)[kernels]
        return kernels[kept], filled[kept], blocks[kept]


def _is_alone(trace: Trace) -> Bools:
    """Return which slices are kernels during which their device ran no other kernel."""
    slices = trace.slices
    alone = np.zeros(len(slices), bool)
    kernels = np.flatnonzero(slices.kind == SliceKind.KERNEL)
    device = devices_of(trace, kernels)
    for each in np.unique(device).tolist():
        own = kernels[device == each]
        own = own[np.argsort(slices.ts_ns[own], kind="stable")]
        start_ns, end_ns = slices.ts_ns[own], slices.end_ns[own]
        is_after = np.maximum.accumulate(end_ns)[:-1] <= start_ns[1:]
        alone[own] = np.append(True, is_after) & np.append(is_after, True)
    return alone
