"""A line of the overview: its pieces, and how they are laid out."""

from dataclasses import dataclass
from typing import Final

from tracetui.analysis.work_class import WorkClass
from tracetui.format import middle_ellipsis
from tracetui.model.arrays import NO_ID

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
LABEL_WIDTH: Final = 9
FIGURE_WIDTH: Final = 12


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
        if row and used + len(part.text) > width:
            lines.append(OverviewLine((label(""), *row), view))
            row, used = [], LABEL_WIDTH
        row += [Part("  "), part] if row else [part]
        used += len(part.text) + 2
    if row:
        lines.append(OverviewLine((label(""), *row), view))
    return lines


def table_row(name: str, figures: tuple[str, ...], width: int) -> tuple[Part, ...]:
    """Return a name and its figures under the titles of ``table_head``."""
    name_width = max(width - FIGURE_WIDTH * len(figures) - 2, 12)
    shown = middle_ellipsis(name, name_width)
    return (
        Part(f"  {shown:<{name_width}}"),
        *(Part(f"{figure:>{FIGURE_WIDTH}}") for figure in figures),
    )


def table_head(title: str, figures: tuple[str, ...], width: int) -> OverviewLine:
    """Return the titles of a table."""
    name_width = max(width - FIGURE_WIDTH * len(figures) - 2, 12) + 2
    return OverviewLine(
        (
            Part(f"{title:<{name_width}}", "heading"),
            *(Part(f"{figure:>{FIGURE_WIDTH}}", "dim") for figure in figures),
        )
    )
