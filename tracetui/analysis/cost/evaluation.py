"""What each operator of a trace costs, and which of them count."""

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from tracetui.analysis.cost.arithmetic import ARITHMETIC, COPIES
from tracetui.analysis.cost.convolutions import CONVOLUTIONS
from tracetui.analysis.cost.formulas import Cost
from tracetui.analysis.cost.fused import fused_cost, is_fused_name
from tracetui.analysis.cost.inputs import Inputs, UnmodelledError
from tracetui.analysis.cost.products import ATTENTIONS, PRODUCTS
from tracetui.analysis.links import links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Float64s, Int8s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

PRECISIONS: Final = ("fp64", "fp32", "bf16", "fp16", "fp8", "int8")
"""What ``OperatorCosts.precision`` counts in."""


class Tier(IntEnum):
    """How much of the work around it a model explains."""

    NONE = 0
    COPY = 1
    ARITHMETIC = 2
    MATRIX = 3


MODELS: Final = {
    **dict.fromkeys(COPIES, Tier.COPY),
    **dict.fromkeys(ARITHMETIC, Tier.ARITHMETIC),
    **dict.fromkeys((*PRODUCTS, *ATTENTIONS, *CONVOLUTIONS), Tier.MATRIX),
}
"""Every operator that has a model."""

_COST_OF: Final = {**COPIES, **ARITHMETIC, **PRODUCTS, **ATTENTIONS, **CONVOLUTIONS}


