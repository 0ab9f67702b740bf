"""Starts the user's script in a child, passes signals on, and tells what came of it.

Imports neither torch nor anything that knows a trace.
"""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tracetui.capture.interpreter import BOOTSTRAP, chosen_interpreter
from tracetui.capture.paths import reason_of
from tracetui.capture.runner_window import Window
from tracetui.errors import CaptureError

_RUNNER: Final = "tracetui.capture.runner"
_SIGNAL_EXIT: Final = 128
_FORWARDED: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT")


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A script or module to run, and how it is recorded."""

    name: str
    """The script's path, or the module's name."""
    arguments: Sequence[str]
    folder: Path
    stem: str
    """The trace's name without rank and ending."""
    is_module: bool = False
    window: Window = field(default_factory=Window)
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the profiler collects, by the names of ``RecordingOptions``."""
    step_module: str | None = None
    """The class of the module whose forward begins a step."""
    follows_optimizer: bool = True
    """Whether the step of an optimizer ends one."""
    marks_modules: bool = False
    python: str | None = None
    has_input: bool = True
    """Whether the script may read what is typed or piped in."""

    @property
    def shown(self) -> str:
        """The command as the user gave it."""
        return " ".join([*(["-m"] if self.is_module else []), self.name, *self.arguments])


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of a run."""

    status: int
    """The script's exit status, as a shell would tell it."""
    trace: Path | None
    n_steps: int
    timing: Mapping[str, Any]
    """Times of steps without the profiler, in nanoseconds; empty where none was timed."""
    boundary: str | None
    notes: tuple[str, ...]


def run_script(spec: RunSpec, *, started: Callable[[int], None] | None = None) -> RunResult:
    """Run a script to its end under the profiler; its streams are ours.

    Args:
        spec: What to run and how.
        started: Called with the child's process id once it runs.

    Raises:
        CaptureError: The folder cannot be written to, or there is no such Python.
    """
    python = chosen_interpreter(spec.python)
    _check_folder(spec.folder)
    with tempfile.TemporaryDirectory(prefix="tracetui-run-") as scratch:
        outcome = Path(scratch) / "outcome.json"
        request = Path(scratch) / "spec.json"
        request.write_text(json.dumps(_members(spec, outcome)), encoding="utf-8")
        command = [python, str(BOOTSTRAP), _RUNNER, str(request)]
        status = _status_of(command, started, has_input=spec.has_input)
        return _result(status, outcome)


def _members(spec: RunSpec, outcome: Path) -> dict[str, Any]:
    members = asdict(spec)
    members.update(folder=str(spec.folder.absolute()), outcome=str(outcome), shown=spec.shown)
    return members


def _check_folder(folder: Path) -> None:
    """Raise before the script has run for hours what would keep its trace from being written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CaptureError(f"{folder}: {reason_of(error)}") from error
    if not os.access(folder, os.W_OK):
        raise CaptureError(f"{folder}: permission denied")


def _status_of(
    command: Sequence[str], started: Callable[[int], None] | None, *, has_input: bool
) -> int:
    """Run a command and return its exit status, a signal's as 128 and its number."""
    try:
        source = None if has_input else subprocess.DEVNULL
        with _signals_kept() as attach, subprocess.Popen(command, stdin=source) as child:
            attach(child)
            if started is not None:
                started(child.pid)
            status = child.wait()
    except OSError as error:
        raise CaptureError(f"{command[0]}: {error.strerror or error}") from error
    return status if status >= 0 else _SIGNAL_EXIT - status


@contextmanager
def _signals_kept() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Outlive the signals that end the child, and pass on those that reach us alone."""
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def forward(number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT and is_in_foreground():
            return  # the terminal has sent it to the child as well
        if not children:
            early.append(number)
        for child in children:
            with suppress(ProcessLookupError):
                child.send_signal(number)

    def attach(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    names = [name for name in ("SIGINT", *_FORWARDED) if hasattr(signal, name)]
    previous = {name: signal.signal(getattr(signal, name), forward) for name in names}
    try:
        yield attach
    finally:
        for name, handler in previous.items():
            signal.signal(getattr(signal, name), handler)


def is_in_foreground() -> bool:
    """Return whether we are what the terminal sends ``ctrl+c`` to."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _result(status: int, outcome: Path) -> RunResult:
    try:
        told = json.loads(outcome.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = {}
    notes = tuple(told.get("notes", ()))
    trace = told.get("trace")
    if not told.get("is_ended") and trace is None:
        notes += (_lost(status),)
    return RunResult(
        status=status,
        trace=Path(trace) if trace else None,
        n_steps=int(told.get("n_steps", 0)),
        timing=told.get("timing", {}),
        boundary=told.get("boundary"),
        notes=notes,
    )


def _lost(status: int) -> str:
    """Return why there is no trace after an end that nobody could act on."""
    if status > _SIGNAL_EXIT:
        with suppress(ValueError):
            name = signal.Signals(status - _SIGNAL_EXIT).name
            return f"{name} ended the script at once: what was recorded is lost"
    return f"the script's process ended unseen (status {status}): what was recorded is lost"
