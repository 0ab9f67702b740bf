"""Lanes as text with colour codes, with labels, and the minimap of the whole recording."""

import unicodedata
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tracetui.analysis.work_class import short_kernel_name
from tracetui.format import middle_ellipsis
from tracetui.model.arrays import Bools
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.cells import CellShape, LaneCells, busy_eighths
from tracetui.presentation.hues import (
    DIM_CODE,
    FIRST_HUE_CODE,
    HUE_LETTERS,
    INK_CODE,
    NO_COLOUR_CODE,
)
from tracetui.presentation.lanes import Lane, LaneIndex
from tracetui.presentation.viewport import Viewport

Int16s: TypeAlias = npt.NDArray[np.int16]

MIN_LABEL_CELLS: Final = 6
_FEW_CELLS: Final = 10
_OPERATOR_PREFIX: Final = "aten::"


def displayed_name(trace: Trace, slice_id: int) -> str:
    """Return a slice's name as labels show it: short for kernels."""
    name = trace.name_of(slice_id)
    is_kernel = int(trace.slices.kind[slice_id]) == SliceKind.KERNEL
    return short_kernel_name(name) if is_kernel else name


def one_cell_letters(text: str) -> str:
    """Return ``text`` with every letter one cell wide."""
    if text.isascii():
        return text
    return "".join(
        "?" if unicodedata.east_asian_width(letter) in "WF" else letter
        for letter in text
        if not unicodedata.combining(letter)
    )


def labels(lane: Lane, cells: LaneCells) -> list[tuple[int, int, int]]:
    """Return where names fit: first cell, number of cells, slice."""
    if lane.is_union:
        return []
    columns = np.flatnonzero(cells.shape == CellShape.FULL)
    rows, begins, lengths = np.unique(cells.first[columns], return_index=True, return_counts=True)
    return [
        (int(columns[begin]), length, int(lane.slice_ids[row]))
        for row, begin, length in zip(rows.tolist(), begins.tolist(), lengths.tolist(), strict=True)
        if length >= MIN_LABEL_CELLS
    ]


def label_text(trace: Trace, slice_id: int, width: int) -> str:
    """Return a slice's name in at most ``width`` letters of one cell each.

    What all operators begin with goes first, then the middle. Where only a few letters stay, two
    ends would tell nothing: then the end goes, but for kernels, whose ends tell them apart.
    """
    name = one_cell_letters(displayed_name(trace, slice_id))
    if len(name) > width:
        name = name.removeprefix(_OPERATOR_PREFIX)
    is_kernel = int(trace.slices.kind[slice_id]) == SliceKind.KERNEL
    if len(name) > width and width < _FEW_CELLS and not is_kernel:
        return f"{name[: width - 1]}…"
    return middle_ellipsis(name, width)


@dataclass(frozen=True, slots=True, eq=False)
class PaintedLane:
    """One lane as text with two colour codes a cell."""

    text: str
    ink: Int16s
    paper: Int16s
    is_inverse: Bools
    """Whether ink and paper change places: the left part of the cell is then what is empty."""


@dataclass(frozen=True, slots=True)
class PaintMode:
    """What the terminal can show."""

    ascii_only: bool = False
    colourless: bool = False


_HEIGHTS: Final = np.array([ord(letter) for letter in " ▁▂▃▄▅▆▇█"], np.uint32)
_LINES: Final = np.array([ord(letter) for letter in " ─┄╴╶─"], np.uint32)
"""How a slice that a filter leaves out is drawn, by ``CellShape``: a line, for all terminals."""
_LEFTS: Final = np.array([ord(letter) for letter in " ▏▎▍▌▋▊▉█"], np.uint32)
_LETTERS: Final = np.array([ord(letter) for letter in HUE_LETTERS], np.uint32)
_LOW_LETTERS: Final = np.array([ord(letter) for letter in HUE_LETTERS.lower()], np.uint32)


