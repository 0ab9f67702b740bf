"""One process that deals a batch out to several devices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, OPERATORS, Need
from tracetui.diagnosis.scope import devices_of, outermost, recorded_ns
from tracetui.format import duration, percent
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_PARTS: Final = ("Scatter", "Broadcast", "Gather")
"""The operators of ``torch.nn.DataParallel`` in a forward pass, by their names as autograd nodes."""


@dataclass(frozen=True, slots=True)
class DataParallel:
    """Fires when a model is copied to several devices on each call and its results are gathered.

    All three operators of ``torch.nn.DataParallel`` must be there, and kernels on several devices.
    """

    name: str = "data-parallel"
    about: str = "torch.nn.DataParallel, which copies the model to all devices on each call"
    needs: tuple[Need, ...] = (OPERATORS, DEVICE_WORK)
    min_share_ratio: float = 0.01
    """Of the recording: what the host spends in the three operators."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding."""
        slices = trace.slices
        name_ids = [trace.names.find(name) for name in _PARTS]
        calls = np.flatnonzero(np.isin(slices.name_id, name_ids))
        calls = calls[slices.kind[calls] == SliceKind.OPERATOR]
        devices = np.unique(devices_of(trace, np.flatnonzero(slices.kind == SliceKind.KERNEL)))
        if len(np.unique(slices.name_id[calls])) < len(_PARTS) or len(devices) < 2:
            return
        calls = outermost(trace, calls)
        cost_ns, whole_ns = int(slices.dur_ns[calls].sum()), recorded_ns(trace)
        if cost_ns < self.min_share_ratio * whole_ns:
            return
        yield Finding(
            self.name,
            severity_of(cost_ns / whole_ns),
            f"DataParallel copies the model to {len(devices)} devices on each call: dealing out and"
            f" gathering take the host {duration(cost_ns)}, {percent(cost_ns / whole_ns)} of the"
            f" recording",
            in_time_order(trace, calls),
            "Give each device its own process with torch.nn.parallel.DistributedDataParallel"
            " (torchrun)",
        )
