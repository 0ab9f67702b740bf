"""Which forward operator a backward operator belongs to."""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import latest_before, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_FLOW: Final = "fwdbwd"
_ENGINE: Final = "autograd::engine::evaluate_function: "
_BACKWARD: Final = re.compile(r"(Backward|AccumulateGrad)\w*$")


@dataclass(frozen=True, slots=True, eq=False)
class AutogradLinks:
    """Columns of one row for each slice."""

    forward_id: Int32s
    """Slice of a backward pass to its forward operator, or ``NO_ID``; children inherit it."""
    backward_id: Int32s
    """Forward operator to the first backward operator that names it, or ``NO_ID``."""

    def __len__(self) -> int:
        """Return how many forward operators have a backward."""
        return int(np.count_nonzero(self.backward_id >= 0))


@once_per_trace
def backward_of(trace: Trace) -> AutogradLinks:
    """Return the links between forward and backward operators.

    The file's own arrows count; a file without any is linked by the sequence number, to the last
    forward operator with the number, as torch draws its arrows.
    """
    n = len(trace.slices)
    forward, backward = _by_arrows(trace)
    backward = _lifted(trace, backward)
    if not len(forward):
        forward, backward = _by_sequence(trace)
    linked = np.full(n, NO_ID, np.int64)
    linked[backward] = forward
    holder = nearest(trace.slices.parent_id, linked >= 0)
    forward_id = np.full(n, NO_ID, np.int32)
    forward_id[holder >= 0] = linked[holder[holder >= 0]]
    backward_id = np.full(n, NO_ID, np.int32)
    # Of several assignments to one row the last stays, so the earliest backward comes last.
    order = np.lexsort((trace.slices.ts_ns[backward], forward))[::-1]
    backward_id[forward[order]] = backward[order]
    return AutogradLinks(frozen(forward_id), frozen(backward_id))


def _by_arrows(trace: Trace) -> tuple[Int64s, Int64s]:
    category_id = trace.categories.find(_FLOW)
    own = (trace.flows.category_id == category_id) & (category_id >= 0)
    return trace.flows.from_id[own].astype(np.int64), trace.flows.to_id[own].astype(np.int64)


def _lifted(trace: Trace, backward: Int64s) -> Int64s:
    """Return each slice or, where it directly encloses it, the engine's call around it.

    Some recordings draw the arrow to the engine's call, others to the node inside; the call holds
    all that the node costs.
    """
    slices = trace.slices
    is_engine = np.array([name.startswith(_ENGINE) for name in trace.names], bool)
    parent = slices.parent_id[backward].astype(np.int64)
    rows = np.flatnonzero(parent >= 0)
    rows = rows[is_engine[slices.name_id[parent[rows]]]]
    lifted: Int64s = backward.copy()
    lifted[rows] = parent[rows]
    return lifted


def _by_sequence(trace: Trace) -> tuple[Int64s, Int64s]:
    slices = trace.slices
    numbered = np.flatnonzero((slices.kind == SliceKind.OPERATOR) & (slices.sequence >= 0))
    is_backward = _is_backward(trace)[slices.name_id[numbered]]
    forward, backward = numbered[~is_backward], numbered[is_backward]
    # A backward inside a linked one inherits; only the outermost of its thread is linked itself.
    wanted = np.zeros(len(slices), bool)
    wanted[backward] = True
    parent = slices.parent_id[backward]
    above = nearest(slices.parent_id, wanted)
    backward = backward[(parent < 0) | (above[parent] < 0)]
    if not len(forward):
        return forward, forward
    place = latest_before(
        slices.sequence[forward],
        slices.ts_ns[forward],
        slices.sequence[backward],
        slices.ts_ns[backward],
    )
    found = (place >= 0) & (slices.ts_ns[forward[place]] <= slices.ts_ns[backward])
    return forward[place[found]], backward[found]


def _is_backward(trace: Trace) -> Bools:
    """Return which names are those of autograd's nodes."""
    return np.array(
        [name.startswith(_ENGINE) or _BACKWARD.search(name) is not None for name in trace.names],
        bool,
    )
