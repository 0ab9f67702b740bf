"""A piece of work: a kernel, a copy or an operator that computes, and the operators it hangs in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TypeAlias

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.work_class import WorkClass, work_class
from tracetui.compare.sides import Side
from tracetui.compare.words import (
    FusedWords,
    is_attention,
    known_fused,
    listed_words,
    operator_word,
    plain_shape,
    stable_name,
)
from tracetui.model.arrays import Int64s
from tracetui.model.slices import SliceKind

Keys: TypeAlias = tuple[int, int, int, int]
"""Hashes that are equal where two items are: ``STRICT``, by names, shapes, kernels and all below;
``SHAPED``, by names, shapes and form, whatever the kernels; ``LOOSE``, by names and form;
``LABEL``, by the name alone."""
STRICT, SHAPED, LOOSE, LABEL = range(4)


@dataclass(frozen=True, eq=False)
class UnitSort:
    """What all pieces of work of one name, operator and shapes have in common.

    A recording has many pieces of few sorts, so what is asked of each piece is worked out once.
    """

    name: str
    kind: SliceKind
    operator: str
    """The innermost operator's name, or nothing."""
    shape: str
    """That operator's input shapes, or nothing."""
    words: frozenset[str]
    """What sorts of work it does: the fused operators, else the innermost operator's."""
    needed: frozenset[str]
    """Of a fused one, what must be found on the other side to be sure."""
    is_fused: bool
    """Whether its name tells the operators that were fused into it."""
    keys: Keys

    @classmethod
    def of(cls, name: str, kind: SliceKind, operator: str, shape: str) -> "UnitSort":
        """Return the sort of a kernel, copy, memset or operator."""
        fused = _fused(name, operator)
        return cls(
            name,
            kind,
            operator,
            shape,
            words=_one_word(operator) if fused is None else fused.words,
            needed=frozenset() if fused is None else fused.needed,
            is_fused=fused is not None,
            keys=(
                hash(("unit", name, stable_name(operator), plain_shape(operator, shape))),
                hash(("unit", kind)),
                hash(("unit", kind)),
                hash(("unit", stable_name(name))),
            ),
        )

    @cached_property
    def is_copy(self) -> bool:
        """Return whether it only moves or fills memory."""
        return (
            self.kind in (SliceKind.MEMCPY, SliceKind.MEMSET)
            or self.words == {"copy"}
            or (
                not self.is_fused
                and self.kind == SliceKind.KERNEL
                and work_class(self.name) == WorkClass.COPY
            )
        )

    @cached_property
    def adds_bias(self) -> bool:
        """Return whether its operator is a product that adds a bias as well."""
        return self.operator.rsplit("::", 1)[-1] in ("addmm", "baddbmm", "linear")

    @cached_property
    def is_comm(self) -> bool:
        """Return whether it is communication."""
        return self.kind == SliceKind.KERNEL and work_class(self.name) == WorkClass.COMM


@dataclass(slots=True, eq=False)
class Unit:
    """One kernel, copy or memset; without a device, one operator that computes.

    It never changes, and is not frozen all the same, as there are tens of thousands: a frozen one
    takes five times as long to make.
    """

    place: int
    """Its place among the instance's pieces of work."""
    slice_id: int
    sort: UnitSort
    dur_ns: int
    """The median over the instances of the same form, of this one else."""
    samples: Int64s
    """Its duration in each instance of the same form."""
    operator_id: int
    """The innermost operator, or itself for an operator; ``NO_ID`` if there is none."""
    launch_id: int
    n_bytes: int
    """What a copy moved; -1 where the file does not say."""
    around: frozenset[str]
    """The sorts of work of the operators around a copy, of which it may be a part."""

    @property
    def name(self) -> str:
        """Return its own name."""
        return self.sort.name

    @property
    def kind(self) -> SliceKind:
        """Return what sort of slice it is."""
        return self.sort.kind

    @property
    def operator(self) -> str:
        """Return the innermost operator's name, or nothing."""
        return self.sort.operator

    @property
    def shape(self) -> str:
        """Return that operator's input shapes, or nothing."""
        return self.sort.shape

    @property
    def words(self) -> frozenset[str]:
        """Return what sorts of work it does."""
        return self.sort.words

    @property
    def needed(self) -> frozenset[str]:
        """Return of a fused one what must be found on the other side to be sure."""
        return self.sort.needed

    @property
    def is_fused(self) -> bool:
        """Return whether its name tells the operators that were fused into it."""
        return self.sort.is_fused

    @property
    def keys(self) -> Keys:
        """Return what is equal where two pieces are."""
        return self.sort.keys

    @property
    def is_copy(self) -> bool:
        """Return whether it only moves or fills memory."""
        return self.sort.is_copy

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


def set_keys(nodes_bottom_up: Iterable[Node]) -> None:
    """Set the keys of nodes from their children's; those of nodes that look alike are made once."""
    known: dict[tuple[str, str, tuple[Keys, ...]], Keys] = {}
    for node in nodes_bottom_up:
        below = tuple([child.keys for child in node.children])
        look = (node.name, node.shape, below)
        keys = known.get(look)
        if keys is None:
            keys = known[look] = (
                hash((node.name, node.shape, *(each[STRICT] for each in below))),
                hash((node.name, node.shape, "form", *(each[SHAPED] for each in below))),
                hash((node.name, "form", *(each[LOOSE] for each in below))),
                hash(("node", node.name)),
            )
        node.keys = keys


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
