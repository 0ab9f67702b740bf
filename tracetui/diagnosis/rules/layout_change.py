"""Convolutions whose tensors are turned to another layout and back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.diagnosis.scope import device_busy_ns, named
from tracetui.format import count, duration, percent
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_TURNS: Final = re.compile(r"nchwToNhwc|nhwcToNchw|batched_transpose_", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LayoutChange:
    """Fires when the library changes between channels first and channels last around its work."""

    name: str = "layout-change"
    about: str = "convolutions that turn their tensors to channels last and back on every call"
    needs: tuple[Need, ...] = (DEVICE_WORK,)
    min_share_ratio: float = 0.03

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such kernels."""
        turns = in_time_order(trace, named(trace, _TURNS, SliceKind.KERNEL))
        cost_ns, busy_ns = int(trace.slices.dur_ns[turns].sum()), device_busy_ns(trace)
        if not len(turns) or cost_ns < self.min_share_ratio * busy_ns:
            return
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"Convolutions change their tensors' layout: {count(len(turns))} kernels took"
            f" {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
            turns,
            "Keep model and input in channels last: model.to(memory_format=torch.channels_last)",
            Saving.of_slices(trace, turns, "all of the changes of layout"),
        )
