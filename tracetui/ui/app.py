"""The application: which screen, which theme, and leaving in good order."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import platformdirs
from rich.console import RenderableType
from textual import constants, events
from textual._compositor import ChopsUpdate
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.screen import ModalScreen, Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.worker import WorkerFailed

from tracetui.presentation.browse import StateStore
from tracetui.presentation.capture_choice import ChoiceStore
from tracetui.ui.allocator import return_freed_memory
from tracetui.ui.ascii_filter import AsciiFilter
from tracetui.ui.courtesy import Courtesy
from tracetui.ui.cropped import CroppedUpdate
from tracetui.ui.keymap import label_of
from tracetui.ui.screens.capture import CaptureScreen
from tracetui.ui.screens.main import MainScreen
from tracetui.ui.screens.sharing import ComparisonExporter, Exporter
from tracetui.ui.screens.start import StartScreen
from tracetui.ui.steady import open_palette
from tracetui.ui.views.scoreboard import ScoreboardView

NO_COLOUR: Final = Theme(
    name="no-colour",
    primary="ansi_default",
    secondary="ansi_default",
    warning="ansi_default",
    error="ansi_default",
    success="ansi_default",
    accent="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    ansi=True,
    variables={
        **BUILTIN_THEMES["ansi-dark"].variables,
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-foreground": "ansi_default",
        "block-cursor-blurred-background": "ansi_default",
        "block-cursor-blurred-text-style": "underline",
        "input-cursor-foreground": "ansi_default",
        "input-cursor-background": "ansi_default",
        "input-cursor-text-style": "reverse",
    },
)
THEMES: Final = ("textual-dark", "textual-light", "ansi-dark", NO_COLOUR.name)
"""What ``T`` goes through: dark, light, the terminal's own 16 colours, none."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_SIGNAL_STATUS: Final = 128
_SWITCH_S: Final = 0.001
"""How long a thread keeps the interpreter while another wants it: a key passes through three threads."""
_CAPTURE: Final = "capture"


def _driver_class() -> type[Driver] | None:
    """Return what reads the keys here; ``None`` leaves it to the platform."""
    if sys.platform == "win32" or constants.DRIVER is not None:
        return None
    from tracetui.ui.driver import PromptDriver  # noqa: PLC0415 - cannot be imported on Windows

    return PromptDriver


