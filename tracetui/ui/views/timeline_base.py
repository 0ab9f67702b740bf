"""What the timeline shows: lanes, cursor and viewport, as the workspace and the keys leave them."""

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final, TypeAlias, TypeVar

import numpy as np
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tracetui.analysis.idle import idle_gaps
from tracetui.analysis.links import Links, links
from tracetui.analysis.steps import Step, steps
from tracetui.errors import UsageError
from tracetui.format import TimeUnit, count, duration
from tracetui.model.arrays import NO_ID
from tracetui.model.prefix import PrefixSums
from tracetui.model.trace import Trace
from tracetui.model.tracks import Track, TrackKind
from tracetui.presentation.idle import (
    IdleSpans,
    artefact_spans,
    gap_at,
    gap_details,
    gap_lines,
    idle_spans,
)
from tracetui.presentation.lane_titles import lane_title
from tracetui.presentation.lanes import Lane, LaneIndex, lane_index
from tracetui.presentation.linked import link_texts, linked_ids
from tracetui.presentation.matching import Matches, matches
from tracetui.presentation.navigation import found_slices
from tracetui.presentation.painting import displayed_name
from tracetui.presentation.table import cut_off, shortened
from tracetui.presentation.time_range import cell_text, range_text
from tracetui.presentation.viewport import Viewport, hit_columns
from tracetui.ui.messages import RangeChosen, SliceSelected, WindowChanged
from tracetui.ui.state import Workspace
from tracetui.ui.views.detailed import DetailBody, DetailedView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.lanes import LaneRow, LanesWidget, Scene

TrackKey: TypeAlias = tuple[TrackKind, str, str]
LaneKey: TypeAlias = tuple[TrackKey, int, bool]

MIN_NAME_CELLS: Final = 8
_UNFOLDED_HOSTS: Final = 1
_N_ECHOES: Final = 64
_Value = TypeVar("_Value")


def track_key(track: Track) -> TrackKey:
    """Return what a track is known by while a file is being read and tracks are renumbered."""
    return (track.kind, track.pid, track.tid)


