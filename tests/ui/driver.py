"""What a test says of the app: open a file, press keys, read what stands on the screen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static
from textual.worker import WorkerCancelled

from tracetui.ui.app import TraceTuiApp
from tracetui.ui.documents import Document
from tracetui.ui.screens.main import MainScreen
from tracetui.ui.screens.sharing import Exporter
from tracetui.ui.state import Workspace
from tracetui.ui.views.base import View
from tracetui.ui.views.overview import OverviewView

_PATIENCE = 200


class Driver:
    """A running app without a terminal."""

    def __init__(self, pilot: Pilot[None], app: TraceTuiApp) -> None:
        self.pilot = pilot
        self.app = app

    @property
    def main(self) -> MainScreen:
        screen = next(each for each in self.app.screen_stack if isinstance(each, MainScreen))
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def document(self) -> Document:
        return self.main.document

    @property
    def workspace(self) -> Workspace:
        workspace = self.document.workspace
        assert workspace is not None
        return workspace

    @property
    def view(self) -> View:
        return self.main.view

    @property
    def view_name(self) -> str:
        return self.document.view

    @property
    def selected_name(self) -> str:
        if self.workspace.selection < 0:
            return ""
        return self.workspace.trace.name_of(self.workspace.selection)

    @property
    def overview(self) -> list[str]:
        return [line.text for line in self.main.query_one(OverviewView).list.lines]

    def text_of(self, name: str) -> str:
        return str(self.app.screen.query_one(f"#{name}", Static).render())

    @property
    def screen_text(self) -> str:
        """Return every line on the screen."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        lines = ["".join(segment.text for segment in strip)[:width] for strip in strips]
        return "\n".join(lines[:height])

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def settle(self) -> None:
        """Wait for the workers and for what they posted."""
        for _ in range(3):
            # A worker whose work has become pointless is cancelled, which is no failure.
            with suppress(WorkerCancelled):
                await self.app.workers.wait_for_complete()
            await self.pilot.pause()

    async def wait_for(self, text: str) -> None:
        """Wait until a text stands on the screen."""
        for _ in range(_PATIENCE):
            if text in self.screen_text:
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"{text!r} never appeared in\n{self.screen_text}")


@asynccontextmanager
async def running(
    *paths: str | Path,
    directory: str | None = None,
    size: tuple[int, int] = (100, 30),
    export: Exporter | None = None,
) -> AsyncIterator[Driver]:
    """Run the app on files, read to their end."""
    app = TraceTuiApp([str(path) for path in paths], directory=directory, export=export)
    async with app.run_test(size=size) as pilot:
        driver = Driver(pilot, app)
        await driver.settle()
        yield driver
