"""Runs of elementwise operators over the same elements, proved by shapes and by order on the device."""

import re
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from tracetui.analysis.autograd import backward_of
from tracetui.analysis.cost.inputs import Operand
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.attention import written_out_attention
from tracetui.diagnosis.scope import device_work_in, holder_of, named, outermost
from tracetui.diagnosis.tensors import Shape, broadcast, tensors_of
from tracetui.model.arrays import NO_ID, Bools, Int64s
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


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Operators that follow one another, each with one kernel."""

    names: tuple[str, ...]
    operators: Int64s
    work: Int64s
    """Their kernels, in the order of the operators."""
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
    launched by the same thread, and the second in all likelihood reads what the first wrote. What
    belongs to a backward pass, an optimizer or attention is left out.
    """
    operators, work = _units(trace)
    if len(operators) < 2:
        return ()
    follows = _follows(trace, operators, work)
    chains, open_units = [], [_unit(trace, operators, work, 0)]
    for row in range(1, len(operators)):
        unit = _unit(trace, operators, work, row)
        previous = open_units[-1]
        is_next = (
            follows[row] and previous is not None and unit is not None and _consumes(unit, previous)
        )
        if not is_next:
            chains += _closed(open_units)
            open_units = []
        open_units.append(unit)
    chains += _closed(open_units)
    return tuple(chains)


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


def _units(trace: Trace) -> tuple[Int64s, Int64s]:
    """Return the elementwise operators that have exactly one kernel, and that kernel."""
    operators = outermost(trace, named(trace, _ELEMENTWISE, SliceKind.OPERATOR))
    elsewhere = holder_of(trace, operators, outermost(trace, named(trace, _ELSEWHERE)))
    operators = operators[(elsewhere == NO_ID) & ~_in_attention(trace, operators)]
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


def _follows(trace: Trace, operators: Int64s, work: Int64s) -> Bools:
    """Return which unit's kernel comes right after that of the unit before, on stream and thread."""
    slices = trace.slices
    follows = np.zeros(len(operators), bool)
    # Slices of one stream are numbered by time.
    follows[1:] = (
        (np.diff(work) == 1)
        & (np.diff(slices.track_id[work]) == 0)
        & (np.diff(slices.track_id[operators]) == 0)
    )
    return follows


def _unit(trace: Trace, operators: Int64s, work: Int64s, row: int) -> _Unit | None:
    operator = int(operators[row])
    tensors = tensors_of(trace, operator)
    shape = broadcast(tuple(each.shape for each in tensors))
    if shape is None:
        return None
    is_kept = bool(backward_of(trace).backward_id[operator] != NO_ID)
    return _Unit(operator, int(work[row]), trace.name_of(operator), tensors, shape, is_kept)


def _closed(units: list[_Unit | None]) -> list[Chain]:
    known = [unit for unit in units if unit is not None]
    if len(known) < 2:
        return []
    items = saved = 0
    for place, unit in enumerate(known):
        n_result = prod(unit.shape)
        items += sum(each.n_distinct for each in unit.tensors) + n_result
        if place < len(known) - 1:
            # The next kernel would find the result in a register; where a backward pass needs it
            # too, it is written all the same.
            saved += n_result if unit.is_kept else 2 * n_result
    sizes = {unit.tensors[0].item_bytes for unit in known}
    return [
        Chain(
            tuple(unit.name for unit in known),
            np.array([unit.operator for unit in known], np.int64),
            np.array([unit.work for unit in known], np.int64),
            items,
            saved,
            sizes.pop() if len(sizes) == 1 else None,
        )
    ]
