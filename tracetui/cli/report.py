"""``tracetui report``: what a trace holds, as Markdown, JSON or CSV."""

import argparse
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final

from tracetui.cli.parser import EXIT_FINE, STDIN, Parser, row_limit, shown
from tracetui.cli.traces import check_memory, read, reason, spooled_stdin, warn, write
from tracetui.errors import UsageError
from tracetui.model.portion import Portion
from tracetui.units import NS_PER_MS

_DEFAULT_TOP: Final = 20
"""How many rows each table of a report for people has."""


def peak_rates(text: str) -> dict[str, float]:
    """Return the rates of ``--peak``.

    Raises:
        argparse.ArgumentTypeError: If they cannot be understood.
    """
    from tracetui.analysis.host_peaks import given_rates

    try:
        return given_rates(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(shown(str(error))) from error


def event_limit(text: str) -> int:
    """Return how many events to read.

    Raises:
        argparse.ArgumentTypeError: If the text is no number from 1.
    """
    try:
        limit = int(text)
    except ValueError:
        limit = 0
    if limit < 1:
        raise argparse.ArgumentTypeError(f"{shown(text)!r} is no number of events")
    return limit


def window_of(text: str) -> tuple[int, int]:
    """Return the nanoseconds between which to read, given as ``START:END`` in milliseconds.

    Raises:
        argparse.ArgumentTypeError: If the text is no such pair.
    """
    start, colon, end = text.partition(":")
    try:
        start_ns, end_ns = (int(Decimal(each) * NS_PER_MS) for each in (start, end))
    except (ArithmeticError, ValueError):
        colon, start_ns, end_ns = "", 0, 0
    if not colon or not 0 <= start_ns < end_ns:
        raise argparse.ArgumentTypeError(
            f"{shown(text)!r} is no window START:END in milliseconds, as in 100:250.5"
        )
    return start_ns, end_ns


def steps_of(text: str) -> tuple[int, int]:
    """Return the first and last step to read, given as ``A:B``, or as the number of one.

    Raises:
        argparse.ArgumentTypeError: If the text is neither.
    """
    first, colon, last = text.partition(":")
    numbers = (first, last if colon else first)
    if not all(each.isascii() and each.isdigit() for each in numbers):
        raise argparse.ArgumentTypeError(f"{shown(text)!r} are no steps A:B, as in 3:5")
    if int(numbers[0]) > int(numbers[1]):
        raise argparse.ArgumentTypeError(f"{shown(text)!r} ends before it begins")
    return int(numbers[0]), int(numbers[1])


def _add_portion(parser: Parser) -> None:
    """Add what reads a part of a file that is too big."""
    part = parser.add_argument_group(
        "a part of a big file", "what is left out is said; several together are all to hold"
    )
    part.add_argument("--first", type=event_limit, metavar="N", help="the first N events")
    part.add_argument(
        "--device-only", action="store_true", help="kernels, copies and memsets, without the host"
    )
    part.add_argument(
        "--window",
        type=window_of,
        metavar="START:END",
        help="what starts or is launched between two times, in milliseconds from the first event",
    )
    part.add_argument(
        "--steps",
        type=steps_of,
        metavar="A:B",
        help="what starts or is launched in these of the profiler's steps",
    )
    part.add_argument(
        "--anyway", action="store_true", help="read all of it, even if it will not fit into memory"
    )


def options_parser() -> Parser:
    """Return the parser of this subcommand's arguments."""
    parser = Parser(
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
        type=row_limit,
        metavar="N",
        help=f"rows of each table, 0 for all (Markdown: {_DEFAULT_TOP}, else all)",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="read the file itself, and keep nothing of it"
    )
    parser.add_argument(
        "--peak",
        type=peak_rates,
        default={},
        metavar="KEY=RATE,…",
        help="what the device can do, as in bf16=989e12,bw=3.35e12 (FLOP/s and bytes/s); host"
        " measures this machine, for recordings made on it",
    )
    parser.add_argument(
        "--torch-merge",
        action="store_true",
        help="fold a call into its parent of the same name when it is the only child, as torch does",
    )
    _add_portion(parser)
    return parser


def print_report(options: argparse.Namespace, path: str) -> int:
    """Print one report; ``path`` is where the bytes of ``options.file`` lie."""
    from tracetui.reports.report import TraceReport

    portion = Portion(options.first, options.device_only, options.window, options.steps)
    use_cache = not options.no_cache
    if portion.is_whole and not options.anyway:
        check_memory(path, name=options.file, use_cache=use_cache)
    trace = read(path, name=options.file, use_cache=use_cache, portion=portion)
    warn(trace)
    report = TraceReport(trace, is_torch_merged=options.torch_merge, given_peaks=options.peak)
    if options.json:
        from tracetui.reports.json_report import json_report

        write(json_report(report, options.top or 0))
    elif options.csv is not None:
        from tracetui.reports.csv_report import write_csv_files

        try:
            written = write_csv_files(report, Path(options.csv), options.top or 0)
        except OSError as error:
            raise UsageError(f"{shown(options.csv)}: {reason(error)}") from error
        for file in written:
            print(shown(str(file)))
    else:
        from tracetui.reports.markdown_report import markdown_report

        limit = _DEFAULT_TOP if options.top is None else options.top
        write(markdown_report(report, limit).encode())
    return EXIT_FINE


def run(arguments: Sequence[str]) -> int:
    """Print the report that the arguments ask for."""
    options = options_parser().parse_args(arguments)
    if options.file == STDIN:
        with spooled_stdin() as path:
            return print_report(options, path)
    return print_report(options, options.file)


def print_markdown(name: str, path: str) -> None:
    """Print one file for people; ``path`` is where the bytes of ``name`` lie."""
    print_report(options_parser().parse_args(["--markdown", "--", name]), path)
