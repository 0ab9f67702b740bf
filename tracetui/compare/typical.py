"""The work of a side's typical instance: its pieces in order, in the tree of operators around them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import add_to_ancestors, links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.compare.sides import Side
from tracetui.compare.units import Node, Unit, UnitSort, Work, set_keys
from tracetui.compare.words import is_metadata, operator_word, stable_name
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

_GENERATED_KERNEL: Final = re.compile(r"graph_\d+_(\w+_)?kernel(_\d+)?")
"""A generated kernel of the host whose name lists no operators, as attention by templates has."""
_KINDS: Final = tuple(SliceKind)
_MOVING: Final = ("copy", "fill")
"""Sorts of work that only move memory."""
_MOVING_WORDS: Final = frozenset(_MOVING)
_NOTHING_AROUND: Final[frozenset[str]] = frozenset()


def work(side: Side, *, by_operator: bool) -> Work:
    """Return the pieces of work of a side's typical instance.

    That is, of the instances whose work has the most common form, the one nearest to their median.
    """
    rows, anchors = _operator_rows(side) if by_operator else _device_rows(side)
    instance, alike = _typical(side, rows)
    own = np.flatnonzero(side.instance_of[rows] == instance)
    builder = _TreeBuilder(side, by_operator=by_operator)
    if len(own):
        samples = np.stack([side.trace.slices.dur_ns[row_ids] for row_ids in alike], axis=1)
        ordered = np.sort(samples, axis=1)
        middle = (ordered[:, (len(alike) - 1) // 2] + ordered[:, len(alike) // 2]) // 2
        builder.hang(rows[own], anchors[own], middle, samples)
    set_keys(reversed(builder.nodes))
    return Work(
        side,
        instance,
        tuple(builder.units),
        tuple(builder.roots),
        tuple(builder.nodes),
        len(alike),
        by_operator,
    )


def _device_rows(side: Side) -> tuple[Int64s, Int64s]:
    """Return device work in the order of its launches, thread after thread, and where it hangs."""
    trace = side.trace
    slices, link = trace.slices, links(trace)
    rows = np.flatnonzero(slices.is_device_work() & (side.instance_of >= 0))
    anchor = np.where(link.launch_id[rows] >= 0, link.launch_id[rows], link.owner_id[rows])
    return _ordered(side, rows, anchor.astype(np.int64))


def _operator_rows(side: Side) -> tuple[Int64s, Int64s]:
    rows = np.flatnonzero(computing_operators(side.trace) & (side.instance_of >= 0))
    return _ordered(side, rows, rows)


def _ordered(side: Side, rows: Int64s, anchor: Int64s) -> tuple[Int64s, Int64s]:
    """Sort by instance, by when the thread first works in it, by place in the thread, by time."""
    slices = side.trace.slices
    known = anchor >= 0
    track = np.where(known, slices.track_id[anchor], len(side.trace.tracks))
    instance = side.instance_of[rows].astype(np.int64)
    line = instance * (len(side.trace.tracks) + 1) + track
    lines, group = np.unique(line, return_inverse=True)
    begins = np.full(len(lines), np.iinfo(np.int64).max)
    np.minimum.at(begins, group, np.where(known, slices.ts_ns[anchor], np.iinfo(np.int64).max))
    order = np.lexsort(
        (rows, slices.ts_ns[rows], np.where(known, anchor, 0), group, begins[group], instance)
    )
    return rows[order], anchor[order]


def _typical(side: Side, rows: Int64s) -> tuple[int, list[Int64s]]:
    """Return an instance, and the rows of all instances of the same form.

    Args:
        side: The side.
        rows: Its pieces of work, sorted by instance.
    """
    slices = side.trace.slices
    bounds = np.searchsorted(side.instance_of[rows], np.arange(len(side.labels) + 1))
    parts = {i: rows[bounds[i] : bounds[i + 1]] for i in side.kept.tolist()}
    forms = {i: slices.name_id[part].tobytes() for i, part in parts.items()}
    if not forms:
        return 0, []
    counted = Counter(forms.values())
    most = max(counted.values())
    form = next(forms[i] for i in parts if counted[forms[i]] == most)
    alike = [i for i in parts if forms[i] == form]
    totals = np.array([int(slices.dur_ns[parts[i]].sum()) for i in alike], np.int64)
    middle = np.sort(totals)[(len(totals) - 1) // 2]
    instance = alike[int(np.abs(totals - middle).argmin())]
    return instance, [parts[i] for i in alike]


@once_per_trace
def computing_operators(trace: Trace) -> Bools:
    """Return which host slices are the operators that do the work of a trace without a device.

    Those are operators that are neither views nor allocations and have no such operator below
    them, or none but copies and fills, which prepare what they need; scalars count for nothing
    where shapes tell. What copies and fills itself only wraps those below it.
    """
    slices = trace.slices
    named = [not is_metadata(name) and _may_compute(name) for name in trace.names]
    moves = [operator_word(name) in _MOVING for name in trace.names]
    is_real = np.array(named, bool)[slices.name_id] if named else np.zeros(0, bool)
    is_move = np.array(moves, bool)[slices.name_id] if named else np.zeros(0, bool)
    scalar = np.array([_is_scalar(shape) for shape in trace.shapes], bool)
    is_scalar = np.zeros(len(slices), bool)
    has_shape = slices.shape_id >= 0
    is_scalar[has_shape] = scalar[slices.shape_id[has_shape]]
    may = (slices.kind == SliceKind.OPERATOR) & is_real & ~is_scalar
    below, at_work_below = may.astype(np.int64), (may & ~is_move).astype(np.int64)
    for column in (below, at_work_below):
        add_to_ancestors(slices.parent_id, slices.depth, column)
    below -= may
    at_work_below -= may & ~is_move
    does_itself = may & ((below == 0) | ((at_work_below == 0) & ~is_move))
    parent = slices.parent_id
    covered = np.full(len(slices), NO_ID, np.int64)
    found = nearest(parent, does_itself)
    covered[parent >= 0] = found[parent[parent >= 0]]
    on_host = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    result: Bools = does_itself & (covered < 0)
    if len(slices):
        result &= on_host[slices.track_id]
    return frozen(result)


def _may_compute(name: str) -> bool:
    return (
        "::" in name and not name.startswith(("autograd::", "torch::autograd", "profiler::"))
    ) or (decode(name).inductor_kind is not None or bool(_GENERATED_KERNEL.fullmatch(name)))


def _is_scalar(shape: str) -> bool:
    """Return whether input shapes, as JSON text, hold no tensor with a dimension."""
    return not any(letter.isdigit() for letter in shape)


def _distinct(columns: Sequence[Int64s | Int32s | Int8s]) -> tuple[list[int], Int64s]:
    """Return of each row which combination of values it has, and a row that has each."""
    code = np.zeros(len(columns[0]), np.int64)
    first = np.empty(0, np.int64)
    for column in columns:
        code = code * (int(column.max(initial=0)) + 2) + column + 1
        _, first, code = np.unique(code, return_index=True, return_inverse=True)
    return code.tolist(), first


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """All operators and annotations around some work, one row each."""

    slice_ids: list[int]
    above: list[int]
    """The row of the next one around it, or ``NO_ID``."""
    labels: list[tuple[str, str]]
    """Stable name and shapes."""


class _TreeBuilder:
    """Hangs pieces of work, given in order, into the operators and annotations around them.

    What many have in common is worked out in whole columns; the loops only make the objects.
    """

    def __init__(self, side: Side, *, by_operator: bool) -> None:
        self._trace = side.trace
        self._by_operator = by_operator
        self._is_in_scope: Bools = side.instance_of >= 0
        self._is_in_scope[side.call_id] = False
        self._around = _Around([], [], [])
        self._made: list[Node | None] = []
        self.nodes: list[Node] = []
        self.units: list[Unit] = []
        self.roots: list[Node | Unit] = []

    def hang(self, rows: Int64s, anchors: Int64s, dur_ns: Int64s, samples: Int64s) -> None:
        """Hang pieces of work, one row each; ``samples`` has a column for each instance."""
        slices, link = self._trace.slices, links(self._trace)
        start: Int64s = anchors
        operators: Int64s = rows
        launches = np.full(len(rows), NO_ID, np.int64)
        if self._by_operator:
            start = slices.parent_id[rows].astype(np.int64)
        else:
            owners = link.owner_id[rows]
            is_operator = (owners >= 0) & (slices.kind[owners] == SliceKind.OPERATOR)
            operators = np.where(is_operator, owners, NO_ID)
            launches = link.launch_id[rows].astype(np.int64)
        columns = zip(
            rows.tolist(),
            self._holders(start),
            self._sorts(rows, operators),
            dur_ns.tolist(),
            samples,
            operators.tolist(),
            launches.tolist(),
            slices.n_bytes[rows].tolist(),
            strict=True,
        )
        for place, (row, holder, sort, ns, all_ns, operator, launch, size) in enumerate(columns):
            parent = (self._made[holder] or self._hung(holder)) if holder >= 0 else None
            around = self._words_around(parent) if sort.words <= _MOVING_WORDS else _NOTHING_AROUND
            unit = Unit(place, row, sort, ns, all_ns, operator, launch, size, around)
            self.units.append(unit)
            (self.roots if parent is None else parent.children).append(unit)

    def _holders(self, start: Int64s) -> list[int]:
        """Return the innermost operator or annotation in the scope from each slice upwards.

        As its place among all that are around the work, which are noted; ``NO_ID`` is none.
        """
        slices = self._trace.slices
        parent = slices.parent_id
        up = np.where((parent >= 0) & self._is_in_scope[parent], parent, NO_ID)
        holder = nearest(up, self._is_in_scope & (slices.kind <= SliceKind.ANNOTATION))
        above = np.where(up >= 0, holder[up], NO_ID)
        own = np.where((start >= 0) & self._is_in_scope[start], holder[start], NO_ID)
        is_around = np.zeros(len(slices), bool)
        level = np.unique(own[own >= 0])
        while len(level):
            is_around[level] = True
            level = np.unique(above[level])
            level = level[(level >= 0) & ~is_around[level]]
        slice_ids = np.flatnonzero(is_around)
        place = np.full(len(slices), NO_ID, np.int64)
        place[slice_ids] = np.arange(len(slice_ids))
        self._around = _Around(
            slice_ids.tolist(),
            np.where(above[slice_ids] >= 0, place[above[slice_ids]], NO_ID).tolist(),
            self._labels(slice_ids),
        )
        self._made = [None] * len(slice_ids)
        held: list[int] = np.where(own >= 0, place[own], NO_ID).tolist()
        return held

    def _labels(self, slice_ids: Int64s) -> list[tuple[str, str]]:
        """Return of each slice its stable name and its shapes."""
        slices = self._trace.slices
        columns = slices.name_id[slice_ids], slices.shape_id[slice_ids]
        code, first = _distinct(columns)
        labels = [
            (stable_name(self._trace.names[name]), self._shape(shape))
            for name, shape in zip(*(column[first].tolist() for column in columns), strict=True)
        ]
        return [labels[each] for each in code]

    def _hung(self, holder: int) -> Node:
        """Return the node at a place, hung below those around it."""
        new = []
        at = holder
        while at >= 0 and self._made[at] is None:
            new.append(at)
            at = self._around.above[at]
        parent = self._made[at] if at >= 0 else None
        for at in reversed(new):
            node = Node(self._around.slice_ids[at], *self._around.labels[at], parent)
            (self.roots if parent is None else parent.children).append(node)
            self._made[at] = parent = node
            self.nodes.append(node)
        return self.nodes[-1]

    def _sorts(self, rows: Int64s, operators: Int64s) -> list[UnitSort]:
        """Return what sort each piece of work is of."""
        slices, names = self._trace.slices, self._trace.names
        is_known = operators >= 0
        columns = (
            slices.name_id[rows],
            slices.kind[rows],
            np.where(is_known, slices.name_id[operators], NO_ID),
            np.where(is_known, slices.shape_id[operators], NO_ID),
        )
        code, first = _distinct(columns)
        sorts = [
            UnitSort.of(
                names[name],
                _KINDS[kind],
                names[operator] if operator >= 0 else "",
                self._shape(shape),
            )
            for name, kind, operator, shape in zip(
                *(column[first].tolist() for column in columns), strict=True
            )
        ]
        return [sorts[each] for each in code]

    def _shape(self, shape_id: int) -> str:
        return self._trace.shapes[shape_id] if shape_id >= 0 else ""

    @staticmethod
    def _words_around(parent: Node | None) -> frozenset[str]:
        words: set[str] = set()
        while parent is not None:
            words.add(operator_word(parent.name))
            parent = parent.parent
        return frozenset(words - _MOVING_WORDS)
