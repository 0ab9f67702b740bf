"""The pieces of work of one instance, in order, and the tree of operators that they hang in."""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import add_to_ancestors, links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.work_class import WorkClass, work_class
from tracetui.compare.sides import Side
from tracetui.compare.words import (
    FusedWords,
    is_attention,
    is_metadata,
    known_fused,
    listed_words,
    operator_word,
    plain_shape,
    stable_name,
)
from tracetui.model.arrays import NO_ID, Bools, Int64s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

Keys: TypeAlias = tuple[int, int, int, int]
"""Hashes that are equal where two items are: ``STRICT``, by names, shapes, kernels and all below;
``SHAPED``, by names, shapes and form, whatever the kernels; ``LOOSE``, by names and form;
``LABEL``, by the name alone."""
STRICT, SHAPED, LOOSE, LABEL = range(4)
_GENERATED_KERNEL: Final = re.compile(r"graph_\d+_(\w+_)?kernel(_\d+)?")
"""A generated kernel of the host whose name lists no operators, as attention by templates has."""
_KINDS: Final = tuple(SliceKind)
_LAST_HOLDER: Final = int(SliceKind.ANNOTATION)
_MOVING: Final = ("copy", "fill")
"""Sorts of work that only move memory."""
_MOVING_WORDS: Final = frozenset(_MOVING)


@dataclass(frozen=True, slots=True)
class Unit:
    """One kernel, copy or memset; without a device, one operator that computes."""

    place: int
    """Its place among the instance's pieces of work."""
    slice_id: int
    name: str
    kind: SliceKind
    dur_ns: int
    """The median over the instances of the same form, of this one else."""
    samples: Int64s
    """Its duration in each instance of the same form."""
    operator_id: int
    """The innermost operator, or itself for an operator; ``NO_ID`` if there is none."""
    operator: str
    """That operator's name, or nothing."""
    shape: str
    """That operator's input shapes, or nothing."""
    launch_id: int
    n_bytes: int
    """What a copy moved; -1 where the file does not say."""
    words: frozenset[str]
    """What sorts of work it does: the fused operators, else the innermost operator's."""
    around: frozenset[str]
    """The sorts of work of the operators around a copy, of which it may be a part."""
    needed: frozenset[str]
    """Of a fused one, what must be found on the other side to be sure."""
    is_fused: bool
    """Whether its name tells the operators that were fused into it."""
    keys: Keys

    @property
    def is_copy(self) -> bool:
        """Return whether it only moves or fills memory."""
        return (
            self.kind in (SliceKind.MEMCPY, SliceKind.MEMSET)
            or self.words == {"copy"}
            or (not self.is_fused and self.kind == SliceKind.KERNEL and _is_copy_kernel(self.name))
        )

    @property
    def is_fill(self) -> bool:
        """Return whether it writes the same value everywhere, and reads nothing."""
        return self.kind == SliceKind.MEMSET or self.words == {"fill"} or "FillFunctor" in self.name

    @property
    def is_attention(self) -> bool:
        """Return whether it is a whole attention."""
        return is_attention(self.name) or is_attention(self.operator)


@lru_cache(maxsize=65_536)
def _fused(name: str, operator: str) -> FusedWords | None:
    """Return what sorts of work one kernel does together; ``None`` if its name lists none."""
    decoded = decode(name)
    if decoded.operators:
        return listed_words(decoded.operators, is_template=decoded.inductor_kind == "template")
    if operator.startswith("aten::"):
        return None
    return known_fused(name) or known_fused(operator)


@lru_cache(maxsize=65_536)
def _one_word(operator: str) -> frozenset[str]:
    return frozenset((operator_word(operator),)) if operator else frozenset()


def _is_copy_kernel(name: str) -> bool:
    return work_class(name) == WorkClass.COPY


