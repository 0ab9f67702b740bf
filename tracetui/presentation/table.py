"""A table of any length: its columns, its order, its filter, and the rows in the window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from wcwidth import wcswidth, wcwidth

from tracetui.format import NOT_MEASURED, TimeUnit, time_cell, titled
from tracetui.model.arrays import Bools, Float64s, Int64s

MIN_NAME_WIDTH: Final = 16
"""Columns leave the name of a row at least so many cells."""
_LEAST_WRAP_WIDTH: Final = 8
"""Narrower lines are not indented."""
_ELLIPSIS: Final = "…"
_DOT: Final = " · "
_LEAST_PART: Final = 14
"""Of a part shortened to fewer cells nobody could tell what it was."""
_TIME_WIDTH: Final = 12
_GAP: Final = 2
"""Cells between a time and what is on its left, with the mark of the sorted column."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column; its cells are written when their row comes into the window."""

    title: str
    cell: Callable[[int], str]
    """The text of a row."""
    key: npt.NDArray[Any]
    """What the column is sorted by, one value for each row."""
    is_number: bool = True
    """Numbers stand on the right and are sorted from the largest."""
    width: int = 11
    """Cells, the gap on its left with it; the first column takes what the others leave."""


@dataclass(slots=True, eq=False)
class Table:
    """Columns, and which of their rows stand where."""

    columns: Sequence[Column]
    sort_column: int = 0
    is_inverted: bool = False
    mask: Bools | None = None
    """The rows that a filter keeps; ``None`` keeps all."""
    hidden: frozenset[int] = frozenset()
    """The columns that are not shown; the first always is."""
    order: Int64s = field(init=False)
    """The rows in the order of the screen."""

    def __post_init__(self) -> None:
        """Sort by the first order asked for."""
        self._arrange()

    def __len__(self) -> int:
        return len(self.order)

    def sort_by(self, column: int) -> None:
        """Sort by a column; equal rows keep their order, and columns follow around the end."""
        self.sort_column = column % len(self.columns)
        self.is_inverted = False
        self._arrange()

    def invert(self) -> None:
        """Turn the order round."""
        self.is_inverted = not self.is_inverted
        self._arrange()

    def sort_by_next(self, width: int) -> None:
        """Sort by the next of the columns that are in sight."""
        shown = [0, *self.in_sight(width)]
        later = [column for column in shown if column > self.sort_column]
        self.sort_by((later or shown)[0])

    def sort_like(self, other: "Table") -> None:
        """Sort as another table is sorted, if the column that it is sorted by is here too."""
        titles = [column.title for column in self.columns]
        title = other.columns[other.sort_column].title
        if title in titles:
            self.sort_column, self.is_inverted = titles.index(title), other.is_inverted
            self._arrange()

    def in_sight(self, width: int) -> list[int]:
        """Return the columns beside the first that are shown and have room."""
        return in_sight(self.columns, self.hidden, width)

    def header(self, width: int) -> str:
        """Return the titles; the column that the rows are sorted by is marked."""
        shown = self.in_sight(width)
        mark = "▴" if self.is_inverted else "▾"
        titles = [
            f"{column.title}{mark if place == self.sort_column else ''}"
            for place, column in enumerate(self.columns)
        ]
        name = titles[0] + more_columns(len(self.columns) - 1 - len(shown))
        widths = [self.columns[column].width for column in shown]
        return laid_out(name, [titles[column] for column in shown], widths, width)

    def line(self, place: int, width: int) -> str:
        """Return the row at a place of the order."""
        shown = self.in_sight(width)
        row = int(self.order[place])
        cells = [self.columns[column].cell(row) for column in shown]
        widths = [self.columns[column].width for column in shown]
        return laid_out(self.columns[0].cell(row), cells, widths, width)

    def keep(self, mask: Bools | None) -> None:
        """Show the rows of a mask alone, or all."""
        self.mask = mask
        self._arrange()

    def cells(self, place: int) -> list[str]:
        """Return the texts of the row at a place of the order."""
        row = int(self.order[place])
        return [column.cell(row) for column in self.columns]

    def place_of(self, row: int) -> int:
        """Return where a row stands, or -1 where the filter hides it."""
        found = np.flatnonzero(self.order == row)
        return int(found[0]) if len(found) else -1

    def _arrange(self) -> None:
        column = self.columns[self.sort_column]
        _, rank = np.unique(column.key, return_inverse=True)
        # Ranks can be negated whatever the key is, so equal rows keep their order both ways.
        is_descending = column.is_number != self.is_inverted
        order = np.argsort(-rank if is_descending else rank, kind="stable")
        self.order = order if self.mask is None else order[self.mask[order]]


def time_column(
    title: str, values: Int64s | Float64s, unit: TimeUnit, *, is_measured: bool = True
) -> Column:
    """Return a column of times; its title says their unit where all have the same.

    Args:
        title: Without the unit.
        values: Nanoseconds, one for each row.
        unit: How they are written.
        is_measured: Whether the recording holds such times at all.
    """
    full_title = titled(title, unit)

    def cell(row: int) -> str:
        return time_cell(round(float(values[row])), unit) if is_measured else NOT_MEASURED

    width = max(len(full_title) + _GAP, _TIME_WIDTH)
    if is_measured and unit is not TimeUnit.AUTO and len(values):
        # A short time may have more decimals than the longest has digits.
        ends = (int(values.max()), int(values[values > 0].min(initial=int(values.max()))))
        width = max(width, *(len(time_cell(each, unit)) + _GAP for each in ends))
    return Column(full_title, cell, values, width=width)


