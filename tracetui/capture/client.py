"""Starts the child, passes on its progress, and can stop it. Never imports torch.

A child that dies (out of memory, a crash inside a kernel, a kill) costs the variant that ran and
nothing else: a new child goes on with what is not yet complete.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final

from tracetui.capture import progress
from tracetui.capture.catalog import is_custom, workload_entry
from tracetui.capture.folder import FolderLock
from tracetui.capture.interpreter import child_command
from tracetui.capture.spec import CaptureSpec, Resumption
from tracetui.errors import CaptureError, UsageError

Event = Mapping[str, Any]
"""What the child told; ``event`` is one of the names in ``progress``."""
PATIENCE_S: Final = 900.0
"""A child that tells nothing for so long hangs; autotuning on a large GPU takes minutes."""
_GRACE_S: Final = 15.0
"""How long a child that was asked to stop may take to end its step and write the session."""
_MODULE: Final = "tracetui.capture.child"
_N_LAST_LINES: Final = 40


@dataclass(frozen=True, slots=True)
class MachineReport:
    """What there is to capture with in some Python."""

    python: str
    device: str
    """``cpu``, ``cuda`` and so on: what ``auto`` stands for."""
    packages: frozenset[str]
    versions: Mapping[str, str | None]

    def obstacle(self, workload: str, variant: str) -> str | None:
        """Return why a variant cannot run here as far as is known without trying, or none."""
        package = workload_entry(workload).variant(variant).package
        if package is None or package in self.packages:
            return None
        return f"{package} is not installed in {self.python}"


class _Child:
    """One process: its lines as events, the last of what it said besides."""

    def __init__(self, arguments: list[str], python: str | None) -> None:
        command = child_command(_MODULE, *arguments, python=python)
        try:
            # A session of its own: ctrl+c reaches us alone, and we stop the child in our own way.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(f"{command[0]}: {(error.strerror or str(error)).lower()}") from error
        self.last_lines: deque[str] = deque(maxlen=_N_LAST_LINES)
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read_events, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_events(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                if line.strip():
                    self.last_lines.append(line.rstrip())

    def events(self, patience_s: float) -> Iterator[Event]:
        """Yield what the child tells until it ends.

        Raises:
            TimeoutError: It told nothing for ``patience_s``.
        """
        while True:
            try:
                line = self._lines.get(timeout=patience_s)
            except queue.Empty:
                raise TimeoutError from None
            if line is None:
                return
            try:
                event = json.loads(line)
            except ValueError:  # cut off by a kill
                continue
            if isinstance(event, dict) and "event" in event:
                yield event

    def ended(self) -> int:
        """Wait for the end and return the exit status."""
        status = self.process.wait()
        for reader in self._readers:
            reader.join(timeout=1)
        return status

    def interrupt(self) -> None:
        """Ask it to keep what is complete and end."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it and the compilers it started."""
        if self.process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


def machine_report(python: str | None = None) -> MachineReport:
    """Ask a Python what there is to capture with; takes as long as importing torch.

    Raises:
        CaptureError: It cannot be started, or has no torch.
    """
    child = _Child(["--machine"], python)
    try:
        for event in child.events(PATIENCE_S):
            if event["event"] == progress.FAILED:
                raise CaptureError(str(event["reason"]))
            if event["event"] == progress.MACHINE:
                return MachineReport(
                    event["python"],
                    event["device"],
                    frozenset(event["packages"]),
                    event["versions"],
                )
        raise CaptureError(_death(child.ended(), child.last_lines))
    finally:
        child.kill()
        child.ended()


