"""What views with columns share: sorting, choosing columns, and following the selection."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from textual import work
from textual.binding import Binding, BindingType

from tracetui.errors import UsageError
from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.table import Column, Table
from tracetui.ui.state import Workspace
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.column_chooser import ColumnsScreen
from tracetui.ui.widgets.line_list import ListLine


class InColumns(Protocol):
    """What is shown in columns, made of a trace."""

    hidden: frozenset[int]
    """The columns that are not shown."""
    unit: TimeUnit
    """How times are written."""

    @property
    def columns(self) -> Sequence[Column]:
        """Return the columns; the first names the row."""

    @property
    def summary(self) -> str:
        """Return what was found, in one line."""

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""

    def header(self, width: int) -> str:
        """Return the column titles."""

    @property
    def sorting(self) -> tuple[int | None, bool]:
        """Return the column that the rows are sorted by, if any, and whether it is turned round."""

    def sort_as(self, column: int, *, is_inverted: bool) -> None:
        """Sort by a column."""

    def sort_by_next(self, width: int) -> None:
        """Sort by the next of the columns in sight."""

    def invert(self) -> None:
        """Turn the order round."""


class InRows(InColumns, Protocol):
    """The same where each row has its place in a table, and stands for a slice."""

    table: Table

    def n_rows(self) -> int:
        """Return how many rows there are."""

    def line(self, place: int, width: int) -> str:
        """Return one row."""

    def work_class(self, place: int) -> int:
        """Return the class of a row's work."""

    def slice_at(self, place: int) -> int:
        """Return the slice that a row stands for."""

    def place_of_slice(self, slice_id: int) -> int:
        """Return the row of a slice, or -1."""


Columned = TypeVar("Columned", bound=InColumns)
Rowed = TypeVar("Rowed", bound=InRows)


