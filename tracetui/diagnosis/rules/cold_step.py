"""A first step that takes far longer than the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from tracetui.analysis.steps import Step, steps
from tracetui.diagnosis.finding import Finding, Severity
from tracetui.diagnosis.needs import STEPS, Need
from tracetui.format import duration
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class ColdStep:
    """Fires when the first recorded step is an outlier: it warms up and must not be averaged."""

    name: str = "cold-step"
    about: str = "a first step that still warms up and spoils every mean"
    needs: tuple[Need, ...] = (STEPS,)
    min_ratio: float = 1.5
    """The first step's time over the median of the others."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about the first step."""
        found = steps(trace)
        if not found or not found[0].is_outlier:
            return
        first, first_ns = found[0], _time_ns(found[0])
        usual_ns = round(median(_time_ns(step) for step in found[1:]))
        if first_ns < self.min_ratio * usual_ns:
            return
        yield Finding(
            self.name,
            Severity.LOW,
            f"The first step, #{first.number}, took {duration(first_ns)} where the others"
            f" take {duration(usual_ns)}",
            np.array([first.slice_id], np.int64),
            "Leave it out of every mean; give the profiler's schedule one more warmup step",
        )


def _time_ns(step: Step) -> int:
    """Return what a step takes: where the device works longer than the host, the device's time."""
    return max(step.wall_ns, step.gpu_by_launch_ns or 0)
