"""Attention spelled out as products and a softmax, where one fused kernel does it all."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.diagnosis.attention import WrittenOut, written_out_attention
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, SHAPES, Need
from tracetui.diagnosis.scope import device_busy_ns, recorded_ns
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent, size
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class WrittenOutAttention:
    """Fires when a program writes out the scores of attention between two products."""

    name: str = "written-out-attention"
    about: str = "attention as products and a softmax, where one fused kernel would do"
    needs: tuple[Need, ...] = (OPERATORS, SHAPES)
    min_share_ratio: float = 0.03
    """What runs between the two products, of the whole time."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such attention."""
        found = written_out_attention(trace)
        if not len(found):
            return
        if links(trace).has_device:
            evidence = _work_between(trace, found)
            whole_ns, of_what = device_busy_ns(trace), "device time"
            saving = Saving.of_slices(trace, evidence, _HOW)
        else:
            start_ns = trace.slices.end_ns[found.first_product]
            end_ns = np.maximum(trace.slices.ts_ns[found.last_product], start_ns)
            evidence, whole_ns, of_what = found.softmax, recorded_ns(trace), "the recording"
            saving = Saving.whole(start_ns, end_ns, _HOW)
        if not len(evidence) or saving.total_ns < self.min_share_ratio * whole_ns:
            return
        ratio = saving.total_ns / whole_ns
        yield Finding(
            self.name,
            severity_of(ratio),
            f"Attention is written out {_times(len(found))}: what runs between its two products"
            f" takes {duration(saving.total_ns)}, {percent(ratio)} of {of_what}"
            f"{_scores(trace, found)}",
            in_time_order(trace, evidence),
            "Call torch.nn.functional.scaled_dot_product_attention, which never writes the scores"
            " to memory",
            saving,
        )


_HOW = "all that runs between the two products"


def _times(n_times: int) -> str:
    return "once" if n_times == 1 else f"{count(n_times)} times"


def _scores(trace: Trace, found: WrittenOut) -> str:
    """Return how much memory the scores of one call take, where the file tells."""
    n_bytes = tensors_of(trace, int(found.softmax[0]))[0].n_bytes
    return "" if n_bytes is None else f"; its scores take {size(n_bytes)}"


def _work_between(trace: Trace, found: WrittenOut) -> Int64s:
    """Return the device work that was launched after each first product and before the last."""
    slices, link = trace.slices, links(trace)
    device_ids = np.flatnonzero(slices.is_device_work())
    owner = link.owner_id[device_ids].astype(np.int64)
    # Slices of one thread are numbered by time, so what is between is a range of numbers.
    row = np.searchsorted(link.subtree_end[found.first_product], owner, side="right") - 1
    between = (owner != NO_ID) & (row >= 0) & (owner < found.last_product[np.maximum(row, 0)])
    kept: Int64s = device_ids[between]
    return kept
