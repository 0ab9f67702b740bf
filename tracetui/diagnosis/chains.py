"""Runs of elementwise operators over the same elements, proved by shapes and by order on the device."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from tracetui.analysis.autograd import backward_of
from tracetui.analysis.cost.inputs import Operand
from tracetui.analysis.links import links
from tracetui.analysis.steps import steps
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.attention import written_out_attention
from tracetui.diagnosis.scope import device_work_in, holder_of, named, outermost
from tracetui.diagnosis.tensors import Shape, broadcast, tensors_of
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_ELEMENTWISE: Final = re.compile(
    r"^aten::(abs|add|addcdiv|addcmul|bitwise_(?:and|not|or)|clamp|clamp_max|clamp_min|cos|div|elu|erf"
    r"|exp|gelu|hardswish|hardtanh|leaky_relu|lerp|log|logical_(?:and|not|or)|maximum|minimum|mish"
    r"|mul|neg|pow|reciprocal|relu|rsqrt|rsub|sigmoid|silu|sin|softplus|sqrt|square|sub|tanh|threshold"
    r"|where|masked_fill|eq|ne|lt|le|gt|ge)_?$"
)
_TWINS: Final = (("aten::cos", "aten::sin"), ("aten::sin", "aten::cos"))
_ELSEWHERE: Final = re.compile(
    r"^Optimizer\.|^aten::_?scaled_dot_product|^aten::_foreach|_softmax$|Backward\w*$|^autograd::"
)
"""What is mended in another way: elementwise work inside it is no chain."""
_PRODUCT: Final = re.compile(r"^aten::(mm|addmm|bmm|baddbmm)$")
_ACTIVATION: Final = re.compile(r"^aten::(gelu|silu|relu|sigmoid|mish|tanh|hardswish|elu)_?$")
_NOT, _AT_ONCE, _OVER_A_PRODUCT = range(3)
"""How a unit follows the one before."""
_LOOP_OF_ONE: Final = 3
"""How many operators of one name in a row are a loop."""
_PAUSE_RATIO: Final = 0.1
"""What other operators may take between two of a chain, of the time of both."""


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Operators that follow one another, each with one kernel."""

    names: tuple[str, ...]
    operators: Int64s
    work: Int64s
    """Their kernels, in the order of the operators; without a device, the operators themselves."""
    n_elements: int
    """Elements of each result."""
    items: int
    """Elements that all of them read and write."""
    saved_items: int
    """Of these, the elements that one kernel for all would neither read nor write."""
    item_bytes: int | None
    """The size of an element, ``None`` if the file does not tell or they differ."""


@dataclass(frozen=True, slots=True)
class _Unit:
    operator: int
    work: int
    name: str
    tensors: tuple[Operand, ...]
    shape: Shape
    is_kept: bool
    """Whether a backward pass may need the result, so that it is written in any case."""


def elementwise_chains(trace: Trace) -> tuple[Chain, ...]:
    """Return the chains of two or more elementwise operators, in the order of the host.

    Two operators follow one another when their kernels are neighbours on one stream, both are
    launched by the same thread, and the second in all likelihood reads what the first wrote. In a
    recording without a device an operator is its own work, and next to nothing may run between two
    of them. An activation and what multiplies it may have one product between them. What belongs to a backward pass, an optimizer or attention is left out.
    """
    operators = _elementwise_operators(trace)
    if links(trace).has_device:
        operators, work = _with_one_kernel(trace, operators)
    else:
        work = operators
    if len(operators) < 2:
        return ()
    has_device = links(trace).has_device
    follows = _by_device(trace, operators, work) if has_device else _by_host(trace, operators)
    follows[1:][np.diff(_step_of(trace, operators)) != 0] = _NOT
    chains, open_units = [], [_unit(trace, operators, work, 0)]
    for row in range(1, len(operators)):
        unit = _unit(trace, operators, work, row)
        previous = open_units[-1]
        is_next = previous is not None and unit is not None and _consumes(unit, previous)
        if follows[row] == _OVER_A_PRODUCT:
            is_next = is_next and _is_gate(unit, previous)
        if not is_next or follows[row] == _NOT:
            chains += _closed(open_units)
            open_units = []
        open_units.append(unit)
    chains += _closed(open_units)
    return tuple(chains)


def _step_of(trace: Trace, operators: Int64s) -> Int64s:
    """Return in which step each operator began: what one step wrote the next does not read on."""
    starts_ns = np.array([step.start_ns for step in steps(trace)], np.int64)
    return np.searchsorted(starts_ns, trace.slices.ts_ns[operators], side="right")


def _consumes(unit: _Unit, previous: _Unit) -> bool:
    """Return whether an operator reads what the one before wrote, as far as shapes can tell.

    A recording does not say which tensor an operator reads. One with a single tensor of the shape
    continues the chain, and so does one that joins two of them. One that joins a tensor with a
    smaller one may as well begin something new: rotary embeddings do so for the keys right after
    the queries. The sine after the cosine is of the same angle.
    """
    n_full = [each.shape for each in unit.tensors].count(previous.shape)
    is_twin = (previous.name, unit.name) in _TWINS
    return (
        unit.shape == previous.shape
        and n_full in (1, 2)
        and n_full == len(unit.tensors)
        and not is_twin
    )


def _is_gate(unit: _Unit | None, previous: _Unit | None) -> bool:
    """Return whether an activation is multiplied by the product that ran after it.

    So do gated layers: ``act(gate(x)) * up(x)``.
    """
    if unit is None or previous is None:
        return False
    return _ACTIVATION.search(previous.name) is not None and (
        unit.name.startswith("aten::mul") and len(unit.tensors) == 2
    )