class TimeInput(Input):
    """Asks for a time."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    @dataclass
    class Cancelled(Message):
        """The user thought better of it."""

    def action_cancel(self) -> None:
        """Give up."""
        self.post_message(self.Cancelled())


class TimelineBase(DetailedView):
    """Holds what is in sight; a subclass moves it by keys."""

    @dataclass
    class Indexed(Message):
        """The lanes of a trace are there."""

        trace: Trace
        index: LaneIndex

    @dataclass
    class Linked(Message):
        """What launched what is known, and where the steps are."""

        trace: Trace
        links: Links
        steps: tuple[Step, ...]
        idle: dict[int, IdleSpans]

    @dataclass
    class Matched(Message):
        """A thread knows what the filter keeps, or why it keeps nothing."""

        index: LaneIndex
        filter_text: str
        found: Matches | str

    def __init__(self) -> None:
        """Start without a trace."""
        super().__init__()
        self._trace: Trace | None = None
        self._index: LaneIndex | None = None
        self._indexing: Trace | None = None
        self._links: Links | None = None
        self._steps: tuple[Step, ...] = ()
        self._idle: dict[int, IdleSpans] = {}
        self._viewport = Viewport.whole(0)
        self._rows: tuple[LaneRow, ...] = ()
        self._row = 0
        self._title_width = 0
        self._at_ns = 0
        self._selection = NO_ID
        self._hit_ids = np.empty(0, np.int64)
        self._matches: Matches | None = None
        self._filter_note = ""
        self._range_line: tuple[tuple[Trace, tuple[int, int], TimeUnit], str] | None = None
        self._range: tuple[int, int] | None = None
        self._range_anchor: tuple[int, int] | None = None
        self._pinned: list[LaneKey] = []
        self._hidden: set[LaneKey] = set()
        self._folded: dict[TrackKey, bool] = {}
        # The workspace answers each message a little later; an answer to an older one than the
        # latest must not take the user back.
        self._window_echoes: deque[tuple[int, int] | None] = deque(maxlen=_N_ECHOES)
        self._selection_echoes: deque[int] = deque(maxlen=_N_ECHOES)

    def compose(self) -> ComposeResult:
        """Build the drawing and the hidden prompt."""
        with DetailBody():
            yield LanesWidget()
            yield DetailPane()
        yield TimeInput(placeholder="go to a time, such as 1.2ms")

    @property
    def lanes(self) -> LanesWidget:
        """Return the drawing."""
        return self.query_one(LanesWidget)

    @property
    def viewport(self) -> Viewport:
        """Return the visible part."""
        return self._viewport

    @property
    def rows(self) -> tuple[LaneRow, ...]:
        """Return the rows, pinned ones first."""
        return self._rows

    @property
    def selection(self) -> int:
        """Return the selected slice, or ``NO_ID``."""
        return self._selection

    # The workspace

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Follow trace, selection, window and range."""
        if new is None:
            return
        is_other = old is None or old.trace is not new.trace
        if is_other:
            self._window_echoes.clear()
            self._selection_echoes.clear()
            self._compute_if_needed()
        self._range = new.chosen_range
        if self._trace is not new.trace:
            return
        if old is None or old.filter_text != new.filter_text:
            self._find_matches()
        if old is None or old.pattern != new.pattern:
            self._hit_ids = found_slices(new.trace, new.pattern)
        if old is None or old.window != new.window:
            self._follow_window(new.window)
        is_moved = old is None or old.selection != new.selection
        if is_moved and not _drop_through(self._selection_echoes, new.selection):
            self._select_quietly(new.selection)
        self._show()

    def _follow_window(self, window: tuple[int, int] | None) -> None:
        if not _drop_through(self._window_echoes, window):
            self._viewport = self._viewport_of(window)
            self._keep_cursor_in_sight()

    def _viewport_of(self, window: tuple[int, int] | None) -> Viewport:
        whole = Viewport.whole(self._index.total_ns if self._index else 0)
        return whole if window is None else whole.between(*window)

    def on_show(self) -> None:
        """Catch up with what changed while another view was shown."""
        self._compute_if_needed()

    def _compute_if_needed(self) -> None:
        workspace = self.workspace
        if workspace is None or workspace.trace in (self._trace, self._indexing):
            return
        if workspace.is_loading and not self.is_on_screen:
            return
        self._indexing = workspace.trace
        if self._trace is None:
            self.lanes.show_note("indexing …")
        self._compute(workspace.trace, is_complete=not workspace.is_loading)

    @work(thread=True, exclusive=True, group="timeline")
    def _compute(self, trace: Trace, *, is_complete: bool) -> None:
        self.post_message(self.Indexed(trace, lane_index(trace)))
        if is_complete:
            # Computed here, so that asking for a gap costs the screen nothing.
            idle_gaps(trace)
            artefact_spans(trace)
            self.post_message(self.Linked(trace, links(trace), steps(trace), idle_spans(trace)))

    def on_timeline_base_indexed(self, message: Indexed) -> None:
        """Show the lanes, unless another trace has taken their place."""
        workspace = self.workspace
        if self._indexing is message.trace:
            self._indexing = None
        if workspace is None or workspace.trace is not message.trace:
            self._compute_if_needed()
            return
        # The rows are those of the trace before: their lanes name its tracks.
        kept = self._current_key()
        self._trace, self._index, self._rows = message.trace, message.index, ()
        self._links, self._steps, self._idle = None, (), {}
        self._fold_by_default()
        self._viewport = self._viewport_of(workspace.window)
        self._range = workspace.chosen_range
        self._range_anchor = None
        self._hit_ids = found_slices(message.trace, workspace.pattern)
        self._find_matches()
        self._build_rows(kept)
        self._selection = NO_ID
        self._select_quietly(workspace.selection)
        self._keep_cursor_in_sight()
        self._show()

    def on_timeline_base_linked(self, message: Linked) -> None:
        """Mark what belongs to the selection."""
        if message.trace is self._trace:
            self._links, self._steps = message.links, message.steps
            self._idle = message.idle
            self._show()

    # The filter

    def _find_matches(self) -> None:
        """Find out in a thread what the filter keeps; until then nothing is dim."""
        workspace = self.workspace
        text = "" if workspace is None else workspace.filter_text
        self._matches, self._filter_note = None, "filtering …" if text else ""
        if text and self._trace is not None and self._index is not None:
            self._match(self._trace, self._index, text)

    @work(thread=True, exclusive=True, group="matches")
    def _match(self, trace: Trace, index: LaneIndex, text: str) -> None:
        found: Matches | str
        try:
            found = matches(trace, index, text)
        except UsageError as error:
            found = str(error)
        self.post_message(self.Matched(index, text, found))

    def on_timeline_base_matched(self, message: Matched) -> None:
        """Draw what the filter leaves out dim, if it is the filter still."""
        workspace = self.workspace
        is_wanted = workspace is not None and workspace.filter_text == message.filter_text
        if message.index is not self._index or not is_wanted:
            return
        if isinstance(message.found, str):
            self._filter_note = message.found
        else:
            self._matches, self._filter_note = message.found, ""
        self._show()

    # Rows

    def _fold_by_default(self) -> None:
        """Open the busiest thread alone: on a small screen the rest would push it out of sight."""
        if self._trace is None:
            return
        n_slices = np.bincount(self._trace.slices.track_id, minlength=len(self._trace.tracks))
        hosts = [
            track_id
            for track_id in np.argsort(-n_slices, kind="stable").tolist()
            if self._trace.tracks[track_id].kind == TrackKind.HOST
        ]
        opened = (
            set(hosts[:_UNFOLDED_HOSTS]) or {int(n_slices.argmax())} if len(n_slices) else set()
        )
        for track_id, track in enumerate(self._trace.tracks):
            is_open = track_id in opened or track.kind == TrackKind.DEVICE
            self._folded.setdefault(track_key(track), not is_open)

    def _build_rows(self, keep: LaneKey | None = None) -> None:
        """List the rows anew; the cursor stays on its lane, or takes the one given."""
        if self._trace is None or self._index is None:
            return
        wanted = keep or self._current_key()
        self._title_width = self.lanes.title_room
        rows: list[tuple[LaneKey, LaneRow]] = []
        order = sorted(self._index.folded, key=self._track_order)
        for track_id in order:
            track = self._trace.tracks[track_id]
            own = self._index.lanes_of(track_id)
            is_folded = self._folded.get(track_key(track), False) and len(own) > 1
            for lane in (self._index.folded[track_id],) if is_folded else own:
                key = self._key_of(lane)
                if key not in self._hidden:
                    title = lane_title(track, lane, len(own), self._title_width)
                    rows.append((key, LaneRow(lane, title)))
        pinned = [
            (key, LaneRow(row.lane, row.title, is_pinned=True))
            for wanted_key in self._pinned
            for key, row in rows
            if key == wanted_key
        ]
        free = [(key, row) for key, row in rows if key not in self._pinned]
        keys = [key for key, _ in (*pinned, *free)]
        self._rows = tuple(row for _, row in (*pinned, *free))
        if wanted in keys:
            self._row = keys.index(wanted)
        self._row = max(0, min(self._row, len(self._rows) - 1))

    def _track_order(self, track_id: int) -> tuple[bool, int]:
        """Return the place of a track: what the device does first, for it is what one came for."""
        if self._trace is None:
            return (False, track_id)
        return (self._trace.tracks[track_id].kind != TrackKind.DEVICE, track_id)

    def _key_of(self, lane: Lane) -> LaneKey:
        track = self._trace.tracks[lane.track_id] if self._trace else None
        key = track_key(track) if track else (TrackKind.OTHER, "", "")
        return (key, lane.level, lane.is_union)

    def _current_key(self) -> LaneKey | None:
        lane = self._lane
        return self._key_of(lane) if lane else None

    @property
    def _lane(self) -> Lane | None:
        return self._rows[self._row].lane if self._row < len(self._rows) else None

    # Details

    def main_widget(self) -> LanesWidget:
        """Return the drawing."""
        return self.lanes

    def detail_texts(self) -> list[str]:
        """Return everything about the selected slice, or about the gap under the cursor."""
        if self._trace is None:
            return []
        gap = self._gap()
        if gap is not None:
            return gap_details(self._trace, *gap, self.unit)
        return self.details_of(self._trace, self._selection)

    def action_details(self) -> None:
        """Show the details where they are away, else go to them."""
        if not self.ask_for_details():
            self.details.focus(scroll_visible=False)

    # Drawing

    def _show(self) -> None:
        if self._trace is None or self._index is None:
            return
        self.show_details()
        if not self._rows:
            note = "no slices in this trace" if not self._index.lanes else "all lanes hidden: X"
            self.lanes.show_note(note)
            return
        self.lanes.show(
            Scene(
                self._trace,
                self._index,
                self._rows,
                self._viewport,
                self._row,
                self._at_ns,
                self._selection,
                frozenset(
                    linked_ids(self._trace, self._links, self._selection) if self._links else ()
                ),
                self._range or self._range_anchor,
                self._hits(self._trace),
                self._header(),
                self._status(self._trace, self._index),
                self._idle,
                self._hatched(),
                self._matches,
                self.unit,
            )
        )

    def _hatched(self) -> PrefixSums | None:
        """Return what shares leave out, unless they count it or it is not known yet."""
        workspace = self.workspace
        if self._trace is None or self._links is None or workspace is None:
            return None
        return (not workspace.with_artefacts and artefact_spans(self._trace)) or None

    def _header(self) -> str:
        view = self._viewport
        cell = view.span_ns // self.lanes.plot_width
        written = partial(duration, unit=self.unit)
        parts = [
            f"{written(view.start_ns)} – {written(view.end_ns)}  ({written(view.span_ns)})",
            f"cell = {written(cell)}",
        ]
        if self._range:
            parts.append(f"range {written(self._range[1] - self._range[0])}")
        elif self._range_anchor:
            parts.append("range: v at its end")
        if self.workspace is not None and self.workspace.pattern:
            parts.append(f"{count(len(self._hit_ids))} hits")
        if self._filter_note:
            parts.insert(0, self._filter_note)
        if self._matches is not None:
            parts.append(self._matches.text)
        lanes = ((self._pinned, "pinned"), (self._hidden, "hidden"))
        parts += [f"{len(keys)} {word}" for keys, word in lanes if keys]
        if self._hatched() is not None:
            parts.append("░ not in shares")
        return cut_off("  ".join(parts), max(self.lanes.size.width - 2, 0))

    def _hits(self, trace: Trace) -> tuple[int, ...]:
        """Return the cells that what was searched for touches."""
        starts_ns = trace.slices.ts_ns[self._hit_ids]
        ends_ns = starts_ns + trace.slices.dur_ns[self._hit_ids]
        return tuple(hit_columns(self._viewport, self.lanes.plot_width, starts_ns, ends_ns))

    def _gap(self) -> tuple[int, int] | None:
        """Return the device and the gap under the cursor, if it is in one and on no slice."""
        lane = self._lane
        if self._trace is None or lane is None or not self._idle:
            return None
        track = self._trace.tracks[lane.track_id]
        if track.kind != TrackKind.DEVICE:
            return None
        gap = gap_at(self._trace, track.device, self._at_ns)
        return None if gap == NO_ID else (track.device, gap)

    def _status(self, trace: Trace, index: LaneIndex) -> tuple[str, ...]:
        lines = ["", "", ""]
        lane = self._lane
        gap = self._gap()
        if gap is not None:
            lines[0], lines[1] = gap_lines(trace, *gap, self.unit)
            lines[2] = self._range_status(trace, index)
            return tuple(lines)
        if self._selection != NO_ID:
            slices = trace.slices
            track = trace.tracks[int(slices.track_id[self._selection])]
            where = (
                f"{duration(int(slices.dur_ns[self._selection]), self.unit)}  {track.title}"
                f"  at {duration(int(slices.ts_ns[self._selection]), self.unit)}  "
            )
            room = max(self.lanes.size.width - len(where) - 2, MIN_NAME_CELLS)
            lines[0] = where + shortened(displayed_name(trace, self._selection), room)
        parts = []
        if lane is not None and self._viewport.start_ns <= self._at_ns < self._viewport.end_ns:
            width = self.lanes.plot_width
            edges = self._viewport.edges(width)
            column = min(max(self._viewport.column(self._at_ns, width), 0), width - 1)
            bounds = int(edges[column]), int(edges[column + 1])
            kept = self._matches.of(lane) if self._matches is not None else None
            parts.append(cell_text(trace, lane, *bounds, kept))
        if self._links is not None:
            parts += link_texts(trace, self._links, self._selection, self.unit)
        lines[1] = " · ".join(parts)
        lines[2] = self._range_status(trace, index)
        return tuple(lines)

    def _range_status(self, trace: Trace, index: LaneIndex) -> str:
        """Return the line on the range; counted once for each range, not for each frame."""
        if self._range is None:
            return ""
        key = (trace, self._range, self.unit)
        if self._range_line is None or self._range_line[0] != key:
            self._range_line = (key, range_text(trace, index, *self._range, self.unit))
        return self._range_line[1]

    # What actions share

    def _set_viewport(self, viewport: Viewport) -> None:
        if viewport == self._viewport:
            return
        self._viewport = viewport
        window = None if viewport.is_whole else (viewport.start_ns, viewport.end_ns)
        self._window_echoes.append(window)
        self.post_message(WindowChanged(window))

    def _keep_cursor_in_sight(self) -> None:
        view = self._viewport
        self._at_ns = min(max(self._at_ns, view.start_ns), view.end_ns - 1)

    def _select_quietly(self, slice_id: int) -> None:
        """Move the cursor to a slice, and bring it into sight."""
        if self._trace is None or self._index is None or slice_id == self._selection:
            return
        if not 0 <= slice_id < len(self._trace.slices):
            self._selection = NO_ID
            return
        self._selection = slice_id
        lane = self._index.lanes[int(self._index.lane_of[slice_id])]
        self._row = self._row_of(lane)
        start, end = self._bounds(slice_id)
        view = self._viewport
        if end < view.start_ns or start >= view.end_ns:
            self._set_viewport(view.centred(start + min(end - start, view.span_ns) // 2))
        self._at_ns = start
        self._keep_cursor_in_sight()

    def _row_of(self, lane: Lane) -> int:
        """Return the row of a lane, or of its folded or hidden track's nearest row."""
        for row, each in enumerate(self._rows):
            if each.lane is lane:
                return row
        for row, each in enumerate(self._rows):
            if each.lane.track_id == lane.track_id:
                return row
        return self._row

    def _bounds(self, slice_id: int) -> tuple[int, int]:
        if self._trace is None:
            return (0, 0)
        start = int(self._trace.slices.ts_ns[slice_id])
        return (start, start + int(self._trace.slices.dur_ns[slice_id]))

    def _choose(self, slice_id: int) -> None:
        """Select a slice and tell the others."""
        if slice_id in (NO_ID, self._selection):
            return
        self._select_quietly(slice_id)
        self._selection_echoes.append(slice_id)
        self.post_message(SliceSelected(slice_id))

    def _choose_range(self, chosen: tuple[int, int] | None) -> None:
        self._range, self._range_anchor = chosen, None
        self.post_message(RangeChosen(chosen))

    def _cursor_bounds(self) -> tuple[int, int]:
        """Return the selected slice's bounds if the cursor is on it, else the cursor itself."""
        if self._selection != NO_ID:
            start, end = self._bounds(self._selection)
            if start <= self._at_ns <= end:
                return (start, end)
        return (self._at_ns, self._at_ns)


def _drop_through(echoes: deque[_Value], value: _Value) -> bool:
    """Forget the awaited answers up to this one; say whether it was awaited at all."""
    if value not in echoes:
        return False
    while echoes.popleft() != value:
        pass
    return True
