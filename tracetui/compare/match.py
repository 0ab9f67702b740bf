"""Which piece of work of one side is which of the other: by structure, order, name and shapes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from tracetui.compare.align import aligned
from tracetui.compare.units import LABEL, LOOSE, SHAPED, STRICT, Node, Unit, Work
from tracetui.compare.words import is_one_operator

Item: TypeAlias = Node | Unit


class Pair(NamedTuple):
    """One piece of work on each side that is the same."""

    first: Unit
    second: Unit
    is_sure: bool


class Gap(NamedTuple):
    """What stayed without a partner between the same two anchors."""

    first: tuple[Unit, ...]
    second: tuple[Unit, ...]
    parents: tuple[Node, Node] | None
    """The matched operators that hold all of it; ``None`` at the scope's own level."""


@dataclass(slots=True, eq=False)
class TreeMatch:
    """What the structure alone tells."""

    pairs: list[Pair] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    node_pairs: list[tuple[Node, Node]] = field(default_factory=list)


class _Task(NamedTuple):
    first: tuple[Item, ...]
    second: tuple[Item, ...]
    parents: tuple[Node, Node] | None


def tree_match(first: Work, second: Work) -> TreeMatch:
    """Match the operator trees of two instances.

    Children of matched operators are aligned in order, first where all below them is equal, then
    by name, shapes and form, by name and form, by name; what is left between two of them is looked into, wrapper by
    wrapper, until both sides show their kernels.
    """
    match = TreeMatch()
    tasks = [_Task(first.roots, second.roots, None)]
    while tasks:
        task = tasks.pop()
        for gap in _paired(task, match, tasks):
            opened = _opened(gap)
            if opened is None:
                units = (tuple(_units(gap.first)), tuple(_units(gap.second)))
                match.gaps.append(Gap(*units, gap.parents))
            else:
                tasks.append(opened)
    return match


def _paired(task: _Task, match: TreeMatch, tasks: list[_Task]) -> Iterator[_Task]:
    """Align a task's items level by level, note the pairs, and yield what stays between them."""
    is_one = task.parents is not None and is_one_operator(task.parents[0].name)
    stretches = [_Stretch.of(task.first, task.second, is_one=is_one)]
    for level in (STRICT, SHAPED, LOOSE, LABEL):
        rest: list[_Stretch] = []
        for stretch in stretches:
            if not stretch.may_pair:
                rest.append(stretch)
                continue
            first, second = stretch.first, stretch.second
            keys = stretch.keys(level)
            pairs = aligned(*keys)
            doubtful = _ambiguous(*keys, pairs)
            for place, (a, b) in enumerate(pairs):
                _note(first[a], second[b], level, place not in doubtful, match, tasks)
            edges = [(-1, -1), *pairs, (len(first), len(second))]
            for (a, b), (next_a, next_b) in pairwise(edges):
                if next_a > a + 1 or next_b > b + 1:
                    between = first[a + 1 : next_a], second[b + 1 : next_b]
                    rest.append(_Stretch.of(*between, is_one=is_one))
        stretches = rest
    for stretch in stretches:
        yield _Task(stretch.first, stretch.second, task.parents)


class _Stretch(NamedTuple):
    """Neighbours of both sides between the same two pairs."""

    first: tuple[Item, ...]
    second: tuple[Item, ...]
    is_by_form: bool
    """Whether pieces of work may pair by their form alone: inside one operator, which vouches for
    them, if it has as many on both sides."""
    may_pair: bool
    """Whether anything can pair, at any level: what has no name in common can only by its form."""

    @classmethod
    def of(cls, first: tuple[Item, ...], second: tuple[Item, ...], *, is_one: bool) -> "_Stretch":
        """Return the stretch.

        Args:
            first: The items of one side.
            second: The items of the other.
            is_one: Whether both are inside one operator.
        """
        if not first or not second:
            return cls(first, second, is_by_form=False, may_pair=False)
        is_by_form = is_one and _n_units(first) == _n_units(second)
        labels = {item.keys[LABEL] for item in first}
        may_pair = is_by_form or any(item.keys[LABEL] in labels for item in second)
        return cls(first, second, is_by_form, may_pair)

    def keys(self, level: int) -> tuple[list[int], list[int]]:
        """Return both sides' keys of a level."""
        if self.is_by_form or level not in (SHAPED, LOOSE):
            return (
                [item.keys[level] for item in self.first],
                [item.keys[level] for item in self.second],
            )
        # What cannot pair gets keys that are negative and different: equal to nothing.
        return (
            [
                -1 - 2 * place if isinstance(item, Unit) else item.keys[level]
                for place, item in enumerate(self.first)
            ],
            [
                -2 - 2 * place if isinstance(item, Unit) else item.keys[level]
                for place, item in enumerate(self.second)
            ],
        )


