"""``tracetui check``: whether a trace is what was expected, for tests and for CI."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.parser import EXIT_FAILED, EXIT_FINE, STDIN, Parser, shown
from tracetui.cli.traces import read, reason, spooled_stdin, warn, write
from tracetui.errors import UsageError

if TYPE_CHECKING:
    from tracetui.diagnosis.expressions import Expectation

_DESCRIPTION = """\
Hold a trace against expectations: one line for each, met or not, with what was found and the
slices that show it. Exit status 0 if all are met, 1 if one is not, 2 if one cannot be read.
With two files the first is the baseline, as compare has it.
"""
_EXAMPLES = """\
examples:
  tracetui check mlp.json.gz --expect "kernels_per_call(mlp_fwd) == 5" --expect "busy_ratio >= 80 %"
  tracetui check old.json new.json --expect "gpu_us <= 1.05 * baseline.gpu_us"
  tracetui check mlp.json.gz --expect "wall_us == 2.05 ms ± 5 %" --expect 'not has_kernel("sgemm")'
"""


def options_parser() -> Parser:
    """Return the parser of this subcommand's arguments."""
    parser = Parser(
        prog="tracetui check",
        usage="tracetui check [BASELINE] FILE --expect EXPR [--expect-file FILE] [--json]",
        description=_DESCRIPTION,
        epilog=_functions() + _EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a trace file, or - for standard input",
    )
    parser.add_argument(
        "--expect",
        metavar="EXPR",
        action="append",
        default=[],
        help="an expectation; may be given several times",
    )
    parser.add_argument(
        "--expect-file",
        metavar="FILE",
        action="append",
        default=[],
        help="a file with one expectation a line, # before comments",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--no-cache", action="store_true", help="read the files themselves, and keep nothing"
    )
    return parser


def _functions() -> str:
    from tracetui.diagnosis.measures import MEASURES

    lines = [f"  {each.usage(name):<26} {each.summary}" for name, each in MEASURES.items()]
    return "\n".join(
        [
            "functions (times in microseconds; () may be left out, baseline. may stand before):",
            *lines,
            "operators: == != < <= > >= ± + - * / not; units: % ns us ms s KiB MiB GiB",
            "",
            "",
        ]
    )


def _expectations(options: argparse.Namespace) -> "tuple[Expectation, ...]":
    from tracetui.diagnosis.expectations import expectation_lines, parsed_expectation

    found = [parsed_expectation(text) for text in options.expect]
    for path in options.expect_file:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{shown(path)}: {reason(error)}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{shown(path)}: is not UTF-8 text") from error
        found += expectation_lines(text, path)
    if not found:
        raise UsageError("nothing is expected: give --expect or --expect-file (see --help)")
    return tuple(found)


def _check(options: argparse.Namespace, paths: Sequence[str]) -> int:
    from tracetui.diagnosis.expectations import outcomes
    from tracetui.reports.check_report import json_outcomes, text_outcomes

    expectations = _expectations(options)
    traces = [
        read(path, name=name, use_cache=not options.no_cache)
        for name, path in zip(options.files, paths, strict=True)
    ]
    for trace in traces:
        warn(trace)
    *baselines, trace = traces
    baseline = baselines[0] if baselines else None
    found = outcomes(expectations, trace, baseline)
    if options.json:
        write(json_outcomes(found, trace, baseline))
    else:
        write(text_outcomes(found, trace).encode())
    return EXIT_FINE if all(each.is_met for each in found) else EXIT_FAILED


def run(arguments: Sequence[str]) -> int:
    """Check what the arguments expect; 1 if an expectation is not met."""
    options = options_parser().parse_args(arguments)
    if len(options.files) > 2:
        raise UsageError("check takes one file, or a baseline and a file")
    if options.files.count(STDIN) > 1:
        raise UsageError("-: standard input can be one file only")
    if STDIN not in options.files:
        return _check(options, options.files)
    with spooled_stdin() as spooled:
        return _check(options, [spooled if path == STDIN else path for path in options.files])
