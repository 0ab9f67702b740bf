"""A line of the overview: its pieces, and how they are laid out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tracetui.analysis.work_class import WorkClass
from tracetui.model.arrays import NO_ID
from tracetui.presentation.table import cell_width, cut_off, padded

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
LABEL_WIDTH: Final = 9
FIGURE_WIDTH: Final = 12
_GAP: Final = 2
_INDENT: Final = 2
_LEAST_NAME: Final = 12


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line and what it is; the screen chooses the colour."""

    text: str
    role: str = ""
    """``answer``, ``heading``, ``dim``, ``warning``, ``bar`` or nothing."""
    work_class: WorkClass | None = None


@dataclass(frozen=True, slots=True)
class OverviewLine:
    """One line, and where ``enter`` leads from it."""

    parts: tuple[Part, ...] = ()
    view: str = ""
    """The view to go to; empty where the line leads nowhere."""
    slice_id: int = NO_ID

    @property
    def text(self) -> str:
        """Return the line as plain text."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table, and where ``enter`` leads from it."""

    name: str
    figures: tuple[str, ...]
    view: str
    slice_id: int
    work_class: WorkClass | None = None


def cut_line(line: OverviewLine, width: int) -> OverviewLine:
    """Return a line of at most ``width`` cells: what has no room gives way to an ellipsis."""
    if cell_width(line.text.rstrip()) <= width:
        return line
    parts: list[Part] = []
    used = 0
    for part in line.parts:
        room = width - used
        if cell_width(part.text) >= room:
            # One letter more than there is room for makes `cut_off` write the ellipsis.
            return replace(line, parts=(*parts, replace(part, text=cut_off(f"{part.text} ", room))))
        parts.append(part)
        used += cell_width(part.text)
    return line


def bar(ratio: float, width: int, *, ascii_only: bool = False) -> str:
    """Return a bar of ``width`` cells, filled to an eighth of a cell."""
    filled = max(0.0, min(1.0, ratio)) * max(width, 0)
    if ascii_only:
        return ("#" * round(filled)).ljust(max(width, 0), ".")
    whole = int(filled)
    rest = _EIGHTHS[int((filled - whole) * 8)].strip()
    return ("█" * whole + rest).ljust(max(width, 0))


def blank() -> OverviewLine:
    """Return a line that says nothing."""
    return OverviewLine()


def heading(text: str, unit: str = "") -> OverviewLine:
    """Return the heading of a part, with what its figures count in."""
    return OverviewLine((Part(text, "heading"), Part(unit, "dim")))


def label(text: str) -> Part:
    """Return what stands in front of a line of figures."""
    return Part(f"{text:<{LABEL_WIDTH}}", "dim")


def labelled(text: str, parts: list[Part], width: int) -> list[OverviewLine]:
    """Return the parts side by side, with a label in front of the first line."""
    first, *rest = flowing(parts, width, "timeline")
    return [OverviewLine((label(text), *first.parts[1:]), first.view), *rest]


def flowing(parts: list[Part], width: int, view: str) -> list[OverviewLine]:
    """Return the parts side by side, on as many lines as they need."""
    lines: list[OverviewLine] = []
    row: list[Part] = []
    used = LABEL_WIDTH
    for part in parts:
        if row and used + cell_width(part.text) > width:
            lines.append(OverviewLine((label(""), *row), view))
            row, used = [], LABEL_WIDTH
        row += [Part("  "), part] if row else [part]
        used += cell_width(part.text) + 2
    if row:
        lines.append(OverviewLine((label(""), *row), view))
    return lines


def table(
    title: str, figure_titles: Sequence[str], rows: Sequence[TableRow], width: int
) -> list[OverviewLine]:
    """Return names with their figures below titles; what has no room is left out at the right.

    Args:
        title: Stands above the names.
        figure_titles: Stand above the figures.
        rows: A name and a figure for each of those titles.
        width: How many cells a line may have.
    """
    texts = [*figure_titles, *(figure for row in rows for figure in row.figures)]
    figure_width = max(FIGURE_WIDTH, *(cell_width(text) + _GAP for text in texts))
    n_shown = max(min(len(figure_titles), (width - _LEAST_NAME) // figure_width), 1)
    name_width = max(width - figure_width * n_shown - _INDENT, _LEAST_NAME)
    lines = [
        OverviewLine(
            (
                Part(f"{title:<{name_width + _INDENT}}", "heading"),
                *(Part(f"{each:>{figure_width}}", "dim") for each in figure_titles[:n_shown]),
            )
        )
    ]
    for row in rows:
        name = Part(f"{' ' * _INDENT}{padded(row.name, name_width)}", work_class=row.work_class)
        figures = (Part(f"{figure:>{figure_width}}") for figure in row.figures[:n_shown])
        lines.append(OverviewLine((name, *figures), row.view, row.slice_id))
    return lines