class Tabled:
    """What rows of a ``Table`` show: a subclass adds what they are made of and mean."""

    __slots__ = ()

    table: Table

    @property
    def columns(self) -> Sequence[Column]:
        """Return the columns; the first names the row."""
        return self.table.columns

    @property
    def hidden(self) -> frozenset[int]:
        """Return which columns are not shown."""
        return self.table.hidden

    @hidden.setter
    def hidden(self, hidden: frozenset[int]) -> None:
        self.table.hidden = hidden

    def n_rows(self) -> int:
        """Return how many rows there are."""
        return len(self.table)

    def row_at(self, place: int) -> int:
        """Return the row of the table's columns that stands at a place of the screen."""
        return int(self.table.order[place])

    def header(self, width: int) -> str:
        """Return the column titles."""
        return self.table.header(width)

    def line(self, place: int, width: int) -> str:
        """Return the row at a place."""
        return self.table.line(place, width)

    @property
    def sorting(self) -> tuple[int | None, bool]:
        """Return the column that the rows are sorted by, and whether the order is turned round."""
        return self.table.sort_column, self.table.is_inverted

    def sort_as(self, column: int, *, is_inverted: bool) -> None:
        """Sort by a column."""
        self.table.sort_by(column)
        if is_inverted:
            self.table.invert()

    def sort_by_next(self, width: int) -> None:
        """Sort by the next of the columns that are in sight."""
        self.table.sort_by_next(width)

    def invert(self) -> None:
        """Turn the order round."""
        self.table.invert()


def in_sight(columns: Sequence[Column], hidden: frozenset[int], width: int) -> list[int]:
    """Return the columns beside the first that are not hidden and have room."""
    shown = [column for column in range(1, len(columns)) if column not in hidden]
    return shown[: n_fitting([columns[column].width for column in shown], width)]


def more_columns(n: int) -> str:
    """Return what stands behind the first title where ``n`` columns are out of sight."""
    return f"  +{n} columns: S" if n else ""


def n_fitting(widths: Sequence[int], width: int) -> int:
    """Return how many columns, from the left, leave the name enough of ``width``."""
    n, used = 0, 0
    while n < len(widths) and width - used - widths[n] >= max(MIN_NAME_WIDTH, width // 3):
        used += widths[n]
        n += 1
    return n


def laid_out(
    name: str, cells: Sequence[str], widths: Sequence[int], width: int, *, lead: str = ""
) -> str:
    """Return the name on the left, in what room the cells leave, and the cells on the right.

    ``lead`` stands before the name and is not shortened with it.
    """
    name_width = max(width - sum(widths), 1)
    shown = shortened(lead + shortened(name, name_width - 1 - cell_width(lead)), name_width - 1)
    text = shown + " " * (name_width - cell_width(shown))
    return text + "".join(
        " " * (size - cell_width(cell)) + cell for cell, size in zip(cells, widths, strict=True)
    )


def cell_width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    return len(text) if text.isascii() else max(int(wcswidth(text)), 0)


def shortened(text: str, width: int) -> str:
    """Return a text shortened in its middle to at most ``width`` cells."""
    if cell_width(text) <= width:
        return text
    if width <= 1:
        return _ELLIPSIS[: max(width, 0)]
    tail = _fitting(text[::-1], (width - 1) // 2)[::-1]
    return f"{_fitting(text, width - 1 - cell_width(tail))}{_ELLIPSIS}{tail}"


def padded(text: str, width: int) -> str:
    """Return a text shortened in its middle, or filled with spaces, to ``width`` cells."""
    shown = shortened(text, width)
    return shown + " " * (width - cell_width(shown))


def cut_off(text: str, width: int) -> str:
    """Return a sentence cut at its end to at most ``width`` cells; a name is better ``shortened``."""
    if cell_width(text) <= width:
        return text
    return f"{_fitting(text, width - 1)}{_ELLIPSIS}" if width > 0 else ""


def fewer_parts(text: str, width: int) -> str:
    """Return a text of parts with dots between them, shortened to at most ``width`` cells.

    Parts between the first and the last go one by one, then the first is shortened, as in
    ``V100 · 3 s``, and goes too where next to nothing of it would stay.
    """
    first, *middle = text.split(_DOT)
    last = middle.pop() if middle else ""
    while middle and cell_width(_DOT.join((first, *middle, last))) > width:
        middle.pop(0)
    if not last:
        return shortened(first, width)
    tail = _DOT.join(("", *middle, last))
    room = width - cell_width(tail)
    if room < min(_LEAST_PART, cell_width(first)):
        return shortened(last, width)
    return shortened(first, room) + tail


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of at most ``width`` cells, all but the first indented.

    Lines end at a space where there is one in their second half, else anywhere.
    """
    lines, indent = [], ""
    rest = text
    while cell_width(rest) > width - len(indent) > 0:
        part = _fitting(rest, width - len(indent)) or rest[0]
        space = part.rfind(" ")
        if space >= len(part) // 2:
            part = part[: space + 1]
        lines.append(indent + part.rstrip())
        rest = rest[len(part) :]
        indent = "  " if width > _LEAST_WRAP_WIDTH else ""
    return [*lines, indent + rest]


def _fitting(text: str, width: int) -> str:
    used = 0
    for place, letter in enumerate(text):
        used += max(int(wcwidth(letter)), 0)
        if used > width:
            return text[:place]
    return text


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """Return names shortened to ``width`` cells; different ones that look the same get #1, #2."""
    short = {name: shortened(name, width) for name in dict.fromkeys(names)}
    alike: dict[str, list[str]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    for group in alike.values():
        for number, name in enumerate(group if len(group) > 1 else (), start=1):
            mark = f"#{number}"
            short[name] = shortened(name, max(width - len(mark), 0)) + mark
    return [short[name] for name in names]
