"""Two traces compared: why one is slower, piece by piece, and as one tree."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tracetui.compare.comparison import Comparison, comparison
from tracetui.compare.scope import PERS, Per, common_names
from tracetui.compare.sentence import phrase
from tracetui.diagnosis.engine import findings
from tracetui.errors import TraceTuiError
from tracetui.format import with_unit
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.presentation.comparison.page import Page, PageLine
from tracetui.presentation.comparison.pieces import PiecesPage
from tracetui.presentation.comparison.session import (
    PairSession,
    match_keys,
    pair_session,
    read_session,
    session_path,
    write_session,
)
from tracetui.presentation.comparison.timelines import TwinTimelines
from tracetui.presentation.comparison.tree import TreePage
from tracetui.presentation.comparison.why import DifferingFindings, WhyPage
from tracetui.presentation.comparison.words import match_details
from tracetui.presentation.table import cut_off, padded, shortened
from tracetui.ui.messages import (
    ChoiceRequested,
    EvidenceRequested,
    KeysChanged,
    PairChosen,
    TextRequested,
    Told,
)
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.views.detailed import DetailBody, DetailedView
from tracetui.ui.widgets.detail_pane import DetailPane
from tracetui.ui.widgets.line_list import LineList, ListLine
from tracetui.ui.widgets.twin_lanes import TwinLanes

NOTE_MARK: Final = "✎"
_MARK_WIDTH: Final = 2
ONE_TRACE: Final = "One trace is open, comparing takes two: o opens another; or: tracetui A B"
_TITLES: Final = ("Why", "Pieces of work", "Side by side", "Tree")
_SIDE_BY_SIDE: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What a thread has worked out: the comparison and its pages, in the order of ``_TITLES``."""

    comparison: Comparison
    why: WhyPage
    pieces: PiecesPage
    twins: TwinTimelines
    tree: TreePage
    noted: set[int] = field(default_factory=set)
    """The matches that the user left a note on, by their place."""

    def show_only_differences(self, *, wanted: bool) -> None:
        """Hide what is the same on the pages that list it, or show it again."""
        self.pieces.show_only_differences(wanted=wanted)
        self.tree.show_only_differences(wanted=wanted)

    @property
    def pages(self) -> tuple[Page | None, ...]:
        """Return the pages of lines in order; ``None`` where the timelines stand."""
        return (self.why, self.pieces, None, self.tree)


