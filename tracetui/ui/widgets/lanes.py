"""The timeline's drawing: header, minimap, ruler, lanes and status lines."""

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import groupby
from typing import ClassVar, Final

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.prefix import PrefixSums
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind
from tracetui.presentation.cells import lane_cells
from tracetui.presentation.hues import HUE_NAMES, LINKED_CODE, SELECTED_CODE
from tracetui.presentation.idle import IdleSpans, with_hatching, with_idle
from tracetui.presentation.lanes import Lane, LaneIndex
from tracetui.presentation.matching import Matches
from tracetui.presentation.painting import PaintedLane, PaintMode, minimap_text, paint
from tracetui.presentation.table import cut_off, shortened
from tracetui.presentation.viewport import Viewport, ruler_text
from tracetui.ui.widgets.changes import changed_regions
from tracetui.ui.widgets.drawn import DrawnWidget
from tracetui.ui.widgets.palette import cell_style, class_letter, class_style

HEADER_ROWS: Final = 3
"""What is shown, the minimap and the ruler."""
N_CACHED_STRIPS: Final = 512
BACKLOG_RETRY_S: Final = 0.03
_WIDE: Final = 100
_WIDE_GUTTER: Final = 22
_NARROW_GUTTER: Final = 18


@dataclass(frozen=True, slots=True, eq=False)
class LaneRow:
    """One row of the timeline."""

    lane: Lane
    title: str
    is_pinned: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """All that a frame shows; replaced as a whole."""

    trace: Trace
    index: LaneIndex
    rows: tuple[LaneRow, ...]
    viewport: Viewport
    cursor_row: int = 0
    cursor_ns: int = 0
    selection: int = NO_ID
    linked: frozenset[int] = frozenset()
    """Launch, operator or kernels of the selected slice."""
    chosen_range: tuple[int, int] | None = None
    hits: tuple[int, ...] = ()
    """The cells of the ruler that search hits touch."""
    header: str = ""
    status: tuple[str, ...] = ()
    idle: dict[int, IdleSpans] = field(default_factory=dict)
    """Each device's idle time by cause, once it is known."""
    hatched: PrefixSums | None = None
    """What shares leave out, once it is known."""
    matches: Matches | None = None
    """What the filter keeps; ``None`` where there is no filter, or none yet."""
    unit: TimeUnit = TimeUnit.AUTO
    """How the ruler writes times."""


