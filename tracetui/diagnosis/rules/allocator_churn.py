"""Device memory that is taken from the driver and given back in the middle of the work."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.steps import steps
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, STEPS, Need
from tracetui.diagnosis.scope import device_idle, device_span_ns, named
from tracetui.format import count, duration, percent
from tracetui.model.intervals import intersection, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_CALLS: Final = re.compile(r"^(cuda|hip)(Malloc|Free)$")


@dataclass(frozen=True, slots=True)
class AllocatorChurn:
    """Fires when step after step calls the driver for memory while the device stands still.

    The first step fills torch's cache of memory; later ones find what they need there. A program
    that empties the cache, or whose sizes never fit it, goes to the driver again, and its free
    waits for the whole device.
    """

    name: str = "allocator-churn"
    about: str = "cudaMalloc and cudaFree in later steps, with the device standing still"
    needs: tuple[Need, ...] = (DEVICE_WORK, STEPS)
    min_share_ratio: float = 0.03
    """Of the device's span: what it stood still during the calls."""
    min_steps: int = 2

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such calls after the first step."""
        slices, found, span_ns = trace.slices, steps(trace), device_span_ns(trace)
        calls = named(trace, _CALLS, SliceKind.RUNTIME)
        calls = in_time_order(trace, calls[slices.ts_ns[calls] >= found[0].end_ns])
        starts_ns = np.array([each.start_ns for each in found], np.int64)
        n_steps = len(np.unique(np.searchsorted(starts_ns, slices.ts_ns[calls], side="right")))
        idle = intersection(union(slices.ts_ns[calls], slices.end_ns[calls]), device_idle(trace))
        if n_steps < self.min_steps or idle.total_ns < self.min_share_ratio * span_ns:
            return
        names = sorted({trace.name_of(each) for each in calls.tolist()}, reverse=True)
        yield Finding(
            self.name,
            severity_of(idle.total_ns / span_ns),
            f"{' and '.join(names)} are called {count(len(calls))} times in {count(n_steps)} steps"
            f" after the first; the device stood still for {duration(idle.total_ns)} of it,"
            f" {percent(idle.total_ns / span_ns)} of its time",
            calls,
            "Take torch.cuda.empty_cache() out of the loop; where sizes change from step to step,"
            " set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            Saving.whole(idle.starts, idle.ends, "the idle time during the calls"),
        )
