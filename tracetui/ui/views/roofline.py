"""The roofline: each operator below the roofs of its device, as a plot and as a table."""

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tracetui.analysis.host_peaks import given_rates
from tracetui.analysis.roofline import Roofline
from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.roofline import By, RooflineTable, point_lines
from tracetui.presentation.roofline_plot import PlotLine, nearest_point, plot_lines, plottable
from tracetui.ui.messages import Told
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views.detailed import DetailBody
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.column_chooser import ColumnsScreen
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList, ListLine
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


class RooflineView(ListingView):
    """A plot above a table; one cursor for both."""

    name_id: ClassVar[str] = "roofline"
    title_text: ClassVar[str] = "Roofline"
    short_title: ClassVar[str] = "Roof"
    key: ClassVar[str] = "8"

    DEFAULT_CSS: ClassVar[str] = """
    RooflineView RoofInput { display: none; height: 1; border: none; padding: 0 1; }
    RooflineView RoofInput.-asked { display: block; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "Sort by the next column"),
        Binding("i", "invert", "Turn the order round"),
        Binding("S", "columns", "Choose the columns"),
        Binding("c", "by_class", "By operator and shapes, or by class of work"),
        Binding("P", "peaks", "Give the device's roofs"),
        Binding("p", "plot", "Hide the plot, show it again"),
        Binding("a", "arrows", "Where the same work stands in the other trace"),
    ]

    def __init__(self) -> None:
        """Start without points."""
        super().__init__()
        self._content: RooflineTable | None = None
        self._by: By = "operator"
        self._has_plot = True
        self._hidden: frozenset[int] = frozenset()
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
        self.post_message(self.OtherComputed(trace, RooflineTable.of(trace, None, by=by).line))

    def on_roofline_view_other_computed(self, message: OtherComputed) -> None:
        """Draw both, unless the pair is another by now."""
        if self.rivals is None or self.rivals.pair is None:
            return
        if message.trace in self.rivals.pair:
            self._other = message.line
            self.show_rows()

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Compute the points of a new trace, else follow the selection."""
        if new is None:
            return
        if old is None or old.trace is not new.trace:
            self._other = None
            self.start_computing(new)
        elif old.selection != new.selection:
            self.follow_selection(new.selection)

    def start_computing(self, workspace: Workspace) -> None:
        """Compute the points in a thread."""
        self._compute(workspace.trace, self._by, self._peak_text)

    @work(thread=True, exclusive=True, group="roofline")
    def _compute(self, trace: Trace, by: By, peak_text: str) -> None:
        content: RooflineTable | str
        try:
            rates = given_rates(peak_text) if peak_text else None
            content = RooflineTable.of(trace, rates, by=by)
        except ValueError as error:
            content = str(error)
        self.post_message(self.Computed(trace, content))

    def on_listing_view_computed(self, message: ListingView.Computed) -> None:
        """Show the points unless another trace has taken their place."""
        is_current = self.workspace is not None and message.trace is self.workspace.trace
        if not is_current or not isinstance(message.content, RooflineTable):
            if isinstance(message.content, str):
                self._peak_text = ""
                self.notify(message.content, severity="warning", markup=False)
            return
        old, self._content = self._content, message.content
        self._content.table.hidden = self._hidden
        if old is not None:
            self._content.table.sort_like(old.table)
        self._fit_plot()
        self.show_rows()
        if self.workspace is not None:
            self.follow_selection(self.workspace.selection)

    def follow_selection(self, slice_id: int) -> None:
        """Go to the operator of the selected slice, unless the cursor is here."""
        if self._content is not None and not self.rows.has_focus:
            place = self._content.place_of_slice(slice_id)
            if place >= 0:
                self.rows.cursor = place

    def set_unit(self, unit: TimeUnit) -> None:
        """Keep each time in its own unit: they are read beside rates."""

    def summary(self) -> str:
        """Return what bounds the time, or what is missing for a roofline."""
        return "Computing the roofline …" if self._content is None else self._content.summary

    def titles(self, width: int) -> str:
        """Return the column titles."""
        return self._content.table.header(width) if self._content and self.n_rows() else ""

    def n_rows(self) -> int:
        """Return how many points there are."""
        return 0 if self._content is None else len(self._content.table)

    def line(self, row: int, width: int) -> ListLine:
        """Return one row in the colour of its class."""
        if self._content is None or row >= self.n_rows():
            return ListLine("")
        point = self._content.point_at(row)
        return ListLine(self._content.table.line(row, width), point.work_class)

    def slice_of(self, row: int) -> int:
        """Return the longest call of a row."""
        return NO_ID if self._content is None else self._content.point_at(row).slice_id

    def pane_lines(self, row: int) -> list[str]:
        """Return what a point attains and what holds it back."""
        if self._content is None or row >= self.n_rows():
            return []
        return point_lines(self._content.line, self._content.point_at(row))

    def detail_texts(self) -> list[str]:
        """Return what the pane says; where there are no points, why."""
        return super().detail_texts() if self.n_rows() else [self.summary()]

    def _plot_lines(self, width: int, height: int) -> list[PlotLine]:
        if self._content is None:
            return []
        return plot_lines(
            self._content.line,
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
        has_points = self._content is not None and bool(plottable(self._content.line))
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
            self._content.line, size.width, size.height, message.row, message.column
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

    def action_by_class(self) -> None:
        """Make points of operators with their shapes, or of classes of work."""
        self._by = "class" if self._by == "operator" else "operator"
        self._other = None
        if self.workspace is not None:
            self.start_computing(self.workspace)

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
        if self.workspace is not None:
            self.start_computing(self.workspace)

    def on_roof_input_cancelled(self) -> None:
        """Put the prompt away."""
        self.query_one(RoofInput).remove_class("-asked")
        self.focus_main()

    def action_plot(self) -> None:
        """Hide the plot, or show it again."""
        self._has_plot = not self._has_plot
        self._fit_plot()
        self.show_rows()
