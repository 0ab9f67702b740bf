"""The timeline as arithmetic: lanes, viewport, cells, ruler, minimap and labels."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.slice_sums import slice_sums_within
from tracetui.analysis.work_class import WorkClass, short_kernel_name, slice_classes
from tracetui.format import TimeUnit, count, duration, middle_ellipsis, percent
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen
from tracetui.model.intervals import union
from tracetui.model.nesting import TOLERANCE_NS
from tracetui.model.prefix import BlockMaxima, PrefixSums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind
from tracetui.units import NS_PER_MS, NS_PER_S, NS_PER_US

Int16s: TypeAlias = npt.NDArray[np.int16]

MIN_SPAN_NS: Final = 1_000
"""No viewport shows less: below it a cell would be under a nanosecond."""
MIN_LABEL_CELLS: Final = 6
_FEW_CELLS: Final = 10
_OPERATOR_PREFIX: Final = "aten::"
TICK_CELLS: Final = 16
"""The least distance of two ruler ticks."""

_FIRST_HOST_HUE: Final = len(WorkClass)
HUE_NAMES: Final = (
    *(work.name.lower() for work in WorkClass),
    "operator",
    "annotation",
    "runtime",
    "python",
    "waiting",
    "profiler",
    "host",
)
"""What each hue stands for: the classes of device work, then the kinds of the rest."""
HUE_LETTERS: Final = "GANPRTCXOoacyw%h"
"""One letter for each hue, for terminals without colours."""
_HUE_OF_KIND: Final = {
    SliceKind.OPERATOR: _FIRST_HOST_HUE,
    SliceKind.ANNOTATION: _FIRST_HOST_HUE + 1,
    SliceKind.DEVICE_ANNOTATION: _FIRST_HOST_HUE + 1,
    SliceKind.RUNTIME: _FIRST_HOST_HUE + 2,
    SliceKind.PYTHON: _FIRST_HOST_HUE + 3,
    SliceKind.SYNC: _FIRST_HOST_HUE + 4,
    SliceKind.OVERHEAD: _FIRST_HOST_HUE + 5,
    SliceKind.PROFILER: _FIRST_HOST_HUE + 5,
    SliceKind.ASYNC: _FIRST_HOST_HUE + 6,
    SliceKind.OTHER: _FIRST_HOST_HUE + 6,
}

NO_COLOUR_CODE: Final = 0
SELECTED_CODE: Final = 1
LINKED_CODE: Final = 2
INK_CODE: Final = 3
"""Text upon a coloured run."""
FIRST_HUE_CODE: Final = 4
"""A hue's codes are ``FIRST_HUE_CODE + 2 * hue`` and, for every other slice, the one after it."""
DIM_CODE: Final = FIRST_HUE_CODE + 2 * len(HUE_NAMES)
"""Added to a hue's code for slices that a filter does not keep."""


