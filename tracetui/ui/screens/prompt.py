"""One line to type in, and a list to choose from."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from tracetui.ui.steady import SteadyList, SteadyScreen


class PromptScreen(ModalScreen[str | None], SteadyScreen[str | None]):
    """A line at the bottom; ``enter`` gives its text, ``esc`` nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("ctrl+c", "app.quit", "Quit", priority=True),
    ]

    def __init__(self, label: str, value: str = "", hint: str = "") -> None:
        """Ask for ``label``, starting from ``value``."""
        super().__init__()
        self._label = label
        self._value = value
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Build the line."""
        with Horizontal(id="prompt-line"):
            yield Static(f" {self._label} ", id="prompt-label", markup=False)
            yield Input(self._value, placeholder=self._hint, id="prompt-input", compact=True)

    def on_mount(self) -> None:
        """Take the keys."""
        entry = self.query_one(Input)
        entry.cursor_blink = False
        entry.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the text back."""
        event.stop()
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        """Give nothing back."""
        self.dismiss(None)


class ChoiceScreen(ModalScreen[int | None], SteadyScreen[int | None]):
    """A short list; ``enter`` gives the chosen row, ``esc`` nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("q,ctrl+c", "app.quit", "Quit", priority=True),
        Binding("j", "move(1)", "Down"),
        Binding("k", "move(-1)", "Up"),
    ]

    def __init__(self, title: str, rows: Sequence[str]) -> None:
        """Offer ``rows`` under a title."""
        super().__init__()
        self._title = title
        self._rows = tuple(rows)

    def compose(self) -> ComposeResult:
        """Build the box."""
        with Vertical(id="choice-box"):
            yield Static(self._title, id="choice-title", markup=False)
            yield SteadyList(*(Content(row) for row in self._rows), id="choice-list")

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the row back."""
        event.stop()
        self.dismiss(event.option_index)

    def action_move(self, amount: int) -> None:
        """Move the highlight."""
        rows = self.query_one(OptionList)
        if amount > 0:
            rows.action_cursor_down()
        else:
            rows.action_cursor_up()

    def action_cancel(self) -> None:
        """Give nothing back."""
        self.dismiss(None)
