"""The findings: what is wrong, ranked; picked ones tell what mending them would bring."""

from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message

from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.findings import FindingList
from tracetui.ui.messages import SliceSelected, ViewRequested
from tracetui.ui.state import Workspace
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.line_list import LineList, ListLine


class FindingsView(ListingView):
    """A list of findings, and below it the rules that could not judge."""

    name_id: ClassVar[str] = "findings"
    title_text: ClassVar[str] = "Findings"
    short_title: ClassVar[str] = "Find"
    key: ClassVar[str] = "7"
    # What to try stands in the details, and the list is short: both fit into 24 lines.
    below_from_height: ClassVar[int] = 18

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pick", "Pick the finding for what-if"),
    ]

    @dataclass
    class Supposed(Message):
        """A thread has added up what the picked findings would bring."""

        trace: Trace
        picked: frozenset[int]
        unit: TimeUnit
        text: str

    def __init__(self) -> None:
        """Start without findings."""
        super().__init__()
        self._content: FindingList | None = None

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Run the rules on a trace that is read; a filter or a range changes nothing here."""
        if new is None:
            return
        if old is not None and _is_same(old, new):
            if old.unit is not new.unit:
                self.set_unit(new.unit)
                self.show_rows()
            return
        self._content = None
        self.show_rows()
        if not new.is_loading:
            self.start_computing(new)

    def start_computing(self, workspace: Workspace) -> None:
        """Run the rules in a thread."""
        self._compute(workspace.trace)

    @work(thread=True, exclusive=True, group="findings")
    def _compute(self, trace: Trace) -> None:
        self.post_message(self.Computed(trace, FindingList.of(trace)))

    def on_listing_view_computed(self, message: ListingView.Computed) -> None:
        """Show the findings unless another trace has taken their place."""
        is_current = self.workspace is not None and message.trace is self.workspace.trace
        if is_current and isinstance(message.content, FindingList):
            self._content = message.content
            self._content.set_unit(self.unit)
            self.show_rows()

    def follow_selection(self, slice_id: int) -> None:
        """Stay: a slice may be evidence of several findings, or of none."""

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        if self._content is not None:
            self._content.set_unit(unit)
            self._add_up(self._content.copied())

    def summary(self) -> str:
        """Return what was found, or what the picked findings would bring."""
        if self._content is not None:
            return self._content.summary
        is_loading = self.workspace is not None and self.workspace.is_loading
        waits = "no rule has looked; they wait for the whole file"
        return waits if is_loading else "Looking for troubles …"

    def titles(self, width: int) -> str:
        """Return the column titles."""
        return "" if self._content is None else self._content.header(width)

    def n_rows(self) -> int:
        """Return how many rows there are."""
        return 0 if self._content is None else len(self._content)

    def line(self, row: int, width: int) -> ListLine:
        """Return one row."""
        return ListLine("" if self._content is None else self._content.line(row, width))

    def slice_of(self, row: int) -> int:
        """Return the first slice that shows a finding."""
        return NO_ID if self._content is None else self._content.slice_at(row)

    def pane_lines(self, row: int) -> list[str]:
        """Return all that is known of a row."""
        return [] if self._content is None else self._content.details(row)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Say more of the row; select its evidence, where it has any."""
        message.prevent_default()
        self.show_details()
        slice_id = self.slice_of(message.row)
        if self.rows.has_focus and slice_id != NO_ID:
            self.post_message(SliceSelected(slice_id))

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Lead to the evidence; a rule that could not judge has none."""
        message.prevent_default()
        slice_id = self.slice_of(message.row)
        if not self.ask_for_details() and slice_id != NO_ID:
            self.post_message(ViewRequested("timeline", slice_id))

    def action_pick(self) -> None:
        """Suppose that the finding under the cursor is mended, or no longer."""
        if self._content is not None:
            self._content.toggle(self.rows.cursor)
            self.show_rows()
            self._add_up(self._content.copied())

    @work(thread=True, exclusive=True, group="what-if")
    def _add_up(self, content: FindingList) -> None:
        if content.picked:
            text = content.supposition()
            self.post_message(self.Supposed(content.trace, content.picked, content.unit, text))

    def on_findings_view_supposed(self, message: Supposed) -> None:
        """Say what the picked findings would bring, if they are the picked ones still."""
        content = self._content
        if content is None or content.trace is not message.trace:
            return
        if (content.picked, content.unit) == (message.picked, message.unit):
            content.supposed = message.text
            self.show_rows()


def _is_same(old: Workspace, new: Workspace) -> bool:
    return old.trace is new.trace and old.is_loading == new.is_loading
