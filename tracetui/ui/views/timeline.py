"""The timeline: threads and streams over time, by keyboard."""

from typing import ClassVar

import numpy as np
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tracetui.analysis.idle import idle_gaps
from tracetui.model.arrays import NO_ID
from tracetui.model.tracks import TrackKind
from tracetui.presentation.idle import next_gap
from tracetui.presentation.navigation import find_slice, next_step
from tracetui.presentation.viewport import Viewport, parse_time
from tracetui.ui.messages import Told
from tracetui.ui.views.timeline_base import TimeInput, TimelineBase, track_key
from tracetui.ui.widgets.lanes import LanesWidget


class TimelineView(TimelineBase):
    """The second tab."""

    name_id: ClassVar[str] = "timeline"
    title_text: ClassVar[str] = "Timeline"
    short_title: ClassVar[str] = "Time"
    key: ClassVar[str] = "2"

    DEFAULT_CSS: ClassVar[str] = """
    TimelineView LanesWidget { width: 1fr; height: 1fr; }
    TimelineView > TimeInput { display: none; height: 1; border: none; padding: 0 1; }
    TimelineView > TimeInput.-asked { display: block; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "zoom(2, 1)", "Zoom in"),
        Binding("s", "zoom(2, -1)", "Zoom out"),
        Binding("W", "zoom(4, 1)", "Zoom in further"),
        Binding("S", "zoom(4, -1)", "Zoom out further"),
        Binding("a", "pan(-1)", "Pan left"),
        Binding("d", "pan(1)", "Pan right"),
        Binding("A", "pan(-8)", "A page left"),
        Binding("D", "pan(8)", "A page right"),
        Binding("h,left", "slice(-1)", "Previous slice"),
        Binding("l,right", "slice(1)", "Next slice"),
        Binding("j,down", "row(1)", "Lane below"),
        Binding("k,up", "row(-1)", "Lane above"),
        Binding("full_stop", "same_name(1)", "Next of this name"),
        Binding("comma", "same_name(-1)", "Previous of this name"),
        Binding("f", "fit", "Fit the selection"),
        Binding("0", "whole", "Whole trace"),
        Binding("v", "range", "Range start, end"),
        Binding("r", "range_of_selection", "Range of the selection"),
        Binding("p", "pin", "Pin the lane"),
        Binding("minus", "fold", "Fold the track"),
        Binding("equals_sign", "unfold", "Unfold the track"),
        Binding("z", "step(1)", "Next step"),
        Binding("Z", "step(-1)", "Previous step"),
        Binding("i", "gap(1)", "Next idle gap"),
        Binding("I", "gap(-1)", "Previous idle gap"),
        Binding("e", "holder", "What held the idle gap"),
        Binding("g", "ask_time", "Go to a time"),
        Binding("enter", "details", "Details of the slice"),
        Binding("x", "hide", "Hide the lane"),
        Binding("X", "show_all", "Show all lanes"),
    ]

    # Actions

    def action_zoom(self, factor: int, direction: int) -> None:
        """Zoom at the cursor."""
        self._set_viewport(self._viewport.zoomed(factor, self._at_ns, inwards=direction > 0))
        self._keep_cursor_in_sight()
        self._show()

    def action_pan(self, eighths: int) -> None:
        """Move the visible part."""
        self._set_viewport(self._viewport.panned(eighths))
        self._keep_cursor_in_sight()
        self._show()

    def action_slice(self, direction: int) -> None:
        """Select the next or previous slice of the lane."""
        lane = self._lane
        if lane is None or not len(lane.slice_ids):
            return
        if self._matches is not None:
            found = self._matches.neighbour(lane, self._selection, self._at_ns, direction)
            if found == NO_ID:
                self.post_message(Told(self._matches.reason(lane, direction)))
        else:
            row = lane.row_of(self._selection) if self._selection != NO_ID else NO_ID
            if row == NO_ID:
                row = lane.row_at(self._at_ns)
            else:
                row = min(max(row + direction, 0), len(lane.slice_ids) - 1)
            found = int(lane.slice_ids[row])
        kept = self._row
        self._choose(found)
        self._row = kept
        self._show()

    def action_row(self, direction: int) -> None:
        """Move to another lane and select what is there at this time."""
        self._row = max(0, min(self._row + direction, len(self._rows) - 1))
        self._select_here()

    def _select_here(self) -> None:
        lane, at_ns = self._lane, self._at_ns
        row = lane.row_at(at_ns) if lane else NO_ID
        if lane is not None and row != NO_ID:
            start, end = int(lane.spans.starts[row]), int(lane.spans.ends[row])
            if start < self._viewport.end_ns and end >= self._viewport.start_ns:
                kept = self._row
                self._choose(int(lane.slice_ids[row]))
                self._row = kept
                # The place in time stays, so that going back up ends where it began.
                self._at_ns = at_ns if start <= at_ns <= end else self._at_ns
        self._show()

    def action_same_name(self, direction: int) -> None:
        """Select the next or previous slice of the same name."""
        if self._trace is None or self._selection == NO_ID:
            return
        slices = self._trace.slices
        is_same = slices.name_id == slices.name_id[self._selection]
        if self._matches is not None:
            is_same &= self._matches.is_kept
            is_same[self._selection] = True
        same = np.flatnonzero(is_same)
        same = same[np.argsort(slices.ts_ns[same], kind="stable")]
        place = int(np.flatnonzero(same == self._selection)[0]) + direction
        if 0 <= place < len(same):
            self._choose(int(same[place]))
        self._show()

    def action_fit(self) -> None:
        """Let the selection, or else the range, take most of the room."""
        if self._selection != NO_ID:
            start, end = self._bounds(self._selection)
            self._set_viewport(self._viewport.fitted(start, end))
            self._at_ns = start
        elif self._range:
            self._set_viewport(self._viewport.fitted(*self._range))
        self._keep_cursor_in_sight()
        self._show()

    def action_whole(self) -> None:
        """Show everything."""
        self._set_viewport(Viewport.whole(self._viewport.total_ns))
        self._show()

    def action_range(self) -> None:
        """Begin a range, or end it."""
        start, end = self._cursor_bounds()
        if self._range_anchor is None:
            self._range = None
            self._range_anchor = (start, end)
        else:
            low, high = min(self._range_anchor[0], start), max(self._range_anchor[1], end)
            if low == high:
                self.post_message(Told("a range ends elsewhere than it starts: move, then v"))
            else:
                self._choose_range((low, high))
        self._show()

    def action_range_of_selection(self) -> None:
        """Make the selected slice the range."""
        if self._selection != NO_ID:
            self._choose_range(self._bounds(self._selection))
            self._show()

    def action_pin(self) -> None:
        """Keep the lane at the top, or let it go."""
        key = self._current_key()
        if key is None:
            return
        if key in self._pinned:
            self._pinned.remove(key)
        else:
            self._pinned.append(key)
        self._build_rows(key)
        self._show()

    def action_fold(self) -> None:
        """Show the lane's track in one row."""
        self._set_folded(is_folded=True)

    def action_unfold(self) -> None:
        """Show the lane's track a level a row."""
        self._set_folded(is_folded=False)

    def _set_folded(self, *, is_folded: bool) -> None:
        lane = self._lane
        if lane is None or self._trace is None:
            return
        key = track_key(self._trace.tracks[lane.track_id])
        self._folded[key] = is_folded
        self._build_rows((key, 0, is_folded))
        self._show()

    def action_step(self, direction: int) -> None:
        """Show the next or previous step."""
        if not self._steps:
            self.post_message(Told("no steps: the profiler ran without a schedule"))
            return
        step = next_step(self._steps, self._viewport, self._at_ns, direction)
        self._set_viewport(self._viewport.between(step.start_ns, step.end_ns))
        self._choose(step.slice_id)
        self._keep_cursor_in_sight()
        self._show()

    def action_gap(self, direction: int) -> None:
        """Go to the next or previous gap that is a cell wide."""
        row = self._device_row()
        if self._trace is None or row == NO_ID:
            self.post_message(Told("no idle time: no device work in this trace"))
            return
        device = self._trace.tracks[self._rows[row].lane.track_id].device
        cell_ns = self._viewport.span_ns // self.lanes.plot_width
        gap = next_gap(self._trace, device, self._at_ns, direction, max(cell_ns, 1))
        if gap == NO_ID:
            self.post_message(Told("no further gap a cell wide; w zooms in"))
            return
        found = idle_gaps(self._trace)[device]
        start_ns, end_ns = int(found.start_ns[gap]), int(found.end_ns[gap])
        self._row, self._at_ns = row, (start_ns + end_ns) // 2
        if not self._viewport.start_ns <= self._at_ns < self._viewport.end_ns:
            self._set_viewport(self._viewport.centred(self._at_ns))
        self._show()

    def _device_row(self) -> int:
        """Return the cursor's row if it is a device's, else the first that is, or ``NO_ID``."""
        if self._trace is None or not self._idle:
            return NO_ID
        rows = [
            row
            for row, each in enumerate(self._rows)
            if self._trace.tracks[each.lane.track_id].kind == TrackKind.DEVICE
        ]
        if self._row in rows:
            return self._row
        return rows[0] if rows else NO_ID

    def action_holder(self) -> None:
        """Select the host slice that held the gap under the cursor."""
        gap = self._gap()
        if self._trace is None or gap is None:
            self.post_message(Told("the cursor is in no idle gap; i goes to the next"))
            return
        found = idle_gaps(self._trace)[gap[0]]
        holder, frame = int(found.holder_id[gap[1]]), int(found.source_id[gap[1]])
        if holder == NO_ID and frame == NO_ID:
            self.post_message(Told("nothing that was recorded held this gap"))
            return
        self._selection = NO_ID
        self._choose(holder if holder != NO_ID else frame)
        self._show()

    def action_ask_time(self) -> None:
        """Ask where to go."""
        prompt = self.query_one(TimeInput)
        prompt.value = ""
        prompt.add_class("-asked")
        prompt.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the time that was typed."""
        event.stop()
        at_ns = parse_time(event.value)
        if at_ns is None:
            self.post_message(Told("a time looks like 1.2ms, 340us or 2s"))
        else:
            self._set_viewport(self._viewport.centred(at_ns))
            self._at_ns = at_ns
            self._keep_cursor_in_sight()
        self.on_time_input_cancelled()
        self._show()

    def on_time_input_cancelled(self) -> None:
        """Put the prompt away."""
        self.query_one(TimeInput).remove_class("-asked")
        self.focus_main()

    def action_hide(self) -> None:
        """Hide the lane."""
        key = self._current_key()
        if key is not None:
            self._hidden.add(key)
            self._build_rows()
            self._show()

    def action_show_all(self) -> None:
        """Show every lane that was hidden."""
        self._hidden.clear()
        self._build_rows()
        self._show()

    def on_lanes_widget_pressed(self, message: LanesWidget.Pressed) -> None:
        """Select what was clicked."""
        message.stop()
        self._row, self._at_ns = message.row, message.at_ns
        self._select_here()

    def on_resize(self) -> None:
        """Place the details."""
        self.place_details()

    def on_lanes_widget_resized(self) -> None:
        """Say anew how wide a cell is, and what the rows are called."""
        if self._title_width != self.lanes.title_room:
            self._build_rows()
        self._show()

    # What the main screen asks for

    def copied_text(self) -> str:
        """Return the drawing as text."""
        return self.lanes.text()

    def search(self, pattern: str, *, forward: bool = True) -> bool:
        """Select the next slice whose name contains the pattern."""
        if self._trace is None:
            return False
        found = find_slice(self._trace, pattern, self._selection, forward=forward)
        if found == NO_ID:
            return False
        self._choose(found)
        self._show()
        return True
