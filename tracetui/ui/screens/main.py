"""The main screen: header, tabs, the views, and everything that works in all of them."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import ClassVar, Final, TypeAlias

import numpy as np
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import ContentSwitcher, Static

from tracetui.compare.comparison import Comparison
from tracetui.diagnosis.engine import findings
from tracetui.diagnosis.finding import Finding
from tracetui.errors import TraceTuiError
from tracetui.format import count, duration, middle_ellipsis, size
from tracetui.model.arrays import NO_ID
from tracetui.model.portion import WHOLE, Portion, Shortage
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.browse import Place, StateStore
from tracetui.presentation.guess import ScoreStore
from tracetui.presentation.navigation import find_slice, follow, follow_back
from tracetui.presentation.table import told_apart
from tracetui.presentation.too_big import question
from tracetui.readers import read_trace
from tracetui.readers.base import Progress
from tracetui.readers.shortage import shortage
from tracetui.ui.keymap import footer_text
from tracetui.ui.messages import (
    CaptureRequested,
    ChoiceRequested,
    EvidenceRequested,
    KeysChanged,
    PairChosen,
    RangeChosen,
    SliceSelected,
    TextRequested,
    Told,
    ViewRequested,
    WindowChanged,
)
from tracetui.ui.screens.guess import GuessScreen
from tracetui.ui.screens.help import HelpScreen
from tracetui.ui.screens.prompt import ChoiceScreen, PromptScreen
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views import VIEWS
from tracetui.ui.views.base import View
from tracetui.ui.views.compare import CompareView
from tracetui.ui.views.overview import OverviewView
from tracetui.ui.widgets.too_small import TooSmall

Exporter: TypeAlias = Callable[[Trace, str, str], dict[str, bytes]]
ComparisonExporter: TypeAlias = Callable[[Comparison, Sequence[str]], dict[str, bytes]]
"""Makes files of a trace, a view's title and its text; what it returns goes by file suffix."""

SHORT_TABS_WIDTH: Final = 80
"""Up to this width the tabs have short titles."""
N_JUMPS: Final = 200
WIDE: Final = 110
"""From this width the header names the selection."""
_SELECTION_WIDTH: Final = 24
SAID_S: Final = 4.0
"""How long an answer to a key stands in the footer's place."""
_MARK_NAME_WIDTH: Final = 50
_RIVAL_WIDTH: Final = 40


@dataclass(frozen=True, slots=True)
class Spot:
    """A view, a slice by its event, and a window: what marks and the jump list hold.

    The event and not the slice, because slices are numbered anew while a file is being read.
    """

    view: str
    event_id: int = NO_ID
    window: tuple[int, int] | None = None


@dataclass(eq=False)
class Document:
    """One open file and the user's place in it."""

    path: str
    workspace: Workspace | None = None
    view: str = OverviewView.name_id
    progress: Progress | None = None
    is_loading: bool = True
    error: str = ""
    recorded: str = ""
    pattern: str = ""
    jumps: list[Spot] = field(default_factory=list)
    jump: int = 0
    marks: list[Spot] = field(default_factory=list)
    finding: int = -1
    """Which finding ``}`` went to last; -1 before the first."""
    place: Place | None = None
    """Where to come back to, until the user goes anywhere."""
    stop: Event = field(default_factory=Event)
    portion: Portion | None = None
    """What the user chose to read; ``None`` reads the whole file if it fits."""

    @property
    def name(self) -> str:
        """Return the file's name, safe to show."""
        return clean_text(Path(self.path).name)


def slice_of_event(trace: Trace, event_id: int) -> int:
    """Return the slice that an event of the file became, or ``NO_ID``."""
    if event_id < 0:
        return NO_ID
    found = np.flatnonzero(trace.slices.event_id == event_id)
    return int(found[0]) if len(found) else NO_ID


def event_of_slice(trace: Trace, slice_id: int) -> int:
    """Return the event of the file that a slice was, or ``NO_ID``."""
    if not 0 <= slice_id < len(trace.slices):
        return NO_ID
    return int(trace.slices.event_id[slice_id])


