"""A list of any length with a cursor; it draws only the lines in sight."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tracetui.presentation.lit import Span
from tracetui.ui.widgets.drawn import DrawnWidget
from tracetui.ui.widgets.palette import class_style, lit_segments


@dataclass(frozen=True, slots=True)
class ListLine:
    """One line as it is drawn."""

    text: str
    work_class: int | None = None
    """Colours the line's first letter cell as the class of work; ``None`` leaves it plain."""
    is_dim: bool = False
    """Whether the line cannot be used; its text says so too."""
    lit: tuple[Span, ...] = ()
    """Letters that stand out, without colour too."""


class CursorList(ScrollView, DrawnWidget, can_focus=True, inherit_bindings=False):
    """Rows with a cursor; a subclass draws them and says what they are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Next line"),
        Binding("k,up", "move(-1)", "Previous line"),
        Binding("pagedown", "page(1)", "A page down"),
        Binding("pageup", "page(-1)", "A page up"),
        Binding("g,home", "edge(-1)", "First line"),
        Binding("G,end", "edge(1)", "Last line"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    def __init__(self) -> None:
        """Start without rows."""
        super().__init__()
        self._n_rows = 0

    def set_n_rows(self, n_rows: int) -> None:
        """List another number of rows; the cursor keeps its place."""
        self._n_rows = n_rows
        self.virtual_size = Size(0, n_rows)
        self.cursor = max(0, min(self.cursor, n_rows - 1))
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row."""
        return max(0, min(cursor, self._n_rows - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Bring the row in sight and redraw the two rows that changed."""
        self.note_layout()
        self.scroll_to_region(Region(0, new, 1, 1), animate=False, force=True, origin_visible=False)
        for row in (old, new):
            self.refresh_line(row - self.scroll_offset.y)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh_line(self.cursor - self.scroll_offset.y)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh_line(self.cursor - self.scroll_offset.y)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row."""
        self.cursor = event.y + self.scroll_offset.y


class LineList(CursorList):
    """Rows that a function writes when they come into the window."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--cursor"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Show the longest call in the timeline"),
    ]

    @dataclass
    class Opened(Message):
        """The user wants to see where a row comes from."""

        row: int

    @dataclass
    class Moved(Message):
        """The cursor came to another row."""

        row: int

    @dataclass
    class Resized(Message):
        """The rows have another width."""

    def __init__(self) -> None:
        """Start without rows."""
        super().__init__()
        self._line_of: Callable[[int, int], ListLine] = lambda _row, _width: ListLine("")

    def show(self, n_rows: int, line_of: Callable[[int, int], ListLine]) -> None:
        """List other rows; ``line_of`` takes a row and the width in cells."""
        self._line_of = line_of
        self.set_n_rows(n_rows)

    @property
    def n_rows(self) -> int:
        """Return how many rows are listed."""
        return self._n_rows

    @property
    def line_width(self) -> int:
        """Return how many cells a row has, the scroll bar apart."""
        return max(self.scrollable_content_region.width, 1)

    def text_of(self, row: int) -> str:
        """Return a row as text."""
        return self._line_of(row, self.line_width).text

    def find(self, pattern: str, name_of: Callable[[int], str], *, forward: bool) -> bool:
        """Move to the next row whose name contains the pattern, around the end; say if there was one."""
        n, step = self._n_rows, 1 if forward else -1
        for distance in range(1, n + 1):
            row = (self.cursor + step * distance) % n
            if pattern.lower() in name_of(row).lower():
                self.cursor = row
                return True
        return False

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw, and tell where the cursor is."""
        super().watch_cursor(old, new)
        if self._n_rows:
            self.post_message(self.Moved(new))

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width, row = self.scrollable_content_region.width, y + self.scroll_offset.y
        if width <= 0 or not 0 <= row < self._n_rows:
            return Strip.blank(max(width, 0), self.rich_style)
        line = self._line_of(row, width)
        style = self.rich_style
        inked = style if line.work_class is None else style + class_style(line.work_class)
        if line.is_dim:
            inked += Style(dim=True)
        strip = Strip(lit_segments(line.text, line.lit, inked)).adjust_cell_length(width, style)
        if row == self.cursor and self.has_focus:
            marked: Style = self.get_component_rich_style("line-list--cursor", partial=True)
            return strip.apply_style(marked)
        return strip

    def on_resize(self) -> None:
        """Keep the cursor in sight, and tell that the rows have another width."""
        if self.is_laid_out:
            return
        self.note_layout()
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)
        self.post_message(self.Resized())

    def action_open(self) -> None:
        """Ask for the row's place."""
        if self._n_rows:
            self.post_message(self.Opened(self.cursor))

    def action_move(self, by: int) -> None:
        """Move by rows."""
        self.cursor += by

    def action_page(self, direction: int) -> None:
        """Move by a window's height."""
        self.cursor += direction * max(self.size.height - 1, 1)

    def action_edge(self, direction: int) -> None:
        """Move to the first or the last row."""
        self.cursor = 0 if direction < 0 else self._n_rows - 1
