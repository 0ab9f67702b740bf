"""One operator tree for both sides, with each side's times and their difference."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tracetui.compare.comparison import Comparison
from tracetui.compare.sentence import signed
from tracetui.compare.trees import MergedNode, TreeSide, merged_tree
from tracetui.format import NOT_MEASURED, duration
from tracetui.model.arrays import NO_ID
from tracetui.presentation.comparison.page import PageLine
from tracetui.presentation.comparison.words import change, match_details
from tracetui.presentation.painting import displayed_name
from tracetui.presentation.table import cut_off, padded

_TIME_WIDTH: Final = 11
_RATIO_WIDTH: Final = 8
_MARK_WIDTH: Final = 7
_LEAST_NAME: Final = 16
_WIDE: Final = 100
"""From this width host and device both have their columns."""


@dataclass(frozen=True, slots=True)
class _Row:
    node: MergedNode
    depth: int
    n_below: int
    """How many rows its subtree has without it."""


@dataclass(slots=True, eq=False)
class TreePage:
    """The merged tree, the largest differences first; a closed node hides what is below it."""

    compared: Comparison
    roots: tuple[MergedNode, ...] = ()
    only_differences: bool = False
    closed: set[int] = field(default_factory=set)
    """Rows of the full tree that are closed."""
    _rows: list[_Row] = field(default_factory=list)
    _shown: list[int] = field(default_factory=list)
    _places: dict[tuple[bool, int], int] = field(default_factory=dict)
    """The match of each piece of work, by whether it is the candidate's and by its slice."""

    @classmethod
    def of(cls, compared: Comparison) -> "TreePage":
        """Merge the trees; slow on a large instance, so not on the screen's thread."""
        page = cls(compared, merged_tree(compared))
        page._rows = list(_flattened(page.roots, 0))
        for place, match in enumerate(compared.matches):
            for is_candidate, units in ((False, match.baseline), (True, match.candidate)):
                page._places |= {(is_candidate, unit.slice_id): place for unit in units}
        page.arrange()
        return page

    def arrange(self) -> None:
        """List the rows that are in sight."""
        shown, row = [], 0
        while row < len(self._rows):
            each = self._rows[row]
            if not self.only_differences or _differs(each.node):
                shown.append(row)
            row += each.n_below + 1 if row in self.closed else 1
        self._shown = shown

    def show_only_differences(self, *, wanted: bool) -> None:
        """Hide what is the same, or show it again."""
        self.only_differences = wanted
        self.arrange()

    def toggle(self, line: int) -> None:
        """Open or close a node."""
        if line < len(self._shown):
            row = self._shown[line]
            if self._rows[row].n_below:
                self.closed ^= {row}
                self.arrange()

    def close(self, rows: Iterable[int]) -> None:
        """Close these rows of the full tree, those that have something below them."""
        n_rows = len(self._rows)
        self.closed = {row for row in rows if 0 <= row < n_rows and self._rows[row].n_below}
        self.arrange()

    def n_lines(self, width: int) -> int:
        """Return how many lines there are."""
        del width
        return len(self._shown)

    def titles(self, width: int) -> str:
        """Return the column titles."""
        columns = "".join(
            f"{f'{what} A':>{_TIME_WIDTH}}{'B':>{_TIME_WIDTH}}{'Δ':>{_TIME_WIDTH}}"
            for what in self._measures(width)
        )
        return cut_off(
            f"{padded('  operator', self._name_width(width))}{'side':<{_MARK_WIDTH}}"
            f"{columns}{'B/A':>{_RATIO_WIDTH}}",
            width,
        )

    def _measures(self, width: int) -> tuple[str, ...]:
        if self.compared.is_by_operator:
            return ("host",)
        return ("host", "device") if width >= _WIDE else ("device",)

    def _name_width(self, width: int) -> int:
        n_columns = 3 * len(self._measures(width))
        return max(width - n_columns * _TIME_WIDTH - _RATIO_WIDTH - _MARK_WIDTH, _LEAST_NAME)

    def line(self, row: int, width: int) -> PageLine:
        """Return one line."""
        place = self._shown[row]
        each = self._rows[place]
        node = each.node
        mark = " " if not each.n_below else "▸" if place in self.closed else "▾"
        label = f"{'  ' * each.depth}{mark} {self._label(node)}"
        name = padded(label, self._name_width(width) - 1) + " "
        cells = ""
        ratio = ""
        for what in self._measures(width):
            field_name = "host_ns" if what == "host" else "gpu_ns"
            a, b = _time(node.baseline, field_name), _time(node.candidate, field_name)
            cells += f"{_cell(a):>{_TIME_WIDTH}}{_cell(b):>{_TIME_WIDTH}}"
            if a is None and b is None:
                cells += f"{NOT_MEASURED:>{_TIME_WIDTH}}"
                continue
            cells += f"{signed((b or 0) - (a or 0)):>{_TIME_WIDTH}}"
            ratio = f"{b / a:.2f}x" if a and b else ratio
        side = "" if node.baseline and node.candidate else "only A" if node.baseline else "only B"
        text = f"{name}{side:<{_MARK_WIDTH}}{cells}{ratio:>{_RATIO_WIDTH}}"
        return PageLine(
            cut_off(text, width),
            NO_ID if node.baseline is None else node.baseline.slice_id,
            NO_ID if node.candidate is None else node.candidate.slice_id,
            self._match_of(node),
        )

    def _label(self, node: MergedNode) -> str:
        """Return a node's name, short for a kernel, as on every other screen."""
        if not node.is_unit:
            return node.name
        if node.baseline is not None:
            return displayed_name(self.compared.baseline.trace, node.baseline.slice_id)
        if node.candidate is not None:
            return displayed_name(self.compared.candidate.trace, node.candidate.slice_id)
        return node.name

    def _match_of(self, node: MergedNode) -> int:
        if not node.is_unit:
            return NO_ID
        own = node.baseline or node.candidate
        if own is None:
            return NO_ID
        return self._places.get((node.baseline is None, own.slice_id), NO_ID)

    def details(self, row: int, width: int) -> list[str]:
        """Return all that is known of a line."""
        if row >= len(self._shown):
            return ["Nothing differs."]
        place = self.line(row, width).match
        if place != NO_ID:
            return match_details(self.compared, place)
        node = self._rows[self._shown[row]].node
        lines = [node.name]
        if node.shape:
            lines.append(f"Inputs {node.shape}")
        for what, name in (("host", "host_ns"), ("device", "gpu_ns")):
            a, b = _time(node.baseline, name), _time(node.candidate, name)
            if a is not None and b is not None:
                lines.append(f"{what}: A {duration(a)} → B {duration(b)}   {change(a, b)}")
            elif a is not None or b is not None:
                lines.append(f"{what}: A {duration(a)}, B {duration(b)}")
        counts = [0 if side is None else side.n_units for side in (node.baseline, node.candidate)]
        lines.append(f"pieces of work below it: A {counts[0]}, B {counts[1]}")
        return lines

    def row_of_match(self, match: int, width: int) -> int | None:
        """Return the first line that tells of a match."""
        return next(
            (row for row in range(len(self._shown)) if self.line(row, width).match == match), None
        )


