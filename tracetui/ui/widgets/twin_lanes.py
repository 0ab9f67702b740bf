"""Draws two timelines, one above the other, over the same stretch of time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tracetui.format import TimeUnit, with_unit
from tracetui.presentation.cells import lane_cells
from tracetui.presentation.comparison.timelines import TwinTimelines
from tracetui.presentation.lanes import Lane
from tracetui.presentation.painting import PaintMode, paint
from tracetui.presentation.table import padded
from tracetui.presentation.viewport import ruler_text
from tracetui.ui.widgets.lanes import lane_segments

_HEAD: Final = 2
"""What is shown, and the ruler."""
_FOOT: Final = 3
"""A rule and what is known of the selected match."""
_GUTTER: Final = 14


class TwinLanes(Widget, can_focus=True):
    """Two blocks of lanes; a line is laid out when it is drawn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "zoom(2, True)", "Zoom in"),
        Binding("s", "zoom(2, False)", "Zoom out"),
        Binding("W", "zoom(4, True)", "Zoom in further"),
        Binding("S", "zoom(4, False)", "Zoom out further"),
        Binding("a", "pan(-1)", "Pan left"),
        Binding("d", "pan(1)", "Pan right"),
        Binding("A", "pan(-7)", "A page left"),
        Binding("D", "pan(7)", "A page right"),
        Binding("l,right", "step(1)", "Next piece of work"),
        Binding("h,left", "step(-1)", "Previous piece of work"),
        Binding("j,down", "side(1)", "The lower side moves alone"),
        Binding("k,up", "side(0)", "The upper side moves alone"),
        Binding("0", "fit", "The whole stretch"),
        Binding("f", "fit_match", "Fit the selected piece"),
        Binding("L", "lock", "Lock or unlock the sides"),
        Binding("at", "align", "Align otherwise"),
        Binding("enter", "open", "Show the piece in its timeline"),
    ]

    @dataclass
    class Asked(Message):
        """A key asks for another picture."""

        change: Callable[[TwinTimelines], None]

    @dataclass
    class Opened(Message):
        """The user wants to see the selected piece where it comes from."""

    def __init__(self) -> None:
        """Start with nothing to draw."""
        super().__init__()
        self._twins: TwinTimelines | None = None
        self._names = ("", "")
        self._unit = TimeUnit.AUTO

    def show(
        self,
        twins: TwinTimelines | None,
        names: tuple[str, str],
        unit: TimeUnit = TimeUnit.AUTO,
    ) -> None:
        """Draw two timelines; ``names`` are what the traces are called, ``unit`` that of times."""
        self._twins, self._names, self._unit = twins, names, unit
        self.refresh()

    @property
    def _mode(self) -> PaintMode:
        return PaintMode(
            bool(getattr(self.app, "ascii_only", False)),
            bool(getattr(self.app, "is_colourless", False)),
        )

    def _rooms(self, twins: TwinTimelines) -> tuple[int, int]:
        """Return how many lanes of each side have room; what one does not need the other gets."""
        room = max(self.size.height - _HEAD - _FOOT - 2, 0)
        wanted = [len(side.lanes) for side in twins.sides]
        first = min(wanted[0], max(room // 2, room - wanted[1]))
        return first, min(wanted[1], room - first)

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width, twins = self.size.width, self._twins
        if width <= 0:
            return Strip.blank(0)
        if twins is None:
            return self._plain("indexing …" if y == 0 else "")
        if y == 0:
            return self._plain(f" {twins.header(width - 2)}", Style(bold=True))
        if y == 1:
            return self._ruler(twins)
        foot = y - (self.size.height - _FOOT)
        if foot == 0:
            rule = "-" if self._mode.ascii_only else "─"
            return self._plain(rule * width, Style(dim=True))
        if foot > 0:
            return self._plain(f" {twins.status(width - 2)[foot - 1]}", Style(bold=foot == 1))
        return self._block_line(twins, y - _HEAD)

    def _block_line(self, twins: TwinTimelines, line: int) -> Strip:
        for side, room in enumerate(self._rooms(twins)):
            if line == 0:
                title = twins.side_title(side, self._names[side], self.size.width - 1)
                return self._plain(title, Style(underline=True))
            if line <= room:
                lane, title = twins.sides[side].lanes[line - 1]
                return self._lane(twins, side, lane, title)
            line -= room + 1
        return self._plain("")

    def _lane(self, twins: TwinTimelines, side: int, lane: Lane, title: str) -> Strip:
        width, mode = max(self.size.width - _GUTTER, 1), self._mode
        cells = lane_cells(lane, twins.viewport(side), width)
        trace = twins.sides[side].trace
        painted = paint(trace, lane, cells, mode, twins.marks(side, lane))
        head = Segment(padded(f" {title}", _GUTTER), self.rich_style + Style(dim=True))
        strip = Strip([head, *lane_segments(painted, self.rich_style, mode)], _GUTTER + width)
        return strip.adjust_cell_length(self.size.width, self.rich_style)

    def _ruler(self, twins: TwinTimelines) -> Strip:
        width = max(self.size.width - _GUTTER, 1)
        text = ruler_text(twins.ruler(0), width, ascii_only=self._mode.ascii_only, unit=self._unit)
        return Strip(
            [Segment(" " * _GUTTER + text, self.rich_style + Style(dim=True))]
        ).adjust_cell_length(self.size.width, self.rich_style)

    def _plain(self, text: str, style: Style | None = None) -> Strip:
        full = self.rich_style + style if style else self.rich_style
        text = with_unit(text, self._unit)
        return Strip([Segment(text, full)]).adjust_cell_length(self.size.width, self.rich_style)

    def action_zoom(self, factor: int, inwards: bool) -> None:  # noqa: FBT001 - a binding's argument
        """Show less, or more; the middle keeps its place."""
        self.post_message(self.Asked(lambda twins: twins.zoom(factor, 0.5, inwards=inwards)))

    def action_pan(self, eighths: int) -> None:
        """Move by eighths of the window."""
        self.post_message(self.Asked(lambda twins: twins.pan(eighths)))

    def action_step(self, direction: int) -> None:
        """Select the next piece of work, or the one before."""
        self.post_message(self.Asked(lambda twins: twins.step(direction)))

    def action_side(self, side: int) -> None:
        """Choose which side moves while they are unlocked."""
        self.post_message(self.Asked(lambda twins: twins.choose_side(side)))

    def action_fit(self) -> None:
        """Show the whole stretch."""
        self.post_message(self.Asked(TwinTimelines.fit))

    def action_fit_match(self) -> None:
        """Zoom to the selected piece."""
        self.post_message(self.Asked(TwinTimelines.fit_match))

    def action_lock(self) -> None:
        """Move both sides together, or one."""
        self.post_message(self.Asked(TwinTimelines.toggle_lock))

    def action_align(self) -> None:
        """Lay the sides upon one another in another way."""
        self.post_message(self.Asked(TwinTimelines.change_alignment))

    def action_open(self) -> None:
        """Ask for the selected piece's place."""
        self.post_message(self.Opened())

    def text(self) -> str:
        """Return what is drawn as plain text."""
        return "\n".join(self.render_line(y).text.rstrip() for y in range(self.size.height))
