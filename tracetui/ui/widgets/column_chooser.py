"""Which columns a table shows."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from tracetui.ui.steady import SteadyList, SteadyScreen


class ColumnsScreen(ModalScreen[frozenset[int] | None], SteadyScreen[frozenset[int] | None]):
    """A list of columns; ``space`` shows or hides one, ``enter`` gives the hidden ones back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("q,ctrl+c", "app.quit", "Quit", priority=True),
        Binding("j", "move(1)", "Down"),
        Binding("k", "move(-1)", "Up"),
        Binding("space", "show_or_hide", "Show or hide"),
    ]

    def __init__(self, titles: Sequence[str], hidden: frozenset[int]) -> None:
        """Offer all columns but the first, which names the row and always stays."""
        super().__init__()
        self._titles = tuple(titles)
        self._hidden = set(hidden)

    def compose(self) -> ComposeResult:
        """Build the box."""
        with Vertical(id="choice-box"):
            yield Static("Columns, from the left as many as fit", id="choice-title", markup=False)
            yield SteadyList(
                *(self._row(column) for column in range(1, len(self._titles))), id="choice-list"
            )
            yield Static("space show or hide  enter done  esc cancel", markup=False)

    def _row(self, column: int) -> Content:
        return Content(f"[{' ' if column in self._hidden else 'x'}] {self._titles[column]}")

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the choice back."""
        event.stop()
        self.dismiss(frozenset(self._hidden))

    def action_show_or_hide(self) -> None:
        """Show or hide the column under the cursor."""
        rows = self.query_one(OptionList)
        if rows.highlighted is not None:
            column = rows.highlighted + 1
            self._hidden ^= {column}
            rows.replace_option_prompt_at_index(rows.highlighted, self._row(column))

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
