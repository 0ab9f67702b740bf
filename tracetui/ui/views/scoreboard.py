"""All open traces in one table; any two lead to the comparison."""

from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from tracetui.compare.scoreboard import scoreboard
from tracetui.errors import TraceTuiError
from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.presentation.comparison.scores import Awaited, ScoreTable
from tracetui.ui.messages import (
    BaselineNamed,
    PairChosen,
    TextRequested,
    TraceNamed,
    ViewRequested,
)
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.line_list import LineList, ListLine


class ScoreboardView(ListingView):
    """One row for each trace that is open and whole, and for each that a capture still owes."""

    name_id: ClassVar[str] = "scoreboard"
    title_text: ClassVar[str] = "Scoreboard"
    short_title: ClassVar[str] = "Score"
    key: ClassVar[str] = "6"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pick", "Pick two"),
        Binding("b", "baseline", "Make this the baseline"),
        Binding("e", "tag", "Call this trace something"),
    ]

    awaited: reactive[tuple[Awaited, ...]] = reactive((), repaint=False)
    """The variants of the last capture that have no trace."""

    @dataclass
    class Ready(Message):
        """A thread has measured the traces, or cannot."""

        rivals: Rivals
        table: ScoreTable | None
        error: str = ""

    def __init__(self) -> None:
        """Start without rows."""
        super().__init__()
        self._table: ScoreTable | None = None
        self._message = "Reading …"

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Stay, but for the unit: the table is of all traces, whichever is shown."""
        if new is not None and (old is None or old.unit is not new.unit):
            self.set_unit(new.unit)
            self.show_rows()

    def watch_rivals(self, old: Rivals | None, new: Rivals | None) -> None:
        """Measure anew when a trace comes or goes; mark the baseline."""
        if new is None or not new.traces:
            return
        if self._table is not None and old is not None and old.traces == new.traces:
            self._table.baseline, self._table.names = new.baseline, new.names
            self.show_rows()
            return
        self._measure(new)

    def watch_awaited(self, new: tuple[Awaited, ...]) -> None:
        """Show how far the capture is."""
        if self._table is not None:
            self._table.awaited = new
            self.show_rows()

    @work(thread=True, exclusive=True, group="scoreboard")
    def _measure(self, rivals: Rivals) -> None:
        try:
            table = ScoreTable(scoreboard(rivals.traces), rivals.names, rivals.baseline)
        except TraceTuiError as error:
            self.post_message(self.Ready(rivals, None, clean_text(str(error))))
        else:
            self.post_message(self.Ready(rivals, table))

    def on_scoreboard_view_ready(self, message: Ready) -> None:
        """Show the table unless other traces have taken its place."""
        if self.rivals is not None and self.rivals.traces == message.rivals.traces:
            self._table = self._continued(message.table)
            self._message = f"Not comparable: {message.error}" if message.error else ""
            self.show_rows()

    def _continued(self, table: ScoreTable | None) -> ScoreTable | None:
        """Return a new table with what is awaited, and with what was picked in the old one."""
        old = self._table
        if table is not None:
            table.awaited, table.unit = self.awaited, self.unit
            # Traces that come are the last: those before them keep their places.
            if old is not None and list(table.names[: len(old)]) == list(old.names):
                table.picked = old.picked
        return table

    def on_resize(self) -> None:
        """Lay everything out for the new size."""
        self.place_details()
        self.show_rows()

    def start_computing(self, workspace: Workspace) -> None:
        """Leave it to the traces that come and go."""

    def follow_selection(self, slice_id: int) -> None:
        """Stay: no row is a slice."""

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        if self._table is not None:
            self._table.unit = unit

    def summary(self) -> str:
        """Return which trace is fastest, or what is missing."""
        return self._message if self._table is None else self._table.summary

    def titles(self, width: int) -> str:
        """Return the column titles."""
        return "" if self._table is None else self._table.header(width)

    def n_rows(self) -> int:
        """Return how many traces there are, and variants without one."""
        return 0 if self._table is None else self._table.n_lines

    def line(self, row: int, width: int) -> ListLine:
        """Return one row."""
        if self._table is None:
            return ListLine("")
        return ListLine(self._table.line(row, width), is_dim=self._table.row_at(row) is None)

    def slice_of(self, row: int) -> int:
        """Return no slice: a row is a whole trace."""
        del row
        return NO_ID

    def pane_lines(self, row: int) -> list[str]:
        """Return all figures of a trace."""
        return [] if self._table is None else self._table.details(row)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Say more of the row."""
        message.prevent_default()
        self.show_details()

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Compare the two that are picked, or this one with the baseline."""
        message.prevent_default()
        pair = None if self._table is None else self._table.pair(message.row)
        if pair is not None:
            self.post_message(PairChosen(*pair))
            self.post_message(ViewRequested("compare"))

    def action_pick(self) -> None:
        """Pick the row for the pair, or put it back."""
        if self._table is not None and len(self._table):
            self._table.toggle(self.rows.cursor)
            self.show_rows()

    def action_baseline(self) -> None:
        """Make the row's trace the baseline."""
        row = None if self._table is None else self._table.row_at(self.rows.cursor)
        if row is not None:
            self.post_message(BaselineNamed(row))

    def action_tag(self) -> None:
        """Ask what to call the row's trace."""
        rivals, table = self.rivals, self._table
        row = None if table is None else table.row_at(self.rows.cursor)
        if rivals is None or row is None:
            return

        def typed(text: str) -> None:
            self.post_message(TraceNamed(row, text.strip()))

        self.post_message(TextRequested("call it", rivals.names[row], typed))
