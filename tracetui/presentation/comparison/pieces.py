"""The pieces of work of both sides in order, with braces where several stand for one."""

from dataclasses import dataclass, field
from typing import Final

from tracetui.compare.comparison import Comparison
from tracetui.compare.sentence import signed, unit_name
from tracetui.compare.units import Unit
from tracetui.format import duration
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.presentation.comparison.page import PageLine
from tracetui.presentation.comparison.words import (
    KIND_WIDTH,
    kernel_text,
    kernel_texts,
    kind_word,
    match_details,
    unit_class,
    unit_text,
)
from tracetui.presentation.lit import LitText, joined, lit_padded
from tracetui.presentation.table import cell_width, cut_off

_TIME_WIDTH: Final = 11
_DELTA_WIDTH: Final = 12
_BRACE_WIDTH: Final = 2
_LEAST_NAME: Final = 8
_WIDE: Final = 110
"""So many cells have room for both times; the difference tells the second otherwise."""
_LEFT: Final = ("⎧", "⎨", "⎩")
_RIGHT: Final = ("⎫", "⎬", "⎭")


@dataclass(slots=True, eq=False)
class PiecesPage:
    """Matched groups, the baseline's order; what only the candidate has stands at its place."""

    compared: Comparison
    only_differences: bool = False
    _rows: list[tuple[int, int]] = field(init=False)
    """Of each line the match and which line of that match it is."""

    def __post_init__(self) -> None:
        """List every line."""
        self._arrange()

    def show_only_differences(self, *, wanted: bool) -> None:
        """Hide what is the same, or show it again."""
        self.only_differences = wanted
        self._arrange()

    def _arrange(self) -> None:
        matches = self.compared.matches
        shown = set(self.compared.differences) if self.only_differences else None
        self._rows = [
            (place, part)
            for place, match in enumerate(matches)
            if shown is None or place in shown
            for part in range(max(len(match.baseline), len(match.candidate)))
        ]

    def n_lines(self, width: int) -> int:
        """Return how many lines there are."""
        del width
        return len(self._rows)

    def titles(self, width: int) -> str:
        """Return the column titles; a narrow page has the time of one side and the difference."""
        name, is_wide = _name_width(width), width >= _WIDE
        second = f"{'time':>{_TIME_WIDTH}}" if is_wide else ""
        return cut_off(
            f"{'':<{KIND_WIDTH}}{'  A':<{_BRACE_WIDTH + name}}"
            f"{'time' if is_wide else 'A time':>{_TIME_WIDTH}} "
            f"{'  B':<{_BRACE_WIDTH + name}}{second}{'Δ':>{_DELTA_WIDTH}}",
            width,
        )

    def line(self, row: int, width: int) -> PageLine:
        """Return one line."""
        place, part = self._rows[row]
        match = self.compared.matches[place]
        n_parts = max(len(match.baseline), len(match.candidate))
        baseline = match.baseline[part] if part < len(match.baseline) else None
        candidate = match.candidate[part] if part < len(match.candidate) else None
        first = part == 0
        is_group = len(match.baseline) > 1 or len(match.candidate) > 1
        kernels = kernel_texts(match) or (None, None)
        text = joined(
            f"{kind_word(match) if first else '':<{KIND_WIDTH}}",
            _brace(_LEFT, part, n_parts, is_group=is_group),
            _name_cell(baseline, kernels[0], width),
            _time_cell(baseline),
            " ",
            _brace(_RIGHT, part, n_parts, is_group=is_group),
            _name_cell(candidate, kernels[1], width),
            _time_cell(candidate) if width >= _WIDE else "",
            f"{signed(match.delta_ns) if first else '':>{_DELTA_WIDTH}}",
        )
        shown = baseline or candidate
        return PageLine(
            LitText(cut_off(text, width), text.lit),
            NO_ID if baseline is None else baseline.slice_id,
            NO_ID if candidate is None else candidate.slice_id,
            place,
            None if shown is None else unit_class(shown),
        )

    def details(self, row: int, width: int) -> list[str]:
        """Return all that is known of the match on a line."""
        del width
        if row >= len(self._rows):
            return ["Nothing differs."]
        return match_details(self.compared, self._rows[row][0])

    def row_of_match(self, match: int, width: int) -> int | None:
        """Return the first line of a match."""
        del width
        return next((row for row, (place, _) in enumerate(self._rows) if place == match), None)


def _name_width(width: int) -> int:
    n_times = 2 if width >= _WIDE else 1
    fixed = KIND_WIDTH + 2 * _BRACE_WIDTH + n_times * _TIME_WIDTH + _DELTA_WIDTH + 1
    return max((width - fixed) // 2, _LEAST_NAME)


def _brace(glyphs: tuple[str, str, str], part: int, n_parts: int, *, is_group: bool) -> str:
    if not is_group:
        return " " * _BRACE_WIDTH
    glyph = glyphs[0] if part == 0 else glyphs[2] if part == n_parts - 1 else glyphs[1]
    return f"{glyph:<{_BRACE_WIDTH}}"


def _name_cell(unit: Unit | None, kernel: LitText | None, width: int) -> LitText:
    """Return a name in its column: operator and kernel, the kernel alone where it is too narrow."""
    room = _name_width(width)
    if unit is None:
        return LitText(" " * room)
    short = kernel_text(unit) if kernel is None else kernel
    text, name = unit_text(unit), unit_name(unit)
    whole = joined(f"{name}: ", short) if text == f"{name}: {short}" else joined(text)
    is_roomy = cell_width(whole) <= room or unit.kind == SliceKind.OPERATOR
    return lit_padded(whole if is_roomy else short, room)


def _time_cell(unit: Unit | None) -> str:
    return f"{'' if unit is None else duration(unit.dur_ns):>{_TIME_WIDTH}}"
