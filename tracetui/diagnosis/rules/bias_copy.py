"""A copy that seeds the result of a product before the product adds to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, OPERATORS, Need
from tracetui.diagnosis.scope import device_busy_ns, device_work_in, named, outermost
from tracetui.format import count, duration, percent, size
from tracetui.model.arrays import Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_ADDING: Final = re.compile(r"^aten::(addmm|baddbmm|addbmm)(_out|_)?$")
_SAME_DEVICE: Final = re.compile(r"DtoD|Device -> Device")


@dataclass(frozen=True, slots=True)
class BiasCopy:
    """Fires when ``addmm`` copies what it adds into its result and only then multiplies."""

    name: str = "bias-copy"
    about: str = "a copy of the bias or addend before a matrix product that could add it itself"
    needs: tuple[Need, ...] = (DEVICE_WORK, OPERATORS)
    min_share_ratio: float = 0.005

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such calls."""
        slices = trace.slices
        copies = _seeding_copies(trace)
        cost_ns, busy_ns = int(slices.dur_ns[copies].sum()), device_busy_ns(trace)
        if not len(copies) or cost_ns < self.min_share_ratio * busy_ns:
            return
        n_bytes = int(np.maximum(slices.n_bytes[copies], 0).sum())
        of_size = f" of {size(n_bytes // len(copies))}" if n_bytes else ""
        times = "1 copy" if len(copies) == 1 else f"{count(len(copies))} copies"
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"aten::addmm copies what it adds before it multiplies: {times}{of_size} took"
            f" {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
            in_time_order(trace, copies),
            "Leave the addition to the product's epilogue (a bias of one dimension), or compile"
            ' with mode="max-autotune" so that a generated product adds it',
            Saving.of_slices(trace, copies, "all of the copies"),
        )


def _seeding_copies(trace: Trace) -> Int64s:
    """Return the device-to-device copies that a call makes before its product."""
    calls = outermost(trace, named(trace, _ADDING, SliceKind.OPERATOR))
    work, holder = device_work_in(trace, calls)
    slices = trace.slices
    same_device = [row for row, name in enumerate(trace.names) if _SAME_DEVICE.search(name)]
    is_copy = (slices.kind[work] == SliceKind.MEMCPY) & np.isin(slices.name_id[work], same_device)
    is_product = slice_classes(trace)[work] == WorkClass.GEMM
    last_product_ns = np.full(len(calls), -1, np.int64)
    np.maximum.at(last_product_ns, holder[is_product], slices.ts_ns[work[is_product]])
    seeds: Int64s = work[is_copy & (slices.ts_ns[work] < last_product_ns[holder])]
    return seeds
