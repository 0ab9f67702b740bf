"""Fixed hues: one for each class of work, and quieter ones for the host."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rich.segment import Segment
from rich.style import Style

from tracetui.presentation.hues import (
    DIM_CODE,
    FIRST_HUE_CODE,
    HUE_LETTERS,
    INK_CODE,
    LINKED_CODE,
    NO_COLOUR_CODE,
    SELECTED_CODE,
)
from tracetui.presentation.lit import Span

# Two neighbours of a class differ in lightness, so that their edge is seen. All are entries of
# the 256-colour cube: nothing shifts on terminals without more.
_HUES: Final = (
    ("#5f87ff", "#87afff"),
    ("#af5fff", "#af87ff"),
    ("#00afaf", "#5fd7d7"),
    ("#5faf5f", "#87d787"),
    ("#afaf5f", "#d7d787"),
    ("#ff8700", "#ffaf5f"),
    ("#d7af00", "#ffd75f"),
    ("#ff5f5f", "#ff8787"),
    ("#8a8a8a", "#a8a8a8"),
    ("#5f87af", "#87afd7"),
    ("#5f8787", "#87afaf"),
    ("#af875f", "#d7af87"),
    ("#8787af", "#afafd7"),
    ("#af5f5f", "#d78787"),
    ("#767676", "#949494"),
    ("#808080", "#9e9e9e"),
)
_INK: Final = "#000000"
_SELECTED: Final = "#ffffff"
_LINKED: Final = "#ffff00"


def class_style(work_class: int) -> Style:
    """Return the style of text or bars in a class's colour; also of the host's hues."""
    return Style(color=_HUES[work_class][0])


def lit_segments(text: str, lit: Sequence[Span], style: Style) -> list[Segment]:
    """Return a text in segments; what is lit is bold and underlined, so that it needs no colour."""
    if not lit:
        return [Segment(text, style)]
    bright = style + Style(bold=True, underline=True)
    found: list[Segment] = []
    at = 0
    for start, stop in lit:
        if start > at:
            found.append(Segment(text[at:start], style))
        found.append(Segment(text[start:stop], bright))
        at = stop
    if at < len(text):
        found.append(Segment(text[at:], style))
    return found


def class_letter(work_class: int) -> str:
    """Return the letter that stands for a class where there are no colours."""
    return HUE_LETTERS[work_class]


def _colour(code: int) -> str | None:
    if code < FIRST_HUE_CODE:
        special = {INK_CODE: _INK, SELECTED_CODE: _SELECTED, LINKED_CODE: _LINKED}
        return special.get(code)
    hue, parity = divmod((code - FIRST_HUE_CODE) % DIM_CODE, 2)
    return _HUES[hue][parity]


@lru_cache(maxsize=4_096)
def cell_style(ink: int, paper: int, *, is_inverse: bool, colourless: bool) -> Style:
    """Return the style of a timeline cell from its codes."""
    is_selected = SELECTED_CODE in (ink, paper)
    is_linked = LINKED_CODE in (ink, paper)
    is_dim = ink >= FIRST_HUE_CODE + DIM_CODE
    if colourless:
        has_paper = paper != NO_COLOUR_CODE
        # What is selected stands out as text on plain ground among the inverse runs.
        is_reverse = is_inverse or (has_paper != is_selected)
        marked = is_selected or is_linked
        return Style(
            reverse=is_reverse, bold=marked or None, underline=marked or None, dim=is_dim or None
        )
    return Style(
        color=_colour(ink),
        bgcolor=_colour(paper),
        reverse=is_inverse or None,
        bold=is_selected or is_linked or None,
        underline=is_linked or None,
        dim=is_dim or None,
    )
