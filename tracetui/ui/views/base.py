"""What every tab of the main screen is."""

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.reactive import reactive

from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.ui.messages import Told
from tracetui.ui.state import Rivals, Workspace
from tracetui.ui.widgets.drawn import SizedWidget


class View(Vertical, SizedWidget):
    """One tab; it draws the workspace and posts what the user did."""

    name_id: ClassVar[str] = ""
    """The name that messages and the jump list use, such as ``timeline``."""
    title_text: ClassVar[str] = ""
    short_title: ClassVar[str] = ""
    """The title at 80 columns."""
    key: ClassVar[str] = ""
    """The digit that shows it; fixed, so that it stays where fingers expect it."""

    names_selection: ClassVar[bool] = False
    """Whether the view itself says at its side what is selected, so that the header need not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,shift+tab", "other_side", "Between the view and its details"),
    ]

    # A view draws what changed itself: to repaint all of it for a moved cursor costs 30 kB.
    workspace: reactive[Workspace | None] = reactive(None, repaint=False)
    rivals: reactive[Rivals | None] = reactive(None)
    """All traces that are open, for the views that compare."""

    @property
    def unit(self) -> TimeUnit:
        """Return how times are written."""
        return TimeUnit.AUTO if self.workspace is None else self.workspace.unit

    def watch_workspace(self, old: Workspace | None, new: Workspace | None) -> None:
        """Show the new workspace; the trace, the selection or the window may have changed."""

    def watch_rivals(self, old: Rivals | None, new: Rivals | None) -> None:
        """Compare others; most views are of one trace only."""

    @property
    def key_scope(self) -> str:
        """Return which keys of the table work here, for footer and help."""
        return self.name_id

    def walk(self, direction: int) -> bool:
        """Go to the next difference, or the one before; say whether this view has such."""
        del direction
        return False

    def kept_layout(self) -> dict[str, Any]:
        """Return how the user laid the view out, as JSON can hold it; most views have one layout."""
        return {}

    def lay_out(self, layout: Mapping[str, Any]) -> None:
        """Lay the view out as it was left; what makes no sense any more is passed over."""

    def focus_main(self) -> None:
        """Give the focus to the widget that takes this view's keys."""

    def action_other_side(self) -> None:
        """Go to the details, or back; a view without says so."""
        self.post_message(Told("no details here; enter leads to what the line is about"))

    def close(self) -> bool:
        """Close what was opened inside the view, for ``esc``; say whether there was anything."""
        return False

    def copied_text(self) -> str:
        """Return what is on screen as plain text, for ``y``."""
        return ""

    def copied_row(self) -> str:
        """Return what the cursor is on as plain text, for a second ``y``."""
        return ""

    def slice_at_cursor(self) -> int:
        """Return the slice that the cursor's row stands for, or ``NO_ID``."""
        return NO_ID

    def search(self, pattern: str, *, forward: bool = True) -> bool:
        """Move to the next row or slice whose name contains ``pattern``; say if there was one."""
        del pattern, forward
        return False