def checked(spec: CaptureSpec) -> CaptureSpec:
    """Return a request whose names are known to exist, and whose paths are whole.

    Raises:
        UsageError: It names a workload, a variant, a parameter or a value that there is not.
    """
    out = str(Path(spec.out).expanduser().absolute())
    if is_custom(spec.workload):
        name, colon, function = spec.workload.rpartition(":")
        path = Path(name if colon else spec.workload).expanduser()
        if not path.is_file():
            raise UsageError(f"{path}: no such file")
        return replace(
            spec, out=out, workload=f"{path.absolute()}:{function if colon else 'build'}"
        )
    entry = workload_entry(spec.workload)
    for variant in spec.variants:
        entry.variant(variant)
    for point in spec.points:
        entry.complete(point, is_cpu=True)
    return replace(spec, out=out, workload=entry.name)


class CaptureProcess:
    """A capture that runs: iterate over ``events``; ``stop`` and ``kill`` from any thread."""

    def __init__(
        self, spec: CaptureSpec, python: str | None = None, patience_s: float = PATIENCE_S
    ) -> None:
        self.spec = checked(spec)
        self._python = python
        self._patience_s = patience_s
        self._child: _Child | None = None
        self._is_stopping = False
        self._stage: Event | None = None
        self._resumption = Resumption()

    def events(self) -> Iterator[Event]:
        """Yield the events of the capture; the last is ``done`` or ``failed``.

        Raises:
            CaptureError: The folder cannot be written, or another capture writes there.
        """
        with FolderLock(Path(self.spec.out)):
            while True:
                end = yield from self._child_events()
                if end is not None:
                    yield end
                    return

    def stop(self) -> None:
        """Ask the capture to keep what is complete and end; it is killed if it does not."""
        if self._is_stopping:
            self.kill()
            return
        self._is_stopping = True
        child = self._child
        if child is not None:
            child.interrupt()
            timer = threading.Timer(_GRACE_S, child.kill)
            timer.daemon = True
            timer.start()

    def kill(self) -> None:
        """End the capture now; traces that are complete stay."""
        self._is_stopping = True
        if self._child is not None:
            self._child.kill()

    def _child_events(self) -> Generator[Event, None, Event | None]:
        """Yield what one child tells; return the last event, or none if another is to go on."""
        self._stage = None
        arguments = [self.spec.to_json(), self._resumption.to_json()]
        child = self._child = _Child(arguments, self._python)
        try:
            for event in child.events(self._patience_s):
                if event["event"] in (progress.DONE, progress.FAILED):
                    return self._with_counts(event)
                self._follow(event)
                yield event
            why = _death(child.ended(), child.last_lines)
        except TimeoutError:
            why = f"it hung: nothing was heard of it for {self._patience_s:,.0f} s"
        finally:
            child.kill()
            child.ended()
        return (yield from self._after_death(why))

    def _follow(self, event: Event) -> None:
        """Remember what is being done, and what need not be done again."""
        if event["event"] == progress.STAGE:
            self._stage = event
        elif event["event"] == progress.FINISHED:
            name = Path(event["path"]).name.removesuffix(".json.gz")
            self._resumption = self._resumption.with_finished(name)

    def _with_counts(self, event: Event) -> Event:
        return {**event, "traces": len(self._resumption.finished)}

    def _after_death(self, why: str) -> Generator[Event, None, Event | None]:
        """Give up what ran when the child died, and let another go on with the rest."""
        if self._is_stopping:
            return self._with_counts({"event": progress.FAILED, "reason": "interrupted"})
        if self._stage is None:
            return self._with_counts({"event": progress.FAILED, "reason": why})
        where = {name: self._stage[name] for name in ("variant", "point", "swept")}
        why = f"the process ended while {self._stage['stage']}: {why}"
        self._resumption = self._resumption.without(where["variant"], where["point"], why)
        yield {
            "event": progress.NOTE,
            **where,
            "note": f"{why}; going on without it",
        }
        return None


def _death(status: int, last_lines: Sequence[str]) -> str:
    """Return how a process ended that told nothing of it."""
    if status == -signal.SIGKILL:
        return "killed (SIGKILL), as the system does when memory runs out"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    last = last_lines[-1] if last_lines else "and said nothing"
    return f"exit status {status}: {last}"