class ColumnsView(ListingView, Generic[Columned]):
    """One content in columns at a time; a subclass says how it is made of a workspace."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "Sort by the next column"),
        Binding("i", "invert", "Turn the order round"),
        Binding("S", "columns", "Choose the columns"),
    ]

    waiting: ClassVar[str] = ""
    """The first line until there is a content."""

    def __init__(self) -> None:
        """Start without a content."""
        super().__init__()
        self._content: Columned | None = None
        self._complaint = ""
        self._hidden: frozenset[int] = frozenset()
        self._wanted: Mapping[str, Any] = {}
        """How the first content is to be laid out."""

    def content_of(self, workspace: Workspace) -> Callable[[], Columned]:
        """Return what makes the content of a workspace; it is called in a thread.

        It may raise ``UsageError`` where what the user typed cannot be understood.
        """
        raise NotImplementedError

    def take_over(self, old: Columned, new: Columned) -> None:
        """Make a new content look as the old one did: its order, what it hides."""

    def settle(self, slice_id: int, *, is_first: bool) -> None:
        """Find the selection in a new content."""
        del is_first
        self.follow_selection(slice_id)

    def show_content(self) -> None:
        """Draw another content."""
        self.show_rows()

    def refuse(self, complaint: str) -> None:
        """Say what is wrong with what was typed, in place of the summary."""
        self._complaint = complaint
        self.show_rows()

    def kept_layout(self) -> dict[str, Any]:
        """Return order and hidden columns, by title: another version may have other columns."""
        content = self._content
        if content is None:
            return dict(self._wanted)
        titles = [column.title for column in content.columns]
        column, is_inverted = content.sorting
        return {
            "hidden": sorted(titles[place] for place in self._hidden if place < len(titles)),
            "sort": None if column is None else titles[column],
            "is_inverted": is_inverted,
        }

    def lay_out(self, layout: Mapping[str, Any]) -> None:
        """Take this layout with the first content."""
        self._wanted = layout

    def _take_layout(self, content: Columned) -> None:
        wanted, self._wanted = self._wanted, {}
        titles = [column.title for column in content.columns]
        hidden = wanted.get("hidden")
        if isinstance(hidden, list):
            self._hidden = frozenset(titles.index(title) for title in hidden if title in titles)
        if wanted.get("sort") in titles:
            content.sort_as(
                titles.index(wanted["sort"]), is_inverted=wanted.get("is_inverted") is True
            )

    def compute_anew(self) -> None:
        """Make the content again, after what it is made of changed here."""
        if self.workspace is not None:
            self.start_computing(self.workspace)

    def start_computing(self, workspace: Workspace) -> None:
        """Make the content in a thread."""
        self._compute(workspace.trace, self.content_of(workspace), workspace.unit)

    @work(thread=True, exclusive=True, group="table")
    def _compute(self, trace: Trace, content_of: Callable[[], Columned], unit: TimeUnit) -> None:
        content: Columned | str
        try:
            content = content_of()
            content.set_unit(unit)
        except UsageError as error:
            content = str(error)
        self.post_message(self.Computed(trace, content))

    def on_listing_view_computed(self, message: ListingView.Computed) -> None:
        """Show the content unless another trace has taken its place."""
        workspace = self.workspace
        if workspace is None or message.trace is not workspace.trace:
            return
        if isinstance(message.content, str):
            self.refuse(message.content)
            return
        # Only `_compute` posts it, with what `content_of` made.
        old, new = self._content, cast("Columned", message.content)
        if self._wanted:
            self._take_layout(new)
        self._content, self._complaint = new, ""
        new.hidden = self._hidden
        if new.unit is not workspace.unit:
            new.set_unit(workspace.unit)
        if old is not None:
            self.take_over(old, new)
        self.show_content()
        self.settle(workspace.selection, is_first=old is None)

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        if self._content is not None:
            self._content.set_unit(unit)

    def summary(self) -> str:
        """Return what was found, or what is wrong with the filter."""
        if self._complaint:
            return self._complaint
        return self.waiting if self._content is None else self._content.summary

    def titles(self, width: int) -> str:
        """Return the column titles."""
        return "" if self._content is None else self._content.header(width)

    def reorder(self, change: Callable[[], None]) -> None:
        """Put the rows in another order."""
        change()
        self.show_rows()

    def action_sort(self) -> None:
        """Sort by the next of the columns in sight."""
        if (content := self._content) is not None:
            self.reorder(lambda: content.sort_by_next(self.rows.line_width))

    def action_invert(self) -> None:
        """Turn the order round."""
        if self._content is not None:
            self.reorder(self._content.invert)

    def action_columns(self) -> None:
        """Choose which columns are shown."""
        if self._content is not None:
            titles = [column.title for column in self._content.columns]
            self.app.push_screen(ColumnsScreen(titles, self._hidden), self._show_columns)

    def _show_columns(self, hidden: frozenset[int] | None) -> None:
        if hidden is not None and self._content is not None:
            self._hidden = self._content.hidden = hidden
            self.show_rows()


class TableView(ColumnsView[Rowed], Generic[Rowed]):
    """Rows that stay where they are, each in the colour of its class of work."""

    def take_over(self, old: Rowed, new: Rowed) -> None:
        """Keep the order."""
        new.table.sort_like(old.table)

    def follow_selection(self, slice_id: int) -> None:
        """Go to the row of the selected slice, unless the cursor is here."""
        if self._content is not None and not self.rows.has_focus:
            place = self._content.place_of_slice(slice_id)
            if place >= 0:
                self.rows.cursor = place

    def n_rows(self) -> int:
        """Return how many rows there are."""
        return 0 if self._content is None else self._content.n_rows()

    def content_at(self, row: int) -> Rowed | None:
        """Return the content if it has such a row: the list may ask for one that is gone."""
        return self._content if row < self.n_rows() else None

    def line(self, row: int, width: int) -> ListLine:
        """Return one row in the colour of its class."""
        if (content := self.content_at(row)) is None:
            return ListLine("")
        return ListLine(content.line(row, width), content.work_class(row))

    def slice_of(self, row: int) -> int:
        """Return the slice that a row stands for."""
        content = self.content_at(row)
        return NO_ID if content is None else content.slice_at(row)