def _text(points: npt.NDArray[np.uint32]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def paint(
    trace: Trace,
    lane: Lane,
    cells: LaneCells,
    mode: PaintMode,
    marks: tuple[tuple[int, int], ...] = (),
) -> PaintedLane:
    """Return a lane ready for the screen.

    Args:
        trace: Whose lane it is.
        lane: The lane.
        cells: Its cells.
        mode: What the terminal can show.
        marks: Rows of the lane and the code that each is drawn in, the least important first.
    """
    shape = cells.shape
    low, high = int(cells.first[0]), int(cells.first[-1] + cells.count[-1])
    marks = tuple(mark for mark in marks if low <= mark[0] < high)
    ink, paper = _codes(lane, cells, marks)
    if mode.ascii_only:
        points = _ascii_points(cells)
        paper[:] = NO_COLOUR_CODE
    else:
        points = _points(lane, cells, mode)
    for row, _ in marks:
        touched = (cells.first <= row) & (row < cells.first + cells.count)
        points[touched & (shape == CellShape.HEIGHT)] = ord("#" if mode.ascii_only else "┃")
    inverse = (shape == CellShape.RIGHT) & ~cells.is_dim
    # Where the right one of two alone is kept, its part is what the left one leaves empty.
    inverse |= (shape == CellShape.SPLIT) & cells.is_dim & ~cells.is_right_dim
    if mode.ascii_only:
        inverse = np.zeros(len(shape), bool)
    else:
        full = (shape == CellShape.FULL) & ~cells.is_dim
        points[full] = ord(" ")
        paper[full] = ink[full]
        ink[full] = INK_CODE
        if mode.colourless:
            opens = full & np.concatenate(([True], cells.first[1:] != cells.first[:-1]))
            points[opens] = _LETTERS[cells.hue[opens]]
    for begin, length, slice_id in labels(lane, cells):
        is_dim = bool(cells.is_dim[begin])
        prefix = ""
        if (mode.ascii_only or mode.colourless) and not is_dim:
            prefix = f"{HUE_LETTERS[int(cells.hue[begin])]}:"
        text = prefix + label_text(trace, slice_id, length - 1 - len(prefix))
        if mode.ascii_only:
            text = text.replace("…", "~").encode("ascii", "replace").decode()
            text = text if is_dim else text.ljust(length, "-")
        points[begin : begin + len(text)] = [ord(letter) for letter in text]
    return PaintedLane(_text(points), ink, paper, inverse)


def _codes(
    lane: Lane, cells: LaneCells, marks: tuple[tuple[int, int], ...]
) -> tuple[Int16s, Int16s]:
    """Return ink and paper of a lane; the paper is the right one of two slices that meet."""
    shape = cells.shape
    resolved = (shape != CellShape.BLANK) & (shape != CellShape.HEIGHT)
    parity = np.where(resolved, cells.first & 1, 0)
    split = shape == CellShape.SPLIT
    hue = cells.hue.copy()
    hue[split] = lane.hues[cells.first[split]]
    ink = (FIRST_HUE_CODE + 2 * hue + parity + DIM_CODE * cells.is_dim).astype(np.int16)
    ink[shape == CellShape.BLANK] = NO_COLOUR_CODE
    paper = np.zeros(len(shape), np.int16)
    following = cells.first[split] + 1
    right_dim = DIM_CODE * cells.is_right_dim[split]
    paper[split] = FIRST_HUE_CODE + 2 * lane.hues[following] + (following & 1) + right_dim
    for row, code in marks:
        touched = (cells.first <= row) & (row < cells.first + cells.count)
        own = FIRST_HUE_CODE + 2 * int(lane.hues[row]) + (row & 1)
        is_own = (own, own + DIM_CODE)
        paper[touched & split & np.isin(paper, is_own)] = code
        ink[touched & (np.isin(ink, is_own) | (shape == CellShape.HEIGHT))] = code
    one_dim = split & (cells.is_dim != cells.is_right_dim)
    # A line on the ground of the other slice would be seen as part of that one.
    ink[one_dim & cells.is_dim] = paper[one_dim & cells.is_dim]
    paper[one_dim] = NO_COLOUR_CODE
    paper[split & cells.is_dim & cells.is_right_dim] = NO_COLOUR_CODE
    return ink, paper


def _ascii_points(cells: LaneCells) -> npt.NDArray[np.uint32]:
    is_low = cells.covered_ns * 2 < cells.width_ns
    points = np.where(is_low, _LOW_LETTERS[cells.hue], _LETTERS[cells.hue])
    points[cells.covered_ns * 8 < cells.width_ns] = ord(".")
    points[cells.is_dim & (cells.is_right_dim | (cells.shape != CellShape.SPLIT))] = ord(":")
    points[cells.shape == CellShape.BLANK] = ord(" ")
    return points


def _points(lane: Lane, cells: LaneCells, mode: PaintMode) -> npt.NDArray[np.uint32]:
    shape = cells.shape
    points = np.where(shape == CellShape.HEIGHT, _HEIGHTS[cells.eighths], _LEFTS[cells.eighths])
    points = points.astype(np.uint32)
    points[shape == CellShape.BLANK] = ord(" ")
    split = shape == CellShape.SPLIT
    if mode.colourless:
        bright = split & ~cells.is_dim & ~cells.is_right_dim
        points[bright] = _LETTERS[lane.hues[cells.first[bright] + 1]]
    is_line = cells.is_dim & (cells.is_right_dim | ~split)
    points[is_line] = _LINES[shape[is_line]]
    opens = np.concatenate(([False], cells.first[1:] != cells.first[:-1]))
    points[is_line & opens & (shape == CellShape.FULL)] = _LINES[CellShape.RIGHT]
    return points


def minimap_text(index: LaneIndex, viewport: Viewport, width: int, *, ascii_only: bool) -> str:
    """Return the whole recording in one row, the visible part in brackets."""
    if width <= 0:
        return ""
    busy = index.device_busy if index.has_device else index.host_busy
    edges = Viewport.whole(viewport.total_ns).edges(width)
    first, after = busy.touching(edges)
    eighths = busy_eighths(busy.covered(edges), np.diff(edges), after - first)
    if ascii_only:
        letters = [" ....oooo"[level] for level in eighths.tolist()]
    else:
        letters = list(_text(_HEIGHTS[eighths]))
    if not viewport.is_whole:
        low = viewport.start_ns * width // viewport.total_ns
        high = min((viewport.end_ns * width - 1) // viewport.total_ns, width - 1)
        letters[low] = "["
        letters[high] = "]" if high > low else "|"
    return "".join(letters)