class LanesWidget(DrawnWidget, can_focus=True):
    """Draws a scene, a line at a time; every strip is kept until what it shows changes."""

    @dataclass
    class Pressed(Message):
        """A cell was clicked."""

        row: int
        at_ns: int

    @dataclass
    class Resized(Message):
        """A cell has another width."""

    N_STATUS: ClassVar[int] = 4

    def __init__(self) -> None:
        """Start with nothing to draw."""
        super().__init__()
        self._scene: Scene | None = None
        self._note = "indexing …"
        self._top = 0
        self._strips: OrderedDict[tuple[object, ...], Strip] = OrderedDict()
        self._is_waiting = False
        self._drawn: list[Strip] = []

    @property
    def scene(self) -> Scene | None:
        """Return what is drawn."""
        return self._scene

    @property
    def title_width(self) -> int:
        """Return how many cells the titles take."""
        return _WIDE_GUTTER if self.size.width >= _WIDE else min(_NARROW_GUTTER, self.size.width)

    @property
    def title_room(self) -> int:
        """Return how many cells the text of a title has, the marks before it left out."""
        return max(self.title_width - 3, 0)

    @property
    def plot_width(self) -> int:
        """Return how many cells show time; at least 1."""
        return max(self.size.width - self.title_width, 1)

    @property
    def n_visible(self) -> int:
        """Return how many lanes have room."""
        return max(self.size.height - HEADER_ROWS - self.N_STATUS, 0)

    def show_note(self, note: str) -> None:
        """Show a word instead of a scene."""
        self._scene = None
        self._note = note
        self._drawn = []
        self.refresh()

    def show(self, scene: Scene) -> None:
        """Draw a scene; where the terminal is behind, a little later and only the latest."""
        old = self._scene
        if old is None or old.index is not scene.index or old.matches is not scene.matches:
            self._strips.clear()
        self._scene = scene
        self.note_layout()
        self._scroll_to_cursor(scene)
        if self._is_waiting:
            return
        if self._backlog():
            self._is_waiting = True
            self.set_timer(BACKLOG_RETRY_S, self._retry)
        else:
            self._redraw()

    def _retry(self) -> None:
        if self._backlog():
            self.set_timer(BACKLOG_RETRY_S, self._retry)
            return
        self._is_waiting = False
        self._redraw()

    def _redraw(self) -> None:
        """Ask for what differs from the last picture, or for everything where there is none."""
        with self.one_style():
            drawn = [self.render_line(y) for y in range(self.size.height)]
        if self._drawn and len(self._drawn) == len(drawn):
            regions = tuple(changed_regions(self._drawn, drawn))
            if regions:
                self.refresh(*regions)
        else:
            self.refresh()
        self._drawn = drawn

    def _backlog(self) -> int:
        """Return how many frames wait for the terminal, as far as the driver tells."""
        driver = getattr(self.app, "_driver", None)
        queue = getattr(getattr(driver, "_writer_thread", None), "_queue", None)
        return int(queue.qsize()) if queue is not None else 0

    def _scroll_to_cursor(self, scene: Scene) -> None:
        n_pinned = sum(row.is_pinned for row in scene.rows)
        n_free = max(self.n_visible - n_pinned, 1)
        place = scene.cursor_row - n_pinned
        if place >= 0:
            self._top = min(max(self._top, place - n_free + 1), place)
        self._top = max(0, min(self._top, len(scene.rows) - n_pinned - n_free))

    def on_resize(self) -> None:
        """Keep the cursor in sight, and tell that cells have another width."""
        if self.is_laid_out:
            return
        self.note_layout()
        self._drawn = []
        if self._scene is not None:
            self._scroll_to_cursor(self._scene)
        self.post_message(self.Resized())

    def row_at(self, y: int) -> int:
        """Return which of the scene's rows a line shows, or ``NO_ID``."""
        scene = self._scene
        line = y - HEADER_ROWS
        if scene is None or not 0 <= line < self.n_visible:
            return NO_ID
        n_pinned = sum(row.is_pinned for row in scene.rows)
        row = line if line < n_pinned else line + self._top
        return row if row < len(scene.rows) else NO_ID

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.size.width
        if width <= 0:
            return Strip.blank(0)
        scene = self._scene
        if scene is None:
            text = self._note if y == 0 else ""
            return self._plain(text)
        if y < HEADER_ROWS:
            return self._header_line(scene, y)
        status = y - (self.size.height - self.N_STATUS)
        if status >= 0:
            return self._status_line(scene, status)
        row = self.row_at(y)
        return self._plain("") if row == NO_ID else self._lane_line(scene, row)

    @property
    def mode(self) -> PaintMode:
        """Return what the terminal can show."""
        return PaintMode(
            bool(getattr(self.app, "ascii_only", False)),
            bool(getattr(self.app, "is_colourless", False)),
        )

    def _plain(self, text: str, style: Style | None = None) -> Strip:
        full = self.rich_style + style if style else self.rich_style
        return Strip([Segment(text, full)]).adjust_cell_length(self.size.width, self.rich_style)

    def _status_line(self, scene: Scene, line: int) -> Strip:
        ascii_only = self.mode.ascii_only
        if line == 0:
            return self._plain(("-" if ascii_only else "─") * self.size.width, Style(dim=True))
        text = scene.status[line - 1] if line - 1 < len(scene.status) else ""
        if line == self.N_STATUS - 1 and not text:
            return self._legend(scene)
        text = cut_off(text, max(self.size.width - 2, 0))
        if ascii_only:
            text = text.translate(_TO_ASCII)
        return self._plain(f" {text}", Style(bold=True) if line == 1 else None)

    def _legend(self, scene: Scene) -> Strip:
        """Say which colour, or letter, stands for which class."""
        mode = self.mode
        segments = [Segment(" ", self.rich_style)]
        used = 1
        for hue in scene.index.hues:
            used += len(HUE_NAMES[hue]) + 4
            if used > self.size.width:
                segments.append(Segment("~" if mode.ascii_only else "…", self.rich_style))
                break
            is_plain = mode.ascii_only or mode.colourless
            mark = class_letter(hue) if is_plain else "■"
            style = Style(bold=True) if is_plain else class_style(hue)
            segments.append(Segment(mark, self.rich_style + style))
            segments.append(Segment(f" {HUE_NAMES[hue]}  ", self.rich_style + Style(dim=True)))
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def _header_line(self, scene: Scene, y: int) -> Strip:
        gutter, width = self.title_width, self.plot_width
        ascii_only = self.mode.ascii_only
        if y == 0:
            text = scene.header.translate(_TO_ASCII) if ascii_only else scene.header
            return self._plain(f" {text}", Style(bold=True))
        viewport = scene.viewport
        if y == 1:
            text = minimap_text(scene.index, viewport, width, ascii_only=ascii_only)
            label = " whole trace"
        else:
            text = ruler_text(viewport, width, ascii_only=ascii_only, unit=scene.unit)
            if scene.hatched is not None:
                text = with_hatching(text, scene.hatched, viewport, self.mode)
            label = ""
            text = self._carets(scene, text)
        head = Segment(label[: gutter - 1].ljust(gutter), self.rich_style + Style(dim=True))
        marked = set(scene.hits) if y == 2 else set()
        strip = Strip([head, *_with_hits(text, marked, self.rich_style, ascii_only=ascii_only)])
        return strip.adjust_cell_length(self.size.width, self.rich_style)

    def _carets(self, scene: Scene, text: str) -> str:
        """Mark in the ruler where the range, the cursor and the selection are."""
        letters = list(text)
        ascii_only = self.mode.ascii_only
        places = [(scene.cursor_ns, "^" if ascii_only else "▾")]
        for bound, letter in zip(scene.chosen_range or (), "{}", strict=False):
            places.append((bound, letter))
        if scene.selection != NO_ID:
            start = int(scene.trace.slices.ts_ns[scene.selection])
            places.append((start, "V" if ascii_only else "┃"))
        for at_ns, letter in places:
            column = scene.viewport.column(at_ns, len(letters))
            if 0 <= column < len(letters):
                letters[column] = letter
        return "".join(letters)

    def _lane_line(self, scene: Scene, row_id: int) -> Strip:
        row = scene.rows[row_id]
        width = self.plot_width
        marks = tuple(
            [(each, LINKED_CODE) for each in self._rows_of(scene, row.lane, scene.linked)]
            + [
                (each, SELECTED_CODE)
                for each in self._rows_of(scene, row.lane, frozenset((scene.selection,)))
            ]
        )
        is_cursor = row_id == scene.cursor_row
        mode = self.mode
        view = scene.viewport
        key = (
            id(row.lane), row.title, row.is_pinned, view.start_ns, view.end_ns, width, marks,
            is_cursor, mode, self.rich_style, bool(scene.idle), id(scene.matches),
        )  # fmt: skip
        strip = self._strips.get(key)
        if strip is None:
            kept = scene.matches.of(row.lane) if scene.matches is not None else None
            cells = lane_cells(row.lane, view, width, kept)
            painted = paint(scene.trace, row.lane, cells, mode, marks)
            track = scene.trace.tracks[row.lane.track_id]
            if track.kind == TrackKind.DEVICE and track.device in scene.idle:
                painted = with_idle(painted, cells, scene.idle[track.device], view, mode)
            segments = [self._title(row, mode, is_cursor=is_cursor)]
            segments += lane_segments(painted, self.rich_style, mode)
            strip = Strip(segments, self.title_width + width)
            self._strips[key] = strip
            while len(self._strips) > N_CACHED_STRIPS:
                self._strips.popitem(last=False)
        return strip.adjust_cell_length(self.size.width, self.rich_style)

    def _title(self, row: LaneRow, mode: PaintMode, *, is_cursor: bool) -> Segment:
        gutter = self.title_width
        pin = ("*" if mode.ascii_only else "▪") if row.is_pinned else " "
        cursor = (">" if mode.ascii_only else "▸") if is_cursor else " "
        title = shortened(row.title, self.title_room)
        if mode.ascii_only:
            title = title.translate(_TO_ASCII)
        text = Strip([Segment(f"{cursor}{pin}{title}")]).adjust_cell_length(gutter).text
        style = Style(bold=True) if is_cursor else Style(dim=row.lane.level > 0)
        return Segment(text, self.rich_style + style)

    @staticmethod
    def _rows_of(scene: Scene, lane: Lane, slice_ids: frozenset[int]) -> list[int]:
        """Return the lane's rows of these slices."""
        if lane.is_union:
            return []
        lane_of = scene.index.lane_of
        number = int(lane_of[lane.slice_ids[0]])
        own = [each for each in slice_ids if each != NO_ID and int(lane_of[each]) == number]
        return [lane.row_of(each) for each in sorted(own)]

    def on_click(self, event: events.Click) -> None:
        """Say which cell was clicked."""
        scene = self._scene
        row = self.row_at(event.y)
        column = event.x - self.title_width
        if scene is not None and row != NO_ID and column >= 0:
            at_ns = int(scene.viewport.edges(self.plot_width)[min(column, self.plot_width - 1)])
            self.post_message(self.Pressed(row, at_ns))

    def text(self) -> str:
        """Return what is drawn as plain text."""
        lines = [self.render_line(y).text.rstrip() for y in range(self.size.height)]
        return "\n".join(lines)

    def lane_region(self) -> Region:
        """Return where lanes are drawn."""
        return Region(self.title_width, HEADER_ROWS, self.plot_width, self.n_visible)


