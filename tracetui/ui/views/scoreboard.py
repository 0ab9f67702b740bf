"""All open traces in one table; any two lead to the comparison."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tracetui.compare.scoreboard import scoreboard
from tracetui.errors import TraceTuiError
from tracetui.model.strings import clean_text
from tracetui.presentation.comparison.scores import ScoreTable
from tracetui.presentation.table import cut_off
from tracetui.ui.messages import PairChosen, ViewRequested
from tracetui.ui.state import Rivals
from tracetui.ui.views.detailed import DetailBody, DetailedView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList, ListLine


class ScoreboardView(DetailedView):
    """One row for each trace that is open and whole."""

    name_id: ClassVar[str] = "scoreboard"
    title_text: ClassVar[str] = "Scoreboard"
    short_title: ClassVar[str] = "Score"
    key: ClassVar[str] = "6"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pick", "Pick two"),
        Binding("b", "baseline", "Make this the baseline"),
    ]

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

    def compose(self) -> ComposeResult:
        """Build summary, titles, rows and pane."""
        yield Static(classes="listing-summary", markup=False)
        with DetailBody():
            with Vertical(classes="listing-table"):
                yield Static(classes="listing-titles", markup=False)
                yield LineList()
            yield DetailPane()

    @property
    def rows(self) -> LineList:
        """Return the list of rows."""
        return self.query_one(LineList)

    def watch_rivals(self, old: Rivals | None, new: Rivals | None) -> None:
        """Measure anew when a trace comes or goes; mark the baseline."""
        if new is None or not new.traces:
            return
        if self._table is not None and old is not None and old.traces == new.traces:
            self._table.baseline = new.baseline
            self._show()
            return
        self._measure(new)

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
            self._table = message.table
            self._message = f"Not comparable: {message.error}" if message.error else ""
            self._show()

    def _show(self) -> None:
        table, summary = self._table, self.query_one(".listing-summary", Static)
        text = self._message if table is None else table.summary
        summary.update(Text(cut_off(text, max(summary.size.width, 1)), no_wrap=True))
        self.rows.show(0 if table is None else len(table), self._line)
        self._write_titles()
        self.show_details()

    def _line(self, row: int, width: int) -> ListLine:
        return ListLine("" if self._table is None else self._table.line(row, width))

    def _write_titles(self) -> None:
        text = "" if self._table is None else self._table.header(self.rows.line_width)
        self.query_one(".listing-titles", Static).update(Text(text, no_wrap=True))

    def on_line_list_resized(self) -> None:
        """Put the titles over the columns again."""
        self._write_titles()

    def on_resize(self) -> None:
        """Lay everything out for the new size."""
        self.place_details()
        self._show()

    def main_widget(self) -> Widget:
        """Return the rows."""
        return self.rows

    def detail_texts(self) -> list[str]:
        """Return what the pane says of the row under the cursor."""
        table = self._table
        return [] if table is None or not len(table) else table.details(self.rows.cursor)

    def copied_text(self) -> str:
        """Return summary, titles and all rows as text."""
        table, width = self._table, self.rows.line_width
        if table is None:
            return self._message
        lines = [table.line(row, width).rstrip() for row in range(len(table))]
        return "\n".join([table.summary, table.header(width), *lines])

    def search(self, pattern: str, *, forward: bool = True) -> bool:
        """Move to the next row that contains the pattern, around the end."""
        n, step = self.rows.n_rows, 1 if forward else -1
        for distance in range(1, n + 1):
            row = (self.rows.cursor + step * distance) % n
            if pattern.lower() in self.rows.text_of(row).lower():
                self.rows.cursor = row
                return True
        return False

    def on_line_list_moved(self) -> None:
        """Say more of the row."""
        self.show_details()

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Compare the two that are picked, or this one with the baseline."""
        table = self._table
        pair = None if table is None else table.pair(message.row)
        if pair is not None:
            self.post_message(PairChosen(*pair))
            self.post_message(ViewRequested("compare"))

    def action_pick(self) -> None:
        """Pick the row for the pair, or put it back."""
        if self._table is not None and len(self._table):
            self._table.toggle(self.rows.cursor)
            self._show()

    def action_baseline(self) -> None:
        """Make the row's trace the baseline."""
        rivals, table = self.rivals, self._table
        if rivals is None or table is None or not len(table):
            return
        row = table.row_at(self.rows.cursor)
        other = rivals.candidate if rivals.candidate != row else rivals.baseline
        self.post_message(PairChosen(row, other))
