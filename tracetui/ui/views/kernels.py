"""The kernels: a table, and the distribution of the one under the cursor."""

from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from tracetui.errors import UsageError
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.kernels import KernelTable
from tracetui.ui.state import Workspace
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.line_list import ListLine


class KernelsView(ListingView):
    """A virtual table of the kernels by name."""

    name_id: ClassVar[str] = "kernels"
    title_text: ClassVar[str] = "Kernels"
    short_title: ClassVar[str] = "Kern"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort(1)", "Sort by the next column"),
        Binding("S", "sort(-1)", "Sort by the column before"),
        Binding("i", "invert", "Turn the order round"),
    ]

    def __init__(self) -> None:
        """Start without a table."""
        super().__init__()
        self._content: KernelTable | None = None
        self._complaint = ""

    def start_computing(self, workspace: Workspace) -> None:
        """Compute the table in a thread."""
        self._compute(workspace.trace, workspace.filter_text)

    @work(thread=True, exclusive=True, group="kernels")
    def _compute(self, trace: Trace, filter_text: str) -> None:
        try:
            content: object = KernelTable.of(trace, filter_text)
        except UsageError as error:
            content = f"Filter: {error}"
        self.post_message(self.Computed(trace, content))

    def on_listing_view_computed(self, message: ListingView.Computed) -> None:
        """Show the table unless another trace has taken its place."""
        if self.workspace is None or message.trace is not self.workspace.trace:
            return
        if isinstance(message.content, KernelTable):
            self._content, self._complaint = message.content, ""
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
        return "" if self._content is None else self._content.header(width)

    def n_rows(self) -> int:
        """Return how many kernels the filter keeps."""
        return 0 if self._content is None else len(self._content.table)

    def line(self, row: int, width: int) -> ListLine:
        """Return one row in the colour of its class."""
        if self._content is None or row >= self.n_rows():
            return ListLine("")
        return ListLine(self._content.line(row, width), self._content.work_class(row))

    def slice_of(self, row: int) -> int:
        """Return the longest run of a row."""
        return NO_ID if self._content is None else self._content.slice_at(row)

    def pane_lines(self, row: int, width: int) -> list[str]:
        """Return the distribution of a row."""
        return [] if self._content is None else self._content.distribution(row, width)

    def action_sort(self, by: int) -> None:
        """Sort by a neighbouring column."""
        if self._content is not None:
            self._content.table.sort_by(self._content.table.sort_column + by)
            self.show_rows()

    def action_invert(self) -> None:
        """Turn the order round."""
        if self._content is not None:
            self._content.table.invert()
            self.show_rows()
