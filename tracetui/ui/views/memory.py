"""Memory: what a device held over time, and below it who held the peak."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from tracetui.model.arrays import NO_ID
from tracetui.presentation.memory import MemoryTable, Page
from tracetui.presentation.memory_plot import LEAST_HEIGHT
from tracetui.presentation.roofline_plot import PlotLine
from tracetui.ui.messages import Told
from tracetui.ui.state import Workspace
from tracetui.ui.views.detailed import DetailBody
from tracetui.ui.views.table_view import TableView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList, ListLine
from tracetui.ui.widgets.plot import Plot

_LEAST_ROWS: Final = 5
"""The table keeps at least so many lines."""
_FIXED_ROWS: Final = 2
"""Summary and titles."""
_DETAIL_ROWS: Final = 10
"""What the details take where they stand below."""
_MOST_CHART: Final = 18
_CHART_SHARE: Final = 0.55


class MemoryView(TableView[MemoryTable]):
    """A chart above a table; the row under the cursor is drawn below the chart."""

    name_id: ClassVar[str] = "memory"
    title_text: ClassVar[str] = "Memory"
    short_title: ClassVar[str] = "Mem"
    key: ClassVar[str] = "9"

    waiting: ClassVar[str] = "Looking at the memory …"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "page", "Operators, or the blocks that were there at the peak"),
        Binding("d", "device", "Next device"),
        Binding("p", "chart", "Hide the chart, show it again"),
    ]

    def __init__(self) -> None:
        """Start with the operators of the device that matters most."""
        super().__init__()
        self._page: Page = "operators"
        self._device = ""
        self._has_chart = True

    def compose(self) -> ComposeResult:
        """Build summary, chart, titles, rows and pane."""
        yield Static(classes="listing-summary", markup=False)
        with DetailBody():
            with Vertical(classes="listing-table"):
                yield Plot()
                yield Static(classes="listing-titles", markup=False)
                yield LineList()
            yield DetailPane()

    @property
    def chart(self) -> Plot:
        """Return the chart."""
        return self.query_one(Plot)

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Follow the trace, the filter and the selection; and the stretch of time that is shown."""
        super().watch_workspace(old, new)
        if old is not None and new is not None and old.window != new.window:
            self.chart.show(self._chart_lines)

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

    def titles(self, width: int) -> str:
        """Return the column titles, where there are rows."""
        return super().titles(width) if self.n_rows() else ""

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

    def _chart_lines(self, width: int, height: int) -> list[PlotLine]:
        if self._content is None or self.workspace is None:
            return []
        place = min(self.rows.cursor, self.n_rows() - 1)
        return self._content.chart(width, height, place, self.workspace.window)

    def _fit_chart(self) -> None:
        """Give the chart what the table can spare; nothing where there are no records."""
        details = {"-below": _DETAIL_ROWS, "-asked": self.size.height // 2}
        room = self.size.height - _FIXED_ROWS - details.get(self.place, 0)
        height = min(int(room * _CHART_SHARE), room - _LEAST_ROWS, _MOST_CHART)
        has_records = self._content is not None and self._content.use is not None
        self.chart.display = self._has_chart and has_records and height >= LEAST_HEIGHT
        if self.chart.display:
            self.chart.styles.height = height

    def place_details(self) -> None:
        """Put the pane where the size wants it, and give the chart what is left."""
        super().place_details()
        self._fit_chart()

    def show_rows(self) -> None:
        """Draw summary, chart, titles, rows and pane anew."""
        self._fit_chart()
        super().show_rows()
        self.chart.show(self._chart_lines)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Draw what the row held, and select its slice for all views."""
        super().on_line_list_moved(message)
        self.chart.show(self._chart_lines)

    def copied_text(self) -> str:
        """Return summary, chart, titles and all rows as text."""
        drawn = [line.text.rstrip() for line in self.chart.lines] if self.chart.display else []
        rows = [self.rows.text_of(row).rstrip() for row in range(self.n_rows())]
        return "\n".join([self.summary(), *drawn, self.titles(self.rows.line_width), *rows])

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

    def action_chart(self) -> None:
        """Hide the chart, or show it again."""
        self._has_chart = not self._has_chart
        self.show_rows()
