"""Compiled code that is compiled again and again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.steps import steps
from tracetui.diagnosis.finding import Finding, Saving, Severity, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, STEPS, Need
from tracetui.diagnosis.scope import named, outermost, recorded_ns
from tracetui.format import count, duration
from tracetui.model.arrays import Int64s
from tracetui.model.trace import Trace

_GRAPH: Final = re.compile(r"CompiledFxGraph (\w+)")
_COMPILING: Final = re.compile(
    r"(compile_inner|entire_frame_compile|compile_fx_inner|create_aot_dispatcher_function)"
    r" \(dynamo_timed\)|^torch/_dynamo/convert_frame\.py\(\d+\): (compile_inner|_compile)$"
)
_CHANGE: Final = (
    "Run with TORCH_LOGS=recompiles to see which guard fails; mark the changing dimension with"
    " torch._dynamo.mark_dynamic, or compile with dynamic=True"
)


@dataclass(frozen=True, slots=True)
class Recompilation:
    """Fires when steps after the first compile, or bring graphs that no step before them ran."""

    name: str = "recompilation"
    about: str = "graphs that torch.compile makes anew in later steps"
    needs: tuple[Need, ...] = (OPERATORS, STEPS)
    min_steps: int = 2
    """Steps, after the first, that bring a graph not seen before: one may be a second shape."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about the compilations or else the new graphs."""
        compiling = self._compilations(trace)
        if len(compiling):
            cost_ns = int(trace.slices.dur_ns[compiling].sum())
            times = "once" if len(compiling) == 1 else f"{count(len(compiling))} times"
            yield Finding(
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
            return
        new = self._new_graphs(trace)
        if len(new):
            yield Finding(
                self.name,
                Severity.MEDIUM,
                f"The compiled graph changes from step to step: {count(len(new))} graphs first run"
                f" after the first of {count(len(steps(trace)))} steps",
                new,
                _CHANGE,
            )

    def _compilations(self, trace: Trace) -> Int64s:
        """Return the outermost compilations that begin after the first step."""
        found = outermost(trace, named(trace, _COMPILING))
        found = found[trace.slices.ts_ns[found] >= steps(trace)[0].end_ns]
        return in_time_order(trace, found)

    def _new_graphs(self, trace: Trace) -> Int64s:
        """Return the first run of each graph that no earlier step ran, if several steps have one."""
        slices = trace.slices
        rows = in_time_order(trace, named(trace, _GRAPH))
        _, first = np.unique(slices.name_id[rows], return_index=True)
        first_run = rows[np.sort(first)]
        starts = np.array([step.start_ns for step in steps(trace)], np.int64)
        step = np.searchsorted(starts, slices.ts_ns[first_run], side="right") - 1
        later = first_run[step > 0]
        if len(np.unique(step[step > 0])) < self.min_steps:
            return later[:0]
        return later
