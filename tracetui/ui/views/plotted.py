"""What views share that draw a plot above a table, with one cursor for both."""

from collections.abc import Iterable
from typing import ClassVar, Final, Generic

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from tracetui.presentation.roofline_plot import PlotLine
from tracetui.ui.views.detailed import DetailBody
from tracetui.ui.views.table_view import Rowed, TableView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList
from tracetui.ui.widgets.plot import Plot

_LEAST_ROWS: Final = 5
"""The table keeps at least so many lines."""
_FIXED_ROWS: Final = 2
"""Summary and titles."""
_DETAIL_ROWS: Final = 10
"""What the details take where they stand below."""
_PLOT_SHARE: Final = 0.55


class PlottedView(TableView[Rowed], Generic[Rowed]):
    """A plot above a table; it gets the lines that the table can spare."""

    least_plot_lines: ClassVar[int]
    """With less than this nothing can be drawn."""
    most_plot_lines: ClassVar[int]

    def __init__(self) -> None:
        """Start with the plot in sight."""
        super().__init__()
        self._is_plot_wanted = True

    def plot_lines(self, width: int, height: int) -> list[PlotLine]:
        """Return the plot for a size in cells; nothing before there is content."""
        raise NotImplementedError

    def has_plot(self) -> bool:
        """Return whether there is something to draw."""
        raise NotImplementedError

    def prompts(self) -> Iterable[Widget]:
        """Return what stands below everything else."""
        return ()

    def compose(self) -> ComposeResult:
        """Build summary, plot, titles, rows and pane."""
        yield Static(classes="listing-summary", markup=False)
        with DetailBody():
            with Vertical(classes="listing-table"):
                yield Plot()
                yield Static(classes="listing-titles", markup=False)
                yield LineList()
            yield DetailPane()
        yield from self.prompts()

    @property
    def plot(self) -> Plot:
        """Return the plot."""
        return self.query_one(Plot)

    def titles(self, width: int) -> str:
        """Return the column titles, where there are rows."""
        return super().titles(width) if self.n_rows() else ""

    def _fit_plot(self) -> None:
        """Give the plot what the table can spare."""
        details = {"-below": _DETAIL_ROWS, "-asked": self.size.height // 2}
        room = self.size.height - _FIXED_ROWS - details.get(self.place, 0)
        height = min(int(room * _PLOT_SHARE), room - _LEAST_ROWS, self.most_plot_lines)
        has_room = height >= self.least_plot_lines
        self.plot.display = self._is_plot_wanted and has_room and self.has_plot()
        if self.plot.display:
            self.plot.styles.height = height

    def place_details(self) -> None:
        """Put the pane where the size wants it, and give the plot what is left."""
        super().place_details()
        self._fit_plot()

    def draw_plot(self) -> None:
        """Draw the plot anew."""
        self.plot.show(self.plot_lines)

    def show_rows(self) -> None:
        """Draw summary, plot, titles, rows and pane anew."""
        self._fit_plot()
        super().show_rows()
        self.draw_plot()

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Mark the row in the plot, and select its slice for all views."""
        super().on_line_list_moved(message)
        self.draw_plot()

    def copied_text(self) -> str:
        """Return summary, plot, titles and all rows as text."""
        drawn = [line.text.rstrip() for line in self.plot.lines] if self.plot.display else []
        rows = [self.rows.text_of(row).rstrip() for row in range(self.n_rows())]
        return "\n".join([self.summary(), *drawn, self.titles(self.rows.line_width), *rows])

    def action_plot(self) -> None:
        """Hide the plot, or show it again."""
        self._is_plot_wanted = not self._is_plot_wanted
        self.show_rows()
