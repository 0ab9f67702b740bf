"""The subcommands, without importing any: help lists them, and one is loaded when it is called."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand; its module has ``run(arguments) -> int``."""

    module: str
    arguments: str
    """What its help shows after its name."""
    summary: str


COMMANDS: Final[dict[str, Command]] = {
    "report": Command(
        "tracetui.cli.report", "FILE", "print what a trace holds, as Markdown, JSON or CSV"
    ),
    "compare": Command(
        "tracetui.cli.compare",
        "BASELINE CANDIDATE …",
        "say why one trace is slower than another; gates for CI",
    ),
    "check": Command(
        "tracetui.cli.check",
        "FILE --expect E",
        "hold a trace against expectations; exit 1 if one is not met",
    ),
    "capture": Command(
        "tracetui.cli.capture",
        "WORKLOAD",
        "measure and trace a workload in all its variants (capture --help lists them)",
    ),
    "run": Command(
        "tracetui.cli.run", "SCRIPT.py", "run a script under the profiler and keep its trace"
    ),
}
"""In the order in which help lists them."""