class TraceTuiApp(App[None]):
    """Opens traces, or a list of them to choose from."""

    CSS_PATH = "styles/app.tcss"
    TITLE = "tracetui"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend"),
        Binding("T", "next_theme", "Next theme"),
    ]

    def __init__(
        self,
        paths: Sequence[str],
        *,
        directory: str | None = None,
        use_mouse: bool = True,
        ascii_only: bool = False,
        export: Exporter | None = None,
        export_comparison: ComparisonExporter | None = None,
        view: str = "",
    ) -> None:
        """Open files, or list a folder, or start with nothing.

        Args:
            paths: Files to open.
            directory: The folder whose traces to list when there are no files.
            use_mouse: Whether the terminal is asked for the mouse.
            ascii_only: Whether to draw with ASCII characters.
            export: Makes the texts of the files that a trace is exported to.
            export_comparison: Makes those that a comparison and its notes are exported to.
            view: The view that files are shown in first; empty leaves it to them.
        """
        super().__init__(driver_class=_driver_class())
        self.export = export
        self.export_comparison = export_comparison
        self.ascii_only = ascii_only
        self.use_mouse = use_mouse
        self.courtesy = Courtesy()
        self.animation_level = "none"
        self._paths = tuple(paths)
        self._directory = directory
        self._store = StateStore(Path(platformdirs.user_state_dir("tracetui")))
        self._view = view
        self.failure: BaseException | None = None
        self._main: MainScreen | None = None
        self._capture: CaptureScreen | None = None
        self._without_colour = NoColor()
        self._filters = [each for each in self._filters if not isinstance(each, Monochrome)]
        if ascii_only:
            self._filters.append(AsciiFilter())
        self.register_theme(NO_COLOUR)
        if self.no_color:
            self.theme = NO_COLOUR.name
        elif self.console.color_system == "standard":
            self.theme = "ansi-dark"

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own hook has no public name; what it prints is a traceback with all locals.
        if self.failure is None:
            self.failure = error.error if isinstance(error, WorkerFailed) else error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()

    @property
    def is_colourless(self) -> bool:
        """Return whether the theme does without colours."""
        return self.theme == NO_COLOUR.name

    def on_mount(self) -> None:
        """Show the first screen."""
        self.theme_changed_signal.subscribe(self, self._apply_theme)
        self._apply_theme(self.current_theme)
        self._watch_signals()
        if self._paths:
            self.open_paths(self._paths)
        else:
            self.push_screen(StartScreen(self._store, self._directory))

    def on_unmount(self) -> None:
        """End a capture that runs; leave the signals as they were."""
        if self._capture is not None:
            self._capture.kill()
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    async def on_event(self, event: events.Event) -> None:
        """Let a key go before what works in the background."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.courtesy.begin()
            self.screen.call_after_refresh(self.courtesy.end)
        await super().on_event(event)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send of a part of the screen what is in the part, and no more of its lines."""
        if isinstance(renderable, ChopsUpdate):
            renderable = CroppedUpdate(renderable.chops, renderable.spans, renderable.chop_ends)
        super()._display(screen, renderable)

    def _watch_signals(self) -> None:
        """Leave through the front door when the connection drops, so the terminal is restored."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in _SIGNALS:
                loop.add_signal_handler(number, self._leave_on_signal, int(number))

    def _leave_on_signal(self, number: int) -> None:
        self.exit(return_code=_SIGNAL_STATUS + number)

    def _apply_theme(self, theme: Theme) -> None:
        """Drop every colour, also those that are no part of the theme, where it has none."""
        self._filters = [each for each in self._filters if each is not self._without_colour]
        if theme.name == NO_COLOUR.name:
            self._filters.append(self._without_colour)
        self.refresh(layout=True)

    def open_paths(self, paths: Sequence[str]) -> None:
        """Open files, beside those that are open already."""
        if self._main is None:
            self._main = MainScreen(paths, self._store, self._view, self.courtesy)
            self.switch_screen(self._main) if self._has_start else self.push_screen(self._main)
            return
        for path in paths:
            self._main.open(path)

    @property
    def _has_start(self) -> bool:
        return isinstance(self.screen, StartScreen)

    def on_start_screen_opened(self, message: StartScreen.Opened) -> None:
        """Open what was chosen."""
        if self._main is not None and self._has_start:
            self.pop_screen()
        self.open_paths((message.path,))

    def on_main_screen_open_requested(self) -> None:
        """Let the user choose another file."""
        start = StartScreen(self._store, self._directory)
        start.can_go_back = True
        self.push_screen(start)

    def on_main_screen_nothing_open(self, message: MainScreen.NothingOpen) -> None:
        """Say why on the start screen."""
        self._main = None
        while isinstance(self.screen, ModalScreen | CaptureScreen):
            self.pop_screen()
        start = StartScreen(self._store, self._directory, message.error)
        self.switch_screen(start)

    def on_capture_requested(self) -> None:
        """Show the capture: its form, or how far it is."""
        if self._capture is None:
            self._capture = CaptureScreen(ChoiceStore(self._store.folder))
            # Installed, it lives on while other screens are shown.
            self.install_screen(self._capture, _CAPTURE)
        if self._capture not in self.screen_stack:
            self.push_screen(_CAPTURE)

    def on_capture_screen_leave_requested(self) -> None:
        """Go back to where the capture was called from."""
        if self.screen is self._capture:
            self.pop_screen()

    def on_capture_screen_captured(self, message: CaptureScreen.Captured) -> None:
        """Open finished traces at once, behind what is shown."""
        if self._main is not None:
            for path in message.paths:
                self._main.open_behind(path)
        elif self._capture is not None and self.screen is self._capture:
            self._open_below_capture(message.paths)
        elif self._capture is not None:
            self._capture.take_back(message.paths)

    def _open_below_capture(self, paths: Sequence[str]) -> None:
        """Put the first traces that are opened between the start screen and the capture."""
        with self.batch_update():
            self.pop_screen()
            self._main = MainScreen(paths, self._store, ScoreboardView.name_id, self.courtesy)
            if self._capture is not None:
                self._main.show_awaited(self._capture.awaited)
            self.switch_screen(self._main) if self._has_start else self.push_screen(self._main)
            self.push_screen(_CAPTURE)

    def on_capture_screen_progressed(self, message: CaptureScreen.Progressed) -> None:
        """Let the scoreboard say which variants run, wait, or cannot run."""
        if self._main is not None:
            self._main.show_awaited(message.awaited)

    def on_capture_screen_scoreboard_requested(
        self, message: CaptureScreen.ScoreboardRequested
    ) -> None:
        """Show all traces in one table."""
        if self._main is not None and self.screen is self._capture:
            self.pop_screen()
            self._main.show_view(ScoreboardView.name_id, message.said)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer what the keys do in the command palette too."""
        for binding in MainScreen.BINDINGS if isinstance(screen, MainScreen) else ():
            if isinstance(binding, Binding):
                action = partial(screen.run_action, binding.action)
                key = label_of(binding.key)
                yield SystemCommand(binding.description, f"key {key}", action)
        yield SystemCommand("Next theme", "key T", self.action_next_theme)
        yield SystemCommand("Quit", "key q", self.action_quit)

    def action_command_palette(self) -> None:
        """Offer the commands, unless they are offered already."""
        open_palette(self)

    def action_next_theme(self) -> None:
        """Change to the next theme."""
        position = THEMES.index(self.theme) if self.theme in THEMES else -1
        self.theme = THEMES[(position + 1) % len(THEMES)]


def run_app(
    paths: Sequence[str],
    *,
    directory: str | None = None,
    use_mouse: bool = True,
    ascii_only: bool = False,
    export: Exporter | None = None,
    export_comparison: ComparisonExporter | None = None,
    view: str = "",
) -> int:
    """Run the application until the user leaves; return the process's exit status.

    Raises:
        BaseException: What went wrong in it, after the terminal is as it was.
    """
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    app = TraceTuiApp(
        paths,
        directory=directory,
        use_mouse=use_mouse,
        ascii_only=ascii_only,
        export=export,
        export_comparison=export_comparison,
        view=view,
    )
    sys.setswitchinterval(_SWITCH_S)
    return_freed_memory()
    # What was imported stays: the collector need not look through it again and again.
    gc.freeze()
    app.run(mouse=use_mouse)
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0
