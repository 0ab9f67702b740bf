"""Compiled code that is compiled again and again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.compile_tax import CompileTax, compile_tax
from tracetui.analysis.steps import steps
from tracetui.diagnosis.finding import Finding, Saving, Severity, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, STEPS, Need
from tracetui.diagnosis.scope import recorded_ns
from tracetui.format import count, duration
from tracetui.model.arrays import Int64s
from tracetui.model.trace import Trace

_CHANGE: Final = (
    "Run with TORCH_LOGS=recompiles to see which guard fails; mark the changing dimension with"
    " torch._dynamo.mark_dynamic, or compile with dynamic=True"
)


@dataclass(frozen=True, slots=True)
class Recompilation:
    """Fires when steps after the first compile, or run compilations that no step before them ran."""

    name: str = "recompilation"
    about: str = "graphs that torch.compile makes anew in later steps"
    needs: tuple[Need, ...] = (OPERATORS, STEPS)
    min_steps: int = 2
    """Steps, after the first, that bring a compilation not seen before: one may be a second shape."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about the compiling or else about the new compilations."""
        tax = compile_tax(trace)
        if tax is None:
            return
        compiling = tax.compile_ids[trace.slices.ts_ns[tax.compile_ids] >= steps(trace)[0].end_ns]
        if len(compiling):
            yield self._compiling(trace, in_time_order(trace, compiling))
            return
        new = self._new_variants(trace, tax)
        if len(new):
            yield Finding(
                self.name,
                Severity.MEDIUM,
                f"Compiled functions change from step to step: {count(len(new))} compilations first"
                f" run after the first of {count(len(steps(trace)))} steps",
                new,
                _CHANGE,
            )

    def _new_variants(self, trace: Trace, tax: CompileTax) -> Int64s:
        """Return the first call of each compilation that no earlier step ran, if several have one."""
        changed = np.concatenate(
            [np.empty(0, np.int64), *(frame.changed_at for frame in tax.frames)]
        ).astype(np.int64)
        changed = in_time_order(trace, changed)
        starts = np.array([step.start_ns for step in steps(trace)], np.int64)
        step = np.searchsorted(starts, trace.slices.ts_ns[changed], side="right") - 1
        is_later = step > 0
        return changed[is_later & (len(np.unique(step[is_later])) >= self.min_steps)]

    def _compiling(self, trace: Trace, compiling: Int64s) -> Finding:
        cost_ns = int(trace.slices.dur_ns[compiling].sum())
        times = "once" if len(compiling) == 1 else f"{count(len(compiling))} times"
        return Finding(
            self.name,
            severity_of(cost_ns / recorded_ns(trace)),
            f"torch.compile compiled {times} after the first step, for {duration(cost_ns)}",
            compiling,
            _CHANGE,
            Saving.whole(
                trace.slices.ts_ns[compiling],
                trace.slices.end_ns[compiling],
                "all of the compilation",
                is_host_work=True,
            ),
        )
