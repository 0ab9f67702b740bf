"""Constants that the host fills and copies to the device, which could fill them itself."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, LAUNCHES, SHAPES, Need
from tracetui.diagnosis.scope import (
    device_idle,
    device_span_ns,
    device_work_in,
    holder_of,
    named,
    top_operators,
)
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.intervals import intersection, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_MADE: Final = re.compile(r"^aten::(zeros|ones|full)$")
_FILL: Final = re.compile(r"^aten::(zero_|fill_)$")
_MOVED: Final = re.compile(r"^aten::(to|_to_copy)$")
_TO_DEVICE: Final = re.compile(r"HtoD|Host -> Device|HostToDevice")


@dataclass(frozen=True, slots=True)
class HostMadeTensor:
    """Fires when zeros, ones or full fill a tensor on the host and the next operator moves it.

    Both take the same shape, and while it happens the device stands still: a tensor that the
    device makes needs neither.
    """

    name: str = "host-made-tensor"
    about: str = "zeros, ones or full that the host makes and copies to the device"
    needs: tuple[Need, ...] = (DEVICE_WORK, LAUNCHES, SHAPES)
    min_calls: int = 3
    min_share_ratio: float = 0.02
    """Of the device's span: what it stood still during making and copying."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such tensors."""
        slices = trace.slices
        made, moved = _made_and_moved(trace)
        if len(made) < self.min_calls:
            return
        spans = union(slices.ts_ns[made], slices.end_ns[moved])
        idle, span_ns = intersection(spans, device_idle(trace)), device_span_ns(trace)
        if idle.total_ns < self.min_share_ratio * span_ns:
            return
        copies, _ = device_work_in(trace, moved)
        name = trace.name_of(int(made[0]))
        yield Finding(
            self.name,
            severity_of(idle.total_ns / span_ns),
            f"{name} fills {count(len(made))} tensors on the host, which are then copied to the"
            f" device; it stood still for {duration(idle.total_ns)} meanwhile,"
            f" {percent(idle.total_ns / span_ns)} of its time",
            copies,
            f"Make them where they are used: torch.{name.removeprefix('aten::')}(…, device=x.device)",
            Saving.whole(idle.starts, idle.ends, "the idle time during making and copying"),
        )


def _made_and_moved(trace: Trace) -> tuple[Int64s, Int64s]:
    """Return operators that fill a tensor on the host, and those after them that move it."""
    slices = trace.slices
    top = top_operators(trace)
    is_made = np.isin(top, named(trace, _MADE, SliceKind.OPERATOR))[:-1]
    is_moved = np.isin(top, named(trace, _MOVED, SliceKind.OPERATOR))[1:]
    is_next = slices.track_id[top[1:]] == slices.track_id[top[:-1]]
    made, moved = top[:-1][is_made & is_moved & is_next], top[1:][is_made & is_moved & is_next]
    work, holder = device_work_in(trace, moved)
    names = [row for row, name in enumerate(trace.names) if _TO_DEVICE.search(name)]
    is_upload = np.isin(slices.name_id[work], names)
    is_uploaded = np.zeros(len(moved), bool)
    is_uploaded[holder[is_upload]] = True
    on_host = links(trace).n_device_total[made] == 0
    fills = named(trace, _FILL, SliceKind.OPERATOR)
    row = holder_of(trace, fills, made)
    filled = {
        at: fill for at, fill in zip(row.tolist(), fills.tolist(), strict=True) if at != NO_ID
    }
    kept = [
        at in filled and _shape(trace, filled[at]) == _shape(trace, int(moved[at])) != ()
        for at in range(len(made))
    ]
    wanted = is_uploaded & on_host & np.array(kept, bool)
    return made[wanted], moved[wanted]


def _shape(trace: Trace, operator: int) -> tuple[int, ...]:
    return next((each.shape for each in tensors_of(trace, operator)), ())
