"""Attention that is written out as products and a softmax: where it lies on the host."""

import re
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.diagnosis.scope import holder_of, named, outermost
from tracetui.diagnosis.tensors import tensors_of
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_PIECES: Final = re.compile(r"^aten::(bmm|baddbmm|_softmax)$")
_FUSED_ALREADY: Final = re.compile(
    r"^aten::(_?scaled_dot_product_attention|_native_multi_head_attention|_transformer_encoder)"
)
_SOFTMAX: Final = "aten::_softmax"


@dataclass(frozen=True, slots=True, eq=False)
class WrittenOut:
    """One row for each attention: a product, a softmax of its result, a product of that."""

    first_product: Int64s
    softmax: Int64s
    last_product: Int64s

    def __len__(self) -> int:
        return len(self.softmax)


@once_per_trace
def written_out_attention(trace: Trace) -> WrittenOut:
    """Return each attention that the program spells out, proved by the shapes.

    On one thread a product ``[B, S, D] x [B, D, T]`` is the last before a softmax over ``B*S*T``
    elements, and a product whose first input is ``[B, S, T]`` is the next after it. What runs
    inside ``scaled_dot_product_attention`` or a layer of torch's own is left out.
    """
    slices = trace.slices
    pieces = named(trace, _PIECES, SliceKind.OPERATOR)
    inside = holder_of(
        trace, pieces, outermost(trace, named(trace, _FUSED_ALREADY, SliceKind.OPERATOR))
    )
    pieces = pieces[inside == NO_ID]
    is_softmax = slices.name_id[pieces] == trace.names.find(_SOFTMAX)
    place = np.flatnonzero(is_softmax[1:-1] & ~is_softmax[:-2] & ~is_softmax[2:]) + 1
    track = slices.track_id[pieces]
    place = place[(track[place - 1] == track[place]) & (track[place + 1] == track[place])]
    kept = [row for row in place.tolist() if _fits(trace, pieces[row - 1 : row + 2])]
    rows = np.array(kept, np.int64)
    return WrittenOut(pieces[rows - 1], pieces[rows], pieces[rows + 1])


def _fits(trace: Trace, three: Int64s) -> bool:
    first, softmax, last = (tensors_of(trace, int(each)) for each in three)
    if len(first) < 2 or not softmax or len(last) < 2:
        return False
    left, right = first[-2].shape, first[-1].shape
    if len(left) != 3 or len(right) != 3:
        return False
    scores = (left[0], left[1], right[2])
    return last[0].shape == scores and softmax[0].n_elements == prod(scores)
