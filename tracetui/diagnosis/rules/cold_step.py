"""A first step that takes far longer than the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from tracetui.analysis.steps import steps
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

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about the first step."""
        found = steps(trace)
        if not found or not found[0].is_outlier:
            return
        first = found[0]
        usual_ns = round(median(step.wall_ns for step in found[1:]))
        yield Finding(
            self.name,
            Severity.LOW,
            f"The first step, #{first.number}, took {duration(first.wall_ns)} where the others"
            f" take {duration(usual_ns)}",
            np.array([first.slice_id], np.int64),
            "Leave it out of every mean; give the profiler's schedule one more warmup step",
        )
