"""``tracetui capture``: a workload in all its variants, measured, checked, traced, and opened."""

import argparse
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tracetui.capture import progress
from tracetui.capture.catalog import CATALOG, is_custom, workload_entry
from tracetui.capture.client import CaptureProcess, Event, checked, machine_report
from tracetui.capture.spec import MIN_STEPS, CaptureSpec, Point, parsed_settings
from tracetui.cli.parser import EXIT_FINE, EXIT_UNUSABLE, Parser, shown
from tracetui.errors import UsageError
from tracetui.presentation.capture_progress import (
    finished_line,
    note_line,
    plan_lines,
    stage_line,
    unavailable_line,
)

_EXIT_INTERRUPTED: Final = 130
_ALL: Final = "all"


def _epilog() -> str:
    """Return the catalog: each workload with its parameters and variants."""
    lines = ["workloads:"]
    for entry in CATALOG:
        parameters = ", ".join(
            f"{each.name}={each.default}"
            + (f" (CPU {each.cpu_default})" if each.cpu_default != each.default else "")
            for each in entry.parameters
        )
        lines += [
            f"  {entry.name:<12} {entry.summary}",
            f"  {'':<12} parameters: {parameters}",
            f"  {'':<12} variants: {', '.join(entry.variant_names)}",
        ]
    lines += [
        "  FILE.py:FUNC your own: FUNC(parameters) returns a mapping of variants' names to functions",
        f"  {'':<12} that run one step; one named 'reference' is compared with and not recorded",
        "",
        "examples:",
        "  tracetui capture mlp",
        "  tracetui capture attention --variants naive,sdpa --set seq=512,2048 --set dtype=fp32,bf16",
    ]
    return "\n".join(lines)


