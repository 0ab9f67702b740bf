"""What stayed without a partner, grouped: n pieces of work of one side for m of the other, proved."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from tracetui.compare.align import aligned
from tracetui.compare.composites import (
    Composite,
    composite_of,
    inner_extents,
    is_whole,
    n_columns,
    shapes_agree,
    sizes_agree,
)
from tracetui.compare.match import Gap, TreeMatch
from tracetui.compare.units import STRICT, Unit
from tracetui.compare.words import is_one_operator, product_extents

_FURTHEST_GAP: Final = 24
"""How many anchors away from a fused kernel its operators are looked for."""


class Proof(Enum):
    """Why two groups are the same work."""

    STRUCTURE = "the same place in the operator tree"
    FUSED_LIST = "the fused kernel's name tells these operators"
    COMPOSITE = "one operator that computes all of these"
    WIDTH = "its columns are those of all of them together"
    MOVED = "the same kernel on the same shapes, moved past its neighbours"
    PARENTS = "the same operator launches both"
    SAME_WORD = "the same operator between the same neighbours"
    NONE = "nothing corresponds"


class Group(NamedTuple):
    """Pieces of work of one side that are those of the other; one side may be empty."""

    first: tuple[Unit, ...]
    second: tuple[Unit, ...]
    proof: Proof
    is_sure: bool

    def side(self, number: int) -> tuple[Unit, ...]:
        """Return the work of the first side, 0, or the second, 1."""
        return self.second if number else self.first

    @property
    def swapped(self) -> "Group":
        """Return the group with the sides exchanged."""
        return Group(self.second, self.first, self.proof, self.is_sure)


def groups(match: TreeMatch) -> list[Group]:
    """Return all work of both sides in groups, matched pairs among them.

    Left-overs are joined, in this order: by the list in a fused kernel's name, also past anchors,
    for fusing moves work to its consumer; by what one operator is known to compute; by the matched
    operator that holds them; by being equal to the last shape; by operators of one sort between the
    same anchors. What none of these proves stays alone.
    """
    leftovers = _Leftovers(match)
    packed = leftovers.joined_by_width()
    taken = {(side, unit.place) for each in packed for side in (0, 1) for unit in each.side(side)}
    found = packed + [
        Group((pair.first,), (pair.second,), Proof.STRUCTURE, pair.is_sure)
        for pair in match.pairs
        if (0, pair.first.place) not in taken
    ]
    found += leftovers.joined_by_fused_lists()
    found += leftovers.joined_by_composites()
    found += leftovers.joined_by_bias()
    found += leftovers.joined_by_parents()
    found += leftovers.joined_where_moved()
    found += leftovers.joined_by_words()
    found += leftovers.alone()
    return found


class _Leftovers:
    def __init__(self, match: TreeMatch) -> None:
        self._gaps = match.gaps
        self._free = (
            {unit.place: unit for gap in match.gaps for unit in gap.first},
            {unit.place: unit for gap in match.gaps for unit in gap.second},
        )
        self._pairs = match.pairs
        anchors = self._anchors = (
            sorted(pair.first.place for pair in match.pairs),
            sorted(pair.second.place for pair in match.pairs),
        )
        self._gap_of = tuple(
            {place: bisect_left(anchors[side], place) for place in self._free[side]}
            for side in (0, 1)
        )
        self._by_word: tuple[dict[str, list[Unit]], dict[str, list[Unit]]] = ({}, {})
        for side in (0, 1):
            for unit in sorted(self._free[side].values(), key=lambda unit: unit.place):
                for word in unit.words | unit.around:
                    self._by_word[side].setdefault(word, []).append(unit)

    def joined_by_width(self) -> list[Group]:
        """Join products that became one as wide as they are together, such as packed gate and up.

        The shapes prove it: the same left operand, and columns that add up.
        """
        found: list[Group] = []
        for pair in self._pairs:
            if pair.first.shape == pair.second.shape:
                continue
            sides = (pair.first, pair.second)
            products = [product_extents(unit.shape) for unit in sides]
            if products[0] is None or products[1] is None or products[0] == products[1]:
                continue
            side = 0 if products[0].columns < products[1].columns else 1
            narrow, wide = products[side], products[1 - side]
            if narrow is None or wide is None or narrow.inner != wide.inner:
                continue
            near = self._near(side, "mm", self._gap_of_place(side, sides[side].place))
            others = [
                unit
                for unit in near
                if unit.place in self._free[side]
                and product_extents(unit.shape) is not None
                and inner_extents(unit) == narrow.inner
            ]
            columns = [n_columns(unit) for unit in others]
            if others and narrow.columns + sum(columns) == wide.columns:
                for unit in others:
                    del self._free[side][unit.place]
                parts = tuple(sorted((sides[side], *others), key=lambda unit: unit.place))
                group = Group(parts, (sides[1 - side],), Proof.WIDTH, is_sure=True)
                found.append(group if side == 0 else group.swapped)
        return found

    def joined_by_fused_lists(self) -> list[Group]:
        """Give each fused kernel the other side's work of the operators that its name lists."""
        found: list[Group] = []
        for side in (1, 0):
            fused = [unit for unit in self._free[side].values() if unit.is_fused and unit.words]
            for unit in sorted(fused, key=lambda unit: unit.place):
                if unit.place not in self._free[side]:
                    continue
                claimed = self._claims(unit, side)
                if not claimed:
                    continue
                covered = frozenset().union(*(each.words | each.around for each in claimed))
                is_sure = unit.needed <= covered
                found.append(self._taken(side, (unit,), claimed, Proof.FUSED_LIST, is_sure=is_sure))
        return found

    def _claims(self, fused: Unit, side: int) -> tuple[Unit, ...]:
        """Return the other side's free work whose operators the list has, nearest first."""
        other = 1 - side
        gap = self._gap_of[side][fused.place]
        near: dict[int, Unit] = {}
        for word in sorted(fused.words):
            candidates = [
                unit
                for unit in self._near(other, word, gap)
                if unit.place in self._free[other]
                and (unit.words <= fused.words or bool(unit.around & fused.words))
            ]
            own = [unit for unit in candidates if self._gap_of[other][unit.place] == gap]
            if not own and candidates:
                # Fused work moves to where it is used: what ran earlier is nearer than what ran later.
                own = [
                    min(
                        candidates,
                        key=lambda unit: (
                            abs(self._gap_of[other][unit.place] - gap),
                            self._gap_of[other][unit.place] > gap,
                            -unit.place,
                        ),
                    )
                ]
            near |= {unit.place: unit for unit in own}
        return tuple(near[place] for place in sorted(near))

    def _near(self, side: int, word: str, gap: int) -> list[Unit]:
        """Return the left-overs of one sort of work that are few anchors away, in order."""
        units = self._by_word[side].get(word, [])

        def number(unit: Unit) -> int:
            return self._gap_of[side][unit.place]

        low = bisect_left(units, gap - _FURTHEST_GAP, key=number)
        return units[low : bisect_right(units, gap + _FURTHEST_GAP, key=number)]

    def joined_by_composites(self) -> list[Group]:
        """Give each composite operator the other side's work that spells it out."""
        found: list[Group] = []
        for gap in self._gaps:
            for side in (1, 0):
                both = (gap.first, gap.second)
                for unit in both[side]:
                    if unit.place not in self._free[side]:
                        continue
                    composite = composite_of(unit)
                    parts = self._parts(both[1 - side], composite, 1 - side) if composite else ()
                    # Alone between two anchors nothing else can be meant; among other work only
                    # tensors of one size tell.
                    is_all = len(parts) == len(both[1 - side])
                    agrees = sizes_agree(unit, parts)
                    if not parts or not (is_all or agrees):
                        continue
                    whole = tuple(
                        each
                        for each in both[side]
                        if each.place in self._free[side] and each.operator_id == unit.operator_id
                    )
                    is_sure = agrees if agrees is not None else is_all
                    found.append(self._taken(side, whole, parts, Proof.COMPOSITE, is_sure=is_sure))
        return found

    def _parts(self, units: Sequence[Unit], composite: Composite, side: int) -> tuple[Unit, ...]:
        """Return the first unbroken run of parts that has all that is required."""
        run: list[Unit] = []
        for unit in units:
            is_part = (
                unit.place in self._free[side]
                and bool(unit.words)
                and (unit.words <= composite.parts or unit.is_copy)
            )
            if is_part:
                run.append(unit)
            elif is_whole(run, composite):
                break
            else:
                run = []
        return tuple(run) if is_whole(run, composite) else ()

    def joined_by_bias(self) -> list[Group]:
        """Give what ``addmm`` does before its product the addition that follows a plain product.

        Compiling makes one of the two: a copy fills the result with the bias, and the product, by
        the same kernel, adds to it.
        """
        found: list[Group] = []
        for pair in self._pairs:
            if pair.first.sort.adds_bias == pair.second.sort.adds_bias:
                continue
            for side, (own, other) in enumerate(
                ((pair.first, pair.second), (pair.second, pair.first))
            ):
                if not (other.sort.adds_bias and own.words == {"mm"}):
                    continue
                gap = self._gap_of_place(side, own.place)
                added = [
                    unit
                    for unit in self._near(side, "add", gap)
                    if unit.place in self._free[side] and self._gap_of[side][unit.place] == gap
                ]
                if not added:
                    continue
                seeds = tuple(
                    unit
                    for unit in self._free[1 - side].values()
                    if unit.operator_id == other.operator_id
                )
                if seeds:
                    found.append(
                        self._taken(side, (added[0],), seeds, Proof.COMPOSITE, is_sure=True)
                    )
        return found

    def _gap_of_place(self, side: int, place: int) -> int:
        """Return the gap that follows a matched piece of work."""
        return bisect_right(self._anchors[side], place)

    def joined_by_parents(self) -> list[Group]:
        """Join what one matched operator launches on both sides."""
        found: list[Group] = []
        for gap in self._gaps:
            first, second = self._free_of(gap)
            if gap.parents is None or not first or not second:
                continue
            is_one_kind = len(first) == len(second) == 1 and first[0].kind == second[0].kind
            if is_one_operator(gap.parents[0].name) or (is_one_kind and first[0].is_copy):
                found.append(self._taken(0, first, second, Proof.PARENTS, is_sure=True))
        return found

    def joined_where_moved(self) -> list[Group]:
        """Pair what is equal to the last shape on both sides and once among the left-overs of each.

        Autograd and compilers may run independent work in another order.
        """
        by_key: tuple[dict[int, list[Unit]], dict[int, list[Unit]]] = ({}, {})
        for side in (0, 1):
            for unit in self._free[side].values():
                if unit.shape:
                    by_key[side].setdefault(unit.keys[STRICT], []).append(unit)
        found: list[Group] = []
        for key, own in by_key[0].items():
            others = by_key[1].get(key, [])
            if len(own) == len(others) == 1:
                found.append(self._taken(0, (own[0],), (others[0],), Proof.MOVED, is_sure=True))
        return found

    def joined_by_words(self) -> list[Group]:
        """Pair operators of one sort between the same anchors, where their order agrees."""
        found: list[Group] = []
        for gap in self._gaps:
            first, second = self._free_of(gap)
            if not first or not second:
                continue
            number: dict[object, int] = {}
            keys = [
                [
                    number.setdefault(tuple(sorted(unit.words)) or (side, unit.place), len(number))
                    for unit in units
                ]
                for side, units in enumerate((first, second))
            ]
            for a, b in aligned(keys[0], keys[1]):
                same_count = keys[0].count(keys[0][a]) == keys[1].count(keys[1][b])
                is_sure = same_count and shapes_agree(first[a], second[b])
                found.append(
                    self._taken(0, (first[a],), (second[b],), Proof.SAME_WORD, is_sure=is_sure)
                )
        return found

    def alone(self) -> list[Group]:
        """Return what is left, each piece by itself; not sure where both sides have something."""
        found: list[Group] = []
        for gap in self._gaps:
            first, second = self._free_of(gap)
            is_sure = not (first and second)
            found += [Group((unit,), (), Proof.NONE, is_sure) for unit in first]
            found += [Group((), (unit,), Proof.NONE, is_sure) for unit in second]
        return found

    def _free_of(self, gap: Gap) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
        return (
            tuple(unit for unit in gap.first if unit.place in self._free[0]),
            tuple(unit for unit in gap.second if unit.place in self._free[1]),
        )

    def _taken(
        self,
        side: int,
        own: tuple[Unit, ...],
        others: tuple[Unit, ...],
        proof: Proof,
        *,
        is_sure: bool,
    ) -> Group:
        for unit in own:
            del self._free[side][unit.place]
        for unit in others:
            del self._free[1 - side][unit.place]
        group = Group(own, others, proof, is_sure)
        return group if side == 0 else group.swapped
