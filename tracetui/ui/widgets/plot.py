"""A plot of cells: it draws the lines that a function lays out for its size."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tracetui.presentation.roofline_plot import PlotLine
from tracetui.ui.widgets.palette import class_style

_SELECTED: Style = Style(bold=True, reverse=True)


class Plot(Widget):
    """Lines for the size it has, laid out again whenever that or the content changes."""

    DEFAULT_CSS: ClassVar[str] = """
    Plot { height: auto; color: $text-muted; }
    """

    @dataclass
    class Pressed(Message):
        """A cell was clicked."""

        row: int
        column: int

    def __init__(self) -> None:
        """Start with nothing to draw."""
        super().__init__()
        self._lines_of: Callable[[int, int], list[PlotLine]] = lambda _width, _height: []
        self._lines: list[PlotLine] = []

    @property
    def lines(self) -> list[PlotLine]:
        """Return what is drawn."""
        return self._lines

    def show(self, lines_of: Callable[[int, int], list[PlotLine]]) -> None:
        """Draw other content; ``lines_of`` takes the width and height in cells."""
        self._lines_of = lines_of
        self._lay_out()

    def _lay_out(self) -> None:
        self._lines = self._lines_of(self.size.width, self.size.height)
        self.refresh()

    def on_resize(self) -> None:
        """Lay the content out for the new size."""
        self._lay_out()

    def on_click(self, event: events.Click) -> None:
        """Tell which cell was meant."""
        self.post_message(self.Pressed(event.y, event.x))

    def render_line(self, y: int) -> Strip:
        """Draw one line: points in the colour of their class, all else quiet."""
        width, style = self.size.width, self.rich_style
        if not 0 <= y < len(self._lines):
            return Strip.blank(width, style)
        line = self._lines[y]
        segments, done = [], 0
        for column, work_class in line.marks:
            if column < done:
                continue
            inked = style + class_style(work_class)
            if column == line.selected:
                inked += _SELECTED
            segments.append(Segment(line.text[done:column], style))
            segments.append(Segment(line.text[column], inked))
            done = column + 1
        segments.append(Segment(line.text[done:], style))
        return Strip(segments).adjust_cell_length(width, style)