@dataclass(slots=True, eq=False)
class Node:
    """A host slice with work below it."""

    slice_id: int
    name: str
    """Without what differs from run to run."""
    shape: str
    parent: "Node | None"
    children: "list[Node | Unit]" = field(default_factory=list)
    keys: Keys = (0, 0, 0, 0)

    def set_keys(self) -> None:
        """Set the keys from the children's, which must have theirs."""
        below = [child.keys for child in self.children]
        self.keys = (
            hash((self.name, self.shape, *(keys[STRICT] for keys in below))),
            hash((self.name, self.shape, "form", *(keys[SHAPED] for keys in below))),
            hash((self.name, "form", *(keys[LOOSE] for keys in below))),
            hash(("node", self.name)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The work of one side's typical instance."""

    side: Side
    instance: int
    units: tuple[Unit, ...]
    roots: "tuple[Node | Unit, ...]"
    nodes: tuple[Node, ...]
    """Parents before children."""
    n_alike: int
    """How many of the kept instances have the same pieces of work in the same order."""
    by_operator: bool
    """Whether units are operators of the host and not device work."""


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
        for place, (row, anchor, dur_ns) in enumerate(
            zip(rows[own].tolist(), anchors[own].tolist(), middle.tolist(), strict=True)
        ):
            builder.add(place, row, anchor, dur_ns, samples[place])
    for node in reversed(builder.nodes):
        node.set_keys()
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


class _TreeBuilder:
    """Hangs pieces of work, given in order, into the operators around them."""

    def __init__(self, side: Side, *, by_operator: bool) -> None:
        trace = self._trace = side.trace
        slices, link = trace.slices, links(trace)
        # Single values are read from lists many times as fast as from arrays.
        self._inside: list[bool] = (side.instance_of >= 0).tolist()
        self._parent: list[int] = slices.parent_id.tolist()
        self._kind: list[int] = slices.kind.tolist()
        self._name: list[int] = slices.name_id.tolist()
        self._shape_id: list[int] = slices.shape_id.tolist()
        self._owner: list[int] = link.owner_id.tolist()
        self._launch: list[int] = link.launch_id.tolist()
        self._stops = frozenset(side.call_id.tolist())
        self._by_operator = by_operator
        self._nodes: dict[int, Node] = {}
        self.nodes: list[Node] = []
        self.units: list[Unit] = []
        self.roots: list[Node | Unit] = []

    def add(self, place: int, row: int, anchor: int, dur_ns: int, samples: Int64s) -> None:
        """Hang one piece of work."""
        parents = self._parents(row if self._by_operator else anchor)
        unit = self._unit(place, row, dur_ns, samples, parents)
        self.units.append(unit)
        parent = self._hung(parents)
        (self.roots if parent is None else parent.children).append(unit)

    def _parents(self, start: int) -> list[int]:
        """Return the operators and annotations around a slice inside the scope, inner ones first."""
        parent, kind, inside, stops = self._parent, self._kind, self._inside, self._stops
        found: list[int] = []
        at = parent[start] if self._by_operator else start
        while at >= 0 and at not in stops and inside[at]:
            if kind[at] <= _LAST_HOLDER:
                found.append(at)
            at = parent[at]
        return found

    def _hung(self, parents: list[int]) -> Node | None:
        node: Node | None = None
        for slice_id in reversed(parents):
            found = self._nodes.get(slice_id)
            if found is None:
                name = stable_name(self._name_of(slice_id))
                found = Node(slice_id, name, self._shape(slice_id), node)
                self._nodes[slice_id] = found
                self.nodes.append(found)
                (self.roots if node is None else node.children).append(found)
            node = found
        return node

    def _shape(self, slice_id: int) -> str:
        shape_id = self._shape_id[slice_id]
        return self._trace.shapes[shape_id] if shape_id >= 0 else ""

    def _around(self, words: frozenset[str], parents: list[int]) -> frozenset[str]:
        if not words <= _MOVING_WORDS:
            return frozenset()
        return frozenset(operator_word(self._name_of(parent)) for parent in parents) - _MOVING_WORDS

    def _name_of(self, slice_id: int) -> str:
        return self._trace.names[self._name[slice_id]]

    def _unit(self, place: int, row: int, dur_ns: int, samples: Int64s, parents: list[int]) -> Unit:
        name = self._name_of(row)
        operator_id = row
        if not self._by_operator:
            owner = self._owner[row]
            is_operator = owner >= 0 and self._kind[owner] == SliceKind.OPERATOR
            operator_id = owner if is_operator else NO_ID
        operator = self._name_of(operator_id) if operator_id >= 0 else ""
        shape = self._shape(operator_id) if operator_id >= 0 else ""
        kind = _KINDS[self._kind[row]]
        fused = _fused(name, operator)
        words = _one_word(operator) if fused is None else fused.words
        return Unit(
            place=place,
            slice_id=row,
            name=name,
            kind=kind,
            dur_ns=dur_ns,
            samples=samples,
            operator_id=operator_id,
            operator=operator,
            shape=shape,
            launch_id=NO_ID if self._by_operator else self._launch[row],
            n_bytes=int(self._trace.slices.n_bytes[row]),
            words=words,
            around=self._around(words, parents),
            needed=frozenset() if fused is None else fused.needed,
            is_fused=fused is not None,
            keys=(
                hash(("unit", name, stable_name(operator), plain_shape(operator, shape))),
                hash(("unit", kind)),
                hash(("unit", kind)),
                hash(("unit", stable_name(name))),
            ),
        )