def _elementwise_operators(trace: Trace) -> Int64s:
    """Return the elementwise operators that may be part of a chain."""
    operators = outermost(trace, named(trace, _ELEMENTWISE, SliceKind.OPERATOR))
    elsewhere = holder_of(trace, operators, outermost(trace, named(trace, _ELSEWHERE)))
    kept: Int64s = operators[(elsewhere == NO_ID) & ~_in_attention(trace, operators)]
    return kept


def _with_one_kernel(trace: Trace, operators: Int64s) -> tuple[Int64s, Int64s]:
    """Return the operators that have exactly one kernel, an elementwise one, and that kernel."""
    work, holder = device_work_in(trace, operators)
    n_works = np.bincount(holder, minlength=len(operators))
    work_of = np.full(len(operators), NO_ID, np.int64)
    work_of[holder] = work
    is_elementwise = slice_classes(trace)[work_of] == WorkClass.POINTWISE
    kept = (n_works == 1) & is_elementwise
    return operators[kept], work_of[kept]


def _in_attention(trace: Trace, operators: Int64s) -> Bools:
    found = written_out_attention(trace)
    if not len(found):
        return np.zeros(len(operators), bool)
    row = np.searchsorted(found.first_product, operators, side="right") - 1
    inside: Bools = (row >= 0) & (operators < found.last_product[np.maximum(row, 0)])
    return inside


def _by_device(trace: Trace, operators: Int64s, work: Int64s) -> Int8s:
    """Return how each unit follows the one before: by what ran between them on the stream."""
    slices = trace.slices
    is_product = slice_classes(trace) == WorkClass.GEMM
    n_products = np.concatenate(([0], np.cumsum(is_product)))
    # Slices of one stream are numbered by time.
    n_between = np.diff(work) - 1
    n_products_between = n_products[work[1:]] - n_products[work[:-1] + 1]
    together = (np.diff(slices.track_id[work]) == 0) & (np.diff(slices.track_id[operators]) == 0)
    # A product may come with a second kernel that adds up its parts.
    over = (n_between == n_products_between) & (n_between >= 1) & (n_between <= 2)
    return _following(together & (n_between == 0), together & over)


def _by_host(trace: Trace, operators: Int64s) -> Int8s:
    """Return how each operator follows the one before: by what ran between them on the thread."""
    slices = trace.slices
    rows = np.flatnonzero(slices.kind == SliceKind.OPERATOR)
    rows = rows[holder_of(trace, rows, operators) == NO_ID]
    products = outermost(trace, named(trace, _PRODUCT, SliceKind.OPERATOR))
    is_product = np.zeros(len(slices), bool)
    is_product[products] = True
    other_ns = np.zeros(len(slices), np.int64)
    other_ns[rows] = links(trace).self_ns[rows]
    other_ns[rows[holder_of(trace, rows, products) != NO_ID]] = 0
    between_ns = np.diff(np.concatenate(([0], np.cumsum(other_ns)))[operators])
    n_between = np.diff(np.concatenate(([0], np.cumsum(is_product)))[operators])
    dur_ns = slices.dur_ns[operators]
    together = (np.diff(slices.track_id[operators]) == 0) & (
        between_ns <= _PAUSE_RATIO * (dur_ns[1:] + dur_ns[:-1])
    )
    return _following(together & (n_between == 0), together & (n_between == 1))


def _following(at_once: Bools, over_product: Bools) -> Int8s:
    found = np.where(at_once, _AT_ONCE, np.where(over_product, _OVER_A_PRODUCT, _NOT))
    return np.concatenate(([_NOT], found)).astype(np.int8)


def _unit(trace: Trace, operators: Int64s, work: Int64s, row: int) -> _Unit | None:
    operator = int(operators[row])
    tensors = tensors_of(trace, operator)
    shape = broadcast(tuple(each.shape for each in tensors))
    if shape is None:
        return None
    is_kept = bool(backward_of(trace).backward_id[operator] != NO_ID)
    return _Unit(operator, int(work[row]), trace.name_of(operator), tensors, shape, is_kept)


def _period(names: Sequence[str]) -> int:
    """Return after how many operators a chain begins anew, its length where it does not.

    A loop over the same few operators looks like one long chain, though each turn may well read
    something new. Two of the same name are no loop yet.
    """
    n = len(names)
    for period in range(1, n // 2 + 1):
        n_turns = n / period
        if n_turns >= (_LOOP_OF_ONE if period == 1 else 2) and all(
            names[place] == names[place - period] for place in range(period, n)
        ):
            return period
    return n


def _closed(units: list[_Unit | None]) -> list[Chain]:
    known = [unit for unit in units if unit is not None]
    if len(known) < 2:
        return []
    period = _period([unit.name for unit in known])
    turns = [known[start : start + period] for start in range(0, len(known), period)]
    return [_chain(turn) for turn in turns if len(turn) > 1]


def _chain(known: Sequence[_Unit]) -> Chain:
    items = saved = 0
    for place, unit in enumerate(known):
        n_result = prod(unit.shape)
        items += sum(each.n_distinct for each in unit.tensors) + n_result
        if place < len(known) - 1:
            # The next kernel would find the result in a register; where a backward pass needs it
            # too, it is written all the same.
            saved += n_result if unit.is_kept else 2 * n_result
    sizes = {unit.tensors[0].item_bytes for unit in known}
    return Chain(
        tuple(unit.name for unit in known),
        np.array([unit.operator for unit in known], np.int64),
        np.array([unit.work for unit in known], np.int64),
        prod(known[0].shape),
        items,
        saved,
        sizes.pop() if len(sizes) == 1 else None,
    )
