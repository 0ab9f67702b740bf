"""The real program in a real pseudo-terminal, its screen kept by pyte."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TypeVar

import pyte

_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=][0-9;]*u|\x1b\[\?[0-9;]*\$p|\x1b\[>[0-9;]*[a-z]")
PATIENCE_S = 90.0
"""How long a busy machine may take; only a failure ever waits for it."""

_Self = TypeVar("_Self", bound="Terminal")


class Terminal:
    """Runs ``python -m tracetui`` in a pty; what it writes is kept raw and as a screen."""

    def __init__(
        self, arguments: Sequence[str], *, columns: int = 80, lines: int = 24, **environment: str
    ) -> None:
        self.raw = bytearray()
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.status: int | None = None
        self._held_open: int | None = None
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            env = {**os.environ, "TERM": "xterm-256color", **environment}
            # Taking pictures in the same process leaves a size behind, which would be believed.
            for name in ("COLORTERM", "COLUMNS", "LINES"):
                env.pop(name, None)
            os.execve(sys.executable, [sys.executable, "-m", "tracetui", *arguments], env)
        self.resize(columns, lines)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)
        if self._held_open is not None:
            os.close(self._held_open)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size as a user drags the window."""
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self.screen.resize(lines, columns)

    def read(self, seconds: float) -> int:
        """Take in what arrives within ``seconds`` and return how many bytes that was."""
        end, taken = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0:
            if not select.select([self._master], [], [], left)[0]:
                break
            try:
                data = os.read(self._master, 65536)
            except OSError:
                break
            if not data:
                break
            self.raw += data
            taken += len(data)
            self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        return taken

    @property
    def text(self) -> str:
        """Return the screen as text."""
        return "\n".join(self.screen.display)

    def wait_for(self, pattern: str, patience_s: float = PATIENCE_S) -> str:
        """Return the screen once it matches ``pattern``; fail with what is there instead."""
        end = time.monotonic() + patience_s
        while not re.search(pattern, self.text):
            self.read(0.1)
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} on the screen:\n{self.text}")
        return self.text

    def send(self, keys: str) -> None:
        """Send keys and wait for nothing."""
        os.write(self._master, keys.encode())

    def press(self, keys: str, settle_s: float = 0.4) -> int:
        """Send keys and return how many bytes were drawn until it was quiet."""
        self.send(keys)
        total = 0
        while taken := self.read(settle_s):
            total += taken
        return total

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """Take the terminal away, as a connection that drops does."""
        silence, self._held_open = os.pipe()
        os.dup2(silence, self._master)
        os.close(silence)

    def wait_end(self) -> int:
        """Return the exit status once the program has ended."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.read(0.05)
                return self.status
        raise AssertionError(f"still running:\n{self.text}")
