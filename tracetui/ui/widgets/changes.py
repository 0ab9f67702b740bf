"""What of a line changed: a terminal over a slow link is sent no more than that."""

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from tracetui.presentation.table import cell_width

_GAP: Final = 16
"""Fewer equal cells than these are cheaper to send again than to step over."""
_MANY: Final = 40
"""A line of more segments changes nearly everywhere, and takes long to look through."""


def changed_cells(old: Strip, new: Strip) -> tuple[int, int] | None:
    """Return the first cell that differs and the one after the last; ``None`` of equal lines."""
    before, after = list(old), list(new)
    start = _equal_cells(before, after)
    longest = max(old.cell_length, new.cell_length)
    if start >= longest:
        return None
    if old.cell_length != new.cell_length:
        return start, longest
    end = longest - _equal_cells(_mirrored(before), _mirrored(after))
    return start, max(end, start + 1)


def changed_spans(old: Strip, new: Strip) -> list[tuple[int, int]]:
    """Return the first and the last but one cell of each run that differs, with long gaps between."""
    cells = changed_cells(old, new)
    if cells is None:
        return []
    start, end = cells
    if end - start <= _GAP or max(len(list(old)), len(list(new))) > _MANY:
        return [cells]
    pairs = list(zip_longest(_cells(old), _cells(new)))[start:end]
    spans: list[tuple[int, int]] = []
    at = start
    for is_equal, run in groupby(pairs, key=lambda pair: pair[0] == pair[1]):
        after = at + len(list(run))
        if not is_equal:
            near = spans and at - spans[-1][1] < _GAP
            spans[-1:] = [(spans[-1][0], after)] if near else [*spans[-1:], (at, after)]
        at = after
    return spans


def changed_regions(old: Sequence[Strip], new: Sequence[Strip]) -> Iterable[Region]:
    """Return what differs between two pictures of one height."""
    for y, (before, after) in enumerate(zip_longest(old, new, fillvalue=Strip([]))):
        if before != after:
            for start, end in changed_spans(before, after):
                yield Region(start, y, end - start, 1)


def _cells(line: Strip) -> list[tuple[str, Style | None]]:
    """Return what each cell holds; the second of a wide letter holds nothing but its style."""
    cells: list[tuple[str, Style | None]] = []
    for text, style, _ in line:
        for letter in text:
            width = cell_width(letter)
            if width:
                cells += [(letter, style), *[("", style)] * (width - 1)]
            elif cells:
                cells[-1] = (cells[-1][0] + letter, style)
    return cells


def _mirrored(segments: Iterable[Segment]) -> list[Segment]:
    return [Segment(each.text[::-1], each.style) for each in reversed(list(segments))]


def _equal_cells(before: Sequence[Segment], after: Sequence[Segment]) -> int:
    """Return how many cells from the left are the same letter in the same style."""
    n_cells = at_before = at_after = 0
    place_before = place_after = 0
    while place_before < len(before) and place_after < len(after):
        left, right = before[place_before], after[place_after]
        if left.style != right.style:
            break
        rest_left, rest_right = left.text[at_before:], right.text[at_after:]
        n_letters = _equal_letters(rest_left, rest_right)
        n_cells += cell_width(rest_left[:n_letters])
        if n_letters < min(len(rest_left), len(rest_right)):
            break
        at_before += n_letters
        at_after += n_letters
        if at_before == len(left.text):
            place_before, at_before = place_before + 1, 0
        if at_after == len(right.text):
            place_after, at_after = place_after + 1, 0
    return n_cells


def _equal_letters(left: str, right: str) -> int:
    if left == right:
        return len(left)
    pairs = zip(left, right, strict=False)
    shorter = min(len(left), len(right))
    return next((at for at, (a, b) in enumerate(pairs) if a != b), shorter)
