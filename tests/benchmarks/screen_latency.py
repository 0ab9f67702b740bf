"""How long a key waits for its picture while a file loads (at most 50 ms).

Usage: python -m tests.benchmarks.screen_latency [MEGABYTES [RUNS]]     (100 and 5 when none is given)

A key counts as answered when the picture that it asked for has been read from the terminal, not when
anything has. What the program waited for a core in that time is told apart where the system counts it:
on a machine that does other work too, that is the other work's doing.
"""

import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

from tests.benchmarks.make_trace import write_trace
from tests.benchmarks.raw_terminal import RawTerminal
from tracetui.units import BYTES_PER_MB

_MS_PER_S: Final = 1000
_RUNS: Final = 5
_PATIENCE_S: Final = 5.0
_PAUSE_S: Final = 0.03
_LEAST_S: Final = 1.0
"""Keys are pressed at least for so long, however fast the load is."""


@dataclass(frozen=True, slots=True)
class Press:
    """A key, and what its picture holds that no picture before it does."""

    key: str
    name: str
    picture: re.Pattern[bytes]


def _tab(digit: str, title: str) -> Press:
    underlined = rb"\x1b\[(?:[0-9;]*;)?4(?:;[0-9;]*)?m"
    shown = re.compile(underlined + f"{digit} {title[:2]}".encode())
    return Press(digit, f"{digit} ({title})", shown)


_PRESSES: Final = (
    Press("?", "?", re.compile(rb"In Overview")),
    Press("\x1b", "esc", re.compile(rb"\x1b\[1;1H[^\r]* tracetui")),
    _tab("2", "Timeline"),
    _tab("3", "Operators"),
    _tab("4", "Kernels"),
    _tab("1", "Overview"),
)


@dataclass(frozen=True, slots=True)
class Wait:
    """One key's wait."""

    name: str
    at_s: float
    wall_ms: float
    cpu_ms: float
    """How long the thread that draws has run meanwhile."""
    queued_ms: float
    """How long it was ready to run and had no core."""


def _used_ms(pid: int) -> tuple[float, float]:
    """Return how long the first thread has run and has waited for a core; zeros where unknown."""
    try:
        ran, queued, _ = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0, 0.0
    return int(ran) / 1e6, int(queued) / 1e6


def _waits(terminal: RawTerminal) -> Iterator[Wait]:
    """Press key after key until the load has ended."""
    start = time.perf_counter()
    for press in cycle(_PRESSES):
        seen, ran, queued = b"", *_used_ms(terminal.pid)
        sent = time.perf_counter()
        terminal.send(press.key)
        while not press.picture.search(seen):
            seen += terminal.read_some(_PATIENCE_S)
            if time.perf_counter() - sent > _PATIENCE_S:
                raise TimeoutError(f"no answer to {press.name}: {seen[-300:]!r}")
        wall_ms = (time.perf_counter() - sent) * _MS_PER_S
        ran_now, queued_now = _used_ms(terminal.pid)
        yield Wait(press.name, sent - start, wall_ms, ran_now - ran, queued_now - queued)
        is_loading = b"reading" in seen
        while data := terminal.read_some(_PAUSE_S):
            is_loading |= b"reading" in data
        if press is _PRESSES[-1] and not is_loading and time.perf_counter() - start > _LEAST_S:
            return


def latency_while_loading(path: Path, runs: int = 1) -> None:
    """Print how long keys wait for their pictures while a file is read."""
    for _ in range(runs):
        with (
            tempfile.TemporaryDirectory() as folder,
            RawTerminal(
                [str(path)], columns=120, lines=40, XDG_STATE_HOME=folder, XDG_CACHE_HOME=folder
            ) as terminal,
        ):
            terminal.first_bytes(b"reading")
            waits = list(_waits(terminal))
        walls = sorted(wait.wall_ms for wait in waits)
        worst = max(waits, key=lambda wait: wait.wall_ms)
        own = max(wait.wall_ms - wait.queued_ms for wait in waits)
        print(
            f"  keys while loading: {len(waits)}, median {statistics.median(walls):.0f} ms,"
            f" 95 % {walls[int(len(walls) * 0.95)]:.0f} ms, most {walls[-1]:.0f} ms"
            f" ({worst.name} at {worst.at_s:.1f} s: ran {worst.cpu_ms:.0f},"
            f" without a core {worst.queued_ms:.0f}); most with a core {own:.0f} ms"
        )


def main() -> None:
    """Make a trace, measure, print."""
    # As it is installed: with its compiled files.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.json"
        write_trace(path, megabytes * BYTES_PER_MB)
        latency_while_loading(path, int(sys.argv[2]) if len(sys.argv) > 2 else _RUNS)


if __name__ == "__main__":
    main()
