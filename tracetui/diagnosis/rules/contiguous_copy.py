"""Tensors that are copied only to lie in another order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import OPERATORS, STRIDES, Need
from tracetui.diagnosis.scope import (
    BACKWARD,
    holder_of,
    not_inside,
    outermost,
    share_of,
    top_operators,
)
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.trace import Trace

_COPY: Final = "aten::clone"
_MAKERS: Final = ("aten::contiguous", "aten::reshape")
_CHANGES: Final = {
    "aten::contiguous": "Leave .contiguous() out where the next operator reads any order, as matmul"
    " and scaled_dot_product_attention do, or write the tensor in this order to begin with",
    "aten::reshape": "Reshape before you transpose or expand: a view of what lies in order costs"
    " nothing",
}
_CHANGE: Final = "Hand it the tensor in the order that it reads, laid out once and not on each call"


@dataclass(frozen=True, slots=True)
class ContiguousCopy:
    """Fires when ``contiguous`` and ``reshape`` copy much, for they copy to lay out and no more.

    Either clones only what does not lie in order; the copy has the same elements of the same type.
    A copy of an expanded tensor is more than that: it makes elements that can be written to. So the
    strides must be known, and none be 0. In a backward pass the order is that of the forward pass, and there the rule is silent.
    """

    name: str = "contiguous-copy"
    about: str = "contiguous() and reshape() that copy much, only to lay tensors out anew"
    needs: tuple[Need, ...] = (OPERATORS, STRIDES)
    min_share_ratio: float = 0.05
    min_calls: int = 2

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each operator of a program's that makes such copies."""
        slices = trace.slices
        callers = top_operators(trace)
        copies = not_inside(trace, _copies(trace), BACKWARD)
        row = holder_of(trace, copies, callers)
        copies, row = copies[row != NO_ID], row[row != NO_ID]
        name_id = slices.name_id[callers[row]]
        for each in np.unique(name_id).tolist():
            own = copies[name_id == each]
            if len(own) >= self.min_calls:
                yield from self._judged(trace, trace.names[each], own)

    def _judged(self, trace: Trace, caller: str, copies: Int64s) -> Iterator[Finding]:
        share = share_of(trace, copies)
        if not len(share.slices) or share.ratio < self.min_share_ratio:
            return
        yield Finding(
            self.name,
            severity_of(share.ratio),
            f"{caller} copies tensors only to lay them out anew, {count(len(copies))} times"
            f"{_shape(trace, copies)}: {duration(share.cost_ns)}, {percent(share.ratio)} of"
            f" {share.of_what}",
            share.slices,
            _CHANGES.get(caller, _CHANGE),
            Saving.of_slices(trace, share.slices, "all of the copies"),
        )


def _copies(trace: Trace) -> Int64s:
    """Return the clones that ``contiguous`` and ``reshape`` make themselves."""
    slices = trace.slices
    makers = [trace.names.find(name) for name in _MAKERS]
    clones = np.flatnonzero(slices.name_id == trace.names.find(_COPY))
    parent = slices.parent_id[clones]
    made = (parent >= 0) & np.isin(slices.name_id[parent], makers)
    clones = clones[made]
    signatures, first_of = np.unique(slices.signature_id[clones], return_index=True)
    reorders = [_reorders(trace, each) for each in clones[first_of].tolist()]
    kept = np.isin(slices.signature_id[clones], signatures[np.array(reorders, bool)])
    return outermost(trace, clones[kept])


def _reorders(trace: Trace, clone: int) -> bool:
    """Return whether what is copied has its own place in memory for each of its elements."""
    tensors = tensors_of(trace, clone)
    if not tensors or tensors[0].strides is None:
        return False
    return tensors[0].n_distinct == tensors[0].n_elements


def _shape(trace: Trace, copies: Int64s) -> str:
    """Return the shape that most of the copies have, as a part of a sentence."""
    shape_ids, amounts = np.unique(trace.slices.shape_id[copies], return_counts=True)
    first = copies[trace.slices.shape_id[copies] == shape_ids[amounts.argmax()]][0]
    tensors = tensors_of(trace, int(first))
    if not tensors:
        return ""
    which = "" if len(shape_ids) == 1 else "mostly "
    return f" ({which}[{', '.join(map(str, tensors[0].shape))}])"
