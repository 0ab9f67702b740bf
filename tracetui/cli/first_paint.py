"""A first picture in a few milliseconds, before the interface is even imported."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tracetui.cli.parser import shown

_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
"""The alternate screen, without a cursor, blank."""
_LEAVE: Final = "\x1b[?1049l\x1b[?25h"
_SIGNAL_STATUS: Final = 128
_LEAST_COLUMNS, _LEAST_LINES = 20, 4


def first_lines(names: Sequence[str], columns: int, lines: int, *, ascii_only: bool) -> list[str]:
    """Return the frame that the interface will draw, with what is being opened.

    Args:
        names: The files or the folder; none for the start screen.
        columns: The terminal's width.
        lines: The terminal's height; fewer than four have no room for a frame.
        ascii_only: Whether to do without dashes and ellipses.
    """
    if columns < _LEAST_COLUMNS or lines < _LEAST_LINES:
        return []
    files = ", ".join(Path(name).name or name for name in map(shown, names))
    what = f"opening {files}" if files else "looking for traces"
    rule, more = ("-", "~") if ascii_only else ("─", "…")
    text = [f" tracetui  {files}", "", rule * columns, f" {what}"]
    return [line if len(line) <= columns else f"{line[: columns - 1]}{more}" for line in text]


@contextmanager
def first_paint(names: Sequence[str], *, ascii_only: bool) -> Iterator[None]:
    """Show the frame while the interface is imported; it takes the screen over afterwards.

    What is typed meanwhile is not echoed and goes to the interface. If the import fails, the
    terminal is as it was.
    """
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except OSError:
        yield
        return
    lines = first_lines(names, size.columns, size.lines, ascii_only=ascii_only)
    if not lines:
        yield
        return
    with _without_echo(), _orderly_end():
        encoding = sys.stderr.encoding or "ascii"
        frame = (_ENTER + "\r\n".join(lines)).encode(encoding, "replace")
        os.write(sys.stderr.fileno(), frame)
        try:
            yield
        except BaseException:
            os.write(sys.stderr.fileno(), _LEAVE.encode())
            raise


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Turn the signals that end a program into an exception, so that the screen is left."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(_SIGNAL_STATUS + number)

    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, leave) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _without_echo() -> Iterator[None]:
    """Keep typed keys off the screen, where the platform knows how."""
    try:
        import termios
    except ImportError:
        yield
        return
    before: list[Any] | None = None
    with suppress(termios.error):
        before = termios.tcgetattr(0)
        quiet = [*before]
        quiet[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(0, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        if before is not None:
            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, before)
