"""Time in which everything waits for the next batch."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tracetui.analysis.links import links
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, Need
from tracetui.diagnosis.scope import device_idle, device_span_ns, named, outermost, recorded_ns
from tracetui.format import count, duration, percent
from tracetui.model.arrays import Int64s
from tracetui.model.intervals import covered_before, intersection, union
from tracetui.model.trace import Trace

_LOADER: Final = re.compile(r"^enumerate\(DataLoader\)#.*__next__")
_SINGLE: Final = "_SingleProcess"


@dataclass(frozen=True, slots=True)
class DataLoaderWait:
    """Fires when the device stands still, or the host does nothing else, while a batch is loaded."""

    name: str = "dataloader-wait"
    about: str = "a device, or a host without one, that waits for the data loader"
    needs: tuple[Need, ...] = (OPERATORS,)
    min_share_ratio: float = 0.05

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all batches that were waited for."""
        slices = trace.slices
        calls = outermost(trace, named(trace, _LOADER))
        calls = calls[slices.dur_ns[calls] > 0]
        if not len(calls):
            return
        spans = union(slices.ts_ns[calls], slices.end_ns[calls])
        if links(trace).has_device:
            spans = intersection(spans, device_idle(trace))
            whole_ns, who = device_span_ns(trace), "The device stood still"
        else:
            whole_ns, who = recorded_ns(trace), "The host waited"
        if not whole_ns or spans.total_ns < self.min_share_ratio * whole_ns:
            return
        ends = slices.end_ns[calls]
        waited: Int64s = calls[
            covered_before(spans, ends) > covered_before(spans, slices.ts_ns[calls])
        ]
        is_single = any(_SINGLE in trace.name_of(each) for each in waited.tolist())
        batches = "1 batch" if len(waited) == 1 else f"{count(len(waited))} batches"
        yield Finding(
            self.name,
            severity_of(spans.total_ns / whole_ns),
            f"{who} {duration(spans.total_ns)} while {batches} were loaded,"
            f" {percent(spans.total_ns / whole_ns)} of its time".replace(
                "1 batch were", "1 batch was"
            ),
            in_time_order(trace, waited),
            "Load in other processes: DataLoader(num_workers=4, persistent_workers=True)"
            if is_single
            else "Give the DataLoader more num_workers or a larger prefetch_factor, or make a"
            " sample cheaper to load",
            Saving.whole(
                spans.starts,
                spans.ends,
                "all of the wait, where loading keeps ahead",
                is_host_work=True,
            ),
        )
