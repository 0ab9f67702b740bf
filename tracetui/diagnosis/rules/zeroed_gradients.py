"""Gradients that are filled with zeros instead of being dropped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.diagnosis.scope import device_busy_ns, device_work_in, named, outermost
from tracetui.format import count, duration, percent
from tracetui.model.trace import Trace

_ZEROING: Final = re.compile(r"^Optimizer\.zero_grad#")


@dataclass(frozen=True, slots=True)
class ZeroedGradients:
    """Fires when ``zero_grad`` launches kernels: it sets gradients to zero and not to ``None``."""

    name: str = "zeroed-gradients"
    about: str = "gradients that zero_grad fills with zeros instead of dropping them"
    needs: tuple[Need, ...] = (DEVICE_WORK,)
    min_kernels: int = 20
    """In each call."""
    min_share_ratio: float = 0.005

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such calls."""
        work, holder = device_work_in(trace, outermost(trace, named(trace, _ZEROING)))
        cost_ns, busy_ns = int(trace.slices.dur_ns[work].sum()), device_busy_ns(trace)
        if not len(work) or cost_ns < self.min_share_ratio * busy_ns:
            return
        n_each = len(work) // len(np.unique(holder))
        if n_each < self.min_kernels:
            return
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"Each zero_grad fills gradients with {count(n_each)} kernels: together"
            f" {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
            in_time_order(trace, work),
            "Call optimizer.zero_grad(set_to_none=True), the default since torch 2.0",
            Saving.of_slices(trace, work, "all of the filling"),
        )
