"""What the operator and the kernel view share: a summary, titles, rows, and a pane below."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.table import cut_off
from tracetui.ui.messages import SliceSelected, ViewRequested
from tracetui.ui.state import Workspace
from tracetui.ui.views.detailed import DetailBody, DetailedView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList, ListLine

_WHOLE_WIDTH: Final = 1_000
"""Cells in which every column has room, and a name that is not absurdly long."""
_GAP: Final = re.compile(r"\s{2,}")


class ListingView(DetailedView):
    """Rows computed in a thread; a subclass says what they are."""

    follows_scope: ClassVar[bool] = True
    """Whether the rows are about the range and the filter alone."""

    @dataclass
    class Computed(Message):
        """A thread has the content of a trace ready."""

        trace: Trace
        content: object

    def __init__(self) -> None:
        """Start without rows."""
        super().__init__()
        self._written: dict[str, str] = {}

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

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Compute the content of a new trace or filter; else follow the selection."""
        if new is None:
            return
        is_narrowed = self.follows_scope and old is not None and old.scope != new.scope
        if old is None or old.trace is not new.trace or is_narrowed:
            self.start_computing(new)
        elif old.unit is not new.unit:
            self.set_unit(new.unit)
            self.show_rows()
        elif old.selection != new.selection:
            self.follow_selection(new.selection)

    def start_computing(self, workspace: Workspace) -> None:
        """Start a thread that posts ``Computed``."""
        raise NotImplementedError

    def follow_selection(self, slice_id: int) -> None:
        """Bring the cursor to the row of a slice."""
        raise NotImplementedError

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the first line."""
        raise NotImplementedError

    def titles(self, width: int) -> str:
        """Return the column titles."""
        raise NotImplementedError

    def n_rows(self) -> int:
        """Return how many rows there are."""
        raise NotImplementedError

    def line(self, row: int, width: int) -> ListLine:
        """Return one row."""
        raise NotImplementedError

    def slice_of(self, row: int) -> int:
        """Return the slice that a row stands for."""
        raise NotImplementedError

    def pane_lines(self, row: int) -> list[str]:
        """Return what the pane says of a row."""
        raise NotImplementedError

    def show_rows(self) -> None:
        """Draw summary, titles, rows and pane anew."""
        self.note_layout()
        is_partial = self.workspace is not None and self.workspace.is_loading
        self._write("listing-summary", f"{'So far: ' if is_partial else ''}{self.summary()}")
        self.rows.show(self.n_rows(), self.line)
        self._write("listing-titles", self.titles(self.rows.line_width))
        self.show_details()

    def on_line_list_resized(self) -> None:
        """Put the titles over the columns again: a scroll bar came or went."""
        self._write("listing-titles", self.titles(self.rows.line_width))

    def _write(self, name: str, text: str) -> None:
        line = self.query_one(f".{name}", Static)
        shown = cut_off(text, max(line.size.width, 1))
        if self._written.get(name) != shown:
            self._written[name] = shown
            line.update(Text(shown, no_wrap=True), layout=False)

    def main_widget(self) -> Widget:
        """Return the rows."""
        return self.rows

    def detail_texts(self) -> list[str]:
        """Return what the pane says of the row under the cursor."""
        return self.pane_lines(self.rows.cursor) if self.n_rows() else ["Nothing is listed."]

    def on_resize(self) -> None:
        """Lay the rows out for the new width."""
        if self.is_laid_out:
            return
        self.place_details()
        if self.workspace is not None:
            self.show_rows()

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Say more of the row, and select its slice for all views."""
        self.show_details()
        if message.row < self.n_rows() and self.rows.has_focus:
            self.post_message(SliceSelected(self.slice_of(message.row)))

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Show the details where these are away, else lead to the timeline."""
        if not self.ask_for_details() and message.row < self.n_rows():
            self.post_message(ViewRequested("timeline", self.slice_of(message.row)))

    def copied_text(self) -> str:
        """Return summary, titles and all rows as text."""
        rows = [self.rows.text_of(row).rstrip() for row in range(self.n_rows())]
        return "\n".join([self.summary(), self.titles(self.rows.line_width), *rows])

    def copied_row(self) -> str:
        """Return titles and values of the row under the cursor, all columns, tabs between them."""
        if not self.n_rows():
            return ""
        lines = (self.titles(_WHOLE_WIDTH), self.line(self.rows.cursor, _WHOLE_WIDTH).text)
        return "\n".join(_GAP.sub("\t", line.strip()) for line in lines)

    def slice_at_cursor(self) -> int:
        """Return the slice that the row under the cursor stands for."""
        return self.slice_of(self.rows.cursor) if self.n_rows() else NO_ID

    def name_of_row(self, row: int) -> str:
        """Return what a search looks at."""
        return self.rows.text_of(row)

    def search(self, pattern: str, *, forward: bool = True) -> bool:
        """Move to the next row whose name contains the pattern, around the end."""
        return self.rows.find(pattern, self.name_of_row, forward=forward)