_UNEXPECTED: Final = "inputs of an unexpected shape"
_MOST: Final = 1 << 53
"""Larger amounts are no single call's; up to here a float holds every whole number."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatorCosts:
    """Columns of one row for each slice of the trace.

    Of operators inside one another the deepest that a model explains counts, unless it is a
    lesser part of the work around it: the copy in which ``addmm`` seeds its bias belongs to
    ``addmm``. Adding up the counted rows therefore counts nothing twice.
    """

    flop: Float64s
    """NaN where no model applies; counted or not."""
    n_bytes: Float64s
    """Least bytes moved; NaN where no model applies or types are not recorded."""
    is_counted: Bools
    precision: Int8s
    """Into ``PRECISIONS``; ``NO_ID`` where not known."""
    is_matrix: Bools
    """Whether matrix units can do it."""
    abstained: tuple[tuple[str, str, int], ...]
    """Operator, reason and number of calls whose work no model could tell, most calls first."""

    def total_flop(self) -> int:
        """Return the FLOP of the whole trace."""
        return int(self.flop[self.is_counted].astype(np.int64).sum())


def cost_of(name: str, inputs: Inputs) -> Cost:
    """Return what one call costs.

    Raises:
        UnmodelledError: no model, or not enough is recorded for it.
    """
    model = _COST_OF.get(name)
    try:
        if model is not None:
            cost = model(inputs)
        elif is_fused_name(name):
            cost = fused_cost(name, inputs)
        else:
            raise UnmodelledError("no model")
    except (IndexError, ValueError, ZeroDivisionError):
        # Shapes of another rank than the model's, strides of 0: no call of the operator's schema.
        raise UnmodelledError(_UNEXPECTED) from None
    if not 0 <= cost.flop <= _MOST or not 0 <= (cost.n_bytes or 0) <= _MOST:
        raise UnmodelledError(_UNEXPECTED)
    return cost


def has_model(name: str) -> bool:
    """Return whether operators of this name can be costed at all."""
    return name in MODELS or is_fused_name(name)


@once_per_trace
def operator_costs(trace: Trace) -> OperatorCosts:
    """Return what each operator costs; models run once for each name and inputs."""
    slices, n = trace.slices, len(trace.slices)
    flop, n_bytes = np.full(n, np.nan), np.full(n, np.nan)
    tier, precision = np.zeros(n, np.int8), np.full(n, NO_ID, np.int8)
    is_matrix = np.zeros(n, bool)
    modelled = np.array([has_model(name) for name in trace.names], bool)
    rows = np.flatnonzero(slices.kind == SliceKind.OPERATOR)
    rows = rows[modelled[slices.name_id[rows]]] if len(rows) else rows
    n_signatures = len(trace.signatures) + 1
    keys, group = np.unique(
        slices.name_id[rows] * np.int64(n_signatures) + slices.signature_id[rows] + 1,
        return_inverse=True,
    )
    parsed: dict[int, Inputs] = {}
    why: dict[int, tuple[str, str]] = {}
    found = np.full((len(keys), 5), np.nan)
    for row, key in enumerate(keys.tolist()):
        name_id, signature_id = divmod(key, n_signatures)
        name = trace.names[name_id]
        try:
            cost = cost_of(name, _inputs(trace, signature_id - 1, parsed))
        except UnmodelledError as error:
            why[row] = (name, str(error))
            continue
        known = PRECISIONS.index(cost.precision) if cost.precision in PRECISIONS else NO_ID
        amount = np.nan if cost.n_bytes is None else cost.n_bytes
        kind = Tier.MATRIX if cost.is_matrix else MODELS.get(name, Tier.ARITHMETIC)
        found[row] = (cost.flop, amount, known, cost.is_matrix, kind)
    modelled_rows = rows
    if len(rows):
        known_rows = ~np.isnan(found[group, 0])
        rows, values = rows[known_rows], found[group[known_rows]]
        flop[rows], n_bytes[rows] = values[:, 0], values[:, 1]
        precision[rows] = values[:, 2].astype(np.int8)
        is_matrix[rows] = values[:, 3] > 0
        tier[rows] = values[:, 4].astype(np.int8)
    is_counted = _counted(trace, tier)
    return OperatorCosts(
        flop=frozen(flop),
        n_bytes=frozen(n_bytes),
        is_counted=frozen(is_counted),
        precision=frozen(precision),
        is_matrix=frozen(is_matrix),
        abstained=_abstained(trace, is_counted, modelled_rows, group, why),
    )


def _abstained(
    trace: Trace, is_counted: Bools, rows: Int64s, group: Int64s, why: dict[int, tuple[str, str]]
) -> tuple[tuple[str, str, int], ...]:
    """Return what could not be said, by operator and reason, the most calls first.

    Only what no counted operator covers is missed, neither one below nor one above, and of
    operators inside one another only the innermost.
    """
    is_silent = np.isin(group, np.array(list(why), np.int64))
    known = is_counted.copy()
    known[rows[is_silent]] = True
    reached = np.concatenate(([0], np.cumsum(known)))
    has_below = reached[links(trace).subtree_end[rows].astype(np.int64)] > reached[rows + 1]
    is_inside = nearest(trace.slices.parent_id, is_counted)[rows] >= 0
    calls = np.bincount(
        group[is_silent & ~has_below & ~is_inside], minlength=max(why, default=0) + 1
    )
    missed: Counter[tuple[str, str]] = Counter()
    for row, reason in why.items():
        missed[reason] += int(calls[row])
    ranked = sorted(missed.items(), key=lambda item: (-item[1], item[0]))
    return tuple((name, reason, n_calls) for (name, reason), n_calls in ranked if n_calls)


def _inputs(trace: Trace, signature_id: int, parsed: dict[int, Inputs]) -> Inputs:
    if signature_id < 0:
        raise UnmodelledError("input shapes are not recorded")
    if signature_id not in parsed:
        parsed[signature_id] = Inputs.from_signature(trace.signatures[signature_id])
    return parsed[signature_id]


def _counted(trace: Trace, tier: Int8s) -> Bools:
    """Return which operators count: below them no model of their tier, above none that counts."""
    subtree_end = links(trace).subtree_end.astype(np.int64)
    below = np.arange(1, len(tier) + 1)
    counts = np.zeros(len(tier), bool)
    for level in (Tier.COPY, Tier.ARITHMETIC, Tier.MATRIX):
        reached = np.concatenate(([0], np.cumsum(tier >= level)))
        counts |= (tier == level) & (reached[subtree_end] == reached[below])
    parent_id = trace.slices.parent_id
    above = nearest(parent_id, counts)
    inside = np.zeros(len(tier), bool)
    has_parent = np.flatnonzero(counts & (parent_id >= 0))
    inside[has_parent] = above[parent_id[has_parent]] >= 0
    return counts & ~inside


@dataclass(frozen=True, slots=True, eq=False)
class CountedSums:
    """What counted operators add up to, one row for each group."""

    flop: Int64s
    n_bytes: Int64s
    has_flop: Bools
    """Whether anything counted."""
    has_bytes: Bools
    """Whether the bytes of everything that counted are known."""


def counted_sums(trace: Trace, group: Int64s, n_groups: int) -> CountedSums:
    """Return FLOP and least bytes by group.

    Args:
        trace: The trace.
        group: A group for each slice of the trace, or ``NO_ID``.
        n_groups: How many groups there are.
    """
    costs = operator_costs(trace)
    rows = np.flatnonzero(costs.is_counted & (group >= 0))
    has_flop = np.zeros(n_groups, bool)
    has_flop[group[rows]] = True
    has_bytes = has_flop.copy()
    has_bytes[group[rows[np.isnan(costs.n_bytes[rows])]]] = False
    moved = np.nan_to_num(costs.n_bytes[rows]).astype(np.int64)
    return CountedSums(
        flop=frozen(group_sums(group[rows], costs.flop[rows].astype(np.int64), n_groups)),
        n_bytes=frozen(group_sums(group[rows], moved, n_groups)),
        has_flop=frozen(has_flop),
        has_bytes=frozen(has_bytes),
    )