class CompareView(DetailedView):
    """Pages about the same two traces, under one sentence."""

    name_id: ClassVar[str] = "compare"
    title_text: ClassVar[str] = "Compare"
    short_title: ClassVar[str] = "Comp"
    key: ClassVar[str] = "5"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "page(1)", "Next page"),
        Binding("V", "page(-1)", "Previous page"),
        Binding("X", "swap", "Exchange the sides"),
        Binding("c", "choose", "Choose what to compare with"),
        Binding("i", "within", "Choose the annotation to compare"),
        Binding("percent_sign", "per", "Per step, call or in total"),
        Binding("exclamation_mark", "differences", "Only differences"),
        Binding("e", "note", "Note on this piece of work"),
        Binding("space", "fold", "Open or close the node"),
    ]

    @dataclass
    class Ready(Message):
        """A thread has compared two traces, or cannot."""

        rivals: Rivals
        compared: Compared | None
        error: str = ""

    def __init__(self) -> None:
        """Start with nothing to compare."""
        super().__init__()
        self._compared: Compared | None = None
        self._page = 0
        self._within: str | None = None
        self._per: Per | None = None
        self._difference = -1
        self._message = ONE_TRACE
        self._session = PairSession()
        self._awaited_session: PairSession | None = None
        self._written_to = Path()
        self._wanted: Mapping[str, Any] = {}
        """The place in the pair that was compared last time."""
        self._keys: tuple[str, ...] = ()
        self._left_at = NO_ID
        """The match under the cursor; when the view ends its lines are gone before it is."""

    def compose(self) -> ComposeResult:
        """Build heading, titles, lines and pane."""
        yield Static(classes="listing-summary", markup=False)
        yield Static(classes="listing-titles compare-pages", markup=False)
        with DetailBody():
            with Vertical(classes="listing-table"):
                yield Static(classes="listing-titles compare-titles", markup=False)
                yield LineList()
                yield TwinLanes()
            yield DetailPane()

    @property
    def rows(self) -> LineList:
        """Return the lines."""
        return self.query_one(LineList)

    @property
    def line_width(self) -> int:
        """Return how many cells the lines have; with notes, what their mark needs is kept free."""
        has_notes = self._compared is not None and bool(self._compared.noted)
        return max(self.rows.line_width - (_MARK_WIDTH if has_notes else 0), 1)

    @property
    def page(self) -> Page | None:
        """Return the page that is shown."""
        return None if self._compared is None else self._compared.pages[self._page]

    @property
    def place(self) -> str:
        """Return where the details are: the timelines need the room below and say the most of it."""
        place = super().place
        if self.twins is None or place != "-below":
            return place
        return "-asked" if self._is_asked else "-away"

    @property
    def twins(self) -> TwinTimelines | None:
        """Return the two timelines, while they are shown."""
        is_shown = self._compared is not None and self._page == _SIDE_BY_SIDE
        return self._compared.twins if self._compared is not None and is_shown else None

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Write times in another unit."""
        if old is not None and new is not None and old.unit is not new.unit:
            self._show()

    def on_mount(self) -> None:
        """Say what is missing until there are two traces."""
        self._show()

    def watch_rivals(self, old: Rivals | None, new: Rivals | None) -> None:
        """Compare anew when the traces change."""
        if new is None or (old is not None and old.pair == new.pair):
            return
        self.keep_session()
        if old is not None and old.traces != new.traces:
            self._within = self._per = None
        if new.pair is not None:
            # What is shown until the thread is ready is the old pair, whose notes stay its own.
            session = read_session(self._session_path(new))
            is_left = session.is_worth_keeping
            if not is_left and self._wanted.get("pair") == self._pair_of(new):
                session, is_left = pair_session(self._wanted), True
            self._awaited_session, self._wanted = session, {}
            if is_left:
                self._within, self._per = session.within, session.per
        self._start(new)

    def on_unmount(self) -> None:
        """Keep where the user was, if there are notes."""
        self.keep_session()

    @staticmethod
    def _session_path(rivals: Rivals) -> Path:
        return session_path(rivals.paths[rivals.baseline], rivals.paths[rivals.candidate])

    def keep_session(self) -> None:
        """Write the notes and the place beside the traces."""
        self._note_place()
        if self._compared is not None and self._session.is_worth_keeping:
            write_session(self._written_to, self._session)

    def _note_place(self) -> None:
        """Note where the user is."""
        compared, session = self._compared, self._session
        if compared is None:
            return
        session.page = self._page
        session.match = self._keys[self._left_at] if self._left_at != NO_ID else ""
        session.within, session.per = self._within, self._per
        session.only_differences = compared.pieces.only_differences
        session.closed = sorted(compared.tree.closed)

    @staticmethod
    def _pair_of(rivals: Rivals) -> list[str]:
        places = (rivals.baseline, rivals.candidate)
        return [str(Path(rivals.paths[place]).resolve()) for place in places]

    def kept_layout(self) -> dict[str, Any]:
        """Return the place in this pair, which comes back without a file beside the traces too."""
        if self._compared is None or self.rivals is None or self.rivals.pair is None:
            return dict(self._wanted)
        self._note_place()
        place = asdict(self._session)
        del place["notes"]
        return {**place, "pair": self._pair_of(self.rivals)}

    def lay_out(self, layout: Mapping[str, Any]) -> None:
        """Take this place when the pair is compared again."""
        self._wanted = layout

    def _start(self, rivals: Rivals) -> None:
        self._difference = -1
        if rivals.pair is None:
            self._compared, self._message = None, ONE_TRACE
            self._show()
            return
        if self._compared is None:
            self._message = "Comparing …"
            self._show()
        self._compare(rivals, self._within, self._per)

    @work(thread=True, exclusive=True, group="compare")
    def _compare(self, rivals: Rivals, within: str | None, per: Per | None) -> None:
        pair = rivals.pair
        if pair is None:
            return
        try:
            compared = comparison(*pair, within, per)
        except TraceTuiError as error:
            self.post_message(self.Ready(rivals, None, clean_text(str(error))))
            return
        differing = DifferingFindings.of(*(findings(trace) for trace in pair))
        pages = Compared(
            compared,
            WhyPage(compared, differing),
            PiecesPage(compared),
            TwinTimelines.of(compared),
            TreePage.of(compared),
        )
        self.post_message(self.Ready(rivals, pages))

    def on_compare_view_ready(self, message: Ready) -> None:
        """Show the comparison unless other traces have taken its place."""
        if self.rivals is None or self.rivals.pair != message.rivals.pair:
            return
        self._compared = message.compared
        self._message = f"Not comparable: {message.error}" if message.error else ""
        self.rows.cursor = 0
        self._written_to = self._session_path(self.rivals)
        awaited, self._awaited_session = self._awaited_session, None
        self._session = awaited or self._session
        if self._compared is not None:
            self._keys = match_keys(self._compared.comparison)
            if awaited is not None and awaited != PairSession(notes=awaited.notes):
                self._come_back(self._compared, awaited)
            self._mark_notes(self._compared)
        self._show()
        if self._compared is not None and awaited is not None and awaited.match in self._keys:
            self._go_to_match(self._keys.index(awaited.match))
        if self.is_on_screen:
            self.focus_main()
            self.post_message(KeysChanged())

    def _come_back(self, compared: Compared, session: PairSession) -> None:
        """Show the page that the user left, as it was."""
        self._page = session.page % len(_TITLES)
        compared.tree.close(session.closed)
        if session.only_differences:
            compared.show_only_differences(wanted=True)

    def _mark_notes(self, compared: Compared) -> None:
        """Note which pieces of work have a note."""
        notes = self._session.notes
        compared.noted.clear()
        compared.noted.update(place for place, key in enumerate(self._keys) if key in notes)

    # Drawing

    def _heading(self) -> str:
        rivals = self.rivals
        if self._compared is None or rivals is None:
            return self._message
        scope = self._compared.comparison.scope
        baseline, candidate = self._names()
        names = f"A {baseline}   B {candidate}"
        within = "" if scope.within is None else f"within {clean_text(scope.within)} · "
        per = "in total" if scope.per == "total" else f"per {scope.per}"
        others = len(rivals.traces) - 2
        more = f" · {others} more open, c chooses" if others > 0 else ""
        return f"{names}   {within}{per}{more}"

    def _names(self) -> tuple[str, str]:
        rivals = self.rivals
        if rivals is None or rivals.pair is None:
            return "", ""
        return rivals.names[rivals.baseline], rivals.names[rivals.candidate]

    def _show(self) -> None:
        heading = self.query_one(".listing-summary", Static)
        heading.update(Text(cut_off(self._heading(), max(heading.size.width, 1)), no_wrap=True))
        page = self.page
        tabs = Text(no_wrap=True)
        if self._compared is not None:
            for place, title in enumerate(_TITLES):
                tabs.append(title, "bold underline" if place == self._page else "dim")
                tabs.append("   ")
            tabs.append("v V", "dim")
        self.query_one(".compare-pages", Static).update(tabs)
        self.rows.show(0 if page is None else page.n_lines(self.line_width), self._line)
        lanes, twins = self.query_one(TwinLanes), self.twins
        lanes.display, self.rows.display = twins is not None, twins is None
        if twins is not None:
            lanes.show(twins, self._names(), self.unit)
        self._write_titles()
        self.place_details()

    def _line(self, row: int, _width: int) -> ListLine:
        page, width = self.page, self.line_width
        if page is None or row >= page.n_lines(width):
            return ListLine("")
        line = self._in_unit(page.line(row, width))
        is_noted = self._compared is not None and line.match in self._compared.noted
        text = f"{padded(line.text, width)} {NOTE_MARK}" if is_noted else line.text
        return ListLine(text, line.work_class, lit=line.lit)

    def _in_unit(self, line: PageLine) -> PageLine:
        """Return a line with its times in the unit that the user chose."""
        return replace(line, text=with_unit(line.text, self.unit))

    def _write_titles(self) -> None:
        titles = self.query_one(".compare-titles", Static)
        text = "" if self.page is None else self.page.titles(self.line_width)
        titles.display = bool(text)
        titles.update(Text(shortened(text, max(self.line_width, 1)), no_wrap=True))

    def on_line_list_resized(self) -> None:
        """Lay the lines out for the new width."""
        page = self.page
        if page is not None and self.rows.n_rows != page.n_lines(self.line_width):
            self.rows.show(page.n_lines(self.line_width), self._line)
        self._write_titles()

    def on_resize(self) -> None:
        """Lay everything out for the new size."""
        self._show()

    def main_widget(self) -> Widget:
        """Return the lines, or the two timelines."""
        return self.rows if self.twins is None else self.query_one(TwinLanes)

    def detail_texts(self) -> list[str]:
        """Return what the pane says of the line under the cursor."""
        return [with_unit(text, self.unit) for text in self._detail_texts()]

    def _detail_texts(self) -> list[str]:
        page, twins = self.page, self.twins
        if twins is not None:
            if twins.match == NO_ID:
                return ["h l go through the pieces of work; } { through the differences by size."]
            return [*self._note_lines(twins.match), *match_details(twins.compared, twins.match)]
        if page is None:
            return []
        own = self._note_lines(self._match_at_cursor())
        return [*own, *page.details(self.rows.cursor, self.line_width)]

    def _note_lines(self, match: int) -> list[str]:
        note = self._session.notes.get(self._keys[match]) if 0 <= match < len(self._keys) else None
        return [f"{NOTE_MARK} {note}", ""] if note else []

    @property
    def comparison(self) -> Comparison | None:
        """Return what is shown."""
        return None if self._compared is None else self._compared.comparison

    def notes_in_words(self) -> list[str]:
        """Return the notes, each with the work it is about."""
        compared = self.comparison
        if compared is None:
            return []
        return [
            f"{phrase(compared.matches[place])}: {self._session.notes[key]}"
            for place, key in enumerate(self._keys)
            if key in self._session.notes
        ]

    def copied_text(self) -> str:
        """Return heading, titles and all lines as text."""
        page, width = self.page, self.line_width
        if self.twins is not None:
            return "\n".join([self._heading(), self.query_one(TwinLanes).text()])
        if page is None:
            return self._message
        lines = [self._line(row, width).text.rstrip() for row in range(page.n_lines(width))]
        titles = page.titles(width)
        return "\n".join([self._heading(), *([titles] if titles else []), *lines])

    def search(self, pattern: str, *, forward: bool = True) -> bool:
        """Move to the next line that contains the pattern, around the end."""
        return self.rows.find(pattern, self.rows.text_of, forward=forward)

    # Keys

    @property
    def key_scope(self) -> str:
        """Return which keys work: the timelines have their own."""
        return self.name_id if self.twins is None else "side by side"

    def walk(self, direction: int) -> bool:
        """Go to the next difference by size, or the one before."""
        compared = self._compared
        if compared is None:
            return True
        places = compared.comparison.differences
        if not places:
            self.post_message(Told("no piece of work differs"))
            return True
        last = self._difference if self._difference >= 0 or direction > 0 else 0
        self._difference = (last + direction) % len(places)
        match = places[self._difference]
        self._go_to_match(match)
        what = clean_text(phrase(compared.comparison.matches[match]))
        self.post_message(Told(f"difference {self._difference + 1} of {len(places)}: {what}"))
        return True

    def _go_to_match(self, match: int) -> None:
        """Put the cursor on a match, on the page that is shown."""
        page, twins = self.page, self.twins
        if twins is not None:
            twins.select(match)
            self._draw_twins()
        elif page is not None:
            row = page.row_of_match(match, self.line_width)
            if row is not None:
                self.rows.cursor = row

    def _draw_twins(self) -> None:
        if self.twins is not None:
            self.query_one(TwinLanes).show(self.twins, self._names(), self.unit)
            self.show_details()

    def show_details(self) -> None:
        """Say more of the line, and remember which match it is about."""
        self._left_at = self._match_at_cursor()
        super().show_details()

    def on_line_list_moved(self) -> None:
        """Say more of the line."""
        self.show_details()

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Show the details where these are away, else lead to the evidence."""
        page = self.page
        if page is None or self.ask_for_details() or self.rivals is None:
            return
        line = page.line(message.row, self.line_width)
        pair = self.rivals.pair
        if pair is None:
            return
        if line.baseline_id != NO_ID:
            self.post_message(EvidenceRequested(pair[0], line.baseline_id))
        elif line.candidate_id != NO_ID:
            self.post_message(EvidenceRequested(pair[1], line.candidate_id))

    def action_page(self, direction: int) -> None:
        """Show another page; the match under the cursor stays under it where it can."""
        if self._compared is None:
            return
        match = self._match_at_cursor()
        self._page = (self._page + direction) % len(_TITLES)
        if self._page == _SIDE_BY_SIDE and self.place == "-asked":
            self.close()  # Two timelines need the room; their foot says what is selected.
        self._show()
        self.rows.cursor = 0
        if match != NO_ID:
            self._go_to_match(match)
        self.focus_main()
        self.post_message(KeysChanged())

    def _match_at_cursor(self) -> int:
        page, twins = self.page, self.twins
        if twins is not None:
            return twins.match
        n_lines = 0 if page is None else page.n_lines(self.line_width)
        if page is None or not n_lines:
            return NO_ID
        # On a wider screen the same takes fewer lines, and the cursor follows when it is drawn.
        return page.line(min(self.rows.cursor, n_lines - 1), self.line_width).match

    # The two timelines

    def on_twin_lanes_asked(self, message: TwinLanes.Asked) -> None:
        """Do what a key on the timelines says."""
        twins = self.twins
        if twins is None:
            return
        message.change(twins)
        self._draw_twins()

    def on_twin_lanes_opened(self) -> None:
        """Show the details where these are away, else the selected piece in its timeline."""
        twins, rivals = self.twins, self.rivals
        if twins is None or rivals is None or rivals.pair is None or self.ask_for_details():
            return
        if twins.match == NO_ID:
            return
        match = twins.compared.matches[twins.match]
        for trace, units in zip(rivals.pair, (match.baseline, match.candidate), strict=True):
            if units:
                self.post_message(EvidenceRequested(trace, units[0].slice_id))
                return

    def action_swap(self) -> None:
        """Make the candidate the baseline."""
        if self.rivals is not None and self.rivals.pair is not None:
            self.post_message(PairChosen(self.rivals.candidate, self.rivals.baseline))

    def action_choose(self) -> None:
        """Ask for the candidate."""
        rivals = self.rivals
        if rivals is None or rivals.pair is None:
            return
        others = [place for place in range(len(rivals.traces)) if place != rivals.baseline]
        baseline = rivals.names[rivals.baseline]

        def chosen(index: int) -> None:
            self.post_message(PairChosen(rivals.baseline, others[index]))

        rows = tuple(rivals.names[place] for place in others)
        self.post_message(ChoiceRequested(f"Compare {baseline} with", rows, chosen))

    def action_within(self) -> None:
        """Ask what to compare."""
        rivals = self.rivals
        if rivals is None or rivals.pair is None:
            return
        names = common_names(rivals.pair)

        def chosen(index: int) -> None:
            self._within = None if index == 0 else names[index - 1]
            self._start(rivals)

        rows = ("everything that both have", *map(clean_text, names))
        self.post_message(ChoiceRequested("Compare within", rows, chosen))

    def action_per(self) -> None:
        """Compare per step, per call or in total."""
        if self._compared is None or self.rivals is None:
            return
        now = self._compared.comparison.scope.per
        self._per = PERS[(PERS.index(now) + 1) % len(PERS)]
        self._start(self.rivals)

    def action_differences(self) -> None:
        """Show only what differs, or everything again."""
        compared = self._compared
        if compared is None:
            return
        compared.show_only_differences(wanted=not compared.pieces.only_differences)
        self._show()

    def action_note(self) -> None:
        """Ask for a note on the piece of work under the cursor; an empty one takes it away."""
        match, compared = self._match_at_cursor(), self._compared
        if compared is None:
            return
        if match == NO_ID:
            self.post_message(Told("a note is about a piece of work; } leads to the next"))
            return
        key = self._keys[match]

        def typed(text: str) -> None:
            if text.strip():
                self._session.notes[key] = clean_text(text.strip())
                compared.noted.add(match)
            else:
                self._session.notes.pop(key, None)
                compared.noted.discard(match)
            trouble = write_session(self._written_to, self._session)
            where = clean_text(self._written_to.name)
            self.post_message(Told(trouble or f"kept in {where}, beside the traces"))
            self._show()

        self.post_message(TextRequested("note", self._session.notes.get(key, ""), typed))

    def action_fold(self) -> None:
        """Open or close the node under the cursor."""
        if self._compared is not None and self.page is self._compared.tree:
            self._compared.tree.toggle(self.rows.cursor)
            self._show()
