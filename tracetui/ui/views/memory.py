"""Memory: what a device held over time, and below it who held the peak."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from tracetui.model.arrays import NO_ID
from tracetui.presentation.memory import MemoryTable, Page
from tracetui.presentation.memory_plot import LEAST_HEIGHT
from tracetui.presentation.roofline_plot import PlotLine
from tracetui.ui.messages import Told
from tracetui.ui.state import Workspace
from tracetui.ui.views.plotted import PlottedView
from tracetui.ui.widgets.line_list import ListLine


class MemoryView(PlottedView[MemoryTable]):
    """A chart above a table; the row under the cursor is drawn below the chart."""

    name_id: ClassVar[str] = "memory"
    title_text: ClassVar[str] = "Memory"
    short_title: ClassVar[str] = "Mem"
    key: ClassVar[str] = "9"

    waiting: ClassVar[str] = "Looking at the memory …"
    least_plot_lines: ClassVar[int] = LEAST_HEIGHT
    most_plot_lines: ClassVar[int] = 18

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "page", "Operators, or the blocks that were there at the peak"),
        Binding("d", "device", "Next device"),
        Binding("p", "plot", "Hide the chart, show it again"),
    ]

    def __init__(self) -> None:
        """Start with the operators of the device that matters most."""
        super().__init__()
        self._page: Page = "operators"
        self._device = ""

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Follow the trace, the filter and the selection; and the stretch of time that is shown."""
        super().watch_workspace(old, new)
        if old is not None and new is not None and old.window != new.window:
            self.draw_plot()

    def content_of(self, workspace: Workspace) -> Callable[[], MemoryTable]:
        """Return what makes the table."""
        return partial(
            MemoryTable.of,
            workspace.trace,
            workspace.scope,
            device=self._device,
            page=self._page,
        )

    def take_over(self, old: MemoryTable, new: MemoryTable) -> None:
        """Keep the order, where the columns are the same."""
        if old.page == new.page:
            new.table.sort_like(old.table)

    def line(self, row: int, width: int) -> ListLine:
        """Return one row, in no colour of its own."""
        content = self.content_at(row)
        return ListLine("" if content is None else content.line(row, width))

    def pane_lines(self, row: int) -> list[str]:
        """Return what is known of a row, what ran at the peak, and the details of its slice."""
        if (content := self.content_at(row)) is None:
            return []
        lines = [*content.row_lines(row), "", *content.peak_lines()]
        slice_id = content.slice_at(row)
        if slice_id != NO_ID:
            title = "Who asked" if content.page == "blocks" else "The call with most of it"
            lines += ["", title, *self.details_of(content.trace, slice_id)]
        return lines

    def detail_texts(self) -> list[str]:
        """Return what the pane says; where there are no rows, why."""
        if self.n_rows() or self._content is None:
            return super().detail_texts()
        return [self._content.empty_text, *self._content.peak_lines()]

    def plot_lines(self, width: int, height: int) -> list[PlotLine]:
        """Return the chart for a size in cells, of the stretch of time that is shown."""
        if self._content is None or self.workspace is None:
            return []
        place = min(self.rows.cursor, self.n_rows() - 1)
        return self._content.chart(width, height, place, self.workspace.window)

    def has_plot(self) -> bool:
        """Return whether the file has records of memory."""
        return self._content is not None and self._content.use is not None

    def action_page(self) -> None:
        """List operators, or the blocks that were there at the peak."""
        self._page = "blocks" if self._page == "operators" else "operators"
        self._hidden = frozenset()
        self.rows.cursor = 0
        self.compute_anew()

    def action_device(self) -> None:
        """Show the next device."""
        if self._content is None or self._content.use is None:
            return
        following = self._content.next_device()
        if following == self._content.device:
            self.post_message(Told(f"{following} is the only device with memory records"))
            return
        self._device = following
        self.compute_anew()