def _flattened(nodes: Sequence[MergedNode], depth: int) -> Iterator[_Row]:
    """Yield a tree's rows, the largest differences of each level first.

    The depth of operators is that of a program's calls; deep recursion is walked without recursing.
    """
    stack = [(node, depth) for node in sorted(nodes, key=_order, reverse=True)][::-1]
    sizes: dict[int, int] = {}
    for node in nodes:
        _measure(node, sizes)
    while stack:
        node, level = stack.pop()
        yield _Row(node, level, sizes[id(node)] - 1)
        ordered = sorted(node.children, key=_order, reverse=True)
        stack += [(child, level + 1) for child in reversed(ordered)]


def _order(node: MergedNode) -> int:
    return node.weight_ns


def _measure(root: MergedNode, sizes: dict[int, int]) -> None:
    """Note how many nodes each subtree has."""
    order = [root]
    for node in order:
        order += node.children
    for node in reversed(order):
        sizes[id(node)] = 1 + sum(sizes[id(child)] for child in node.children)


def _differs(node: MergedNode) -> bool:
    return node.baseline is None or node.candidate is None or node.weight_ns > 0


def _time(side: TreeSide | None, name: str) -> int | None:
    value: int | None = None if side is None else getattr(side, name)
    return value


def _cell(ns: int | None) -> str:
    return NOT_MEASURED if ns is None else duration(ns)
