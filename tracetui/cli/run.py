"""``tracetui run``: the user's own script or module under the profiler, without changing it."""

import argparse
import math
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tracetui.capture.run_client import RunResult, RunSpec, is_in_foreground, run_script
from tracetui.capture.runner_window import N_TIMED, Window
from tracetui.cli.parser import Parser, shown
from tracetui.errors import CaptureError, UsageError
from tracetui.format import duration
from tracetui.units import NS_PER_S

_FOLDER: Final = "traces"
_TERMINAL: Final = "/dev/tty"
_EPILOG: Final = """\
examples:
  tracetui run train.py --epochs 1                    all of it
  tracetui run --steps 5 train.py                     five steps; those before are timed
  tracetui run --steps 5 --start-after 100 -m my.train
  tracetui run --on-key serve.py                      Enter starts, Enter stops
  torchrun --nproc-per-node 2 -m tracetui run --steps 5 train.py

A step ends with the step of the first optimizer, or with tracetui.step() in the script; with
--step-module it begins with the forward of a module.
"""


def _whole(text: str) -> int:
    """Return a number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{shown(text)!r} is no whole number from 0")
    return int(text)


def _at_least_one(text: str) -> int:
    """Return a number from 1."""
    number = _whole(text)
    if not number:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _seconds_ns(text: str) -> int:
    """Return a duration given in seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{shown(text)!r} is no number of seconds above 0")
    return round(seconds * NS_PER_S)


def options_parser() -> Parser:
    """Return the parser of this subcommand's arguments."""
    parser = Parser(
        prog="tracetui run",
        usage="tracetui run [options] SCRIPT.py|-m MODULE [ARGS…]",
        description="Run a script under the profiler without changing it, and keep its trace."
        " What it prints and its exit status are its own.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_what(parser)
    _add_window(parser)
    _add_contents(parser)
    return parser


def _add_what(parser: Parser) -> None:
    parser.add_argument("-m", dest="is_module", action="store_true", help="run a module")
    parser.add_argument("script", metavar="SCRIPT.py|MODULE", help="what to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")
    parser.add_argument(
        "--python", metavar="PATH", help="the Python to run in (else an active environment's)"
    )
    parser.add_argument(
        "--out", default=_FOLDER, metavar="DIR", help=f"the trace's folder ({_FOLDER}/)"
    )
    parser.add_argument("--name", metavar="NAME", help="the trace's name (the script's)")


def _add_window(parser: Parser) -> None:
    group = parser.add_argument_group("which part of the run")
    group.add_argument("--steps", type=_at_least_one, metavar="N", help="record N steps")
    group.add_argument(
        "--start-after", type=_whole, metavar="N", help="let N steps pass before the recording"
    )
    group.add_argument(
        "--duration", type=_seconds_ns, metavar="S", help="record S seconds, to the end of a step"
    )
    group.add_argument(
        "--on-signal", action="store_true", help="start at SIGUSR2, and stop at the next"
    )
    group.add_argument("--on-key", action="store_true", help="start at Enter, and stop at the next")
    group.add_argument(
        "--timed",
        type=_whole,
        default=N_TIMED,
        metavar="N",
        help=f"time N of the steps before it, without the profiler ({N_TIMED})",
    )
    group.add_argument(
        "--step-module", metavar="CLASS", help="a step begins with this module's forward"
    )
    group.add_argument(
        "--step-explicit", action="store_true", help="only tracetui.step() bounds a step"
    )


def _add_contents(parser: Parser) -> None:
    group = parser.add_argument_group("what the trace holds")
    group.add_argument(
        "--shapes",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the shapes of operators' inputs (on)",
    )
    group.add_argument("--stacks", action="store_true", help="Python's frames: large and slow")
    group.add_argument("--memory", action="store_true", help="allocations")
    group.add_argument("--modules", action="store_true", help="a mark for every module's forward")
    group.add_argument(
        "--device", choices=("auto", "cpu"), default="auto", help="cpu records the host alone"
    )


def run_spec(options: argparse.Namespace) -> RunSpec:
    """Return what the arguments ask for.

    Raises:
        UsageError: Two of them exclude each other, or the script is not there.
    """
    if not options.is_module and not Path(options.script).is_file():
        what = "is a directory" if Path(options.script).is_dir() else "no such file"
        raise UsageError(f"{shown(options.script)}: {what}")
    on_signal = options.on_signal or options.on_key
    if on_signal and options.start_after is not None:
        raise UsageError("--start-after: a signal or key already says when to start")
    if options.step_module and options.step_explicit:
        raise UsageError("--step-module and --step-explicit exclude each other")
    return RunSpec(
        name=options.script,
        arguments=tuple(options.arguments),
        folder=Path(options.out),
        stem=options.name or _stem(options.script, is_module=options.is_module),
        is_module=options.is_module,
        window=Window(
            start_after=options.start_after,
            n_steps=options.steps,
            duration_ns=options.duration,
            on_signal=on_signal,
            n_timed=options.timed,
        ),
        options={
            "record_shapes": options.shapes,
            "profile_memory": options.memory,
            "with_stack": options.stacks,
            "device": options.device,
        },
        step_module=options.step_module,
        follows_optimizer=not options.step_explicit,
        marks_modules=options.modules,
        python=options.python,
        has_input=not options.on_key,
    )


def _stem(script: str, *, is_module: bool) -> str:
    name = script if is_module else Path(script).stem
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)


def _listen_to_keys(pid: int) -> None:
    """Send the child a signal for each line typed on the terminal."""

    def listen() -> None:
        with Path(_TERMINAL).open() as terminal:
            while terminal.readline():
                os.kill(pid, signal.SIGUSR2)

    print("tracetui: Enter starts the recording, and stops it", file=sys.stderr)
    threading.Thread(target=listen, daemon=True).start()


def _lines(result: RunResult) -> Sequence[str]:
    """Return what is said at the end, the trace last."""
    lines = list(result.notes)
    if result.trace is not None:
        trace = _near(result.trace)
        lines.append(f"{trace}: {_steps(result)}; open it: {_opening(trace)}")
    return lines


def _opening(trace: str) -> str:
    """Return what opens a trace, as it is typed into a shell."""
    return f"tracetui {shlex.quote(trace)}"


def _steps(result: RunResult) -> str:
    """Return how many steps the trace holds, and how long one takes without the profiler."""
    if not result.n_steps and not result.timing:
        return "no step was marked"
    number = "1 step" if result.n_steps == 1 else f"{result.n_steps} steps"
    return f"{number}, {_timing(result)}"


def _near(path: Path) -> str:
    """Return a path as one types it from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _timing(result: RunResult) -> str:
    timing = result.timing
    if not timing:
        return "none timed without the profiler"
    n_runs = len(timing["runs_ns"])
    return (
        f"median {duration(timing['median_ns'])} without the profiler"
        f" ({n_runs} timed, p10 {duration(timing['p10_ns'])}, p90 {duration(timing['p90_ns'])})"
    )


def run(arguments: Sequence[str]) -> int:
    """Run the script and return its exit status."""
    options = options_parser().parse_args(arguments)
    spec = run_spec(options)
    if options.on_key and not is_in_foreground():
        raise UsageError("--on-key: there is no terminal to type on; use --on-signal")
    try:
        result = run_script(spec, started=_listen_to_keys if options.on_key else None)
    except CaptureError as error:
        raise UsageError(str(error)) from error
    for line in _lines(result):
        print(f"tracetui: {shown(line)}", file=sys.stderr)
    return result.status
