"""The overview: the answer first, then where time goes; every line leads to its place."""

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from tracetui.format import TimeUnit
from tracetui.model.trace import Trace
from tracetui.presentation.overview import overview_lines, recorded
from tracetui.presentation.overview_line import OverviewLine, Part
from tracetui.ui.messages import ViewRequested
from tracetui.ui.state import Workspace
from tracetui.ui.views.base import View
from tracetui.ui.widgets.line_list import CursorList
from tracetui.ui.widgets.palette import class_style

Wanted: TypeAlias = tuple[Trace, int, TimeUnit, bool, bool]
"""What an overview is of: a trace, a width, how times are written, whether artefacts count, and
whether more is to be read."""
_MARGIN = 1
_ROLES = ("answer", "heading", "dim", "warning", "bar", "cursor")


def _so_far(lines: tuple[OverviewLine, ...]) -> tuple[OverviewLine, ...]:
    """Return the lines of a trace that is still being read: its answer is not the last word."""
    if not lines:
        return lines
    first = replace(lines[0], parts=(Part("So far: ", "dim"), *lines[0].parts))
    return (first, *lines[1:])


class OverviewList(CursorList):
    """Lines with a cursor; it draws only those in sight."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"overview-list--{role}" for role in _ROLES}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Go to what the line is about"),
    ]

    def __init__(self) -> None:
        """Start without lines."""
        super().__init__()
        self._lines: tuple[OverviewLine, ...] = ()

    @property
    def lines(self) -> tuple[OverviewLine, ...]:
        """Return what is listed."""
        return self._lines

    def show(self, lines: tuple[OverviewLine, ...]) -> None:
        """List other lines; the cursor keeps its place."""
        self._lines = lines
        self.set_n_rows(len(lines))

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.size.width
        row = y + self.scroll_offset.y
        if width <= _MARGIN or not 0 <= row < len(self._lines):
            return Strip.blank(max(width, 0), self.rich_style)
        is_cursor = row == self.cursor and self.has_focus
        segments = [Segment("▌" if is_cursor and not self._is_ascii else " ", self.rich_style)]
        if is_cursor and self._is_ascii:
            segments = [Segment(">", self.rich_style)]
        segments += [Segment(part.text, self._style_of(part)) for part in self._lines[row].parts]
        strip = Strip(segments).adjust_cell_length(width, self.rich_style)
        if is_cursor:
            cursor_style = self.get_component_rich_style("overview-list--cursor", partial=True)
            return strip.apply_style(cursor_style)
        return strip

    @property
    def _is_ascii(self) -> bool:
        return bool(getattr(self.app, "ascii_only", False))

    def _style_of(self, part: Part) -> Style:
        style = self.rich_style
        if part.work_class is not None:
            return style + class_style(part.work_class)
        if part.role:
            name = f"overview-list--{part.role}"
            return style + self.get_component_rich_style(name, partial=True)
        return style

    def action_move(self, amount: int) -> None:
        """Move to the next line that says something."""
        row = self.cursor + amount
        while 0 < row < len(self._lines) - 1 and not self._lines[row].parts:
            row += amount
        self.cursor = row

    def action_page(self, amount: int) -> None:
        """Move by a page."""
        self.cursor += amount * max(self.size.height - 1, 1)

    def action_edge(self, side: int) -> None:
        """Move to the first or last line."""
        self.cursor = 0 if side < 0 else len(self._lines) - 1

    def action_open(self) -> None:
        """Ask for what the line is about."""
        if self._lines and self._lines[self.cursor].view:
            line = self._lines[self.cursor]
            self.post_message(ViewRequested(line.view, line.slice_id))


class OverviewView(View):
    """The first tab."""

    name_id: ClassVar[str] = "overview"
    title_text: ClassVar[str] = "Overview"
    short_title: ClassVar[str] = "Over"
    key: ClassVar[str] = "1"

    @dataclass
    class Computed(Message):
        """The overview of a trace is there."""

        wanted: Wanted
        lines: tuple[OverviewLine, ...]
        recorded: str

        @property
        def trace(self) -> Trace:
            """Return whose overview this is."""
            return self.wanted[0]

    def __init__(self) -> None:
        """Start without a trace."""
        super().__init__()
        self._is_computing = False
        self._shown: Wanted | None = None

    def compose(self) -> ComposeResult:
        """Build the list."""
        yield OverviewList()

    @property
    def list(self) -> OverviewList:
        """Return the list of lines."""
        return self.query_one(OverviewList)

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Compute the overview of a new trace, or anew with other things counted."""
        if new is not None and new is not old:
            self._compute_if_needed()

    def on_resize(self) -> None:
        """Lay the lines out for the new width."""
        self._compute_if_needed()

    def _compute_if_needed(self) -> None:
        width = (self.size.width or self.app.size.width) - 2 * _MARGIN
        if self.workspace is None or width <= 0 or self._is_computing:
            return
        workspace = self.workspace
        wanted = (
            workspace.trace,
            width,
            workspace.unit,
            workspace.with_artefacts,
            workspace.is_loading,
        )
        if self._shown != wanted:
            self._is_computing = True
            self._compute(wanted)

    @work(thread=True, group="overview")
    def _compute(self, wanted: Wanted) -> None:
        trace, width, unit, with_artefacts, is_partial = wanted
        lines = overview_lines(
            trace,
            width,
            ascii_only=bool(getattr(self.app, "ascii_only", False)),
            with_artefacts=with_artefacts,
            is_partial=is_partial,
            unit=unit,
        )
        self.post_message(self.Computed(wanted, lines, recorded(trace)))

    def on_overview_view_computed(self, message: Computed) -> None:
        """Show the result unless another trace has taken its place, then catch up."""
        self._is_computing = False
        if self.workspace is not None and message.trace is self.workspace.trace:
            self._shown = message.wanted
            *_, is_partial = message.wanted
            self.list.show(_so_far(message.lines) if is_partial else message.lines)
        self._compute_if_needed()

    def focus_main(self) -> None:
        """Focus the list."""
        self.list.focus(scroll_visible=False)

    def copied_text(self) -> str:
        """Return the lines as text."""
        return "\n".join(line.text.rstrip() for line in self.list.lines)

    def copied_row(self) -> str:
        """Return the line under the cursor."""
        shown = self.list
        return shown.lines[shown.cursor].text.strip() if shown.lines else ""

    def search(self, pattern: str, *, forward: bool = True) -> bool:
        """Move to the next line that contains the pattern, around the end."""
        shown = self.list
        n = len(shown.lines)
        step = 1 if forward else -1
        for distance in range(1, n + 1):
            row = (shown.cursor + step * distance) % n
            if pattern.lower() in shown.lines[row].text.lower():
                shown.cursor = row
                return True
        return False
