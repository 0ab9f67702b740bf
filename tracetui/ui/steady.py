"""Screens and lists that keys break neither when they come too early nor when too late."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from textual.app import App
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import OptionList
from textual.worker import Worker

Answer = TypeVar("Answer")


class SteadyScreen(Screen[Answer]):
    """A screen that keys cannot use before it is built, nor leave twice.

    Over a slow line, or while the program is busy, keys arrive in a burst: some were meant for the
    screen before, and an ``enter`` that was pressed twice finds its screen being taken down.
    """

    _is_over = False

    def is_over(self) -> bool:
        """Return whether the answer is given and the screen is being taken down."""
        return self._is_over

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let no key act before all parts of the screen are there."""
        return self.is_mounted and super().check_action(action, parameters)

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Go with an answer; a second one comes too late, and one from below another screen."""
        if self._is_over or self.app.screen is not self:
            return AwaitComplete()
        self._is_over = True
        return super().dismiss(result)


class SteadyList(OptionList):
    """A list whose pages can be turned before its rows are laid out."""

    def action_page_up(self) -> None:
        """Move up by a page, or to the first row as long as nobody knows where the rows lie."""
        try:
            super().action_page_up()  # type: ignore[no-untyped-call]
        except (KeyError, IndexError):
            self.action_first()

    def action_page_down(self) -> None:
        """Move down by a page, or to the last row as long as nobody knows where the rows lie."""
        try:
            super().action_page_down()  # type: ignore[no-untyped-call]
        except (KeyError, IndexError):
            self.action_last()


class SteadyPalette(CommandPalette, SteadyScreen[None]):
    """Textual's command palette, chosen from once and left at any moment."""

    def run_worker(  # type: ignore[override]
        self, work: Callable[[], Awaitable[None]], *args: Any, **options: Any
    ) -> Worker[None]:
        """Search; that a palette which is being built or taken down lacks its list is no failure."""

        async def search() -> None:
            try:
                await work()
            except NoMatches:
                if self.query(CommandList):
                    raise

        return super().run_worker(search, *args, **options)

    def _action_command_list(self, action: str) -> None:
        try:
            super()._action_command_list(action)
        except (KeyError, IndexError):
            # A page was turned before the commands were laid out: there is none to turn to.
            return


def open_palette(app: App[Any]) -> None:
    """Offer the commands, unless they are offered already."""
    if not CommandPalette.is_open(app):
        app.push_screen(SteadyPalette())
