"""A recording of what is done once: compiling, and the recording of CUDA graphs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.steps import steps
from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, Need
from tracetui.diagnosis.scope import recorded_ns
from tracetui.format import duration, percent
from tracetui.model.intervals import union
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class RecordedWarmup:
    """Fires when compiling or recording graphs takes much of a recording without several steps.

    With steps a first one that does it stands out by itself, and a later one is a recompilation.
    """

    name: str = "recorded-warmup"
    about: str = "a recording that mostly shows compiling, or CUDA graphs being recorded"
    needs: tuple[Need, ...] = (OPERATORS,)
    min_share_ratio: float = 0.1
    """Of the recording."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding."""
        tax = compile_tax(trace)
        if tax is None or len(steps(trace)) > 1:
            return
        once = np.concatenate((tax.compile_ids, tax.record_ids)).astype(np.int64)
        slices = trace.slices
        cost_ns = union(slices.ts_ns[once], slices.end_ns[once]).total_ns
        whole_ns = recorded_ns(trace)
        if not len(once) or cost_ns < self.min_share_ratio * whole_ns:
            return
        parts = []
        if len(tax.compile_ids):
            parts.append(f"compiling ({duration(tax.compile_ns)})")
        if len(tax.record_ids):
            parts.append(f"recording CUDA graphs ({duration(tax.record_ns)})")
        yield Finding(
            self.name,
            severity_of(cost_ns / whole_ns),
            f"{percent(cost_ns / whole_ns)} of the recording is work that is done once:"
            f" {' and '.join(parts)}",
            in_time_order(trace, once),
            "Run it a few times before you record, so that this is over; judge no speed by this"
            " recording",
        )
