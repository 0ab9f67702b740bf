"""The one way in: finds the subcommand, calls it, and lets no traceback out."""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from tracetui.cli.commands import COMMANDS
from tracetui.cli.parser import EXIT_UNUSABLE, shown
from tracetui.errors import TraceTuiError

_EXIT_INTERRUPTED: Final = 130
_EXIT_PIPE_CLOSED: Final = 141
_CANNOT_WRITE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""What the place written to does, and this program cannot help."""


def _run(arguments: Sequence[str]) -> int:
    command = COMMANDS.get(arguments[0]) if arguments else None
    if command is None:
        return int(import_module("tracetui.cli.view").run(arguments))
    return int(import_module(command.module).run(arguments[1:]))


def _fail(message: str, status: int) -> int:
    print(f"tracetui: {shown(' '.join(message.splitlines()))}", file=sys.stderr)
    return status


def _internal(error: Exception) -> str:
    """Return what a report of a bug needs, in one line."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in last)
    return f"internal error, please report it: {type(error).__name__}: {error}{place}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status; nothing that happens is a traceback."""
    if sys.stderr is None:
        # Closed by the caller: print would put the warnings among the data.
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process lives
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except TraceTuiError as error:
        return _fail(str(error), EXIT_UNUSABLE)
    except KeyboardInterrupt:
        return _fail("interrupted", _EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has left; the interpreter must not flush into the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _EXIT_PIPE_CLOSED
    except MemoryError:
        return _fail("not enough memory for this input", EXIT_UNUSABLE)
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            return _fail(_internal(error), EXIT_UNUSABLE)
        where = "the output" if error.filename is None else str(error.filename)
        why = os.strerror(error.errno).lower()
        return _fail(f"cannot write {where}: {why}", EXIT_UNUSABLE)
    except Exception as error:  # noqa: BLE001 - the last resort: one line, and never a traceback
        return _fail(_internal(error), EXIT_UNUSABLE)