def progress_text(name: str, progress: Progress | None) -> str:
    """Return what a load does, how far it is and how long still."""
    if progress is None:
        return f"opening {name}   esc stops"
    parts = [f"reading {name}: {size(progress.n_bytes_read)}"]
    total = progress.n_bytes_total
    if total:
        parts[0] += f" of {size(total)}"
    parts.append(f"{count(progress.n_events)} events")
    read = progress.n_bytes_read
    if total and read and read < total:
        left_s = progress.elapsed_s * (total - read) / read
        parts.append(f"about {left_s:.0f} s left")
    return " · ".join(parts) + "   esc stops and keeps what was read"


def written(stem: str, contents: dict[str, bytes]) -> str:
    """Write new files of one name into this folder, never over others; return what was done.

    Args:
        stem: The name; where a file of it exists, a number is added.
        contents: What to write, by suffix.
    """
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}-{number}"
        paths = [Path(f"{name}{suffix}") for suffix in contents]
        if any(path.exists() for path in paths):
            continue
        try:
            for path, content in zip(paths, contents.values(), strict=True):
                with path.open("xb") as file:
                    file.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            return clean_text(str(error))
        return f"written to {clean_text(' and '.join(map(str, paths)))}"
    return f"{clean_text(stem)}: too many files of this name here"


