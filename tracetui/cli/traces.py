"""Files named on the command line: checked, read, and their troubles said in one line."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracetui.cli.parser import shown
from tracetui.errors import TraceFormatError, UsageError
from tracetui.model.portion import WHOLE, Portion

if TYPE_CHECKING:
    from tracetui.model.trace import Trace

_SPOOL_BYTES: Final = 1 << 20


@contextmanager
def spooled_stdin() -> Iterator[str]:
    """Yield a file that holds what is piped in; it is gone afterwards."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("-: nothing is piped into standard input")
    with tempfile.TemporaryDirectory(prefix="tracetui-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as spool:
            while block := sys.stdin.buffer.read(_SPOOL_BYTES):
                spool.write(block)
        yield str(path)


def read(path: str, *, name: str, use_cache: bool = True, portion: Portion = WHOLE) -> "Trace":
    """Read a trace, all of it or a part, which then goes by the name that the user gave."""
    from tracetui.readers import read_trace

    check_path(path)
    try:
        trace = read_trace(path, use_cache=use_cache, portion=portion)
    except TraceFormatError as error:
        raise UsageError(f"{shown(name)}: {error}") from error
    return replace(trace, origin=replace(trace.origin, path=shown(name)))


def check_memory(path: str, *, name: str, use_cache: bool = True) -> None:
    """Raise if a file will not fit into memory: before the machine swaps, not after."""
    from tracetui.presentation.too_big import refusal
    from tracetui.readers.shortage import shortage

    check_path(path)
    short = shortage(path, use_cache=use_cache)
    if short is not None:
        raise UsageError(f"{shown(name)}: {refusal(short)}")


def reason(error: OSError) -> str:
    """Return why a file cannot be used, in few words."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    return (error.strerror or type(error).__name__).lower()


def _folder_text(path: str) -> str:
    from tracetui.presentation.browse import find_traces

    n_files = len(find_traces(path, max_depth=0).files)
    files = "1 trace file" if n_files == 1 else f"{n_files or 'no'} trace files"
    return f"{shown(path)}: is a directory, {files} inside"


def check_path(path: str) -> None:
    """Raise if a path cannot be opened; a pipe stays unread."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise UsageError(f"{shown(path)}: {reason(error)}") from error
    if stat.S_ISDIR(mode):
        raise UsageError(_folder_text(path))
    if stat.S_ISFIFO(mode):
        # A trace is read from more than one place of the file.
        raise UsageError(f"{shown(path)}: is a pipe; use - and pipe it into standard input")
    if not os.access(path, os.R_OK):
        raise UsageError(f"{shown(path)}: permission denied")


def warn(trace: "Trace") -> None:
    """Say on stderr, in one line, what was not taken as it stood."""
    from tracetui.presentation.overview import load_lines

    lines = load_lines(trace)
    if lines:
        print(f"tracetui: {trace.origin.path}: {'; '.join(lines)}", file=sys.stderr)


def write(text: bytes) -> None:
    """Write UTF-8 to stdout whatever the locale says: it is data."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
