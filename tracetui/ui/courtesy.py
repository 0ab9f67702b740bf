"""Keys go first: what works in the background waits between two pieces while the screen answers one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Final

_PATIENCE_S: Final = 0.05
"""Between two pieces the background waits so long at most, whatever the screen is doing."""


class Courtesy:
    """Says whether the screen is answering a key."""

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        """Start with nobody waiting.

        Args:
            patience_s: How long the background waits at most for one key.
        """
        self._patience_s = patience_s
        self._is_free = Event()
        self._is_free.set()

    def begin(self) -> None:
        """Ask the background to wait."""
        self._is_free.clear()

    def end(self) -> None:
        """Let it go on."""
        self._is_free.set()

    def wait(self) -> None:
        """Wait until the screen has answered, or patience is over."""
        self._is_free.wait(self._patience_s)


class CourteousStop(Event):
    """Stops a load, and holds it up for a key: a reader asks between two chunks whether to go on.

    Both would otherwise take turns at the one interpreter lock, and a key that takes 20 ms to answer
    would take twice as long.
    """

    def __init__(self, courtesy: Courtesy) -> None:
        """Hold the load up whenever ``courtesy`` says so."""
        super().__init__()
        self._courtesy = courtesy

    def is_set(self) -> bool:
        """Return whether to stop, once there is no key to wait for."""
        self._courtesy.wait()
        return super().is_set()


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the cycle collector out while something is made that lives on, and from it ever after.

    It stops every thread, and to look through all that was imported and read takes longer than a key
    may wait.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
