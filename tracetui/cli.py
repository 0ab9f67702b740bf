"""Arguments and subcommands: parses, calls, prints, exits."""

import argparse
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from tracetui.errors import TraceFormatError, TraceTuiError, UsageError

if TYPE_CHECKING:
    from tracetui.model.trace import Trace

EXIT_FINE: Final = 0
EXIT_UNUSABLE: Final = 2
_EXIT_INTERRUPTED: Final = 130
_EXIT_PIPE_CLOSED: Final = 141
_STDIN: Final = "-"
_SPOOL_BYTES: Final = 1 << 20
_DEFAULT_TOP: Final = 20
"""How many rows each table of a report for people has."""

_EPILOG: Final = """\
subcommands:
  report FILE           print what a trace holds, as Markdown, JSON or CSV (report --help)

examples:
  tracetui              choose among the traces below this folder
  tracetui a.json.gz    open a trace; several become tabs
  tracetui traces/      choose among the traces of a folder
  cat a.json | tracetui -
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage: one line tells what was wrong."""
        raise UsageError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    """Prints the version; looked up only when asked for, since that reads the disk."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the version and leave."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("tracetui")
        except PackageNotFoundError:
            found = "(not installed)"
        print(f"tracetui {found}")
        parser.exit(EXIT_FINE)


def _shown(path: str) -> str:
    """Return a file's name as it may be printed on a terminal."""
    from tracetui.model.strings import clean_text

    return clean_text(path)


def _view_parser() -> _Parser:
    parser = _Parser(
        prog="tracetui",
        description="Explore PyTorch profiler traces in the terminal, by keyboard.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="trace files, one folder, or - for standard input"
    )
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters alone")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    return parser


def _row_limit(text: str) -> int:
    try:
        limit = int(text)
    except ValueError:
        limit = -1
    if limit < 0:
        raise argparse.ArgumentTypeError(f"{_shown(text)!r} is no number of rows (0 is all)")
    return limit


def _report_parser() -> _Parser:
    parser = _Parser(
        prog="tracetui report",
        description="Print what a trace holds. Data goes to stdout, warnings to stderr.",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="a trace file, or - for standard input")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one JSON object, every row")
    shape.add_argument("--markdown", action="store_true", help="tables for people (the default)")
    shape.add_argument("--csv", metavar="DIR", help="write one CSV file for each table into DIR")
    parser.add_argument(
        "--top",
        type=_row_limit,
        metavar="N",
        help=f"rows of each table, 0 for all (Markdown: {_DEFAULT_TOP}, else all)",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="read the file itself, and keep nothing of it"
    )
    parser.add_argument(
        "--torch-merge",
        action="store_true",
        help="fold a call into its parent of the same name when it is the only child, as torch does",
    )
    return parser


