"""``tracetui compare``: why one trace is slower than another, and gates for CI."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from tracetui.cli.parser import EXIT_FAILED, EXIT_FINE, STDIN, Parser, row_limit, shown
from tracetui.cli.traces import read, spooled_stdin, warn, write
from tracetui.errors import UsageError

if TYPE_CHECKING:
    from tracetui.compare.gates import Gate
    from tracetui.model.trace import Trace
    from tracetui.reports.compare_report import CompareReport

_DEFAULT_TOP: Final = 20


def options_parser() -> Parser:
    """Return the parser of this subcommand's arguments."""
    parser = Parser(
        prog="tracetui compare",
        description=(
            "Say why traces differ: a baseline against one or more candidates. On a terminal, without"
            " further options, the comparison opens on the screen; else data goes to stdout,"
            " warnings and broken gates to stderr."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("baseline", metavar="BASELINE", help="the trace to compare with, or -")
    parser.add_argument(
        "candidates",
        metavar="CANDIDATE",
        nargs="+",
        help="the traces that are compared with it; repeated captures of a variant count as one",
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one JSON object")
    shape.add_argument(
        "--markdown",
        action="store_true",
        help="text for people (the default where stdout is no terminal)",
    )
    parser.add_argument(
        "--within", metavar="NAME", help="compare one annotation, module or operator"
    )
    parser.add_argument(
        "--per",
        choices=("step", "call", "total"),
        help="what the figures are for (default: step where all traces have steps, else call)",
    )
    parser.add_argument(
        "--fail-if",
        metavar="EXPR",
        action="append",
        default=[],
        help="exit 1 if this is true, e.g. 'gpu_us > +5%%', 'wall_us > +2us', 'kernels_per_call > 5'",
    )
    parser.add_argument(
        "--top",
        type=row_limit,
        metavar="N",
        help=f"differences shown in Markdown, 0 for all ({_DEFAULT_TOP})",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="read the files themselves, and keep nothing"
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    """Print the comparison that the arguments ask for, and judge its gates."""
    from tracetui.compare.gates import gate
    from tracetui.reports.compare_report import compare_json, compare_markdown

    options = options_parser().parse_args(arguments)
    if _is_for_the_screen(options):
        from tracetui.cli.view import run as open_screen

        return open_screen(["--", options.baseline, *options.candidates], "compare")
    gates = [gate(text) for text in options.fail_if]
    report = _report(options)
    # The gates are judged first: a figure that was not measured is an error, and prints nothing.
    broken = list(_broken(report, gates))
    if options.json:
        write(compare_json(report))
    else:
        limit = _DEFAULT_TOP if options.top is None else options.top
        write(compare_markdown(report, limit).encode())
    for line in broken:
        print(f"tracetui: {line}", file=sys.stderr)
    return EXIT_FAILED if broken else EXIT_FINE


def _is_for_the_screen(options: argparse.Namespace) -> bool:
    """Return whether a person looks on and has asked for no text, gate or scope."""
    is_asked = options.json or options.markdown or options.fail_if or options.within or options.per
    if is_asked or options.top is not None or sys.stdout is None:
        return False
    return sys.stdout.isatty() and sys.stderr.isatty()


def _report(options: argparse.Namespace) -> "CompareReport":
    from tracetui.compare.captured import captures
    from tracetui.compare.comparison import comparison
    from tracetui.compare.scoreboard import scoreboard
    from tracetui.reports.compare_report import CompareReport

    traces = _traces([options.baseline, *options.candidates], use_cache=not options.no_cache)
    variants = [[traces[place] for place in places] for places in captures(traces)]
    baseline, *candidates = variants
    board = scoreboard([own[0] for own in variants], options.within, options.per)
    pairs = tuple(
        comparison(baseline[0], own[0], board.within, board.per, repeats=(baseline[1:], own[1:]))
        for own in candidates
    )
    return CompareReport(pairs, board)


def _traces(names: Sequence[str], *, use_cache: bool) -> "list[Trace]":
    if list(names).count(STDIN) > 1:
        raise UsageError("-: standard input can be only one of the traces")
    with ExitStack() as stack:
        paths = [stack.enter_context(spooled_stdin()) if n == STDIN else n for n in names]
        found = [
            read(path, name=name, use_cache=use_cache)
            for path, name in zip(paths, names, strict=True)
        ]
    for trace in found:
        warn(trace)
    return found


def _broken(report: "CompareReport", gates: "Sequence[Gate]") -> Iterator[str]:
    """Yield a line for each bound that broke."""
    from tracetui.compare.gates import gate_result

    for compared in report.comparisons:
        for bound in gates:
            result = gate_result(bound, compared)
            if result.is_broken:
                yield f"{shown(compared.candidate.trace.origin.path)}: broke {result.summary}"