class MainScreen(Screen[None]):
    """The open traces, one of them shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(view.key, f"view('{view.name_id}')", view.title_text) for view in VIEWS),
        Binding("question_mark", "help", "Help"),
        Binding("escape", "stop", "Stop"),
        Binding("slash", "search", "Search"),
        Binding("n", "search_next(1)", "Next match"),
        Binding("N", "search_next(-1)", "Previous match"),
        Binding("ampersand", "filter", "Filter"),
        Binding("backslash", "clear_filter", "Clear filter"),
        Binding("right_square_bracket", "follow(1)", "Follow"),
        Binding("left_square_bracket", "follow(-1)", "Follow back"),
        Binding("right_curly_bracket", "finding(1)", "Next finding"),
        Binding("left_curly_bracket", "finding(-1)", "Previous finding"),
        Binding("less_than_sign", "jump(-1)", "Back"),
        Binding("greater_than_sign", "jump(1)", "Forward"),
        Binding("m", "mark", "Mark"),
        Binding("apostrophe", "marks", "Marks"),
        Binding("y", "copy", "Copy"),
        Binding("Y", "write", "Write to a file"),
        Binding("o", "switch_trace", "Next trace"),
        Binding("u", "unit", "Units of time"),
        Binding("t", "artefacts", "Profiler's own doing in shares"),
        Binding("ctrl+g", "guess", "Guess first, then look"),
        Binding("E", "export", "Export a report"),
        Binding("ctrl+r", "capture", "Capture a workload"),
    ]

    @dataclass
    class Published(Message):
        """Some of a file has been read, or all of it."""

        document: Document

    @dataclass
    class LoadEnded(Message):
        """A file is read, or cannot be."""

        document: Document
        trace: Trace | None
        error: str = ""

    @dataclass
    class TooBig(Message):
        """A file will not fit into memory; nothing of it has been read."""

        document: Document
        short: Shortage

    @dataclass
    class FindingsReady(Message):
        """The rules have looked at a trace; the user wants to see the next finding."""

        document: Document
        trace: Trace
        found: tuple[Finding, ...]
        direction: int

    @dataclass
    class OpenRequested(Message):
        """The user wants to choose another file."""

    @dataclass
    class Said(Message):
        """A thread has something to say."""

        text: str

    @dataclass
    class NothingOpen(Message):
        """No file could be opened."""

        error: str

    def __init__(self, paths: Sequence[str], store: StateStore, view: str = "") -> None:
        """Open the files; the first is shown.

        Args:
            paths: The files.
            store: Remembers the place in each.
            view: The view to begin with; empty leaves it to the files.
        """
        super().__init__()
        self._store = store
        self._documents = [self._new_document(path) for path in paths]
        if len(paths) > 1:
            # Several files are opened to be compared: the answer comes first.
            self._documents[0].view = CompareView.name_id
        if view:
            self._documents[0].view = view
        self._shown = 0
        self._frame: dict[str, Text] = {}
        self._said = ""
        self._said_timer: Timer | None = None
        self._latest: dict[int, tuple[Trace, Progress]] = {}
        self._rivals = Rivals((), ())

    def _new_document(self, path: str) -> Document:
        place = self._store.place_of(path)
        names = {view.name_id for view in VIEWS}
        document = Document(path, place=place)
        if place.view in names:
            document.view = place.view
        document.marks = [Spot(view, event_id) for view, event_id in place.marks if view in names]
        return document

    @property
    def document(self) -> Document:
        """Return the trace that is shown."""
        return self._documents[self._shown]

    @property
    def view(self) -> View:
        """Return the view that is shown."""
        return self._view_named(self.document.view)

    def _view_named(self, name: str) -> View:
        return self.query_one(f"#view-{name}", View)

    def compose(self) -> ComposeResult:
        """Build the frame; the views are empty until a trace arrives."""
        yield Static(id="header", markup=False)
        yield Static(id="tabs", markup=False)
        yield Static(id="progress", markup=False)
        with ContentSwitcher(initial=f"view-{self.document.view}", id="views"):
            for view_class in VIEWS:
                view = view_class()
                view.id = f"view-{view_class.name_id}"
                yield view
        yield Static(id="footer", markup=False)
        yield TooSmall()

    def on_mount(self) -> None:
        """Paint first, then read."""
        self._show_frame()
        self.view.focus_main()
        for document in self._documents:
            self._load(document)

    def on_unmount(self) -> None:
        """Stop reading and keep the place in each file."""
        for document in self._documents:
            document.stop.set()
            self._remember(document)

    def on_resize(self) -> None:
        """Fit header and tabs to the new width."""
        self.query_one(TooSmall).fit(self.size.width, self.size.height)
        self._show_frame()

    def open(self, path: str) -> None:
        """Open one more file and show it, or show it again."""
        known = [index for index, each in enumerate(self._documents) if each.path == path]
        if known:
            self._shown = known[0]
        else:
            self._documents.append(self._new_document(path))
            self._shown = len(self._documents) - 1
            self._load(self.document)
        self._show_document()

    def open_behind(self, path: str) -> None:
        """Open one more file without showing it; read it again if it is open already."""
        fresh = self._new_document(path)
        for place, document in enumerate(self._documents):
            if Path(document.path).resolve() == Path(path).resolve():
                document.stop.set()
                fresh.view = document.view
                self._documents[place] = fresh
                break
        else:
            self._documents.append(fresh)
        self._load(fresh)
        self._show_frame()

    def show_view(self, name: str, said: str = "") -> None:
        """Show a view of the trace that is shown, and say something for a while."""
        self._show_view(name)
        if said:
            self._tell(said)

    # Loading

    @work(thread=True, group="load")
    def _load(self, document: Document) -> None:
        def publish(trace: Trace, progress: Progress) -> None:
            is_awaited = id(document) in self._latest
            self._latest[id(document)] = (trace, progress)
            if not is_awaited:
                self.post_message(self.Published(document))

        try:
            short = None if document.portion is not None else shortage(document.path)
            if short is not None:
                self.post_message(self.TooBig(document, short))
                return
            portion = document.portion or WHOLE
            trace = read_trace(document.path, publish, document.stop, portion=portion)
        except TraceTuiError as error:
            text = str(error)
            if document.name not in clean_text(text):
                text = f"{document.path}: {text}"
            self.post_message(self.LoadEnded(document, None, clean_text(text)))
        except (OSError, MemoryError) as error:
            text = f"{document.path}: {error.__class__.__name__}: {error}"
            self.post_message(self.LoadEnded(document, None, clean_text(text)))
        else:
            self.post_message(self.LoadEnded(document, trace))

    def on_main_screen_too_big(self, message: TooBig) -> None:
        """Ask what to read of a file that does not fit into memory."""
        document = message.document
        asked = question(document.name, message.short)

        def read_answer(row: int | None) -> None:
            document.portion = asked.answer(row)
            if document.portion is not None:
                self._load(document)
            else:
                text = f"{document.name}: not read, it is too big for the memory"
                self.post_message(self.LoadEnded(document, None, text))

        self.app.push_screen(ChoiceScreen(asked.title, asked.rows), read_answer)

    def on_main_screen_published(self, message: Published) -> None:
        """Fill the views with what has been read so far."""
        latest = self._latest.pop(id(message.document), None)
        if latest is None or not message.document.is_loading:
            return
        trace, message.document.progress = latest
        self._take(message.document, trace)

    def on_main_screen_load_ended(self, message: LoadEnded) -> None:
        """Show the whole trace, or say why there is none."""
        document = message.document
        document.is_loading = False
        self._latest.pop(id(document), None)
        if message.trace is not None:
            self._take(document, message.trace)
            self._restore(document)
            self._store.remember(document.path, self._place(document))
            self._compare_anew(self._rivals.baseline, self._rivals.candidate)
            return
        self._documents = [each for each in self._documents if each is not document]
        if not self._documents:
            self._documents = [document]
            self.post_message(self.NothingOpen(message.error))
            return
        self._shown = min(self._shown, len(self._documents) - 1)
        self._show_document()
        self._tell(message.error)

    def _take(self, document: Document, trace: Trace) -> None:
        """Put a newer reading of the file in the place of the older one."""
        old = document.workspace
        if old is None:
            workspace = Workspace(trace, is_loading=document.is_loading)
        else:
            shift_ns = old.trace.origin_ns - trace.origin_ns
            selection = slice_of_event(trace, event_of_slice(old.trace, old.selection))
            workspace = replace(
                old,
                trace=trace,
                selection=selection,
                window=_shifted(old.window, shift_ns),
                chosen_range=_shifted(old.chosen_range, shift_ns),
                is_loading=document.is_loading,
            )
        self._set_workspace(document, workspace)

    def _compare_anew(self, baseline: int = 0, candidate: int = 1) -> None:
        """Tell the views which traces are whole and which two are compared."""
        whole = [
            (document, document.workspace.trace)
            for document in self._documents
            if document.workspace is not None and not document.is_loading
        ]
        names = told_apart([document.name for document, _ in whole], _RIVAL_WIDTH)
        self._rivals = Rivals(
            tuple(trace for _, trace in whole),
            tuple(names),
            tuple(document.path for document, _ in whole),
            baseline,
            candidate,
        )
        for view in self.query(View):
            view.rivals = self._rivals

    def on_pair_chosen(self, message: PairChosen) -> None:
        """Compare two others, or the same the other way round."""
        message.stop()
        self._compare_anew(message.baseline, message.candidate)

    def on_evidence_requested(self, message: EvidenceRequested) -> None:
        """Show a slice of one of the compared traces."""
        message.stop()
        for place, document in enumerate(self._documents):
            if document.workspace is not None and document.workspace.trace is message.trace:
                view = self.document.view
                self._shown = place
                document.view = view
                self._show_document()
                self._jump_to(message.view, message.slice_id)
                return

    def on_text_requested(self, message: TextRequested) -> None:
        """Let the user type."""
        message.stop()

        def typed(text: str | None) -> None:
            if text is not None:
                message.typed(text)

        self.app.push_screen(PromptScreen(message.label, message.value), typed)

    def on_told(self, message: Told) -> None:
        """Say what a view has to say."""
        message.stop()
        self._tell(message.text)

    def on_keys_changed(self, message: KeysChanged) -> None:
        """Name the keys that work now."""
        message.stop()
        self._show_frame()

    def on_choice_requested(self, message: ChoiceRequested) -> None:
        """Let the user choose."""
        message.stop()

        def chosen(index: int | None) -> None:
            if index is not None:
                message.chosen(index)

        self.app.push_screen(ChoiceScreen(message.title, message.rows), chosen)

    def _restore(self, document: Document) -> None:
        """Come back to the place of last time, unless the user has gone somewhere."""
        place, document.place = document.place, None
        workspace = document.workspace
        if place is None or workspace is None:
            return
        selection = slice_of_event(workspace.trace, place.selection)
        if workspace.selection == NO_ID and workspace.window is None:
            self._set_workspace(
                document, replace(workspace, selection=selection, window=place.window)
            )

    def _place(self, document: Document) -> Place:
        workspace = document.workspace
        if workspace is None:
            return Place(document.view)
        return Place(
            view=document.view,
            selection=event_of_slice(workspace.trace, workspace.selection),
            window=workspace.window,
            marks=[(mark.view, mark.event_id) for mark in document.marks],
        )

    def _remember(self, document: Document) -> None:
        if document.workspace is not None and document.place is None:
            self._store.remember(document.path, self._place(document))

    # The shared state

    def _set_workspace(self, document: Document, workspace: Workspace) -> None:
        document.workspace = workspace
        if document is self.document:
            for view in self.query(View):
                is_new_trace = view.workspace is None or view.workspace.trace is not workspace.trace
                # A hidden view follows when it is shown: it would lay out rows for nobody.
                if is_new_trace or view is self.view:
                    view.workspace = workspace
            self._show_frame()

    def _change(self, workspace: Workspace) -> None:
        self._set_workspace(self.document, workspace)

    def _show_document(self) -> None:
        document = self.document
        if document.workspace is not None:
            self._set_workspace(document, document.workspace)
        self._show_view(document.view)

    def _show_view(self, name: str) -> None:
        self.document.view = name
        self.view.workspace = self.document.workspace
        self.query_one(ContentSwitcher).current = f"view-{name}"
        self.view.focus_main()
        self._show_frame()

    def _spot(self) -> Spot:
        workspace = self.document.workspace
        if workspace is None:
            return Spot(self.document.view)
        event_id = event_of_slice(workspace.trace, workspace.selection)
        return Spot(self.document.view, event_id, workspace.window)

    def _go(self, spot: Spot) -> None:
        workspace = self.document.workspace
        if workspace is not None:
            selection = slice_of_event(workspace.trace, spot.event_id)
            self._change(replace(workspace, selection=selection, window=spot.window))
        self._show_view(spot.view)

    def _jump_to(self, view: str, slice_id: int) -> None:
        """Go elsewhere and remember the way back."""
        document = self.document
        workspace = document.workspace
        if workspace is None:
            return
        here = self._spot()
        jumps = [*document.jumps[: document.jump], here][-N_JUMPS:]
        if slice_id != NO_ID:
            self._change(workspace.with_selection(slice_id))
        self._show_view(view)
        document.jumps = [*jumps, self._spot()]
        document.jump = len(jumps)

    def on_slice_selected(self, message: SliceSelected) -> None:
        """Select in every view."""
        message.stop()
        workspace = self.document.workspace
        if workspace is not None and message.slice_id != workspace.selection:
            self._change(workspace.with_selection(message.slice_id))

    def on_window_changed(self, message: WindowChanged) -> None:
        """Show another range of time."""
        message.stop()
        workspace = self.document.workspace
        if workspace is not None and message.window != workspace.window:
            self._change(replace(workspace, window=message.window))

    def on_range_chosen(self, message: RangeChosen) -> None:
        """Restrict to a range, or to none."""
        message.stop()
        workspace = self.document.workspace
        if workspace is not None:
            self._change(replace(workspace, chosen_range=message.chosen_range))

    def on_view_requested(self, message: ViewRequested) -> None:
        """Go to a view with a slice selected."""
        message.stop()
        if message.view in {view.name_id for view in VIEWS}:
            self._jump_to(message.view, message.slice_id)

    def on_overview_view_computed(self, message: OverviewView.Computed) -> None:
        """Take what the header says of the recording from the overview's result."""
        for document in self._documents:
            if document.workspace is not None and document.workspace.trace is message.trace:
                document.recorded = message.recorded
        self._show_frame()

    # Frame

    def _show_frame(self) -> None:
        if not self.is_mounted:
            return
        width = self.size.width or self.app.size.width
        self._write("header", self._header(width))
        self._write("tabs", self._tabs(width))
        progress = self.query_one("#progress", Static)
        progress.display = self.document.is_loading
        if self.document.is_loading:
            text = progress_text(self.document.name, self.document.progress)
            progress.update(Text(f" {text}", no_wrap=True, overflow="ellipsis"))
        shown = self._said or footer_text(self.view.key_scope, width - 2)
        footer = Text(f" {shown}", "bold" if self._said else "", no_wrap=True, overflow="ellipsis")
        self._write("footer", footer)

    def _write(self, name: str, text: Text) -> None:
        """Write a line of the frame, if it is another than the one that stands there."""
        if self._frame.get(name) != text:
            self._frame[name] = text
            self.query_one(f"#{name}", Static).update(text, layout=False)

    def _header(self, width: int) -> Text:
        document = self.document
        text = Text(" tracetui", "bold", no_wrap=True, overflow="ellipsis", end="")
        if len(self._documents) > 1:
            text.append(f"  {self._shown + 1}/{len(self._documents)}")
        rest = self._range_text()
        used = text.cell_len + len(rest) + 6
        room = (width - used) // 2 if document.recorded else width - used
        name = middle_ellipsis(document.name, max(room, 12))
        text.append(f"  {name}", "not bold")
        left = width - text.cell_len - len(rest) - 6
        if document.recorded and left > 12:
            text.append(f"   {middle_ellipsis(document.recorded, left)}", "not bold dim")
        if rest:
            text.append(f"   {rest}", "not bold")
        return text

    def _range_text(self) -> str:
        workspace = self.document.workspace
        if workspace is None:
            return ""
        parts = ["part of the file"] if workspace.trace.report.is_part else []
        if workspace.chosen_range is not None:
            start_ns, end_ns = workspace.chosen_range
            parts.append(f"range {duration(end_ns - start_ns)} at {duration(start_ns)}")
        if workspace.filter_text:
            parts.append(f"filter {middle_ellipsis(clean_text(workspace.filter_text), 24)}")
        if (
            workspace.selection != NO_ID
            and self.size.width >= WIDE
            and not self.view.names_selection
        ):
            name = workspace.trace.name_of(workspace.selection)
            parts.append(middle_ellipsis(name, _SELECTION_WIDTH))
        return " · ".join(parts)

    def _tabs(self, width: int) -> Text:
        text = Text(" ", no_wrap=True, overflow="ellipsis", end="")
        for view in VIEWS:
            title = view.short_title if width <= SHORT_TABS_WIDTH else view.title_text
            is_shown = view.name_id == self.document.view
            text.append(f"{view.key} {title}", "bold underline" if is_shown else "dim")
            text.append("  ")
        return text

    # Keys

    def action_view(self, name: str) -> None:
        """Show a view."""
        if name != self.document.view:
            self._show_view(name)

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen(self.view.key_scope, self.view.title_text))

    def action_stop(self) -> None:
        """Stop the load and keep what was read, close the details, drop the range; never leave."""
        document = self.document
        if document.is_loading:
            document.stop.set()
        elif self.view.close() or document.workspace is None:
            return
        elif document.workspace.pattern:
            self._change(replace(document.workspace, pattern=""))
        elif document.workspace.chosen_range is not None:
            self._change(replace(document.workspace, chosen_range=None))

    def action_search(self) -> None:
        """Ask for a name."""
        prompt = PromptScreen("/", self.document.pattern, "part of a name")
        self.app.push_screen(prompt, self._search_for)

    def _search_for(self, pattern: str | None) -> None:
        if pattern:
            self.document.pattern = pattern
            if self.document.workspace is not None:
                self._change(replace(self.document.workspace, pattern=pattern))
            self.action_search_next(1)

    def action_search_next(self, direction: int) -> None:
        """Go to the next or previous match; where the view has none, to one in the trace."""
        document = self.document
        workspace = document.workspace
        if not document.pattern or workspace is None:
            return
        forward = direction > 0
        here = self._spot()
        if self.view.search(document.pattern, forward=forward):
            self._note_jump_from(here)
            return
        found = find_slice(workspace.trace, document.pattern, workspace.selection, forward=forward)
        if found == NO_ID:
            self._tell(f"no name contains {document.pattern!r}")
            return
        self._jump_to("timeline" if document.view == "overview" else document.view, found)

    def _note_jump_from(self, here: Spot) -> None:
        document = self.document
        document.jumps = [*document.jumps[: document.jump], here][-N_JUMPS:]
        document.jump = len(document.jumps)
        document.jumps.append(self._spot())

    def action_filter(self) -> None:
        """Ask for a filter."""
        if self.document.workspace is not None:
            text = self.document.workspace.filter_text
            prompt = PromptScreen("filter", text, "dur>20us cat:gemm -name:triton")
            self.app.push_screen(prompt, self._filter_by)

    def _filter_by(self, text: str | None) -> None:
        workspace = self.document.workspace
        if text is not None and workspace is not None:
            self._change(replace(workspace, filter_text=text.strip()))

    def action_clear_filter(self) -> None:
        """Show everything again."""
        self._filter_by("")

    def action_follow(self, direction: int) -> None:
        """Follow the link from operator to launch to kernel, or back."""
        workspace = self.document.workspace
        if workspace is None:
            return
        if workspace.selection == NO_ID:
            self._tell("nothing is selected")
            return
        step = follow if direction > 0 else follow_back
        found = step(workspace.trace, workspace.selection)
        if found == NO_ID:
            self._tell("the link ends here")
            return
        self._jump_to("timeline" if self.document.view == "overview" else self.document.view, found)

    def action_finding(self, direction: int) -> None:
        """Go to the evidence of the next finding, or of the one before."""
        workspace = self.document.workspace
        if self.view.walk(direction):
            return
        if workspace is not None:
            self._find(self.document, workspace.trace, direction)

    @work(thread=True, group="finding")
    def _find(self, document: Document, trace: Trace, direction: int) -> None:
        found = findings(trace).found
        self.post_message(self.FindingsReady(document, trace, found, direction))

    def on_main_screen_findings_ready(self, message: FindingsReady) -> None:
        """Show the first evidence of the next finding, unless the trace is another by now."""
        document, found = message.document, message.found
        workspace = document.workspace
        if document is not self.document or workspace is None:
            return
        if workspace.trace is not message.trace:
            return
        if not found:
            self._tell("no rule found anything")
            return
        last = document.finding if document.finding >= 0 or message.direction > 0 else 0
        document.finding = (last + message.direction) % len(found)
        finding = found[document.finding]
        self._jump_to("timeline", finding.first_slice)
        self._tell(f"{document.finding + 1} of {len(found)}: {clean_text(finding.summary)}")

    def action_jump(self, direction: int) -> None:
        """Go back or forward in the jump list."""
        document = self.document
        target = document.jump + direction
        if not 0 <= target < len(document.jumps):
            self._tell("nothing further back" if direction < 0 else "nothing further forward")
            return
        document.jumps[document.jump] = self._spot()
        document.jump = target
        self._go(document.jumps[target])

    def action_mark(self) -> None:
        """Mark this place."""
        spot = self._spot()
        if spot not in self.document.marks:
            self.document.marks.append(spot)
        self._tell(f"marked: {self._spot_text(spot)}")

    def action_marks(self) -> None:
        """Choose a mark and go there."""
        marks = self.document.marks
        if not marks:
            self._tell("no marks yet; m makes one")
            return
        rows = [self._spot_text(mark) for mark in marks]
        self.app.push_screen(ChoiceScreen("Marks", rows), self._go_to_mark)

    def _go_to_mark(self, index: int | None) -> None:
        if index is not None:
            here = self._spot()
            self._go(self.document.marks[index])
            self._note_jump_from(here)

    def _spot_text(self, spot: Spot) -> str:
        workspace = self.document.workspace
        title = self._view_named(spot.view).title_text
        if workspace is None:
            return title
        slice_id = slice_of_event(workspace.trace, spot.event_id)
        if slice_id == NO_ID:
            return title
        name = middle_ellipsis(workspace.trace.name_of(slice_id), _MARK_NAME_WIDTH)
        return f"{title}: {name} at {duration(int(workspace.trace.slices.ts_ns[slice_id]))}"

    def action_copy(self) -> None:
        """Copy the view as text, through the terminal and through tmux."""
        text = self.view.copied_text()
        if not text:
            self._tell("nothing to copy here")
            return
        self.app.copy_to_clipboard(text)
        if os.environ.get("TMUX"):
            self._copy_in_tmux(text)
        n_lines = len(text.splitlines())
        self._tell(f"sent to the clipboard: {n_lines} lines; Y writes them to a file")

    @work(thread=True, group="copy")
    def _copy_in_tmux(self, text: str) -> None:
        tmux = shutil.which("tmux")
        if tmux is not None:
            subprocess.run(
                [tmux, "load-buffer", "-w", "-"], input=text.encode(), check=False, timeout=5
            )

    def action_write(self) -> None:
        """Write the view as text to a new file in this folder."""
        text = self.view.copied_text()
        if not text:
            self._tell("nothing to write here")
            return
        self._tell(written(self._stem(self.document.view), {".txt": f"{text}\n".encode()}))

    def _stem(self, what: str) -> str:
        return f"tracetui-{Path(self.document.path).name.split('.')[0]}-{what}"

    def action_export(self) -> None:
        """Write a report of the trace, with this view, to new files in this folder."""
        workspace = self.document.workspace
        if self._export_comparison():
            return
        export = getattr(self.app, "export", None)
        if workspace is None or export is None:
            self._tell("nothing to export here")
            return
        self._tell("writing the report …")
        title, text = self.view.title_text, self.view.copied_text()
        self._export(export, workspace.trace, title, text, self._stem("report"))

    def _export_comparison(self) -> bool:
        """Write what the comparison's view shows; say whether that view is shown."""
        view = self.view
        export: ComparisonExporter | None = getattr(self.app, "export_comparison", None)
        if not isinstance(view, CompareView) or view.comparison is None or export is None:
            return False
        self._tell("writing the comparison …")
        self._export_pair(export, view.comparison, view.notes_in_words(), self._stem("compare"))
        return True

    @work(thread=True, group="export", exclusive=True)
    def _export_pair(
        self, export: ComparisonExporter, compared: Comparison, notes: Sequence[str], stem: str
    ) -> None:
        self.post_message(self.Said(written(stem, export(compared, notes))))

    @work(thread=True, group="export", exclusive=True)
    def _export(self, export: Exporter, trace: Trace, title: str, text: str, stem: str) -> None:
        said = written(stem, export(trace, title, text))
        self.post_message(self.Said(said))

    def on_main_screen_said(self, message: Said) -> None:
        """Say what a thread has done."""
        self._tell(message.text)

    def action_unit(self) -> None:
        """Write the tables' times in the next unit."""
        workspace = self.document.workspace
        if workspace is not None:
            unit = workspace.unit.following
            self._change(replace(workspace, unit=unit))
            self._tell(f"times in {unit.value}" if unit.value else "each time in its own unit")

    def action_artefacts(self) -> None:
        """Count what the profiler itself did in shares, or leave it out."""
        workspace = self.document.workspace
        if workspace is not None:
            counts = not workspace.with_artefacts
            self._change(replace(workspace, with_artefacts=counts))
            what = "the profiler's own doing and the cold first step"
            self._tell(f"shares count {what}" if counts else f"shares leave out {what}")

    def action_guess(self) -> None:
        """Hide the answers and ask for them."""
        workspace = self.document.workspace
        if workspace is None or workspace.is_loading:
            self._tell("guessing starts when the file is read")
            return
        store = ScoreStore(self._store.folder)
        self.app.push_screen(GuessScreen(workspace.trace, store), self._look_at)

    def _look_at(self, slice_id: int | None) -> None:
        """Go to what a guess missed."""
        if slice_id is not None and slice_id != NO_ID:
            self._jump_to("timeline", slice_id)

    def action_capture(self) -> None:
        """Choose a workload to record, or see how far that is."""
        self.post_message(CaptureRequested())

    def action_switch_trace(self) -> None:
        """Show the next open trace, or choose one to open."""
        if len(self._documents) == 1:
            self.post_message(self.OpenRequested())
            return
        self._shown = (self._shown + 1) % len(self._documents)
        self._show_document()

    def _tell(self, text: str) -> None:
        """Say something in the footer's place, for a while."""
        self._said = text
        if self._said_timer is not None:
            self._said_timer.stop()
        self._said_timer = self.set_timer(SAID_S, self._fall_silent)
        self._show_frame()

    def _fall_silent(self) -> None:
        self._said = ""
        self._show_frame()


def _shifted(span: tuple[int, int] | None, shift_ns: int) -> tuple[int, int] | None:
    return None if span is None else (span[0] + shift_ns, span[1] + shift_ns)
