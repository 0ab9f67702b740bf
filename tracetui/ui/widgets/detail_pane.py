"""Lines about one thing beside or below what lists it; scrolls when it has the focus."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tracetui.presentation.table import cell_width, shortened, wrapped

_TITLE_LINES: Final = 2
_END: Final = 1_000_000_000


class DetailPane(Widget, can_focus=True, inherit_bindings=False):
    """Wraps its lines to its width and sends only those that changed."""

    DEFAULT_CSS: ClassVar[str] = """
    DetailPane { padding: 0 1; color: $foreground; display: none; }
    DetailPane.-right { display: block; height: 100%; border-left: solid $panel; }
    DetailPane.-below { display: block; height: 10; border-top: solid $panel; }
    DetailPane.-asked { display: block; height: 50%; border-top: solid $panel; }
    DetailPane.-right:focus { border-left: solid $accent; }
    DetailPane.-below:focus, DetailPane.-asked:focus { border-top: solid $accent; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Next line"),
        Binding("k,up", "move(-1)", "Previous line"),
        Binding("pagedown", "page(1)", "A page down"),
        Binding("pageup", "page(-1)", "A page up"),
        Binding("g,home", f"move({-_END})", "First line"),
        Binding("G,end", f"move({_END})", "Last line"),
    ]

    def __init__(self) -> None:
        """Start without lines."""
        super().__init__()
        self._texts: tuple[str, ...] = ()
        self._lines: list[str] = []
        self._n_title = 0
        self._top = 0
        self._drawn: list[str] = []

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the lines before they were wrapped."""
        return self._texts

    def show(self, texts: Sequence[str]) -> None:
        """Show other lines, from the first on; the first is the title."""
        if self._texts != tuple(texts):
            self._texts = tuple(texts)
            self._top = 0
            self._wrap()

    def _wrap(self) -> None:
        width = self.size.width
        texts = list(self._texts) if width > 0 else []
        if texts and cell_width(texts[0]) > _TITLE_LINES * width:
            # A kernel's name may be longer than all that is said of it: then it comes last.
            texts = [shortened(texts[0], _TITLE_LINES * (width - 2)), *texts[1:], "", *texts[:1]]
        paragraphs = [wrapped(text, width) for text in texts]
        self._n_title = len(paragraphs[0]) if paragraphs else 0
        self._lines = [line for paragraph in paragraphs for line in paragraph]
        self._redraw()

    def _redraw(self) -> None:
        """Ask for the lines that differ from what is drawn, and no more of them than differs."""
        drawn = [self._text_at(y) for y in range(self.size.height)]
        for y, text in enumerate(drawn):
            old = self._drawn[y] if y < len(self._drawn) else ""
            if text != old or y >= len(self._drawn):
                self.refresh(Region(0, y, max(cell_width(text), cell_width(old), 1), 1))
        self._drawn = drawn

    def _text_at(self, y: int) -> str:
        n_left = len(self._lines) - self._top - self.size.height
        if y == self.size.height - 1 and n_left > 0 and y > 0:
            how = "" if self.has_focus else ", tab goes there"
            return shortened(f"… {n_left + 1} more lines{how}", self.size.width)
        at = self._top + y
        return self._lines[at] if at < len(self._lines) else ""

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.size.width
        if width <= 0:
            return Strip.blank(0)
        style = self.rich_style
        is_title = self._top + y < self._n_title
        inked = style + Style(bold=True) if is_title else style
        return Strip([Segment(self._text_at(y), inked)]).adjust_cell_length(width, style)

    def on_resize(self) -> None:
        """Wrap anew."""
        self._drawn = []
        self._wrap()
        self.refresh()

    def on_focus(self, event: events.Focus) -> None:
        """Show that the keys scroll here."""
        del event
        self._redraw()

    def on_blur(self, event: events.Blur) -> None:
        """Show that the keys are elsewhere."""
        del event
        self._redraw()

    def action_move(self, by: int) -> None:
        """Scroll by lines."""
        last = max(len(self._lines) - self.size.height, 0)
        self._top = max(0, min(self._top + by, last))
        self._redraw()

    def action_page(self, direction: int) -> None:
        """Scroll by the height."""
        self.action_move(direction * max(self.size.height - 2, 1))
