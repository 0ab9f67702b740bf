"""The roofline: each operator below the roofs of its device, as a plot and as a table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tracetui.analysis.host_peaks import given_rates
from tracetui.analysis.roofline import Roofline
from tracetui.errors import UsageError
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.roofline import By, RooflineTable, point_lines
from tracetui.presentation.roofline_plot import PlotLine, nearest_point, plot_lines, plottable
from tracetui.ui.messages import Told
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views.detailed import DetailBody
from tracetui.ui.views.table_view import TableView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList
from tracetui.ui.widgets.plot import Plot

_LEAST_ROWS: Final = 5
"""The table keeps at least so many lines."""
_FIXED_ROWS: Final = 2
"""Summary and titles."""
_DETAIL_ROWS: Final = 10
"""What the details take where they stand below."""
_MOST_PLOT: Final = 22
_PLOT_SHARE: Final = 0.55


class RoofInput(Input):
    """Asks what the device can do."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    @dataclass
    class Cancelled(Message):
        """The user thought better of it."""

    def action_cancel(self) -> None:
        """Give up."""
        self.post_message(self.Cancelled())


def _table(trace: Trace, by: By, peak_text: str) -> RooflineTable:
    try:
        rates = given_rates(peak_text) if peak_text else None
    except ValueError as error:
        raise UsageError(str(error)) from error
    return RooflineTable.of(trace, rates, by=by)


