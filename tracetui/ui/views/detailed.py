"""A view with details of what the cursor is on: at its right, below it, or asked for."""

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import work
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from tracetui.model.trace import Trace
from tracetui.presentation.details import brief_lines, detail_lines, prepare_details
from tracetui.ui.views.base import View
from tracetui.ui.widgets.detail_pane import DetailPane

RIGHT_FROM_WIDTH: Final = 110
BELOW_FROM_HEIGHT: Final = 24
"""A view this high has room for details below; a lower one shows them when asked."""
_LEAST_WIDTH: Final = 38
_MOST_WIDTH: Final = 64
_SHARE: Final = 3
"""At the right the details take one part in so many."""


class DetailBody(Container):
    """Holds what a view lists and the details of it, side by side or one above the other."""

    DEFAULT_CSS: ClassVar[str] = """
    DetailBody { height: 1fr; }
    """


class DetailedView(View):
    """Places its ``DetailPane``; a subclass composes one, in a ``DetailBody``, and fills it."""

    names_selection: ClassVar[bool] = True
    PLACES: ClassVar[tuple[str, ...]] = ("-right", "-below", "-asked", "-away")
    below_from_height: ClassVar[int] = BELOW_FROM_HEIGHT

    @dataclass
    class Prepared(Message):
        """A thread has the analyses that details draw on."""

        trace: Trace

    def __init__(self) -> None:
        """Start with the details where the size puts them."""
        super().__init__()
        self._is_asked = False
        self._prepared: Trace | None = None
        self._preparing: Trace | None = None

    @property
    def details(self) -> DetailPane:
        """Return the pane."""
        return self.query_one(DetailPane)

    @property
    def place(self) -> str:
        """Return where the details are: one of ``PLACES``."""
        if self.size.width >= RIGHT_FROM_WIDTH:
            return "-right"
        if self.size.height >= self.below_from_height:
            return "-below"
        return "-asked" if self._is_asked else "-away"

    def main_widget(self) -> Widget:
        """Return the widget that takes the view's keys."""
        raise NotImplementedError

    def detail_texts(self) -> list[str]:
        """Return what the pane says."""
        raise NotImplementedError

    def copied_row(self) -> str:
        """Return the details of what the cursor is on."""
        return "\n".join(self.detail_texts())

    def place_details(self) -> None:
        """Put the pane where the size of the view wants it."""
        pane, place = self.details, self.place
        for each in self.PLACES:
            pane.set_class(each == place, each)
        body = self.query_one(DetailBody)
        body.styles.layout = "horizontal" if place == "-right" else "vertical"
        if place == "-right":
            pane.styles.width = max(_LEAST_WIDTH, min(self.size.width // _SHARE, _MOST_WIDTH))
        else:
            pane.styles.width = "1fr"
        self.show_details()

    def show_details(self) -> None:
        """Fill the pane, if it is in sight."""
        if self.place != "-away" and self.is_on_screen:
            self.details.show(self.detail_texts())

    def on_show(self) -> None:
        """Say what the cursor is on now: it may have moved while another view was shown."""
        self.show_details()

    def on_detail_pane_resized(self) -> None:
        """Lay the details out for the new width."""
        self.show_details()

    def details_of(self, trace: Trace, slice_id: int) -> list[str]:
        """Return all about a slice, or what is known at once while a thread works on the rest."""
        if trace is self._prepared:
            return detail_lines(trace, slice_id, self.unit)
        is_whole = self.workspace is not None and not self.workspace.is_loading
        if is_whole and trace is not self._preparing:
            self._preparing = trace
            self._prepare(trace)
        return brief_lines(trace, slice_id, self.unit)

    @work(thread=True, exclusive=True, group="details")
    def _prepare(self, trace: Trace) -> None:
        prepare_details(trace)
        self.post_message(self.Prepared(trace))

    def on_detailed_view_prepared(self, message: Prepared) -> None:
        """Say everything now."""
        self._prepared, self._preparing = message.trace, None
        self.show_details()

    def ask_for_details(self) -> bool:
        """Show the details where they are away; say whether they were."""
        if self.place != "-away":
            return False
        self._is_asked = True
        self.place_details()
        return True

    def action_other_side(self) -> None:
        """Go to the details, which are shown if they were away, or back to what lists them."""
        if self.details.has_focus:
            self.focus_main()
            return
        self.ask_for_details()
        self.details.focus(scroll_visible=False)

    def close(self) -> bool:
        """Leave the pane, or put it away again; say whether there was anything to do."""
        if self.details.has_focus:
            self.focus_main()
            return True
        if self.place == "-asked":
            self._is_asked = False
            self.place_details()
            return True
        return False

    def focus_main(self) -> None:
        """Focus what takes the view's keys."""
        self.main_widget().focus(scroll_visible=False)
