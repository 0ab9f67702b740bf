"""The first screen without a file: recent traces, those nearby, samples, and what this can do."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

import tracetui
from tracetui.capture.interpreter import chosen_interpreter
from tracetui.errors import CaptureError
from tracetui.format import middle_ellipsis, size
from tracetui.model.strings import clean_text
from tracetui.presentation.browse import (
    DEFAULT_BUDGET_S,
    Search,
    StateStore,
    TraceFile,
    age,
    find_traces,
    has_torch,
    torch_lines,
)
from tracetui.ui.messages import CaptureRequested
from tracetui.ui.screens.help import HelpScreen
from tracetui.ui.steady import SteadyList, SteadyScreen
from tracetui.ui.widgets.too_small import TooSmall

BROWSE_BUDGET_S: Final = 3.0
"""How long a folder named by the user is searched."""
N_SHOWN: Final = 200
"""How many files of a section are listed."""
_FIGURES_WIDTH: Final = 42
_ABILITIES: Final = (
    "  tracetui FILE           open a PyTorch profiler trace",
    "  tracetui DIR            list the traces below a folder",
    "  tracetui report FILE    print what it finds, for scripts",
    "  tracetui capture        the same as above, from the shell",
)
_CAPTURE: Final = "  ctrl+r                  record a workload in its variants, with torch"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its files."""

    title: str
    files: tuple[TraceFile, ...]
    is_complete: bool = True
    root: str = ""
    """The folder that their names are told from; empty is the one that the screen is about."""


_LOOKING: Final = Section("looking for traces…", (), is_complete=False)


def _capturing_python() -> str | None:
    """Return the Python that a capture would run in, or ``None`` if none can be told."""
    try:
        return chosen_interpreter()
    except CaptureError:
        return None


def samples_folder() -> Path:
    """Return where the traces that come with the source tree lie."""
    return Path(tracetui.__file__).resolve().parent.parent / "sample_traces"


def row_text(file: TraceFile, width: int, now_s: float, root: str = "") -> str:
    """Return one file as a row: name, size, age, producer."""
    path = file.path
    if root:
        path = str(Path(path).relative_to(root)) if Path(path).is_relative_to(root) else path
    name_width = max(width - _FIGURES_WIDTH, 16)
    name = middle_ellipsis(clean_text(path), name_width)
    when = age(max(now_s - file.modified_s, 0.0))
    return f"  {name:<{name_width}} {size(file.n_bytes):>10} {when:>7}  {file.producer}"


class FileOption(Option):
    """A file's row."""

    def __init__(self, path: str, text: str) -> None:
        """Show ``text`` for ``path``."""
        super().__init__(Content(text))
        self.path = path


class CaptureOption(Option):
    """The way to a capture."""


def _text_option(text: str, *, is_heading: bool = False) -> Option:
    content = Content(text).stylize("bold") if is_heading else Content(text)
    return Option(content, disabled=True)


def _notes(section: Section) -> list[str]:
    notes = []
    n_left_out = len(section.files) - N_SHOWN
    if n_left_out > 0:
        notes.append(f"… and {n_left_out} more")
    if section is not _LOOKING and not section.is_complete:
        notes.append("there may be more: the search stopped to keep this list quick")
    if not section.files and section.is_complete:
        notes.append("none")
    return notes


