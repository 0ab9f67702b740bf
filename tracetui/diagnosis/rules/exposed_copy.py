"""Copies between host and device that no kernel hides."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.diagnosis.scope import device_span_ns, exposed, named
from tracetui.format import count, duration, percent, size
from tracetui.model.intervals import covered_before
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_ACROSS: Final = re.compile(r"Memcpy (HtoD|DtoH)")
_PAGEABLE: Final = re.compile(r"Pageable")


@dataclass(frozen=True, slots=True)
class ExposedCopy:
    """Fires when a device spends much of its time in copies across the bus, and computes nothing.

    Those through pageable memory are another rule's.
    """

    name: str = "exposed-copy"
    about: str = "copies between host and device that no kernel hides"
    needs: tuple[Need, ...] = (DEVICE_WORK,)
    min_share_ratio: float = 0.1
    """Of the device's span."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such copies."""
        slices = trace.slices
        across = named(trace, _ACROSS, SliceKind.MEMCPY)
        across = np.setdiff1d(across, named(trace, _PAGEABLE, SliceKind.MEMCPY))
        spans, span_ns = exposed(trace, across), device_span_ns(trace)
        if not span_ns or spans.total_ns < self.min_share_ratio * span_ns:
            return
        bare = covered_before(spans, slices.end_ns[across]) > covered_before(
            spans, slices.ts_ns[across]
        )
        copies = across[bare]
        n_bytes = int(np.maximum(slices.n_bytes[copies], 0).sum())
        times = "1 copy" if len(copies) == 1 else f"{count(len(copies))} copies"
        of_size = f" of {size(n_bytes)}" if n_bytes else ""
        yield Finding(
            self.name,
            severity_of(spans.total_ns / span_ns),
            f"{times}{of_size} between host and device ran while no kernel did, for"
            f" {duration(spans.total_ns)}, {percent(spans.total_ns / span_ns)} of its time",
            in_time_order(trace, copies),
            "Copy the next batch on another stream while this one is computed:"
            " torch.cuda.Stream() and non_blocking=True from pinned memory",
            Saving.whole(spans.starts, spans.ends, "all of the copying that no kernel hides"),
        )
