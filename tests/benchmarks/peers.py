"""What other programs need for the same summary; they live in an environment of their own."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.measure import Cost, ProgramFailedError, command_cost, cost
from tests.benchmarks.programs import HOLISTIC, PERFETTO_QUERY, TENSORBOARD, TRACELENS

PYTHON_VARIABLE: Final = "TRACETUI_PEERS"
"""Names a Python that can import the peers."""
PERFETTO_VARIABLE: Final = "TRACETUI_PERFETTO"
"""Names a command that takes ``-q QUERIES TRACE``, as Perfetto's ``trace_processor_shell`` does."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program to be compared with."""

    target: int
    """The number in the table of targets."""
    name: str
    module: str
    program: str
    how_to_get_it: str
    least_ratio: float
    """How many times faster one process must be."""
    least_ratio_of_two: float


PEERS: Final = (
    Peer(
        1, "HolisticTraceAnalysis", "hta", HOLISTIC, "pip install HolisticTraceAnalysis", 10, 15
    ),
    Peer(
        2, "torch-tb-profiler", "torch_tb_profiler", TENSORBOARD,
        "pip install torch-tb-profiler", 9, 14,
    ),
    Peer(
        2, "TraceLens", "TraceLens", TRACELENS,
        "pip install git+https://github.com/AMD-AGI/TraceLens", 9, 14,
    ),
)  # fmt: skip


def peer_lines(path: Path, one: Cost, two: Cost | None) -> Iterator[str]:
    """Yield a line for each peer: the ratio, or what is missing.

    Args:
        path: The trace.
        one: What the same costs here, read by one process.
        two: The same, read by two; ``None`` where there is no second core.
    """
    python = os.environ.get(PYTHON_VARIABLE, "")
    for peer in PEERS:
        start = f"#{peer.target} summary against {peer.name}"
        if not python or not _has(python, peer.module):
            yield (
                f"{start}: not there; {peer.how_to_get_it} into a virtual environment of its own,"
                f" and {PYTHON_VARIABLE}=its python"
            )
            continue
        try:
            yield _ratios(start, cost(peer.program, path, python=python), one, two, peer)
        except ProgramFailedError as error:
            yield f"{start}: it failed: {error}"
    yield _perfetto_line(path, one, two)


def _has(python: str, module: str) -> bool:
    try:
        cost(f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))",
             python=python)  # fmt: skip
    except ProgramFailedError:
        return False
    return True


def _ratios(start: str, theirs: Cost, one: Cost, two: Cost | None, peer: Peer) -> str:
    ratio = theirs.wall_s / one.wall_s
    text = f"{start}: {theirs.wall_s:.1f} s, {ratio:.1f}x (at least {peer.least_ratio:g})"
    if two is not None:
        text += (
            f", two processes {theirs.wall_s / two.wall_s:.1f}x"
            f" (at least {peer.least_ratio_of_two:g})"
        )
    return text


def _perfetto_line(path: Path, one: Cost, two: Cost | None) -> str:
    start = "#3 summary against Perfetto"
    command = os.environ.get(PERFETTO_VARIABLE, "")
    if not command:
        return (
            f"{start}: not there; it is in no package registry: take trace_processor_shell from"
            f" github.com/google/perfetto/releases, and {PERFETTO_VARIABLE}=its path"
        )
    with tempfile.TemporaryDirectory() as folder:
        query = Path(folder) / "summary.sql"
        query.write_text(PERFETTO_QUERY)
        try:
            theirs = command_cost([*shlex.split(command), "-q", str(query), str(path)])
        except ProgramFailedError as error:
            return f"{start}: it failed: {error}"
    return _ratios(start, theirs, one, two, Peer(3, "Perfetto", "", "", "", 2, 3.5))