def _with_hits(text: str, hits: set[int], style: Style, *, ascii_only: bool) -> list[Segment]:
    """Return the ruler with its search hits marked: a dot, or the letter there, underlined."""
    dot = "*" if ascii_only else "•"
    marked = style + Style(bold=True, underline=True)
    segments = []
    for is_hit, run in groupby(range(len(text)), key=hits.__contains__):
        letters = "".join(dot if is_hit and text[at] == " " else text[at] for at in run)
        segments.append(Segment(letters, marked if is_hit else style))
    return segments


_TO_ASCII: Final = str.maketrans(
    {"µ": "u", "–": "-", "…": "~", "·": "|", "▾": "v", "▸": ">", "→": ">", "×": "x"}
)


def lane_segments(painted: PaintedLane, base: Style, mode: PaintMode) -> list[Segment]:
    """Return a painted lane as segments, one for each run of equal style."""
    ink, paper, inverse = painted.ink, painted.paper, painted.is_inverse
    if not len(ink):
        return []
    text = painted.text
    changes = (ink[1:] != ink[:-1]) | (paper[1:] != paper[:-1]) | (inverse[1:] != inverse[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1)).tolist()
    ends = [*starts[1:], len(ink)]
    codes = zip(ink[starts].tolist(), paper[starts].tolist(), inverse[starts].tolist(), strict=True)
    return [
        Segment(
            text[start:end],
            base + cell_style(a, b, is_inverse=c, colourless=mode.colourless),
        )
        for start, end, (a, b, c) in zip(starts, ends, codes, strict=True)
    ]
