"""Getting around in a trace: search, filter, links, findings, the jump list and marks."""

from dataclasses import dataclass, replace
from typing import Final

from textual import work
from textual.message import Message

from tracetui.diagnosis.engine import findings
from tracetui.diagnosis.finding import Finding
from tracetui.format import duration, middle_ellipsis, with_unit
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.navigation import find_slice, follow, follow_back
from tracetui.ui.documents import Document, Spot, event_of_slice, slice_of_event
from tracetui.ui.screens.frame import FrameScreen
from tracetui.ui.screens.prompt import ChoiceScreen, PromptScreen

N_JUMPS: Final = 200
_MARK_NAME_WIDTH: Final = 50


class MovingScreen(FrameScreen):
    """A frame whose user goes from place to place, and back."""

    @dataclass
    class FindingsReady(Message):
        """The rules have looked at a trace; the user wants to see the next finding."""

        document: Document
        trace: Trace
        found: tuple[Finding, ...]
        direction: int

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
        selection = workspace.selection
        if selection == NO_ID:
            # The cursor stands on its first row before anything was selected.
            selection = self.view.slice_at_cursor()
        if selection == NO_ID:
            self._tell("nothing is selected")
            return
        step = follow if direction > 0 else follow_back
        found = step(workspace.trace, selection)
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

    def on_moving_screen_findings_ready(self, message: FindingsReady) -> None:
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
        self._tell(
            f"{document.finding + 1} of {len(found)}: {with_unit(clean_text(finding.summary), workspace.unit)}"
        )

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
        at = duration(int(workspace.trace.slices.ts_ns[slice_id]), workspace.unit)
        return f"{title}: {name} at {at}"
