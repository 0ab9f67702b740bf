"""The roofline: each operator below the roofs of its device, as a plot and as a table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tracetui.analysis.host_peaks import given_rates
from tracetui.analysis.roofline import Roofline
from tracetui.errors import UsageError
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.roofline import By, RooflineTable, point_lines
from tracetui.presentation.roofline_plot import (
    LEAST_HEIGHT,
    PlotLine,
    nearest_point,
    plot_lines,
    plottable,
)
from tracetui.ui.messages import Told
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views.plotted import PlottedView
from tracetui.ui.widgets.plot import Plot


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


class RooflineView(PlottedView[RooflineTable]):
    """A plot above a table; one cursor for both."""

    name_id: ClassVar[str] = "roofline"
    title_text: ClassVar[str] = "Roofline"
    short_title: ClassVar[str] = "Roof"
    key: ClassVar[str] = "8"

    follows_scope: ClassVar[bool] = False
    waiting: ClassVar[str] = "Computing the roofline …"
    least_plot_lines: ClassVar[int] = LEAST_HEIGHT
    most_plot_lines: ClassVar[int] = 22

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
        self._peak_text = ""
        """What the user says the device can do; empty leaves it to the table of devices."""
        self._other: Roofline | None = None
        """The other trace's points, while they are drawn too."""

    def prompts(self) -> Iterable[Widget]:
        """Return where the roofs are asked for."""
        yield RoofInput(placeholder="bf16=989e12,bw=3.35e12, or host to measure this machine")

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

    def pane_lines(self, row: int) -> list[str]:
        """Return what a point attains and what holds it back."""
        if (content := self.content_at(row)) is None:
            return []
        return point_lines(content.roofline, content.point_at(row), self.unit)

    def detail_texts(self) -> list[str]:
        """Return what the pane says; where there are no points, why."""
        return super().detail_texts() if self.n_rows() else [self.summary()]

    def plot_lines(self, width: int, height: int) -> list[PlotLine]:
        """Return the plot for a size in cells."""
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

    def has_plot(self) -> bool:
        """Return whether there are points that a plot can show."""
        if self._content is None or not self.n_rows():
            return False
        return bool(plottable(self._content.roofline))

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
