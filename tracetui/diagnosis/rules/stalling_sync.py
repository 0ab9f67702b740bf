"""A wait for the device that leaves the device without work afterwards."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, LAUNCHES, Need
from tracetui.diagnosis.scope import device_idle, device_span_ns, launch_of_work_at, named
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Bools, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_US

_WAITS: Final = re.compile(r"Synchronize|^(cuda|hip)Memcpy$|^hipMemcpyWithStream$", re.IGNORECASE)
"""Calls that return when the device is done; a plain copy is one of them."""
_OPERATOR_OF: Final = {"aten::_local_scalar_dense": "aten::item"}
_CHANGES: Final = {
    "aten::item": "Keep the value on the device; read it with .item() once in many steps",
    "aten::nonzero": "Avoid shapes that depend on data: use torch.where with three arguments or a"
    " mask",
    "": "Take the synchronisation out of the loop; it is needed to time, not to compute",
}
_CHANGE: Final = "Read the result later, or copy it with non_blocking=True into pinned memory"


@dataclass(frozen=True, slots=True, eq=False)
class _Stalls:
    """One row for each wait after which the device had nothing to do."""

    sync_id: Int64s
    start_ns: Int64s
    end_ns: Int64s
    saved_ns: Int64s


@dataclass(frozen=True, slots=True)
class StallingSync:
    """Fires when the host waits for the device, and the device then waits for the host.

    A wait counts only where the device still worked when it began, ran dry inside it, and got its
    next work from a launch that began after it: elsewhere it cost nothing.
    """

    name: str = "stalling-sync"
    about: str = "a synchronisation (.item(), cudaStreamSynchronize) after which the device ran dry"
    needs: tuple[Need, ...] = (DEVICE_WORK, LAUNCHES)
    min_share_ratio: float = 0.03
    min_stall_ns: int = 5 * NS_PER_US
    """Below this the device hardly notices."""
    min_stalls: int = 2
    """A single one is often that of the end of a measurement."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each operator that waits so."""
        stalls = _stalls(trace)
        operator = links(trace).operator_id[stalls.sync_id]
        name_id = np.where(operator != NO_ID, trace.slices.name_id[operator], NO_ID)
        for each in np.unique(name_id).tolist():
            own = (name_id == each) & (stalls.saved_ns >= self.min_stall_ns)
            yield from self._judged(trace, stalls, own, trace.names[each] if each >= 0 else "")

    def _judged(
        self, trace: Trace, stalls: _Stalls, own: Bools, operator: str
    ) -> Iterator[Finding]:
        saving = Saving(
            stalls.start_ns[own],
            stalls.end_ns[own],
            stalls.saved_ns[own],
            "how much earlier each next launch could have begun",
        )
        span_ns = device_span_ns(trace)
        if own.sum() < self.min_stalls or saving.total_ns < self.min_share_ratio * span_ns:
            return
        name = _OPERATOR_OF.get(operator, operator)
        sync_id = stalls.sync_id[own]
        call = trace.name_of(int(sync_id[0]))
        who = f"{call} in {name}" if name else f"{call}, outside any operator,"
        yield Finding(
            self.name,
            severity_of(saving.total_ns / span_ns),
            f"{who} drained the device {count(int(own.sum()))} times; it then stood still for"
            f" {duration(saving.total_ns)}, {percent(saving.total_ns / span_ns)} of its time",
            in_time_order(trace, sync_id),
            _CHANGES.get(name, _CHANGE),
            saving,
        )


def _stalls(trace: Trace) -> _Stalls:
    slices = trace.slices
    idle = device_idle(trace)
    syncs = named(trace, _WAITS, SliceKind.RUNTIME)
    syncs = syncs[np.argsort(slices.ts_ns[syncs], kind="stable")]
    if not len(syncs) or not len(idle):
        none = np.empty(0, np.int64)
        return _Stalls(none, none, none, none)
    began_ns, ended_ns = slices.ts_ns[syncs], slices.end_ns[syncs]
    # The wait that was on when the device ran dry: the last to begin before.
    row = np.searchsorted(began_ns, idle.starts) - 1
    sync = np.maximum(row, 0)
    launch = launch_of_work_at(trace, idle.ends)
    stalled = (
        (row >= 0)
        & (ended_ns[sync] >= idle.starts)
        & (ended_ns[sync] <= idle.ends)
        & (launch != NO_ID)
        & (slices.ts_ns[launch] >= ended_ns[sync])
    )
    sync, start_ns, end_ns = sync[stalled], idle.starts[stalled], idle.ends[stalled]
    saved_ns = np.minimum(end_ns - start_ns, ended_ns[sync] - began_ns[sync])
    return _Stalls(syncs[sync], start_ns, end_ns, saved_ns)
