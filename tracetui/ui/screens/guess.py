"""Guess first, then look: a form in the views' place, then what the trace really shows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from tracetui.diagnosis.expressions import ExpectationError
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.guess import (
    EXPECT_FILE,
    GuessForm,
    GuessQuestion,
    Reveal,
    Score,
    ScoreStore,
    guess_form,
    reveal,
    write_expectations,
)
from tracetui.ui.steady import SteadyScreen

_LABEL_WIDTH = 20
_MOST_CHOICES = 4


class GuessScreen(SteadyScreen[int | None]):
    """Asks before it shows; gives the slice to look at, or nothing."""

    DEFAULT_CSS: ClassVar[str] = """
    GuessScreen #guess-title { padding: 1 2; text-style: bold; }
    GuessScreen #guess-body { height: 1fr; scrollbar-size-vertical: 1; }
    GuessScreen .guess-row { height: 1; padding: 0 2; }
    GuessScreen .guess-label { width: 20; }
    GuessScreen .guess-row Input { width: 16; }
    GuessScreen .guess-row Input.-open { width: 30; }
    GuessScreen .guess-hint { width: 1fr; color: $text-muted; padding: 0 2; }
    GuessScreen #guess-reveal { padding: 1 2; height: auto; }
    GuessScreen #guess-note { padding: 0 2; height: auto; color: $warning; }
    GuessScreen #guess-keys { dock: bottom; height: 1; padding: 0 1; color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "skip", "Skip"),
        Binding("enter", "look", "Look"),
        Binding("down", "app.focus_next", "Next answer"),
        Binding("up", "app.focus_previous", "Previous answer"),
        Binding("ctrl+s", "save", "Save as expectations"),
        Binding("ctrl+c", "app.quit", "Quit", priority=True),
    ]

    @dataclass
    class Asked(Message):
        """What to ask is known."""

        form: GuessForm

    @dataclass
    class Revealed(Message):
        """What became of the answers is known."""

        found: Reveal | None
        error: str = ""

    def __init__(
        self, trace: Trace, store: ScoreStore, folder: Callable[[], Path] = Path.cwd
    ) -> None:
        """Ask about a trace.

        Args:
            trace: The recording, read to its end.
            store: Where the score is kept.
            folder: Where expectations are written.
        """
        super().__init__()
        self._trace = trace
        self._store = store
        self._folder = folder
        self._form: GuessForm | None = None
        self._found: Reveal | None = None
        self._score = Score()

    def compose(self) -> ComposeResult:
        """Build the frame; the questions come when they are known."""
        yield Static("Before you look …", id="guess-title", markup=False)
        with VerticalScroll(id="guess-body", can_focus=False):
            yield Static("", id="guess-reveal", markup=False)
            yield Static("", id="guess-note", markup=False)
        yield Static("", id="guess-keys", markup=False)

    def on_mount(self) -> None:
        """Find out what to ask."""
        self._show_keys()
        self._ask()

    @work(thread=True, group="guess")
    def _ask(self) -> None:
        self._score = self._store.score()
        self.post_message(self.Asked(guess_form(self._trace)))

    async def on_guess_screen_asked(self, message: Asked) -> None:
        """Show the questions."""
        if self.is_over():
            return
        self._form = message.form
        self.query_one("#guess-title", Static).update(message.form.title)
        body = self.query_one("#guess-body", VerticalScroll)
        rows = [_row(question) for question in message.form.questions]
        await body.mount_all(rows, before="#guess-reveal")
        if self.is_over():
            return
        self.query(Input).first().focus()
        self._show_keys()

    @property
    def found(self) -> Reveal | None:
        """Return what became of the answers, once they are given."""
        return self._found

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Look, from any line of the form."""
        event.stop()
        self.action_look()

    def action_look(self) -> None:
        """Show what became of the answers; then go to the first that was wrong."""
        if self._found is not None:
            self.dismiss(self._found.first_mismatch)
        elif self._form is not None:
            answers = {str(entry.name): entry.value for entry in self.query(Input)}
            if not any(value.strip() for value in answers.values()):
                self._note("nothing guessed yet; esc skips")
                return
            self._note("looking …")
            self._look(self._form, answers)

    @work(thread=True, group="guess", exclusive=True)
    def _look(self, form: GuessForm, answers: dict[str, str]) -> None:
        try:
            found = reveal(self._trace, form, answers)
        except ExpectationError as error:
            self.post_message(self.Revealed(None, str(error)))
            return
        self._score = self._score.with_reveal(found)
        self._store.keep(self._score)
        self.post_message(self.Revealed(found))

    def on_guess_screen_revealed(self, message: Revealed) -> None:
        """Show the truth beside the guesses."""
        if self.is_over():
            return
        self._note(message.error)
        if message.found is None:
            return
        self._found = message.found
        for entry in self.query(Input):
            entry.disabled = True
        self.query_one("#guess-reveal", Static).update(self._reveal_text(message.found))
        self._show_keys()

    def _reveal_text(self, found: Reveal) -> Text:
        is_ascii = bool(getattr(self.app, "ascii_only", False))
        marks = {True: "+" if is_ascii else "✓", False: "x" if is_ascii else "✗"}
        text = Text()
        for line in found.lines:
            text.append(f"{marks[line.is_right]} ", "bold")
            text.append(f"{line.text}\n", "" if line.is_right else "bold")
        text.append(f"\n{found.n_right} of {len(found.lines)} right · {self._score.text}", "dim")
        return text

    def _show_keys(self) -> None:
        if self._found is None:
            keys = "enter look   tab next   esc skip"
        elif self._found.first_mismatch == NO_ID:
            keys = "enter back   ctrl+s save as expectations   esc back"
        else:
            keys = "enter go to the first surprise   ctrl+s save as expectations   esc back"
        self.query_one("#guess-keys", Static).update(keys)

    def _note(self, text: str) -> None:
        self.query_one("#guess-note", Static).update(clean_text(text))

    def action_skip(self) -> None:
        """Look without guessing."""
        self.dismiss(None)

    def action_save(self) -> None:
        """Write what the trace shows as a file that ``check`` reads."""
        if self._found is None:
            self._note(f"guess first; then ctrl+s writes {EXPECT_FILE}")
            return
        try:
            path = write_expectations(self._folder(), self._found.expectations)
        except OSError as error:
            self._note(str(error))
            return
        self._note(f"written to {path.name}; tracetui check FILE --expect-file {path.name}")


def _row(question: GuessQuestion) -> Horizontal:
    suggester = SuggestFromList(question.choices, case_sensitive=False)
    entry = Input(
        name=question.key,
        id=f"guess-{question.key}",
        compact=True,
        suggester=suggester if question.choices else None,
    )
    entry.cursor_blink = False
    entry.set_class(question.is_open, "-open")
    hint = "a number, or a range such as 4-6"
    if question.is_open:
        hint = "a name; → completes it"
    elif question.choices:
        rest = " …" if len(question.choices) > _MOST_CHOICES else ""
        hint = ", ".join(question.choices[:_MOST_CHOICES]) + rest
    return Horizontal(
        Static(f"{question.label:<{_LABEL_WIDTH}}", classes="guess-label", markup=False),
        entry,
        Static(hint, classes="guess-hint", markup=False),
        classes="guess-row",
    )
