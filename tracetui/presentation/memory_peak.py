"""The moment at which a device held most, in words: how much, when, and what ran then."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.allocations import Running, running_at
from tracetui.analysis.memory import MemoryCurve, MemoryUse, Peak
from tracetui.analysis.steps import steps
from tracetui.format import TimeUnit, duration, size
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace

PATH_JOINT: Final = " > "


@dataclass(frozen=True, slots=True, eq=False)
class PeakMoment:
    """A device's peak, and what ran then."""

    trace: Trace
    curve: MemoryCurve
    peak: Peak
    running: Running

    @classmethod
    def of(
        cls, trace: Trace, curve: MemoryCurve, span_ns: tuple[int, int] | None = None
    ) -> "PeakMoment":
        """Return the peak of a device, or of a range of time."""
        step_ids = np.array([step.slice_id for step in steps(trace)], np.int64)
        peak = curve.peak(span_ns)
        return cls(trace, curve, peak, running_at(trace, peak, step_ids))

    @property
    def slice_id(self) -> int:
        """Return the innermost slice that ran, or ``NO_ID``."""
        return self.running.path[-1] if self.running.path else NO_ID

    def words(self, unit: TimeUnit = TimeUnit.AUTO) -> str:
        """Return when it was and in what, in one line."""
        said = f"at {duration(self.peak.ts_ns, unit)}"
        if self.slice_id != NO_ID:
            said += f" in {self.trace.name_of(self.slice_id)}"
        around = (self.running.annotation_id, self.running.step_id)
        names = [self.trace.name_of(each) for each in around if each not in (NO_ID, self.slice_id)]
        return ", ".join([said, *names])

    def lines(self, unit: TimeUnit = TimeUnit.AUTO) -> list[str]:
        """Return all that ran, outermost first."""
        trace, running = self.trace, self.running
        lines = [f"The peak: {size(self.peak.n_bytes)} at {duration(self.peak.ts_ns, unit)}"]
        if self.peak.reserved_bytes:
            lines.append(f"{'reserved':<11}{size(self.peak.reserved_bytes)}")
        for title, slice_id in (("step", running.step_id), ("annotation", running.annotation_id)):
            if slice_id != NO_ID:
                lines.append(f"{title:<11}{trace.name_of(slice_id)}")
        path = PATH_JOINT.join(trace.name_of(each) for each in running.path)
        lines.append(f"{'running':<11}{path or 'nothing that was recorded'}")
        return lines


def curve_of(use: MemoryUse, device: str = "") -> MemoryCurve:
    """Return the curve of a device; else that of the accelerator, or host, that held most."""
    for curve in use.curves:
        if curve.device == device:
            return curve
    return max(use.curves, key=lambda each: (each.device != "cpu", each.peak_bytes))