def options_parser() -> Parser:
    """Return the parser of ``tracetui capture``."""
    parser = Parser(
        prog="tracetui capture",
        description="Run a workload in its variants, compare their results, time them without the"
        " profiler in turns, and write one trace for each.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("workload", metavar="WORKLOAD", help="a name below, or FILE.py:FUNCTION")
    parser.add_argument("--variants", metavar="A,B", default=_ALL, help="which, or all (default)")
    parser.add_argument(
        "--set", metavar="NAME=V", action="append", default=[], dest="settings",
        help="a parameter; several values, comma between, run at each",
    )  # fmt: skip
    parser.add_argument(
        "--device", default="auto", help="auto (default), cpu, cuda, cuda:1, xpu, …"
    )
    parser.add_argument(
        "--repeats", type=int, default=1, metavar="N", help="traces of each variant"
    )
    parser.add_argument("--steps", type=int, default=MIN_STEPS, metavar="N", help="steps a trace")
    parser.add_argument("--runs", type=int, metavar="N", help="runs timed without the profiler")
    parser.add_argument("--seed", type=int, default=0, help="of inputs and weights (default 0)")
    parser.add_argument("--threads", type=int, metavar="N", help="torch's threads on the host")
    parser.add_argument(
        "--backward", action=argparse.BooleanOptionalAction, default=None,
        help="run the backward too, or not (block: yes, others: no)",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", default="traces", help="where to (default traces/)")
    parser.add_argument("--python", metavar="PATH", help="the Python to run in, or its folder")
    parser.add_argument("--oracle", action="store_true", help="write torch's own table beside each")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and leave")
    parser.add_argument("--json", action="store_true", help="one JSON line for each event")
    parser.add_argument("--no-open", action="store_true", help="do not open the traces afterwards")
    return parser


def _spec(options: argparse.Namespace) -> CaptureSpec:
    for name in ("runs", "threads"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} {value}: at least 1")
    names = [name.strip() for name in options.variants.split(",") if name.strip()]
    if not names:
        raise UsageError("--variants: names with commas between, or all")
    spec = CaptureSpec(
        workload=options.workload,
        out=options.out,
        variants=() if _ALL in names else tuple(dict.fromkeys(names)),
        settings=tuple(parsed_settings(options.settings).items()),
        device=options.device,
        repeats=options.repeats,
        backward=options.backward,
        steps=options.steps,
        seed=options.seed,
        has_oracle=options.oracle,
        threads=options.threads,
        timed_runs=options.runs,
    )
    return checked(spec)


def _plan(spec: CaptureSpec, python: str | None) -> Mapping[str, Any]:
    """Return what would run; what the catalog cannot know is found out by trying."""
    report = machine_report(python)
    device = report.device if spec.device == "auto" else spec.device
    if is_custom(spec.workload):
        names: Sequence[str] = spec.variants or (_ALL,)
        obstacles: Mapping[str, str | None] = dict.fromkeys(names)
        points: Sequence[Mapping[str, Any]] = spec.points
    else:
        entry = workload_entry(spec.workload)
        names = spec.variants or entry.variant_names
        obstacles = {name: report.obstacle(entry.name, name) for name in names}
        is_cpu = device == "cpu"
        points = [entry.complete(point, is_cpu=is_cpu) for point in spec.points]
    runnable = [name for name in names if obstacles[name] is None]
    return {
        "event": "plan",
        "workload": spec.workload,
        "device": device,
        "python": report.python,
        "torch": report.versions.get("torch"),
        "out": spec.out,
        "points": points,
        "traces": [
            {
                "variant": variant,
                "point": dict(point),
                "repeat": repeat,
                "file": _file(spec, point, variant, repeat),
            }
            for point in spec.points
            for repeat in range(spec.repeats)
            for variant in runnable
        ],
        "unavailable": [{"variant": name, "reason": why} for name, why in obstacles.items() if why],
    }


def _file(spec: CaptureSpec, point: Point, variant: str, repeat: int) -> str:
    """Return a trace's name; what a file of the user's returns is only known once it has run."""
    if variant == _ALL:
        return f"{spec.name}_….json.gz"
    return f"{spec.stem(point, variant, repeat)}.json.gz"


@contextlib.contextmanager
def _stopped_by_key(process: CaptureProcess) -> Iterator[None]:
    """Let ctrl+c stop the capture instead of us: once keeps what is complete, twice kills."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        process.stop()

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, stop) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


class _Printer:
    """Prints events for people: results to stdout, what happens now to a terminal's stderr."""

    def __init__(self) -> None:
        self._is_live = os.isatty(2)

    def _clear(self) -> None:
        if self._is_live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def tell(self, event: Event) -> None:
        """Print one event."""
        kind = event["event"]
        if kind == progress.STAGE:
            if self._is_live:
                self._clear()
                width = _columns()
                print(stage_line(event)[: width - 1], end="", file=sys.stderr, flush=True)
            return
        self._clear()
        if kind == progress.FINISHED:
            print(finished_line(event), flush=True)
        elif kind == progress.UNAVAILABLE:
            print(unavailable_line(event), flush=True)
        elif kind == progress.NOTE:
            print(f"tracetui: {note_line(event)}", file=sys.stderr)

    def close(self) -> None:
        """Leave no half line behind."""
        self._clear()


def _columns() -> int:
    with contextlib.suppress(OSError):
        return os.get_terminal_size(2).columns
    return 80


def _told(event: Event, *, as_json: bool, printer: _Printer) -> None:
    if as_json:
        print(json.dumps(dict(event)), flush=True)
    else:
        printer.tell(event)


def _captured(options: argparse.Namespace, spec: CaptureSpec) -> tuple[int, list[str]]:
    """Run the capture; return the exit status and the files that are complete."""
    process = CaptureProcess(spec, options.python)
    printer = _Printer()
    files: list[str] = []
    last: Event = {}
    with _stopped_by_key(process):
        for event in process.events():
            if event["event"] == progress.FINISHED:
                files.append(str(event["path"]))
            last = event
            _told(event, as_json=options.json, printer=printer)
    printer.close()
    kept = f"{len(files)} traces are complete" if len(files) != 1 else "1 trace is complete"
    if last["event"] == progress.FAILED:
        is_interrupted = last["reason"] == "interrupted"
        ending = f"; {kept}" if files else "; no trace is complete" if is_interrupted else ""
        print(f"tracetui: {shown(str(last['reason']))}{ending}", file=sys.stderr)
        return _EXIT_INTERRUPTED if is_interrupted else EXIT_UNUSABLE, files
    if not files:
        print("tracetui: no variant could run; see the reasons above", file=sys.stderr)
        return EXIT_UNUSABLE, files
    if not options.json:
        print(f"{kept}, with {Path(spec.out) / 'session.json'}")
    return EXIT_FINE, files


def _is_on_terminal() -> bool:
    return all(os.isatty(descriptor) for descriptor in (0, 1, 2))


def run(arguments: Sequence[str]) -> int:
    """Capture a workload and return the exit status.

    Raises:
        TraceTuiError: The request cannot be met.
    """
    options = options_parser().parse_args(arguments)
    spec = _spec(options)
    if options.dry_run:
        plan = _plan(spec, options.python)
        print(json.dumps(plan) if options.json else "\n".join(plan_lines(plan)))
        return EXIT_FINE
    status, files = _captured(options, spec)
    wants_screen = not (options.no_open or options.json) and _is_on_terminal()
    if files and status == EXIT_FINE and wants_screen:
        from tracetui.cli import view

        return view.run(files, first_view="scoreboard")
    return status
