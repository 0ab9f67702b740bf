"""The main screen: header, tabs, the views, and everything that works in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import ContentSwitcher, Static

from tracetui.analysis.memo import forget
from tracetui.errors import TraceTuiError
from tracetui.model.arrays import NO_ID
from tracetui.model.portion import WHOLE, Shortage
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.browse import Place, StateStore
from tracetui.presentation.comparison.scores import Awaited
from tracetui.presentation.comparison.session import (
    keep_baseline,
    keep_tag,
    named_baseline,
    tagged,
)
from tracetui.presentation.guess import ScoreStore
from tracetui.presentation.table import told_apart
from tracetui.presentation.too_big import question
from tracetui.readers import read_trace
from tracetui.readers.base import Progress
from tracetui.readers.shortage import shortage
from tracetui.ui.courtesy import CourteousStop, Courtesy, uncollected
from tracetui.ui.documents import (
    Document,
    Spot,
    event_of_slice,
    names_of,
    slice_of_event,
)
from tracetui.ui.messages import (
    BaselineNamed,
    CaptureRequested,
    ChoiceRequested,
    EvidenceRequested,
    KeysChanged,
    PairChosen,
    RangeChosen,
    SliceSelected,
    TextRequested,
    Told,
    TraceNamed,
    ViewRequested,
    WindowChanged,
)
from tracetui.ui.screens.guess import GuessScreen
from tracetui.ui.screens.help import HelpScreen
from tracetui.ui.screens.moving import MovingScreen
from tracetui.ui.screens.prompt import ChoiceScreen, PromptScreen
from tracetui.ui.screens.sharing import SharingScreen
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views import VIEWS
from tracetui.ui.views.base import View
from tracetui.ui.views.compare import CompareView
from tracetui.ui.views.overview import OverviewView
from tracetui.ui.views.scoreboard import ScoreboardView
from tracetui.ui.widgets.too_small import TooSmall

_RIVAL_WIDTH: Final = 40


class MainScreen(MovingScreen, SharingScreen):
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
    class OpenRequested(Message):
        """The user wants to choose another file."""

    @dataclass
    class NothingOpen(Message):
        """No file could be opened."""

        error: str

    def __init__(
        self,
        paths: Sequence[str],
        store: StateStore,
        view: str = "",
        courtesy: Courtesy | None = None,
    ) -> None:
        """Open the files; the first is shown.

        Args:
            paths: The files.
            store: Remembers the place in each.
            view: The view to begin with; empty leaves it to the files.
            courtesy: Holds the loads up while a key is answered.
        """
        self._store = store
        self._courtesy = courtesy or Courtesy()
        super().__init__([self._new_document(path) for path in paths])
        if len(paths) > 1:
            # Several files are opened to be compared: the answer comes first.
            self._documents[0].view = CompareView.name_id
        if view:
            self._documents[0].view = view
        self._latest: dict[int, tuple[Trace | None, Progress]] = {}
        self._rivals = Rivals((), ())
        self._has_chosen_pair = False
        self._awaited: tuple[Awaited, ...] = ()
        self._views: tuple[View, ...] = ()

    def _new_document(self, path: str) -> Document:
        place = self._store.place_of(path)
        names = {view.name_id for view in VIEWS}
        document = Document(path, place=place, stop=CourteousStop(self._courtesy))
        if place.view in names:
            document.view = place.view
        document.marks = [Spot(view, event_id) for view, event_id in place.marks if view in names]
        return document

    def compose(self) -> ComposeResult:
        """Build the frame; the views are empty until a trace arrives."""
        yield Static(id="header", markup=False)
        yield Static(id="tabs", markup=False)
        yield Static(id="progress", markup=False)
        self._views = tuple(view_class() for view_class in VIEWS)
        with ContentSwitcher(initial=f"view-{self.document.view}", id="views"):
            for view in self._views:
                view.id = f"view-{view.name_id}"
                yield view
        yield Static(id="footer", markup=False)
        yield TooSmall()

    def on_mount(self) -> None:
        """Paint first, then read."""
        self.query_one(ContentSwitcher).current = f"view-{self.document.view}"
        self.view.focus_main()
        self.show_awaited(self._awaited)
        place = self.document.place
        for view in self._views:
            view.lay_out({} if place is None else place.layouts.get(view.name_id, {}))
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
            self._begin(self.document)
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
        self._begin(fresh)
        self._show_frame()

    def _begin(self, document: Document) -> None:
        """Read a file that was added; before the screen is built that is left to the mounting."""
        if self.is_mounted:
            self._load(document)

    def show_awaited(self, awaited: tuple[Awaited, ...]) -> None:
        """Let the scoreboard list the variants of a capture that have no trace."""
        self._awaited = awaited
        for view in self.query(ScoreboardView):
            view.awaited = awaited

    def show_view(self, name: str, said: str = "") -> None:
        """Show a view of the trace that is shown, and say something for a while."""
        self._show_view(name)
        if said:
            self._tell(said)

    # Loading

    @work(thread=True, group="load")
    def _load(self, document: Document) -> None:
        def publish(trace: Trace | None, progress: Progress) -> None:
            waiting = self._latest.get(id(document))
            self._latest[id(document)] = (trace or (waiting and waiting[0]), progress)
            if waiting is None:
                self.post_message(self.Published(document))

        try:
            short = None if document.portion is not None else shortage(document.path)
            if short is not None:
                self.post_message(self.TooBig(document, short))
                return
            portion = document.portion or WHOLE
            with uncollected():
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
        if trace is not None:
            self._take(message.document, trace)
        elif message.document is self.document:
            self._show_frame()

    def on_main_screen_load_ended(self, message: LoadEnded) -> None:
        """Show the whole trace, or say why there is none."""
        document = message.document
        document.is_loading = False
        self._latest.pop(id(document), None)
        if message.trace is not None:
            self._take(document, message.trace)
            self._restore(document)
            self._store.remember(document.path, self._place(document))
            self._compare_with_named()
            if message.trace.report.is_stopped:
                self._tell("stopped: what was read until then is shown, and nothing else")
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
        if old is not None and old.trace is not trace:
            forget(old.trace)

    def _compare_anew(self, baseline: int = 0, candidate: int = 1) -> None:
        """Tell the views which traces are whole and which two are compared."""
        whole = [
            (document, document.workspace.trace)
            for document in self._documents
            if document.workspace is not None and not document.is_loading
        ]
        paths = tuple(document.path for document, _ in whole)
        self._rivals = Rivals(
            tuple(trace for _, trace in whole),
            tuple(told_apart(tagged(paths, names_of(paths)), _RIVAL_WIDTH)),
            paths,
            baseline,
            candidate,
        )
        for view in self.query(View):
            view.rivals = self._rivals

    def _compare_with_named(self) -> None:
        """Compare anew after a trace was read; a baseline that the user named is taken."""
        self._compare_anew(self._rivals.baseline, self._rivals.candidate)
        named = named_baseline(self._rivals.paths)
        if named is not None and not self._has_chosen_pair and named != self._rivals.baseline:
            self._compare_anew(named, self._rivals.baseline)

    def on_pair_chosen(self, message: PairChosen) -> None:
        """Compare two others, or the same the other way round."""
        message.stop()
        self._has_chosen_pair = True
        self._compare_anew(message.baseline, message.candidate)

    def on_baseline_named(self, message: BaselineNamed) -> None:
        """Take another baseline, now and when the folder is opened again."""
        message.stop()
        rivals, place = self._rivals, message.place
        other = rivals.candidate if rivals.candidate != place else rivals.baseline
        self._has_chosen_pair = True
        trouble = keep_baseline(rivals.paths[place])
        self._compare_anew(place, other)
        self._tell(trouble or f"{rivals.names[place]} is the baseline, and stays so")

    def on_trace_named(self, message: TraceNamed) -> None:
        """Call a trace what the user calls it, here and when its folder is opened again."""
        message.stop()
        trouble = keep_tag(self._rivals.paths[message.place], message.tag)
        self._compare_anew(self._rivals.baseline, self._rivals.candidate)
        self._tell(trouble or f"called {clean_text(message.tag) or 'as the file is'}")

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
            layouts={view.name_id: view.kept_layout() for view in self._views},
        )

    def _remember(self, document: Document) -> None:
        if document.workspace is not None and document.place is None:
            self._store.remember(document.path, self._place(document))

    # The shared state

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


def _shifted(span: tuple[int, int] | None, shift_ns: int) -> tuple[int, int] | None:
    return None if span is None else (span[0] + shift_ns, span[1] + shift_ns)
