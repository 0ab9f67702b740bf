"""The terminal: keys without delay, pictures in few bytes."""

import os
import signal
from codecs import getincrementaldecoder
from select import select
from typing import IO, Any, Final

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from tracetui.ui.compact import compact

_ESCAPE: Final = "\x1b"
_REST_S: Final = 0.1
"""How often the thread looks whether the program ends."""
_SLACK_S: Final = 0.001
_BYTES: Final = 4096


class _Output:
    """Where pictures are written; once the terminal is gone, nowhere.

    An error would end the thread that writes, and the screen would wait for it without end: no
    signal would be answered any more.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file: IO[str] | None = file
        self._descriptor = file.fileno()

    def fileno(self) -> int:
        """Return the descriptor of the terminal."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether there still is a terminal."""
        return self._file is not None and self._file.isatty()

    def write(self, text: str) -> None:
        """Write to the terminal, if it is still there."""
        try:
            if self._file is not None:
                self._file.write(text)
        except OSError:
            self._file = None

    def flush(self) -> None:
        """Send what was written."""
        try:
            if self._file is not None:
                self._file.flush()
        except OSError:
            self._file = None


class PromptDriver(LinuxDriver):
    """Sends fewer bytes, and takes an escape for itself when ``ESCDELAY`` is over.

    Textual's own looks at the clock every tenth of a second, and waits without end for a terminal
    that is gone.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._file: Any = _Output(self._file)

    def write(self, data: str) -> None:
        """Send a picture in as few bytes as it takes."""
        super().write(compact(data))

    def run_input_thread(self) -> None:
        """Read keys and pass them on, until the program ends or the terminal is gone."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")().decode
        wait_s = _REST_S
        while not self.exit_event.is_set():
            text = ""
            if select([self.fileno], [], [], wait_s)[0]:
                data = self._bytes_read()
                if not data:
                    # The hang-up may have come without its signal, or before it was awaited.
                    os.kill(os.getpid(), signal.SIGHUP)
                    return
                text = decode(data)
            for event in parser.feed(text) if text else ():
                self.process_message(event)
            for event in parser.tick():
                self.process_message(event)
            wait_s = constants.ESCAPE_DELAY + _SLACK_S if text.endswith(_ESCAPE) else _REST_S

    def _bytes_read(self) -> bytes:
        """Return what was typed; nothing if nobody can type any more."""
        try:
            return os.read(self.fileno, _BYTES)
        except OSError:
            return b""