class CellShape(IntEnum):
    """How a cell is drawn."""

    BLANK = 0
    FULL = 1
    """One slice fills it."""
    HEIGHT = 2
    """As high as its busy share."""
    LEFT = 3
    """One slice fills its left part."""
    RIGHT = 4
    """One slice fills its right part."""
    SPLIT = 5
    """Two slices meet in it."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """The visible part of a recording, always within it."""

    start_ns: int
    end_ns: int
    total_ns: int
    """The recording's length."""

    @classmethod
    def whole(cls, total_ns: int) -> "Viewport":
        """Return the viewport that shows everything."""
        total = max(total_ns, MIN_SPAN_NS)
        return cls(0, total, total)

    def between(self, start_ns: int, end_ns: int) -> "Viewport":
        """Return the viewport nearest to these bounds that is inside and not too narrow."""
        span = min(max(end_ns - start_ns, MIN_SPAN_NS), self.total_ns)
        start = start_ns - (span - (end_ns - start_ns)) // 2
        start = min(max(start, 0), self.total_ns - span)
        return Viewport(start, start + span, self.total_ns)

    @property
    def span_ns(self) -> int:
        """Return how much time is visible."""
        return self.end_ns - self.start_ns

    @property
    def is_whole(self) -> bool:
        """Return whether everything is visible."""
        return self.span_ns >= self.total_ns

    def zoomed(self, factor: int, at_ns: int, *, inwards: bool) -> "Viewport":
        """Return the viewport ``factor`` times as near, or as far; ``at_ns`` keeps its place."""
        span = self.span_ns // factor if inwards else self.span_ns * factor
        span = min(max(span, MIN_SPAN_NS), self.total_ns)
        at = min(max(at_ns, self.start_ns), self.end_ns)
        start = at - (at - self.start_ns) * span // self.span_ns
        return self.between(start, start + span)

    def panned(self, eighths: int) -> "Viewport":
        """Return the viewport moved by so many eighths of itself."""
        step = self.span_ns * eighths // 8
        start = min(max(self.start_ns + step, 0), self.total_ns - self.span_ns)
        return Viewport(start, start + self.span_ns, self.total_ns)

    def centred(self, at_ns: int) -> "Viewport":
        """Return the viewport with a time in its middle."""
        start = at_ns - self.span_ns // 2
        return self.between(start, start + self.span_ns)

    def fitted(self, start_ns: int, end_ns: int) -> "Viewport":
        """Return the viewport in which a span takes most of the room."""
        margin = max((end_ns - start_ns) // 8, 1)
        return self.between(start_ns - margin, end_ns + margin)

    def edges(self, width: int) -> Int64s:
        """Return the bounds of ``width`` cells, ``width + 1`` whole nanoseconds."""
        steps = np.arange(width + 1, dtype=np.int64)
        edges: Int64s = self.start_ns + self.span_ns * steps // width
        return edges

    def column(self, at_ns: int, width: int) -> int:
        """Return the cell that a time lies in; below 0 or from ``width`` on if out of sight."""
        if at_ns < self.start_ns:
            return -1
        column = (at_ns - self.start_ns) * width // self.span_ns
        # A cell's left bound is rounded down, so the next one may already hold the time.
        bound = self.start_ns + self.span_ns * (column + 1) // width
        return int(column + (at_ns >= bound))


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Slices of one track that do not overlap, in order."""

    track_id: int
    level: int
    """0 is the topmost of its track."""
    slice_ids: Int32s
    """Of a folded track: the slice that opens each covered span."""
    spans: PrefixSums
    longest: BlockMaxima
    hues: Int8s
    by_hue: tuple[tuple[int, PrefixSums], ...]
    """The sums of each hue that occurs; empty where there is but one."""
    is_union: bool = False
    """Whether a span stands for all that a folded track does in it."""

    @property
    def present(self) -> tuple[int, ...]:
        """Return the hues that occur."""
        return tuple(hue for hue, _ in self.by_hue) or tuple(self.hues[:1].tolist())

    def row_of(self, slice_id: int) -> int:
        """Return the row of a slice, or ``NO_ID`` if it lies elsewhere."""
        row = int(np.searchsorted(self.slice_ids, slice_id))
        is_here = row < len(self.slice_ids) and int(self.slice_ids[row]) == slice_id
        return row if is_here else NO_ID

    def row_at(self, at_ns: int) -> int:
        """Return the row that covers a time, else the next, else the last; ``NO_ID`` of none."""
        if not len(self.spans):
            return NO_ID
        row = int(np.searchsorted(self.spans.touch_ends, at_ns, side="right"))
        return min(row, len(self.spans) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class LaneIndex:
    """All lanes of a trace and what drawing them takes; built once."""

    lanes: tuple[Lane, ...]
    """By track, then level."""
    folded: dict[int, Lane]
    """The one lane of each track when folded."""
    lane_of: Int32s
    """The lane of each slice."""
    device_busy: PrefixSums
    """When any device works."""
    host_busy: PrefixSums
    total_ns: int
    has_device: bool
    hues: tuple[int, ...]
    """The hues that occur, in the order of legends."""

    def lanes_of(self, track_id: int) -> tuple[Lane, ...]:
        """Return a track's lanes, topmost first."""
        return tuple(lane for lane in self.lanes if lane.track_id == track_id)


def slice_hues(trace: Trace) -> Int8s:
    """Return the hue of each slice: its class of device work, else its kind."""
    table = np.full(len(SliceKind), _HUE_OF_KIND[SliceKind.OTHER], np.int8)
    for kind, hue in _HUE_OF_KIND.items():
        table[kind] = hue
    hues: Int8s = table[trace.slices.kind]
    device = trace.slices.is_device_work()
    hues[device] = slice_classes(trace)[device]
    return hues


def pack(starts: Int64s, ends: Int64s, depths: Int32s) -> Int32s:
    """Return a level for each slice of one track, sorted by start, so that none overlap in one.

    A slice takes the level of its depth, or the next free one below where it crosses another.
    Slices that overlap by no more than rounding share a level.
    """
    levels = depths.astype(np.int32)
    pending = np.empty(0, np.int64)
    level = 0
    deepest = int(levels.max()) if len(levels) else -1
    while level <= deepest or len(pending):
        rows = np.union1d(np.flatnonzero(depths == level), pending) if level <= deepest else pending
        levels[rows] = level
        pending = rows[_crossing(starts[rows], ends[rows])]
        level += 1
    return levels


def _crossing(starts: Int64s, ends: Int64s) -> Int64s:
    """Return the rows that reach into an earlier kept one; walks only through knots of them."""
    if len(starts) < 2:
        return np.empty(0, np.int64)
    reach = np.maximum.accumulate(ends)
    is_free = np.concatenate(([True], starts[1:] >= reach[:-1] - TOLERANCE_NS))
    if bool(is_free.all()):
        return np.empty(0, np.int64)
    evicted: list[int] = []
    opens = np.flatnonzero(is_free)
    closes = np.append(opens[1:], len(starts))
    knots = closes - opens > 1
    for low, high in zip(opens[knots].tolist(), closes[knots].tolist(), strict=True):
        kept_end = int(ends[low])
        rows = zip(starts[low + 1 : high].tolist(), ends[low + 1 : high].tolist(), strict=True)
        for row, (start, end) in enumerate(rows, start=low + 1):
            if start >= kept_end - TOLERANCE_NS:
                kept_end = max(kept_end, end)
            else:
                evicted.append(row)
    return np.array(evicted, np.int64)


def _lane(track_id: int, level: int, slice_ids: Int32s, trace: Trace, hues: Int8s) -> Lane:
    starts = trace.slices.ts_ns[slice_ids]
    ends = np.maximum.accumulate(starts + trace.slices.dur_ns[slice_ids])
    if len(starts) > 1:
        # Rounding may let a slice reach 1 ns into the next, which then is drawn from there on.
        starts[1:] = np.maximum(starts[1:], ends[:-1])
    return _lane_of(track_id, level, slice_ids, (starts, ends), hues[slice_ids])


def _lane_of(
    track_id: int, level: int, slice_ids: Int32s, spans: tuple[Int64s, Int64s], hues: Int8s
) -> Lane:
    starts, ends = spans
    present = np.unique(hues).tolist()
    by_hue = (
        tuple((hue, PrefixSums.of(starts[hues == hue], ends[hues == hue])) for hue in present)
        if len(present) > 1
        else ()
    )
    return Lane(
        track_id,
        level,
        slice_ids,
        PrefixSums.of(starts, ends),
        BlockMaxima.of(ends - starts),
        hues,
        by_hue,
    )


def lane_part(lane: Lane, chosen: Bools) -> Lane:
    """Return the lane of some of a lane's rows, which lie where they lay; not of a folded one."""
    spans = lane.spans.starts[chosen], lane.spans.ends[chosen]
    return _lane_of(lane.track_id, lane.level, lane.slice_ids[chosen], spans, lane.hues[chosen])


def folded_lane(track_id: int, slice_ids: Int32s, trace: Trace, hues: Int8s) -> Lane:
    """Return the one lane of some slices of a track, by start: a span wherever any of them is."""
    starts = trace.slices.ts_ns[slice_ids]
    covered = union(starts, starts + trace.slices.dur_ns[slice_ids])
    openers = slice_ids[np.searchsorted(starts, covered.starts, side="left")]
    return Lane(
        track_id,
        0,
        openers,
        PrefixSums.of(covered.starts, covered.ends),
        BlockMaxima.of(covered.ends - covered.starts),
        hues[openers],
        (),
        is_union=True,
    )


def _busy(trace: Trace, chosen: Bools) -> PrefixSums:
    starts = trace.slices.ts_ns[chosen]
    spans = union(starts, starts + trace.slices.dur_ns[chosen])
    return PrefixSums.of(spans.starts, spans.ends)


@once_per_trace
def lane_index(trace: Trace) -> LaneIndex:
    """Return the lanes of a trace."""
    slices = trace.slices
    hues = slice_hues(trace)
    bounds = np.searchsorted(slices.track_id, np.arange(len(trace.tracks) + 1))
    lanes: list[Lane] = []
    folded: dict[int, Lane] = {}
    lane_of = np.full(len(slices), NO_ID, np.int32)
    for track_id in range(len(trace.tracks)):
        low, high = int(bounds[track_id]), int(bounds[track_id + 1])
        if low == high:
            continue
        rows = np.arange(low, high, dtype=np.int32)
        ends = slices.ts_ns[low:high] + slices.dur_ns[low:high]
        levels = pack(slices.ts_ns[low:high], ends, slices.depth[low:high])
        order = np.argsort(levels, kind="stable")
        cuts = np.flatnonzero(np.diff(levels[order])) + 1
        own = [
            _lane(track_id, level, ids, trace, hues)
            for level, ids in enumerate(np.split(rows[order], cuts))
        ]
        for lane in own:
            lane_of[lane.slice_ids] = len(lanes)
            lanes.append(lane)
        folded[track_id] = own[0] if len(own) == 1 else folded_lane(track_id, rows, trace, hues)
    device = slices.is_device_work()
    host = np.isin(slices.kind, (SliceKind.OPERATOR, SliceKind.RUNTIME))
    return LaneIndex(
        tuple(lanes),
        folded,
        frozen(lane_of),
        _busy(trace, device),
        _busy(trace, host),
        trace.end_ns,
        bool(device.any()),
        tuple(np.unique(hues).tolist()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class LaneCells:
    """One lane at one viewport, a value for each cell."""

    width_ns: Int64s
    covered_ns: Int64s
    first: Int64s
    """The first row of the lane that touches the cell."""
    count: Int64s
    """How many rows touch it."""
    hue: Int8s
    """The hue that fills most of it."""
    shape: Int8s
    """``CellShape``."""
    eighths: Int8s
    """How high the cell is filled, or where its edge lies: counted from the left."""
    is_dim: Bools
    """Whether nothing that a filter keeps touches the cell; of two that meet there, the left."""
    is_right_dim: Bools
    """Whether a filter leaves out the right one of two slices that meet in the cell."""


def busy_eighths(covered_ns: Int64s, width_ns: Int64s, count: Int64s) -> Int8s:
    """Return the height of cells: anything is seen, and only full is full."""
    width = np.maximum(width_ns, 1)
    eighths = (covered_ns * 16 + width) // (2 * width)
    low = np.where(count > 0, 1, 0)
    high = np.where((covered_ns >= width_ns) & (covered_ns > 0), 8, 7)
    height: Int8s = np.clip(eighths, low, high).astype(np.int8)
    return height


def lane_cells(
    lane: Lane, viewport: Viewport, width: int, matching: Lane | None = None
) -> LaneCells:
    """Return what each cell of a lane shows; the cost is that of the cells, not of the slices.

    Args:
        lane: The lane.
        viewport: What is visible.
        width: How many cells there are.
        matching: Of its slices those that a filter keeps; ``None`` where there is no filter. They
            alone give a cell its hue, wherever they touch it.
    """
    edges = viewport.edges(width)
    left, right = edges[:-1], edges[1:]
    width_ns = right - left
    covered = lane.spans.covered(edges)
    first, after = lane.spans.touching(edges)
    n_touching = after - first
    is_dim = np.zeros(width, bool)
    if not len(lane.spans):
        zeros = np.zeros(width, np.int8)
        return LaneCells(width_ns, covered, first, n_touching, zeros, zeros, zeros, is_dim, is_dim)
    at = np.minimum(first, len(lane.spans) - 1)
    hue = _dominant_hues(lane, edges, lane.hues[at])
    is_right_dim = is_dim
    if matching is not None:
        first_kept, after_kept = matching.spans.touching(edges)
        is_kept = after_kept > first_kept
        is_dim = (n_touching > 0) & ~is_kept
        kept_at = np.minimum(first_kept, len(matching.spans) - 1)
        kept_hue = matching.hues[kept_at] if len(matching.spans) else hue
        hue = np.where(is_kept, _dominant_hues(matching, edges, kept_hue), hue)
    eighths = busy_eighths(covered, width_ns, n_touching)
    shape = np.where(n_touching > 0, CellShape.HEIGHT, CellShape.BLANK).astype(np.int8)
    starts, ends = lane.spans.starts[at], lane.spans.ends[at]
    one = (n_touching == 1) & (covered > 0)
    shape[one & (covered == width_ns)] = CellShape.FULL
    ends_here = one & (starts <= left) & (ends < right)
    shape[ends_here] = CellShape.LEFT
    starts_here = one & (starts > left) & (ends >= right)
    shape[starts_here] = CellShape.RIGHT
    split = (n_touching == 2) & (covered == width_ns) & (ends > left) & (ends < right)
    shape[split] = CellShape.SPLIT
    if matching is not None:
        is_dim, is_right_dim = is_dim.copy(), is_dim.copy()
        is_dim[split] = ~_is_among(matching, lane.slice_ids[first[split]])
        is_right_dim[split] = ~_is_among(matching, lane.slice_ids[first[split] + 1])
    has_edge = ends_here | starts_here | split
    offset = np.where(starts_here, starts, ends) - left
    edge = np.clip((offset * 16 + width_ns) // np.maximum(2 * width_ns, 1), 1, 7)
    eighths = np.where(has_edge, edge, eighths).astype(np.int8)
    return LaneCells(
        width_ns, covered, first, n_touching, hue, shape, eighths, is_dim, is_right_dim
    )


def _dominant_hues(lane: Lane, edges: Int64s, otherwise: Int8s) -> Int8s:
    """Return for each cell the hue that fills most of it, ``otherwise`` where none fills any."""
    if not lane.by_hue:
        return otherwise
    shares = np.stack([sums.covered(edges) for _, sums in lane.by_hue])
    of_row = np.array([hue for hue, _ in lane.by_hue], np.int8)
    found: Int8s = np.where(shares.any(axis=0), of_row[shares.argmax(axis=0)], otherwise)
    return found


def _is_among(lane: Lane, slice_ids: Int32s) -> Bools:
    """Return which slices are a lane's."""
    if not len(lane.slice_ids):
        return np.zeros(len(slice_ids), bool)
    at = np.minimum(np.searchsorted(lane.slice_ids, slice_ids), len(lane.slice_ids) - 1)
    found: Bools = lane.slice_ids[at] == slice_ids
    return found


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


def _unit(ns: int) -> TimeUnit:
    for unit in (TimeUnit.SECONDS, TimeUnit.MILLISECONDS, TimeUnit.MICROSECONDS):
        if ns >= unit.scale_ns:
            return unit
    return TimeUnit.NANOSECONDS


def tick_step_ns(span_ns: int, width: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50 … ns that keeps ticks apart."""
    least = max(span_ns * TICK_CELLS // max(width, 1), 1)
    power = 1
    while power * 10 <= least:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10, 20) if power * factor >= least)


def ruler_ticks(
    viewport: Viewport, width: int, unit: TimeUnit = TimeUnit.AUTO
) -> list[tuple[int, str]]:
    """Return the ruler's ticks: cell and label."""
    if width <= 0:
        return []
    step = tick_step_ns(viewport.span_ns, width)
    own = _unit(viewport.end_ns) if unit is TimeUnit.AUTO else unit
    first = -(-viewport.start_ns // step) * step
    ticks = []
    for at in range(first, viewport.end_ns, step):
        value = Decimal(at) / Decimal(own.scale_ns)
        ticks.append((viewport.column(at, width), f"{value.normalize():,f} {own.value}"))
    return ticks


def ruler_text(
    viewport: Viewport,
    width: int,
    *,
    ascii_only: bool = False,
    unit: TimeUnit = TimeUnit.AUTO,
) -> str:
    """Return the ruler's row."""
    letters = [" "] * width
    mark = "|" if ascii_only else "╷"
    ticks = ruler_ticks(viewport, width, unit)
    ends = [column for column, _ in ticks[1:]] + [width]
    for (column, label), end in zip(ticks, ends, strict=True):
        # Where all times have one unit, a label may have no room; its tick stays.
        text = mark + label if column + 1 + len(label) <= end else mark
        if column + len(text) <= width:
            letters[column : column + len(text)] = text
    text = "".join(letters)
    return text.replace("µ", "u") if ascii_only else text


def hit_columns(viewport: Viewport, width: int, starts_ns: Int64s, ends_ns: Int64s) -> list[int]:
    """Return the cells that search hits touch, however narrow these are.

    Args:
        viewport: What is visible.
        width: Cells.
        starts_ns: Starts of the hits, of any number and in any order.
        ends_ns: Their ends.
    """
    inside = (starts_ns < viewport.end_ns) & (ends_ns >= viewport.start_ns)
    if width <= 0 or not bool(inside.any()):
        return []
    left = viewport.edges(width)[:-1]
    first = np.searchsorted(left, starts_ns[inside], side="right") - 1
    last = np.searchsorted(left, ends_ns[inside] - 1, side="right") - 1
    steps = np.zeros(width + 1, np.int64)
    np.add.at(steps, np.clip(first, 0, width - 1), 1)
    np.add.at(steps, np.clip(np.maximum(first, last), 0, width - 1) + 1, -1)
    return [int(column) for column in np.flatnonzero(np.cumsum(steps[:-1]))]


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


_TIME: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(ns|us|µs|μs|ms|s)?\s*")
_TIME_UNITS: Final = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S}


def parse_time(text: str) -> int | None:
    """Return a time as typed, in nanoseconds: ``1.2ms``, ``340us``; ``None`` if it is none.

    Without a unit it is milliseconds.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    unit = (found.group(2) or "ms").replace("µ", "u").replace("μ", "u")
    return int(Decimal(found.group(1)) * _TIME_UNITS[unit])


def _noun(trace: Trace, lane: Lane, amount: int) -> str:
    """Return what the spans of a lane are called."""
    noun = "slice"
    kind = trace.tracks[lane.track_id].kind
    if lane.is_union:
        noun = "busy span"
    elif kind == TrackKind.PYTHON:
        noun = "frame"
    elif kind == TrackKind.DEVICE and WorkClass.COPY not in lane.present:
        noun = "kernel"
    return noun if amount == 1 else f"{noun}s"


def cell_text(
    trace: Trace, lane: Lane, start_ns: int, end_ns: int, matching: Lane | None = None
) -> str:
    """Return what one cell of a lane holds: ``37 kernels here, 61.0 % busy``.

    Where there is a filter, also how much of that it keeps: ``5 match, 12.0 % busy``.
    """
    n_here = lane.spans.count_between(start_ns, end_ns)
    busy = _busy_text(lane, start_ns, end_ns)
    text = f"{count(n_here)} {_noun(trace, lane, n_here)} here, {busy}"
    if matching is None:
        return text
    n_match = matching.spans.count_between(start_ns, end_ns)
    if not n_match:
        return f"{text}, none matches"
    return f"{text}, {count(n_match)} match, {_busy_text(matching, start_ns, end_ns)}"


def _busy_text(lane: Lane, start_ns: int, end_ns: int) -> str:
    covered = lane.spans.covered_between(start_ns, end_ns)
    return f"{percent(covered / max(end_ns - start_ns, 1))} busy"


@dataclass(frozen=True, slots=True)
class RangeStats:
    """What a range of time holds."""

    busy_ns: int
    """Time in which any device works, or the host where there is no device work."""
    sum_ns: int
    """Summed over all streams, parts in the range alone."""
    n_slices: int
    by_class: tuple[tuple[str, int, int], ...]
    """Name, summed time and number of each class of work, the longest first."""


def range_stats(trace: Trace, index: LaneIndex, start_ns: int, end_ns: int) -> RangeStats:
    """Return what lies between two times.

    Device work does not nest and counts as it lies there; the host's calls nest and count by
    their self time, so that no nanosecond of a thread counts twice.
    """
    sums: dict[int, list[int]] = {}
    if not index.has_device:
        sums = _host_sums(trace, start_ns, end_ns)
    for lane in index.lanes if index.has_device else ():
        if trace.tracks[lane.track_id].kind != TrackKind.DEVICE or not len(lane.hues):
            continue
        for hue, spans in lane.by_hue or ((int(lane.hues[0]), lane.spans),):
            entry = sums.setdefault(hue, [0, 0])
            entry[0] += spans.covered_between(start_ns, end_ns)
            entry[1] += spans.count_between(start_ns, end_ns)
    busy = index.device_busy if index.has_device else index.host_busy
    rows = [(HUE_NAMES[hue], ns, n) for hue, (ns, n) in sums.items() if n]
    rows.sort(key=lambda row: (-row[1], row[0]))
    return RangeStats(
        busy.covered_between(start_ns, end_ns),
        sum(ns for _, ns, _ in rows),
        sum(n for _, _, n in rows),
        tuple(rows),
    )


def _host_sums(trace: Trace, start_ns: int, end_ns: int) -> dict[int, list[int]]:
    """Return self time and number of the operators and runtime calls, by hue."""
    inside, kind = slice_sums_within(trace, start_ns, end_ns), trace.slices.kind
    return {
        _HUE_OF_KIND[each]: [
            int(inside.self_ns[kind == each].sum()),
            int(inside.calls[kind == each].sum()),
        ]
        for each in (SliceKind.OPERATOR, SliceKind.RUNTIME)
    }


def range_text(
    trace: Trace,
    index: LaneIndex,
    start_ns: int,
    end_ns: int,
    unit: TimeUnit = TimeUnit.AUTO,
) -> str:
    """Return one line on a range."""
    stats = range_stats(trace, index, start_ns, end_ns)
    span = max(end_ns - start_ns, 1)
    where = "device" if index.has_device else "host"
    summed = "sum" if index.has_device else "self times"
    parts = [
        f"range {duration(end_ns - start_ns, unit)}",
        f"{where} busy {duration(stats.busy_ns, unit)} ({percent(stats.busy_ns / span)})",
        f"{summed} {duration(stats.sum_ns, unit)}",
        f"{count(stats.n_slices)} slices",
    ]
    parts += [f"{name} {duration(ns, unit)} in {count(n)}" for name, ns, n in stats.by_class[:4]]
    return " · ".join(parts)
