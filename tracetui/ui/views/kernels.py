"""The kernels: a table, and the distribution of the one under the cursor."""

from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from tracetui.errors import UsageError
from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.kernels import KernelTable
from tracetui.presentation.scope import Scope
from tracetui.ui.state import Workspace
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.column_chooser import ColumnsScreen
from tracetui.ui.widgets.line_list import ListLine


class KernelsView(ListingView):
    """A virtual table of the kernels by name."""

    name_id: ClassVar[str] = "kernels"
    title_text: ClassVar[str] = "Kernels"
    short_title: ClassVar[str] = "Kern"
    key: ClassVar[str] = "4"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "Sort by the next column"),
        Binding("S", "columns", "Choose the columns"),
        Binding("i", "invert", "Turn the order round"),
        Binding("x", "copies", "Hide copies and memsets"),
    ]

    def __init__(self) -> None:
        """Start without a table."""
        super().__init__()
        self._content: KernelTable | None = None
        self._complaint = ""
        self._has_copies = True
        self._hidden: frozenset[int] = frozenset()

    def start_computing(self, workspace: Workspace) -> None:
        """Compute the table in a thread."""
        self._compute(workspace.trace, workspace.scope, workspace.unit, self._has_copies)

    @work(thread=True, exclusive=True, group="kernels")
    def _compute(
        self,
        trace: Trace,
        scope: Scope,
        unit: TimeUnit,
        with_copies: bool,  # noqa: FBT001 - a worker's arguments are positional
    ) -> None:
        content: KernelTable | str
        try:
            content = KernelTable.of(trace, scope, with_copies=with_copies)
            content.set_unit(unit)
        except UsageError as error:
            content = str(error)
        self.post_message(self.Computed(trace, content))

    def on_listing_view_computed(self, message: ListingView.Computed) -> None:
        """Show the table unless another trace has taken its place."""
        if self.workspace is None or message.trace is not self.workspace.trace:
            return
        if isinstance(message.content, KernelTable):
            old, self._content, self._complaint = self._content, message.content, ""
            self._content.table.hidden = self._hidden
            if old is not None:
                self._content.table.sort_like(old.table)
        else:
            self._complaint = str(message.content)
        self.show_rows()
        self.follow_selection(self.workspace.selection)

    def follow_selection(self, slice_id: int) -> None:
        """Go to the selected kernel, unless the cursor is here."""
        if self._content is not None and not self.rows.has_focus:
            place = self._content.place_of_slice(slice_id)
            if place >= 0:
                self.rows.cursor = place

    def summary(self) -> str:
        """Return what the table holds, or what is wrong with the filter."""
        if self._complaint:
            return self._complaint
        return "Computing the kernels …" if self._content is None else self._content.summary

    def titles(self, width: int) -> str:
        """Return the column titles."""
        return "" if self._content is None else self._content.table.header(width)

    def n_rows(self) -> int:
        """Return how many kernels the filter keeps."""
        return 0 if self._content is None else len(self._content.table)

    def line(self, row: int, width: int) -> ListLine:
        """Return one row in the colour of its class."""
        if self._content is None or row >= self.n_rows():
            return ListLine("")
        return ListLine(self._content.table.line(row, width), self._content.work_class(row))

    def slice_of(self, row: int) -> int:
        """Return the longest run of a row."""
        return NO_ID if self._content is None else self._content.slice_at(row)

    def pane_lines(self, row: int) -> list[str]:
        """Return the distribution of a row, then the details of its longest run."""
        if self._content is None or row >= self.n_rows():
            return []
        width = self.details.text_width
        lines = self.details_of(self._content.trace, self.slice_of(row))
        return [*self._content.distribution(row, width), "", "The longest run", *lines[1:]]

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        if self._content is not None:
            self._content.set_unit(unit)

    def action_sort(self) -> None:
        """Sort by the next of the columns in sight."""
        if self._content is not None:
            self._content.table.sort_by_next(self.rows.line_width)
            self.show_rows()

    def action_invert(self) -> None:
        """Turn the order round."""
        if self._content is not None:
            self._content.table.invert()
            self.show_rows()

    def action_copies(self) -> None:
        """Hide copies and memsets, or list them again."""
        self._has_copies = not self._has_copies
        if self.workspace is not None:
            self.start_computing(self.workspace)

    def action_columns(self) -> None:
        """Choose which columns are shown."""
        if self._content is not None:
            table = self._content.table
            titles = [column.title for column in table.columns]
            self.app.push_screen(ColumnsScreen(titles, table.hidden), self._show_columns)

    def _show_columns(self, hidden: frozenset[int] | None) -> None:
        if hidden is not None and self._content is not None:
            self._hidden = self._content.table.hidden = hidden
            self.show_rows()
