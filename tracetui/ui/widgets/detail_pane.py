"""Lines about one thing beside or below what lists it; scrolls when it has the focus."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from tracetui.presentation.lit import joined, lit_wrapped
from tracetui.presentation.table import cell_width, shortened
from tracetui.ui.widgets.changes import changed_regions
from tracetui.ui.widgets.drawn import DrawnWidget
from tracetui.ui.widgets.palette import lit_segments

REST_S: Final = 0.12
"""Details follow at once, or when they have rested so long: a held key repeats faster."""
_TITLE_LINES: Final = 2
_END: Final = 1_000_000_000


class DetailPane(DrawnWidget, can_focus=True, inherit_bindings=False):
    """Wraps its lines to its width and sends only those that changed."""

    @dataclass
    class Resized(Message):
        """Lines have another width: what is laid out for it has to be made anew."""

    DEFAULT_CSS: ClassVar[str] = """
    DetailPane { color: $foreground; display: none; }
    DetailPane.-right { display: block; height: 100%; }
    DetailPane.-below { display: block; height: 10; }
    DetailPane.-asked { display: block; height: 50%; }
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
        self._drawn: list[Strip] = []
        self._shown_s = 0.0
        self._timer: Timer | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the lines before they were wrapped."""
        return self._texts

    @property
    def is_beside(self) -> bool:
        """Return whether the pane stands at the right: a rule on its left sets it off."""
        return self.has_class("-right")

    @property
    def text_width(self) -> int:
        """Return how many cells a line of text has."""
        return max(self.size.width - 2, 0)

    @property
    def _first(self) -> int:
        """Return the first line with text: below something, a rule takes the line before."""
        return 0 if self.is_beside else 1

    @property
    def n_lines(self) -> int:
        """Return how many lines of text are in sight."""
        return max(self.size.height - self._first, 0)

    def show(self, texts: Sequence[str]) -> None:
        """Show other lines, from the first on; the first is the title.

        While they change quickly, as under a key that is held, only the last are drawn: they cost
        more to send than the cursor that moves.
        """
        if self._texts == tuple(texts):
            return
        is_other = self._texts[:1] != tuple(texts[:1])
        self._texts = tuple(texts)
        self._top = 0 if is_other else self._top
        now_s = monotonic()
        if is_other and (self._timer is not None or now_s - self._shown_s < REST_S):
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(REST_S, self._rested)
        else:
            self._wrap()
        self._shown_s = now_s if is_other else self._shown_s

    def _rested(self) -> None:
        self._timer = None
        self._wrap()

    def _wrap(self) -> None:
        self.note_layout()
        width = self.text_width
        texts = list(self._texts) if width > 0 else []
        if texts and cell_width(texts[0]) > _TITLE_LINES * width:
            # A kernel's name may be longer than all that is said of it: then it comes last.
            texts = [shortened(texts[0], _TITLE_LINES * (width - 2)), *texts[1:], "", *texts[:1]]
        paragraphs = [lit_wrapped(text, width) for text in texts]
        self._n_title = len(paragraphs[0]) if paragraphs else 0
        self._lines = [line for paragraph in paragraphs for line in paragraph]
        self._redraw()

    def _redraw(self) -> None:
        """Ask for the lines that differ from what is drawn, and no more of them than differs."""
        with self.one_style():
            drawn = [self.render_line(y) for y in range(self.size.height)]
        regions = tuple(changed_regions(self._drawn, drawn))
        if regions:
            self.refresh(*regions)
        self._drawn = drawn

    def _text_at(self, line: int) -> str:
        """Return a line of text in sight."""
        n_left = len(self._lines) - self._top - self.n_lines
        if line == self.n_lines - 1 and n_left > 0 and line > 0:
            how = "" if self.has_focus else ", tab goes there"
            return shortened(f"… {n_left + 1} more lines{how}", self.text_width)
        at = self._top + line
        return self._lines[at] if at < len(self._lines) else ""

    def render_line(self, y: int) -> Strip:
        """Draw one line, of as few segments as can be: each costs 30 bytes."""
        width = self.size.width
        if width <= 0:
            return Strip.blank(0)
        is_ascii = bool(getattr(self.app, "ascii_only", False))
        style = self.rich_style + Style(bold=self.has_focus or None)
        if y < self._first:
            return Strip([Segment(("-" if is_ascii else "─") * width, style)], width)
        line = y - self._first
        text = self._text_at(line)
        edge = "|" if is_ascii else "┃" if self.has_focus else "│"
        lead = f"{edge} " if self.is_beside else " "
        if self._top + line < self._n_title and text:
            rest = " " * (width - cell_width(lead + text))
            bold = self.rich_style + Style(bold=True)
            return Strip([Segment(f"{lead}{text}{rest}", bold)], width)
        body = joined(lead, text)
        rest = " " * (width - cell_width(body))
        return Strip(lit_segments(body + rest, body.lit, self.rich_style), width)

    def on_resize(self) -> None:
        """Wrap anew, and tell."""
        if self.is_laid_out:
            return
        self._drawn = []
        self._wrap()
        self.refresh()
        self.post_message(self.Resized())

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
        last = max(len(self._lines) - self.n_lines, 0)
        self._top = max(0, min(self._top + by, last))
        self._redraw()

    def action_page(self, direction: int) -> None:
        """Scroll by the height."""
        self.action_move(direction * max(self.n_lines - 2, 1))
