"""A table of any length: its columns, its order, its filter, and the rows in the window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from wcwidth import wcswidth, wcwidth

from tracetui.model.arrays import Bools, Int64s

_ELLIPSIS: Final = "…"


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


@dataclass(slots=True, eq=False)
class Table:
    """Columns, and which of their rows stand where."""

    columns: Sequence[Column]
    sort_column: int = 0
    is_inverted: bool = False
    mask: Bools | None = None
    """The rows that a filter keeps; ``None`` keeps all."""
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