class RooflineView(TableView[RooflineTable]):
    """A plot above a table; one cursor for both."""

    name_id: ClassVar[str] = "roofline"
    title_text: ClassVar[str] = "Roofline"
    short_title: ClassVar[str] = "Roof"
    key: ClassVar[str] = "8"

    follows_scope: ClassVar[bool] = False
    waiting: ClassVar[str] = "Computing the roofline …"

    DEFAULT_CSS: ClassVar[str] = """
    RooflineView RoofInput { display: none; height: 1; border: none; padding: 0 1; }
    RooflineView RoofInput.-asked { display: block; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "by_class", "By operator and shapes, or by class of work"),
        Binding("P", "peaks", "Give the device's roofs"),
        Binding("p", "plot", "Hide the plot, show it again"),
        Binding("a", "arrows", "Where the same work stands in the other trace"),
    ]

    def __init__(self) -> None:
        """Start without points."""
        super().__init__()
        self._by: By = "operator"
        self._has_plot = True
        self._peak_text = ""
        """What the user says the device can do; empty leaves it to the table of devices."""
        self._other: Roofline | None = None
        """The other trace's points, while they are drawn too."""

    def compose(self) -> ComposeResult:
        """Build summary, plot, titles, rows and pane."""
        yield Static(classes="listing-summary", markup=False)
        with DetailBody():
            with Vertical(classes="listing-table"):
                yield Plot()
                yield Static(classes="listing-titles", markup=False)
                yield LineList()
            yield DetailPane()
        yield RoofInput(placeholder="bf16=989e12,bw=3.35e12, or host to measure this machine")

    @property
    def plot(self) -> Plot:
        """Return the plot."""
        return self.query_one(Plot)

    @dataclass
    class OtherComputed(Message):
        """A thread has the points of the other trace."""

        trace: Trace
        line: Roofline

    def watch_rivals(self, old: Rivals | None, new: Rivals | None) -> None:
        """Draw one trace alone when the pair changes."""
        del old, new
        self._other = None

    def action_arrows(self) -> None:
        """Draw where the same work stands in the other trace of the pair, or no longer."""
        rivals, workspace = self.rivals, self.workspace
        if self._other is not None:
            self._other = None
            self.show_rows()
        elif workspace is None or rivals is None or rivals.pair is None:
            self.post_message(Told("one trace is open; arrows take two"))
        else:
            first, second = rivals.pair
            self._compute_other(second if workspace.trace is first else first, self._by)

    @work(thread=True, exclusive=True, group="roofline-other")
    def _compute_other(self, trace: Trace, by: By) -> None:
        self.post_message(self.OtherComputed(trace, RooflineTable.of(trace, None, by=by).roofline))

    def on_roofline_view_other_computed(self, message: OtherComputed) -> None:
        """Draw both, unless the pair is another by now."""
        if self.rivals is None or self.rivals.pair is None:
            return
        if message.trace in self.rivals.pair:
            self._other = message.line
            self.show_rows()

    def start_computing(self, workspace: Workspace) -> None:
        """Compute the points; the other trace's are drawn beside those of one pair alone."""
        if self._content is not None and self._content.trace is not workspace.trace:
            self._other = None
        super().start_computing(workspace)

    def content_of(self, workspace: Workspace) -> Callable[[], RooflineTable]:
        """Return what makes the points."""
        return partial(_table, workspace.trace, self._by, self._peak_text)

    def refuse(self, complaint: str) -> None:
        """Say what is wrong with the roofs that were typed, and go back to the table's."""
        self._peak_text = ""
        self.post_message(Told(complaint))

    def titles(self, width: int) -> str:
        """Return the column titles, where there are rows."""
        return super().titles(width) if self.n_rows() else ""

    def pane_lines(self, row: int) -> list[str]:
        """Return what a point attains and what holds it back."""
        if (content := self.content_at(row)) is None:
            return []
        return point_lines(content.roofline, content.point_at(row), self.unit)

    def detail_texts(self) -> list[str]:
        """Return what the pane says; where there are no points, why."""
        return super().detail_texts() if self.n_rows() else [self.summary()]

    def _plot_lines(self, width: int, height: int) -> list[PlotLine]:
        if self._content is None:
            return []
        return plot_lines(
            self._content.roofline,
            width,
            height,
            self._selected_point(),
            baseline=self._other,
            ascii_only=bool(getattr(self.app, "ascii_only", False)),
        )

    def _selected_point(self) -> int:
        if self._content is None or not self.n_rows():
            return NO_ID
        return int(self._content.table.order[min(self.rows.cursor, self.n_rows() - 1)])

    def _fit_plot(self) -> None:
        """Give the plot what the table can spare; nothing where there are no points."""
        details = {"-below": _DETAIL_ROWS, "-asked": self.size.height // 2}
        room = self.size.height - _FIXED_ROWS - details.get(self.place, 0)
        height = min(int(room * _PLOT_SHARE), room - _LEAST_ROWS, _MOST_PLOT)
        has_points = self._content is not None and bool(plottable(self._content.roofline))
        is_shown = self._has_plot and height > 0 and self.n_rows() > 0 and has_points
        self.plot.display = is_shown
        if is_shown:
            self.plot.styles.height = height

    def place_details(self) -> None:
        """Put the pane where the size wants it, and give the plot what is left."""
        super().place_details()
        self._fit_plot()

    def show_rows(self) -> None:
        """Draw summary, plot, titles, rows and pane anew."""
        self._fit_plot()
        super().show_rows()
        self.plot.show(self._plot_lines)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Mark the point of the row, and select its longest call for all views."""
        super().on_line_list_moved(message)
        self.plot.show(self._plot_lines)

    def on_plot_pressed(self, message: Plot.Pressed) -> None:
        """Go to the row of the point that was clicked."""
        message.stop()
        if self._content is None:
            return
        size = self.plot.size
        point = nearest_point(
            self._content.roofline, size.width, size.height, message.row, message.column
        )
        place = NO_ID if point == NO_ID else self._content.table.place_of(point)
        if place >= 0:
            self.rows.focus(scroll_visible=False)
            self.rows.cursor = place

    def copied_text(self) -> str:
        """Return summary, plot, titles and all rows as text."""
        drawn = [line.text.rstrip() for line in self.plot.lines] if self.plot.display else []
        rows = [self.rows.text_of(row).rstrip() for row in range(self.n_rows())]
        return "\n".join([self.summary(), *drawn, self.titles(self.rows.line_width), *rows])

    def action_by_class(self) -> None:
        """Make points of operators with their shapes, or of classes of work."""
        self._by = "class" if self._by == "operator" else "operator"
        self._other = None
        self.compute_anew()

    def action_peaks(self) -> None:
        """Ask for the roofs; nothing typed brings the table's back."""
        prompt = self.query_one(RoofInput)
        prompt.value = self._peak_text
        prompt.add_class("-asked")
        prompt.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the roofs that were typed."""
        event.stop()
        self._peak_text = event.value.strip()
        self.on_roof_input_cancelled()
        self.compute_anew()

    def on_roof_input_cancelled(self) -> None:
        """Put the prompt away."""
        self.query_one(RoofInput).remove_class("-asked")
        self.focus_main()

    def action_plot(self) -> None:
        """Hide the plot, or show it again."""
        self._has_plot = not self._has_plot
        self._fit_plot()
        self.show_rows()
