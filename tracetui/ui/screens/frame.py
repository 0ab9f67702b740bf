"""The frame around the views: header, tabs, progress, footer, and what all views share."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from rich.text import Text
from textual.reactive import Reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Static

from tracetui.format import TimeUnit, duration, middle_ellipsis, with_unit
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.presentation.table import cut_off, fewer_parts
from tracetui.ui.documents import Document, progress_text
from tracetui.ui.keymap import footer_text
from tracetui.ui.state import Workspace
from tracetui.ui.steady import SteadyScreen
from tracetui.ui.views import VIEWS
from tracetui.ui.views.base import View

_TAB_GAP: Final = "  "
WIDE: Final = 110
"""From this width the header names the selection."""
_SELECTION_WIDTH: Final = 24
SAID_S: Final = 4.0
"""How long an answer to a key stands in the footer's place."""


class FrameScreen(SteadyScreen[None]):
    """Documents, one of them shown in one of the views."""

    # Who loses the focus and who gains it draw that themselves; the screen need not be sent again.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, documents: Sequence[Document]) -> None:
        """Show the first document.

        Args:
            documents: At least one.
        """
        super().__init__()
        self._documents = list(documents)
        self._shown = 0
        self._frame: dict[str, Text] = {}
        self._said = ""
        self._said_timer: Timer | None = None

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

    def _set_workspace(self, document: Document, workspace: Workspace) -> None:
        document.workspace = workspace
        if document is self.document:
            for view in self.query(View):
                is_new_trace = view.workspace is None or view.workspace.trace is not workspace.trace
                # A hidden view follows when it is shown, and reckons ahead only what is last: each
                # would look through every trace that is published, against the reader and the keys.
                if view is self.view or (is_new_trace and not workspace.is_loading):
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
        if not self.is_mounted:
            return
        self.view.workspace = self.document.workspace
        self.query_one(ContentSwitcher).current = f"view-{name}"
        self.view.focus_main()
        self._show_frame()

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
            line = Text(f" {cut_off(text, width - 2)}", no_wrap=True)
            progress.update(line, layout=False)
        shown = self._said or footer_text(self.view.key_scope, width - 2)
        footer = Text(f" {cut_off(shown, width - 2)}", "bold" if self._said else "", no_wrap=True)
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
            unit = document.workspace.unit if document.workspace is not None else TimeUnit.AUTO
            recorded = fewer_parts(with_unit(document.recorded, unit), left)
            text.append(f"   {recorded}", "not bold dim")
        if rest:
            text.append(f"   {rest}", "not bold")
        return text

    def _range_text(self) -> str:
        workspace = self.document.workspace
        if workspace is None:
            return ""
        report = workspace.trace.report
        parts = ["part of the file"] if report.is_part or report.is_stopped else []
        if workspace.chosen_range is not None:
            start_ns, end_ns = workspace.chosen_range
            written = partial(duration, unit=workspace.unit)
            parts.append(f"range {written(end_ns - start_ns)} at {written(start_ns)}")
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
        titles = [f"{view.key} {view.title_text}" for view in VIEWS]
        if len(f" {_TAB_GAP.join(titles)} ") > width:
            titles = [f"{view.key} {view.short_title}" for view in VIEWS]
        for view, title in zip(VIEWS, titles, strict=True):
            is_shown = view.name_id == self.document.view
            text.append(title, "bold underline" if is_shown else "dim")
            text.append(_TAB_GAP)
        return text

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
