"""The capture: choose what to run, watch it run, and go on to the scoreboard."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from tracetui.capture import progress
from tracetui.capture.catalog import CATALOG
from tracetui.capture.client import (
    CaptureProcess,
    Event,
    MachineReport,
    checked,
    machine_report,
)
from tracetui.errors import CaptureError, TraceTuiError
from tracetui.format import middle_ellipsis
from tracetui.model.strings import clean_text
from tracetui.presentation.capture_choice import ChoiceStore
from tracetui.presentation.capture_fields import (
    BACKWARD,
    PYTHON,
    START,
    VARIANT,
    WORKLOAD,
    FormRow,
)
from tracetui.presentation.capture_form import CaptureForm
from tracetui.presentation.capture_live import LiveCapture
from tracetui.presentation.comparison.scores import Awaited
from tracetui.presentation.table import cut_off, wrapped
from tracetui.ui.keymap import footer_text
from tracetui.ui.screens.help import HelpScreen
from tracetui.ui.screens.prompt import ChoiceScreen, PromptScreen
from tracetui.ui.steady import SteadyScreen
from tracetui.ui.widgets.line_list import LineList, ListLine
from tracetui.ui.widgets.too_small import TooSmall

FORM_SCOPE: Final = "capture"
LIVE_SCOPE: Final = "capturing"
_OWN_FILE: Final = "a function in a file of your own, FILE.py:FUNCTION …"
_NOTE_LINES: Final = 2
_HINTS: Final = {
    WORKLOAD: "FILE.py:FUNCTION, or a name",
    PYTHON: "a Python, or the folder of its environment; empty: the active one",
}


class CaptureScreen(SteadyScreen[None]):
    """The form, and in its place the progress while a capture runs.

    It stays alive behind other screens, so that the scoreboard can be watched while it fills.
    """

    DEFAULT_CSS: ClassVar[str] = """
    CaptureScreen #capture-summary { height: 1; color: $accent; text-style: bold; }
    CaptureScreen #capture-note { height: 2; color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Choose the variant"),
        Binding("a", "choose_all", "All variants"),
        Binding("l,right", "step(1)", "Next value"),
        Binding("h,left", "step(-1)", "Previous value"),
        Binding("R", "start", "Start"),
        Binding("K", "stop", "Stop"),
        Binding("6", "scoreboard", "Scoreboard"),
        Binding("y", "copy", "Copy"),
        Binding("question_mark", "help", "Help"),
        Binding("escape", "back", "Back"),
    ]

    @dataclass
    class Known(Message):
        """What a Python has is known, or why it cannot capture."""

        python: str
        machine: MachineReport | None
        problem: str = ""

    @dataclass
    class Told(Message):
        """The capture that runs told something."""

        live: LiveCapture
        event: Event

    @dataclass
    class Captured(Message):
        """Traces are complete and can be opened."""

        paths: tuple[str, ...]

    @dataclass
    class Progressed(Message):
        """It is another variant's turn, or one has its trace, or gets none."""

        awaited: tuple[Awaited, ...]

    @dataclass
    class ScoreboardRequested(Message):
        """The user wants to see the traces, or the capture is done."""

        said: str = ""

    @dataclass
    class LeaveRequested(Message):
        """The user wants to go back to where this screen was called."""

    def __init__(
        self, store: ChoiceStore, report: Callable[[str | None], MachineReport] | None = None
    ) -> None:
        """Start from what was chosen last.

        Args:
            store: Remembers the choices.
            report: Asks a Python what it has.
        """
        super().__init__()
        self._store = store
        self._report = report or machine_report
        self._form = CaptureForm.remembered(store.memory())
        self._rows: list[FormRow] = self._form.rows()
        self._live: LiveCapture | None = None
        self._process: CaptureProcess | None = None
        self._unopened: list[str] = []
        self._said = ""
        self._is_asked = False

    @property
    def is_capturing(self) -> bool:
        """Whether a capture is at work."""
        return self._process is not None

    @property
    def key_scope(self) -> str:
        """Return which keys of the table work now."""
        return FORM_SCOPE if self._live is None else LIVE_SCOPE

    @property
    def awaited(self) -> tuple[Awaited, ...]:
        """Return the variants of the last capture that have no trace."""
        return () if self._live is None else self._live.awaited

    def compose(self) -> ComposeResult:
        """Build the frame."""
        yield Static(id="header", markup=False)
        yield Static(id="capture-summary", markup=False)
        yield LineList()
        yield Static(id="capture-note", markup=False)
        yield Static(id="footer", markup=False)
        yield TooSmall()

    def on_mount(self) -> None:
        """Paint first, then ask what the Python has."""
        self.query_one(LineList).focus()
        self._show()
        self._ask()

    def on_screen_resume(self) -> None:
        """Pass on what was finished while something lay above, and show what has changed."""
        self._show()
        self._pass_on()

    def on_resize(self) -> None:
        """Lay everything out for the new width."""
        self.query_one(TooSmall).fit(self.size.width, self.size.height)
        self._show()

    def kill(self) -> None:
        """End the capture now, if one runs; traces that are complete stay."""
        if self._process is not None:
            self._process.kill()

    # What the Python has

    def _ask(self) -> None:
        # No worker: leaving the app would wait for one, and torch takes seconds to import.
        python = self._form.python
        threading.Thread(target=self._find_out, args=(python,), daemon=True).start()

    def _find_out(self, python: str) -> None:
        try:
            found = self.Known(python, self._report(python or None))
        except CaptureError as error:
            found = self.Known(python, None, str(error))
        self.post_message(found)

    def on_capture_screen_known(self, message: Known) -> None:
        """Show what can be captured with it, unless another Python is asked for by now."""
        if message.python != self._form.python:
            return
        if message.machine is not None:
            self._form = self._form.with_machine(message.machine)
        else:
            self._form = self._form.with_problem(message.problem)
        self._show()

    # What is shown

    def _show(self) -> None:
        if not self.is_mounted:
            return
        width = self.size.width or self.app.size.width
        head = Text(" tracetui", "bold", no_wrap=True, overflow="ellipsis")
        head.append(f"  {self._title(width - 12)}", "not bold")
        self.query_one("#header", Static).update(head)
        live = self._live
        self._rows = self._form.rows()
        summary = self._form.summary if live is None else live.summary
        line = Text(f" {cut_off(summary, width - 2)}", no_wrap=True)
        self.query_one("#capture-summary", Static).update(line)
        n_rows = len(self._rows) if live is None else len(live.rows)
        self.query_one(LineList).show(n_rows, self._line)
        self._show_note(width)
        back = " esc stop  " if self.is_capturing else " esc back  "
        keys = footer_text(self.key_scope, width - 1 - len(back), is_view=False)
        self.query_one("#footer", Static).update(Text(f"{back}{keys}", no_wrap=True))

    def _title(self, width: int) -> str:
        form = self._form
        parts = ["capture"]
        if self._live is not None:
            parts.append(clean_text(self._live.spec.name))
        if form.machine is not None:
            device = form.machine.device if form.device == "auto" else form.device
            parts += [device, f"torch {form.machine.versions.get('torch')}"]
        return middle_ellipsis(" · ".join(parts), max(width, 1))

    def _line(self, row: int, width: int) -> ListLine:
        if self._live is not None:
            return ListLine(self._live.line(row, width))
        shown = self._rows[row]
        return ListLine(shown.line(width), is_dim=shown.is_grey)

    def _show_note(self, width: int) -> None:
        text = self._said or self._details()
        lines = wrapped(text, max(width - 2, 1))[:_NOTE_LINES]
        note = Text("\n".join(f" {line}" for line in lines), "bold" if self._said else "")
        note.no_wrap = True
        self.query_one("#capture-note", Static).update(note)

    def _details(self) -> str:
        place = self.query_one(LineList).cursor
        if self._live is None:
            row = self._rows[place]
            return f"{row.value.strip()}: {row.meaning}" if row.value else row.meaning
        live = self._live
        if live.notes and live.is_over:
            return live.notes[-1]
        return live.rows[place].details if place < len(live.rows) else ""

    def _say(self, text: str) -> None:
        self._said = clean_text(text)
        self._show()

    def on_line_list_moved(self) -> None:
        """Say more of the row."""
        self._said = ""
        self._show_note(self.size.width)

    def on_line_list_resized(self) -> None:
        """Write the rows for the new width."""
        self.query_one(LineList).refresh()

    # The form

    @property
    def _row(self) -> FormRow:
        return self._rows[self.query_one(LineList).cursor]

    def _change(self, change: Callable[[], CaptureForm]) -> bool:
        """Take another form; say what is wrong instead if there is something."""
        python, workload = self._form.python, self._form.workload
        try:
            form = change()
            if form.workload != workload and form.entry is None:
                checked(form.spec())
        except TraceTuiError as error:
            self._say(str(error))
            return False
        self._said = ""
        self._form = form
        if form.python != python:
            self._ask()
        self._show()
        return True

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Edit the row, or start."""
        message.stop()
        if self._live is not None:
            self.action_scoreboard()
            return
        row = self._row
        if row.kind == START:
            self.action_start()
        elif row.kind == WORKLOAD:
            self._choose_workload()
        elif row.kind == VARIANT:
            self.action_choose()
        elif row.kind == BACKWARD:
            self.action_step(1)
        else:
            self._prompt(row, self._form.text_of(row))

    def _choose_workload(self) -> None:
        rows = [f"{each.name:<12} {each.summary}" for each in CATALOG]

        def chosen(index: int | None) -> None:
            if index is None:
                return
            if index < len(CATALOG):
                name = CATALOG[index].name
                self._change(lambda: self._form.edited(self._rows[0], name))
            else:
                self._prompt(self._rows[0], self._form.workload)

        self.app.push_screen(ChoiceScreen("Workload", [*rows, _OWN_FILE]), chosen)

    def _prompt(self, row: FormRow, text: str) -> None:
        """Ask for a row's text until it means something or nothing is wanted."""

        def given(answer: str | None) -> None:
            if answer is None:
                self._said = ""
                self._show()
            elif not self._change(lambda: self._form.edited(row, answer)):
                self._prompt(row, answer)

        label = row.name or row.group.lower()
        hint = _HINTS.get(row.kind, row.meaning)
        self.app.push_screen(PromptScreen(label, text, hint), given)

    def action_choose(self) -> None:
        """Choose the variant, or leave it out."""
        if self._live is None and self._row.kind == VARIANT:
            name = self._row.name
            self._change(lambda: self._form.toggled(name))

    def action_choose_all(self) -> None:
        """Choose all variants that can run, or none."""
        if self._live is None:
            self._change(self._form.with_all_toggled)

    def action_step(self, direction: int) -> None:
        """Go through the values of a row."""
        if self._live is None:
            row = self._row
            self._change(lambda: self._form.stepped(row, direction))

    # The capture

    def action_start(self) -> None:
        """Start what is chosen."""
        if self.is_capturing:
            self._say("a capture is running; K stops it")
            return
        form = self._form
        try:
            spec = form.spec()
            process = CaptureProcess(spec, form.python or None)
        except TraceTuiError as error:
            self._say(str(error))
            return
        self._store.keep(form.memory)
        names = () if form.entry is None else spec.variants or form.entry.variant_names
        self._live = LiveCapture(process.spec, names)
        self._process = process
        self._said = ""
        self.post_message(self.Progressed(self.awaited))
        self._run(process, self._live)
        self.query_one(LineList).cursor = 0
        self._show()

    @work(thread=True, group="capture")
    def _run(self, process: CaptureProcess, live: LiveCapture) -> None:
        try:
            for event in process.events():
                self.post_message(self.Told(live, event))
        except TraceTuiError as error:
            failed = {"event": progress.FAILED, "reason": str(error)}
            self.post_message(self.Told(live, failed))

    def on_capture_screen_told(self, message: Told) -> None:
        """Show what the capture does; open what it has finished."""
        event, live = message.event, message.live
        before = live.awaited
        live.take(event)
        if live.awaited != before:
            self.post_message(self.Progressed(live.awaited))
        kind = event["event"]
        if kind == progress.FINISHED:
            self._unopened.append(str(event["path"]))
            self._form = self._form.with_result(event["variant"], None)
            self._pass_on()
        elif kind == progress.UNAVAILABLE:
            self._form = self._form.with_result(event["variant"], str(event["reason"]))
        if live.is_over:
            self._process = None
            self._store.keep(self._form.memory)
        self._show()
        if live.is_whole and self.is_current:
            self.action_scoreboard()

    def _pass_on(self) -> None:
        """Let the finished traces be opened."""
        if self._unopened:
            self.post_message(self.Captured(tuple(self._unopened)))
            self._unopened.clear()

    def take_back(self, paths: Sequence[str]) -> None:
        """Keep traces that cannot be opened while something lies above this screen."""
        self._unopened += paths

    def action_stop(self) -> None:
        """Stop the capture and keep what is complete; a second time, at once."""
        if self._process is not None and self._live is not None:
            self._live.is_stopping = True
            self._process.stop()
            self._show()

    def action_scoreboard(self) -> None:
        """Go to the scoreboard, while a capture runs or after it."""
        if self._live is None or not self._live.paths:
            self._say("no trace is complete yet")
            return
        said = f"{self._live.summary}; ctrl+r shows the capture" if self._live.is_over else ""
        self.post_message(self.ScoreboardRequested(said))

    def action_back(self) -> None:
        """Stop what runs; then go back to the form, then out of here."""
        if self.is_capturing:
            if self._live is not None and not self._live.is_stopping:
                self.action_stop()
        elif self._live is not None:
            self._live = None
            self._said = ""
            self._show()
        else:
            self._store.keep(self._form.memory)
            self.post_message(self.LeaveRequested())

    def action_copy(self) -> None:
        """Copy what is shown as text."""
        width = self.query_one(LineList).line_width
        if self._live is not None:
            text = self._live.text(width)
        else:
            rows = [row.line(width).rstrip() for row in self._rows]
            text = "\n".join([self._form.summary, *rows])
        self.app.copy_to_clipboard(text)
        self._say(f"sent to the clipboard: {len(text.splitlines())} lines")

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen(self.key_scope, "the capture"))
