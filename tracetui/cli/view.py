"""``tracetui``: the interface, on files, on a folder, or on nothing yet."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tracetui.cli.commands import COMMANDS
from tracetui.cli.first_paint import first_paint
from tracetui.cli.parser import EXIT_FINE, STDIN, Parser
from tracetui.cli.report import print_markdown
from tracetui.cli.traces import check_path, spooled_stdin
from tracetui.errors import UsageError

_EXAMPLES = """\
examples:
  tracetui              choose among the traces below this folder
  tracetui a.json.gz    open a trace; several become tabs
  tracetui traces/      choose among the traces of a folder
  cat a.json | tracetui -
"""


_ESCAPE_MS: Final = "25"
"""So long a lone escape may still be the first byte of another key. Whoever has a link that tears keys
apart for longer sets ESCDELAY, as for every program in the terminal."""


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


def _epilog() -> str:
    lines = [f"  {name} {each.arguments:<14} {each.summary}" for name, each in COMMANDS.items()]
    return "\n".join(["subcommands (each has --help):", *lines, "", _EXAMPLES])


def options_parser() -> Parser:
    """Return the parser of what stands beside the files."""
    parser = Parser(
        prog="tracetui",
        description="Explore PyTorch profiler traces in the terminal, by keyboard.",
        epilog=_epilog(),
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


def _open_screen(paths: Sequence[str], options: argparse.Namespace, first_view: str) -> int:
    """Run the interface on files, on one folder, or on nothing yet."""
    directory = paths[0] if len(paths) == 1 and Path(paths[0]).is_dir() else None
    files = [] if directory else paths
    for path in files:
        check_path(path)
    obstacle = _screen_obstacle()
    if obstacle:
        raise UsageError(f"{obstacle}; use: tracetui report FILE")
    if not _is_terminal(0):
        _take_keys_from_terminal()
    encoding = (getattr(sys.__stderr__, "encoding", None) or "").lower().replace("-", "")
    ascii_only = options.ascii or encoding != "utf8"
    names = ["standard input" if path == STDIN else path for path in options.paths]
    os.environ.setdefault("ESCDELAY", _ESCAPE_MS)
    with first_paint(names, ascii_only=ascii_only):
        from tracetui.reports.export import comparison_files, export_files
        from tracetui.ui.app import run_app
    return run_app(
        files,
        directory=directory,
        use_mouse=not options.no_mouse,
        ascii_only=ascii_only,
        export=export_files,
        export_comparison=comparison_files,
        view=first_view,
    )


def _print_reports(shown: Sequence[str], paths: Sequence[str]) -> int:
    """Print each file as text, for the interface has no terminal to be drawn on."""
    if not paths:
        raise UsageError("stdout is not a terminal; use: tracetui report FILE")
    for name, path in zip(shown, paths, strict=True):
        print_markdown(name, path)
    return EXIT_FINE


def _view(options: argparse.Namespace, paths: Sequence[str], first_view: str) -> int:
    if _is_terminal(1):
        return _open_screen(paths, options, first_view)
    return _print_reports(options.paths, paths)


def run(arguments: Sequence[str], first_view: str = "") -> int:
    """Open the screen that the arguments ask for, in the view of this name if one is given."""
    options = options_parser().parse_args(arguments)
    if STDIN not in options.paths:
        return _view(options, options.paths, first_view)
    with spooled_stdin() as spooled:
        paths = [spooled if path == STDIN else path for path in options.paths]
        return _view(options, paths, first_view)
