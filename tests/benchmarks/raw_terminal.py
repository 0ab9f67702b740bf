"""The real program in a terminal whose bytes are counted and not drawn."""

import os
import select
import time
from typing import Final

from tests.ui.terminal import Terminal

QUIET_S: Final = 0.25
"""After so long without a byte a picture is taken to be complete."""


class RawTerminal(Terminal):
    """Counts bytes and keeps no picture, which would cost more than what is measured."""

    def read_some(self, seconds: float) -> bytes:
        """Return what is there within ``seconds``."""
        if not select.select([self._master], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self._master, 65536)
        except OSError:
            return b""

    def quiet(self, seconds: float = QUIET_S) -> int:
        """Read until nothing comes for a while; return how many bytes came."""
        total = 0
        while data := self.read_some(seconds):
            total += len(data)
        return total

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def until_loaded(self) -> None:
        """Wait until the file is read and what follows is drawn."""
        while self.quiet(3):
            pass

    def first_bytes(self, text: bytes, limit_s: float = 30) -> float:
        """Return after how many seconds a text has been drawn."""
        start, seen = time.perf_counter(), b""
        while text not in seen and time.perf_counter() - start < limit_s:
            seen = (seen + self.read_some(0.02))[-200_000:]
        return time.perf_counter() - start
