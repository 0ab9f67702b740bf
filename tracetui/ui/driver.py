"""The terminal: keys without delay, pictures in few bytes."""

import os
from codecs import getincrementaldecoder
from select import select
from typing import Final

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from tracetui.ui.compact import compact

_ESCAPE: Final = "\x1b"
_REST_S: Final = 0.1
"""How often the thread looks whether the program ends."""
_SLACK_S: Final = 0.001
_BYTES: Final = 4096


class PromptDriver(LinuxDriver):
    """Sends fewer bytes, and takes an escape for itself when ``ESCDELAY`` is over.

    Textual's own looks at the clock every tenth of a second.
    """

    def write(self, data: str) -> None:
        """Send a picture in as few bytes as it takes."""
        super().write(compact(data))

    def run_input_thread(self) -> None:
        """Read keys and pass them on, until the program ends."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")().decode
        wait_s = _REST_S
        while not self.exit_event.is_set():
            is_ready = bool(select([self.fileno], [], [], wait_s)[0])
            text = decode(os.read(self.fileno, _BYTES)) if is_ready else ""
            for event in parser.feed(text) if text else ():
                self.process_message(event)
            for event in parser.tick():
                self.process_message(event)
            wait_s = constants.ESCAPE_DELAY + _SLACK_S if text.endswith(_ESCAPE) else _REST_S