def _n_units(items: tuple[Item, ...]) -> int:
    return sum(isinstance(item, Unit) for item in items)


def _ambiguous(
    first: Sequence[int], second: Sequence[int], pairs: list[tuple[int, int]]
) -> set[int]:
    """Return which pairs could as well be with a neighbour that stayed alone and looks the same."""
    doubtful: set[int] = set()
    edges = [(-1, -1), *pairs, (len(first), len(second))]
    for place, ((a, b), (next_a, next_b)) in enumerate(pairwise(edges)):
        if next_a == a + 1 and next_b == b + 1:
            continue
        alone = {*first[a + 1 : next_a], *second[b + 1 : next_b]}
        at = place - 1
        while at >= 0 and at not in doubtful and first[pairs[at][0]] in alone:
            doubtful.add(at)
            at -= 1
        at = place
        while at < len(pairs) and first[pairs[at][0]] in alone:
            doubtful.add(at)
            at += 1
    return doubtful


def _note(
    first: Item,
    second: Item,
    level: int,
    is_sure: bool,  # noqa: FBT001 - private
    match: TreeMatch,
    tasks: list[_Task],
) -> None:
    if isinstance(first, Unit) and isinstance(second, Unit):
        match.pairs.append(Pair(first, second, is_sure))
    elif isinstance(first, Node) and isinstance(second, Node):
        match.node_pairs.append((first, second))
        if level == STRICT:
            _note_all_below(first, second, is_sure, match)
        else:
            tasks.append(_Task(tuple(first.children), tuple(second.children), (first, second)))


def _note_all_below(first: Node, second: Node, is_sure: bool, match: TreeMatch) -> None:  # noqa: FBT001
    """Pair everything below two operators below which everything is equal."""
    open_nodes = [(first, second)]
    while open_nodes:
        a, b = open_nodes.pop()
        for child_a, child_b in zip(a.children, b.children, strict=True):
            if isinstance(child_a, Unit) and isinstance(child_b, Unit):
                match.pairs.append(Pair(child_a, child_b, is_sure))
            elif isinstance(child_a, Node) and isinstance(child_b, Node):
                match.node_pairs.append((child_a, child_b))
                open_nodes.append((child_a, child_b))


def _opened(gap: _Task) -> _Task | None:
    """Return a gap with wrappers replaced by what is in them, or ``None`` if there is none to open.

    A wrapper that the other side does not have anywhere is opened first; only where all are known
    to the other side, in another order or depth, all are.
    """
    if not gap.first or not gap.second:
        return None
    names_first, names_second = _names_below(gap.first), _names_below(gap.second)
    if not names_first and not names_second:
        return None
    first = _with_opened(gap.first, names_second)
    second = _with_opened(gap.second, names_first)
    if len(first) == len(gap.first) and len(second) == len(gap.second):
        is_same = all(a is b for a, b in zip(first, gap.first, strict=True)) and all(
            a is b for a, b in zip(second, gap.second, strict=True)
        )
        if is_same:
            first, second = _with_opened(gap.first, set()), _with_opened(gap.second, set())
    return _Task(first, second, gap.parents)


def _with_opened(items: tuple[Item, ...], kept: set[str]) -> tuple[Item, ...]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Node) and item.name not in kept:
            found += item.children
        else:
            found.append(item)
    return tuple(found)


def _names_below(items: tuple[Item, ...]) -> set[str]:
    names: set[str] = set()
    todo: list[Item] = list(items)
    while todo:
        item = todo.pop()
        if isinstance(item, Node):
            names.add(item.name)
            todo += item.children
    return names


def _units(items: tuple[Item, ...]) -> Iterator[Unit]:
    todo: list[Item] = list(reversed(items))
    while todo:
        item = todo.pop()
        if isinstance(item, Unit):
            yield item
        else:
            todo += reversed(item.children)