class StartScreen(SteadyScreen[None]):
    """A list of traces to open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
        Binding("ctrl+r", "capture", "Capture a workload"),
        Binding("question_mark", "help", "Help"),
        Binding("escape", "back", "Back"),
    ]

    @dataclass
    class Opened(Message):
        """The user chose a file."""

        path: str

    @dataclass
    class Found(Message):
        """The walk is over, or one part of it."""

        sections: tuple[Section, ...]
        notes: tuple[str, ...] = ()
        """What this machine lacks."""

    def __init__(self, store: StateStore, directory: str | None = None, error: str = "") -> None:
        """List a folder's traces, or with none the recent ones, those nearby and the samples.

        Args:
            store: Knows the recent files.
            directory: The folder to list.
            error: Why the last file could not be opened, in one line.
        """
        super().__init__()
        self._store = store
        self._directory = directory
        self._error = error
        self._sections: tuple[Section, ...] = (_LOOKING,)
        self._notes: tuple[str, ...] = ()
        self._stop = Event()
        self.can_go_back = False
        """Whether a trace is open below this screen."""

    def compose(self) -> ComposeResult:
        """Build the list, still empty."""
        title = "tracetui" if self._directory is None else f"tracetui  {self._directory}"
        yield Static(f" {clean_text(title)}", id="header", markup=False)
        yield Static(f" {self._error}", id="start-error", markup=False)
        yield SteadyList(id="start-list")
        yield Static(
            " enter open  j k move  ctrl+r capture  ? help  q quit", id="footer", markup=False
        )
        yield TooSmall()

    def on_mount(self) -> None:
        """Paint first, look for files afterwards."""
        self.query_one("#start-error").display = bool(self._error)
        self._fill(self._sections)
        self.query_one(OptionList).focus()
        self._search()

    def on_unmount(self) -> None:
        """End the walk."""
        self._stop.set()

    def on_resize(self) -> None:
        """Lay the rows out for the new width."""
        self.query_one(TooSmall).fit(self.size.width, self.size.height)
        self._fill(self._sections)

    def show_error(self, error: str) -> None:
        """Say in one line why a file could not be opened."""
        self._error = error
        line = self.query_one("#start-error", Static)
        line.update(f" {error}")
        line.display = bool(error)

    @work(thread=True, exclusive=True, group="search")
    def _search(self) -> None:
        python = _capturing_python()
        notes = () if python is None or has_torch(python) else torch_lines(python)
        self.post_message(self.Found(tuple(self._found()), notes))

    def _found(self) -> Sequence[Section]:
        if self._directory is not None:
            return [self._walk(self._directory, "Traces below this folder", BROWSE_BUDGET_S)]
        sections = [
            Section("Recent", self._store.recent()),
            self._walk(str(Path.cwd()), "Below this folder", DEFAULT_BUDGET_S),
        ]
        if samples_folder().is_dir() and not Path.cwd().is_relative_to(samples_folder().parent):
            samples = self._walk(str(samples_folder()), "Samples", DEFAULT_BUDGET_S)
            # Their dates are those of the checkout and say nothing.
            by_name = tuple(sorted(samples.files, key=lambda file: file.path))
            sections.append(replace(samples, files=by_name, root=str(samples_folder())))
        return sections

    def _walk(self, root: str, title: str, budget_s: float) -> Section:
        search: Search = find_traces(root, budget_s=budget_s, stop=self._stop)
        return Section(title, search.files, search.is_complete)

    def on_start_screen_found(self, message: Found) -> None:
        """List what was found."""
        self._sections, self._notes = message.sections, message.notes
        self._fill(message.sections)

    def _fill(self, sections: Sequence[Section]) -> None:
        rows = self.query_one(OptionList)
        highlighted = rows.highlighted
        rows.clear_options()
        rows.add_options(self._options(sections))
        if highlighted is not None:
            rows.highlighted = min(highlighted, rows.option_count - 1)
        elif any(section.files for section in sections):
            rows.action_first()

    def _options(self, sections: Sequence[Section]) -> list[Option]:
        now_s = time.time()
        root = str(Path(self._directory or Path.cwd()).absolute())
        options = []
        for section in sections:
            options.append(_text_option(section.title, is_heading=True))
            options.extend(
                FileOption(file.path, row_text(file, self.size.width, now_s, section.root or root))
                for file in section.files[:N_SHOWN]
            )
            options.extend(_text_option(f"  {note}") for note in _notes(section))
            options.append(_text_option(""))
        options.append(_text_option("What it can do", is_heading=True))
        # Without torch there is nothing to choose, and the lines below say why.
        is_possible = not self._notes
        words = Content(_CAPTURE) if is_possible else Content(_CAPTURE).stylize("dim")
        options.append(CaptureOption(words, disabled=not is_possible))
        options.extend(_text_option(line) for line in (*self._notes, *_ABILITIES))
        return options

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the chosen file."""
        event.stop()
        if isinstance(event.option, FileOption):
            self.post_message(self.Opened(event.option.path))
        elif isinstance(event.option, CaptureOption):
            self.action_capture()

    def action_move(self, amount: int) -> None:
        """Move the highlight."""
        rows = self.query_one(OptionList)
        if amount > 0:
            rows.action_cursor_down()
        else:
            rows.action_cursor_up()

    def action_capture(self) -> None:
        """Choose a workload to record; without torch, the Python to record in."""
        self.post_message(CaptureRequested())

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen("start", "this list"))

    def action_back(self) -> None:
        """Go back to the open trace, if there is one; never leave."""
        if self.can_go_back:
            self.app.pop_screen()