@contextmanager
def _spooled_stdin() -> Iterator[str]:
    """Yield a file that holds what is piped in; it is gone afterwards."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("-: nothing is piped into standard input")
    with tempfile.TemporaryDirectory(prefix="tracetui-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as spool:
            while block := sys.stdin.buffer.read(_SPOOL_BYTES):
                spool.write(block)
        yield str(path)


def _read(path: str, *, shown: str, use_cache: bool) -> "Trace":
    """Read a whole trace, which then goes by the name that the user gave."""
    from tracetui.readers import read_trace

    _check_path(path)
    try:
        trace = read_trace(path, use_cache=use_cache)
    except TraceFormatError as error:
        raise UsageError(f"{_shown(shown)}: {error}") from error
    return replace(trace, origin=replace(trace.origin, path=_shown(shown)))


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    return (error.strerror or type(error).__name__).lower()


def _folder_text(path: str) -> str:
    from tracetui.presentation.browse import find_traces

    n_files = len(find_traces(path, max_depth=0).files)
    files = "1 trace file" if n_files == 1 else f"{n_files or 'no'} trace files"
    return f"{_shown(path)}: is a directory, {files} inside"


def _check_path(path: str) -> None:
    """Raise if a path cannot be opened; a pipe stays unread."""
    try:
        is_folder = stat.S_ISDIR(Path(path).stat().st_mode)
    except OSError as error:
        raise UsageError(f"{_shown(path)}: {_reason(error)}") from error
    if is_folder:
        raise UsageError(_folder_text(path))
    if not os.access(path, os.R_OK):
        raise UsageError(f"{_shown(path)}: permission denied")


def _warn(trace: "Trace") -> None:
    """Say on stderr, in one line, what was not taken as it stood."""
    from tracetui.presentation.overview import load_lines

    lines = load_lines(trace)
    if lines:
        print(f"tracetui: {trace.origin.path}: {'; '.join(lines)}", file=sys.stderr)


def _write(text: bytes) -> None:
    """Write UTF-8 to stdout whatever the locale says: it is data."""
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _report(options: argparse.Namespace, path: str) -> int:
    """Print one report; ``path`` is where the bytes of ``options.file`` lie."""
    from tracetui.reports.report import TraceReport

    trace = _read(path, shown=options.file, use_cache=not options.no_cache)
    _warn(trace)
    report = TraceReport(trace, is_torch_merged=options.torch_merge)
    if options.json:
        from tracetui.reports.json_report import json_report

        _write(json_report(report, options.top or 0))
    elif options.csv is not None:
        from tracetui.reports.csv_report import write_csv_files

        try:
            written = write_csv_files(report, Path(options.csv), options.top or 0)
        except OSError as error:
            raise UsageError(f"{_shown(options.csv)}: {_reason(error)}") from error
        for file in written:
            print(_shown(str(file)))
    else:
        from tracetui.reports.markdown_report import markdown_report

        limit = _DEFAULT_TOP if options.top is None else options.top
        _write(markdown_report(report, limit).encode())
    return EXIT_FINE


def _run_report(arguments: Sequence[str]) -> int:
    options = _report_parser().parse_args(arguments)
    if options.file == _STDIN:
        with _spooled_stdin() as path:
            return _report(options, path)
    return _report(options, options.file)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _take_keys_from_terminal() -> None:
    """Make the terminal standard input again: the keys come from there."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError as error:
        raise UsageError(
            "no terminal for the keys: standard input is none and /dev/tty cannot be opened"
            " (use: tracetui report FILE)"
        ) from error
    os.dup2(terminal, 0)
    os.close(terminal)


def _screen_obstacle() -> str:
    """Return why there can be no screen here, or nothing."""
    if not _is_terminal(2):
        return "stderr is not a terminal, and that is where the screen is drawn"
    if os.environ.get("TERM", "") in ("", "dumb"):
        return "this terminal cannot show a screen (TERM is dumb or not set)"
    return ""


def _open_screen(paths: Sequence[str], options: argparse.Namespace) -> int:
    """Run the interface on files, on one folder, or on nothing yet."""
    directory = paths[0] if len(paths) == 1 and Path(paths[0]).is_dir() else None
    files = [] if directory else paths
    for path in files:
        _check_path(path)
    obstacle = _screen_obstacle()
    if obstacle:
        raise UsageError(f"{obstacle}; use: tracetui report FILE")
    if not _is_terminal(0):
        _take_keys_from_terminal()
    from tracetui.ui.app import run_app

    encoding = (getattr(sys.__stderr__, "encoding", None) or "").lower().replace("-", "")
    return run_app(
        files,
        directory=directory,
        use_mouse=not options.no_mouse,
        ascii_only=options.ascii or encoding != "utf8",
    )


def _print_reports(shown: Sequence[str], paths: Sequence[str]) -> int:
    """Print each file as text, for the interface has no terminal to be drawn on."""
    if not paths:
        raise UsageError("stdout is not a terminal; use: tracetui report FILE")
    for name, path in zip(shown, paths, strict=True):
        _report(_report_parser().parse_args(["--markdown", "--", name]), path)
    return EXIT_FINE


def _view(options: argparse.Namespace, paths: Sequence[str]) -> int:
    if _is_terminal(1):
        return _open_screen(paths, options)
    return _print_reports(options.paths, paths)


def _run_view(arguments: Sequence[str]) -> int:
    options = _view_parser().parse_args(arguments)
    if _STDIN not in options.paths:
        return _view(options, options.paths)
    with _spooled_stdin() as spooled:
        return _view(options, [spooled if path == _STDIN else path for path in options.paths])


def _run(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "report":
        return _run_report(arguments[1:])
    return _run_view(arguments)


def _fail(message: str, status: int) -> int:
    print(f"tracetui: {_shown(' '.join(message.splitlines()))}", file=sys.stderr)
    return status


def _internal(error: Exception) -> str:
    """Return what a report of a bug needs, in one line."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in last)
    return f"internal error, please report it: {type(error).__name__}: {error}{place}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status; nothing that happens is a traceback."""
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
    except Exception as error:  # noqa: BLE001 - the last resort: one line, and never a traceback
        return _fail(_internal(error), EXIT_UNUSABLE)
