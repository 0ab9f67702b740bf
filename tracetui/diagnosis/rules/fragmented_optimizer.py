"""An optimizer step in many tiny kernels, one or more for each parameter."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, LAUNCHES, Need
from tracetui.diagnosis.scope import device_span_ns, device_work_in, named, outermost
from tracetui.format import count, duration, percent
from tracetui.model.arrays import Int64s
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_US

_STEP: Final = re.compile(r"^Optimizer\.step#")
_MANY_AT_ONCE: Final = re.compile(r"multi_tensor_apply|triton_for|fused_?adam", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FragmentedOptimizer:
    """Fires when each optimizer step launches many short kernels, none for several parameters."""

    name: str = "fragmented-optimizer"
    about: str = "an optimizer step in many tiny kernels, parameter by parameter"
    needs: tuple[Need, ...] = (DEVICE_WORK, LAUNCHES)
    min_kernels: int = 100
    """In each step."""
    max_mean_ns: int = 20 * NS_PER_US
    min_share_ratio: float = 0.05
    """The host's time in the optimizer, of the device's span."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all steps of the optimizer."""
        slices = trace.slices
        calls = outermost(trace, named(trace, _STEP))
        work, holder = device_work_in(trace, calls)
        if not len(work) or self._is_grouped(trace, work):
            return
        n_calls = len(np.unique(holder))
        n_each = len(work) // n_calls
        ratio = int(slices.dur_ns[calls].sum()) / device_span_ns(trace)
        mean_ns = round(float(slices.dur_ns[work].mean()))
        if n_each < self.min_kernels or mean_ns > self.max_mean_ns or ratio < self.min_share_ratio:
            return
        yield Finding(
            self.name,
            severity_of(ratio),
            f"Each optimizer step launches {count(n_each)} kernels of {duration(mean_ns)} on"
            f" average; launching them takes the host {percent(ratio)} of the time",
            in_time_order(trace, work),
            "Build the optimizer with fused=True, or else with foreach=True",
        )

    def _is_grouped(self, trace: Trace, work: Int64s) -> bool:
        names = [trace.names[each] for each in np.unique(trace.slices.name_id[work]).tolist()]
        return any(_MANY_AT_ONCE.search(name) for name in names)
