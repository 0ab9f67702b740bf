"""What works here: the key table as a screen."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tracetui.ui.keymap import GLOBAL, keys_of
from tracetui.ui.steady import SteadyScreen

_LABEL_WIDTH = 16


def help_text(scope: str, title: str) -> Text:
    """Return the keys of a view and those that work everywhere."""
    text = Text()
    for heading, name in ((f"In {title}", scope), ("Everywhere", GLOBAL)):
        rows = keys_of(name)
        if not rows:
            continue
        text.append(f"{heading}\n", "bold")
        for key in rows:
            text.append(f"  {key.label:<{_LABEL_WIDTH}}", "bold")
            text.append(f"{key.description}\n")
        text.append("\n")
    return text


class HelpScreen(ModalScreen[None], SteadyScreen[None]):
    """The keys; any of its own closes it again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter", "close", "Close"),
        Binding("q,ctrl+c", "app.quit", "Quit", priority=True),
        Binding("j", "scroll(1)", "Down"),
        Binding("k", "scroll(-1)", "Up"),
    ]

    def __init__(self, scope: str, title: str) -> None:
        """Show the keys of ``scope``, called ``title``."""
        super().__init__()
        self._scope = scope
        self._title = title

    def compose(self) -> ComposeResult:
        """Build the box."""
        with VerticalScroll(id="help-box"):
            yield Static(help_text(self._scope, self._title), id="help-text", markup=False)
            yield Static("esc closes", id="help-hint", markup=False)

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(VerticalScroll).focus()

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)

    def action_scroll(self, amount: int) -> None:
        """Scroll by a line."""
        self.query_one(VerticalScroll).scroll_relative(y=amount, animate=False)
