"""The loader's targets, each with the ratio that was reached and the one that is wanted.

Usage: python -m tests.benchmarks [MEGABYTES | FILE …]     (10 and 100 when none is given)

Traces of so many megabytes are made, or the files given are read. What only big files tell is
measured from 500 MB on (#6, #7) and 1,000 MB (#5); 4,000 MB take a memory of 4 GB and some minutes.
#10 is in ``tests.benchmarks.screen``.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.make_trace import write_trace
from tests.benchmarks.measure import Cost, PeakWatch, ProgramFailedError, cost
from tests.benchmarks.peers import peer_lines
from tests.benchmarks.programs import CACHE, EXACT, SHARES, SUMMARY, TIMELINE, YARDSTICK
from tests.ui.terminal import Terminal
from tracetui.units import BYTES_PER_GIB, BYTES_PER_MB, BYTES_PER_MIB

_SMALL_MB: Final = 50
_MEDIUM_MB: Final = 400
_BIG_MB: Final = 900
_HUGE_MB: Final = 3_000
"""Sizes that are a little less than round ones count as those."""
_APP_MOST_BYTES: Final = 150 * BYTES_PER_MIB


@dataclass(frozen=True, slots=True)
class Subject:
    """One file, and what has been measured of it."""

    path: Path
    n_bytes: int
    one: Cost
    """The summary, read by one process."""
    two: Cost | None
    """The same by two; ``None`` where there is no second core."""
    yardstick: Cost | None
    """``json.load`` and a loop; ``None`` where the file is too big for it."""

    @property
    def megabytes(self) -> float:
        """Return the size as it is spoken of."""
        return self.n_bytes / BYTES_PER_MB


def _subject(path: Path) -> Subject:
    n_bytes = path.stat().st_size
    has_second_core = len(os.sched_getaffinity(0)) > 1
    return Subject(
        path,
        n_bytes,
        cost(SUMMARY, path, "1"),
        cost(SUMMARY, path, "2") if has_second_core else None,
        cost(YARDSTICK, path) if n_bytes < _HUGE_MB * BYTES_PER_MB else None,
    )


def _peers(subject: Subject) -> Iterator[str]:
    if _SMALL_MB <= subject.megabytes < _MEDIUM_MB:
        yield from peer_lines(subject.path, subject.one, subject.two)


def _yardstick(subject: Subject) -> Iterator[str]:
    yardstick, two = subject.yardstick, subject.two
    if yardstick is None:
        return
    is_big, is_small = subject.megabytes >= _BIG_MB, subject.megabytes < _SMALL_MB
    most = 0.36 if is_big else 1.0 if is_small else 0.45
    yield (
        f"#{5 if is_big else 4} summary against json.load ({yardstick.cpu_s:.1f} s):"
        f" processor {subject.one.cpu_s / yardstick.cpu_s:.2f}x (at most {most:g})"
    )
    if two is not None and not is_small:
        # json.load took 2.0 s of 100 MB and 23 s of 1 GB where 1.0 s and 5 s were wanted.
        most_wall = 5 / 23 if is_big else 0.33
        yield (
            f"#{11 if is_big else 4} by two processes: wall {two.wall_s:.1f} s,"
            f" {two.wall_s / yardstick.wall_s:.2f}x (at most {most_wall:.2f})"
        )
        if not is_big:
            yield (
                f"#11 complete: wall {two.wall_s:.1f} s, {two.wall_s / yardstick.wall_s:.2f}x"
                " (at most 0.50)"
            )


def _memory(subject: Subject) -> Iterator[str]:
    if subject.megabytes >= _MEDIUM_MB:
        peak = cost(SUMMARY, subject.path, "2", watches_memory=True).peak_bytes or 0
        most = 0.4 * subject.n_bytes + 80 * BYTES_PER_MIB
        if subject.megabytes >= _HUGE_MB:
            most = 2 * BYTES_PER_GIB
        yield _mebibytes("#6 memory of all processes", peak, most)
    elif subject.megabytes >= _SMALL_MB:
        with (
            tempfile.TemporaryDirectory() as folder,
            Terminal(
                [str(subject.path)], columns=120, lines=40, XDG_STATE_HOME=folder,
                XDG_CACHE_HOME=folder,
            ) as terminal,
        ):  # fmt: skip
            watch = PeakWatch(terminal.pid)
            terminal.wait_for("busy", 120)
            # What is computed in the background comes after the first picture.
            while terminal.read(2):
                pass
            peak = watch.peak()
        yield _mebibytes("#6 memory with the app", peak, _APP_MOST_BYTES)


def _mebibytes(start: str, peak: float, most: float) -> str:
    return (
        f"{start}: {peak / BYTES_PER_MIB:.0f} MiB, {peak / most:.2f} of what is allowed"
        f" ({most / BYTES_PER_MIB:.0f} MiB)"
    )


def _second_process(subject: Subject) -> Iterator[str]:
    if subject.two is not None and subject.megabytes >= _MEDIUM_MB:
        ratio = subject.one.wall_s / subject.two.wall_s
        yield f"#7 second process: {ratio:.2f}x as fast (at least 1.5, with a second core free)"


def _after_parsing(subject: Subject) -> Iterator[str]:
    if subject.megabytes < _HUGE_MB:
        parse_s, more_s = map(float, cost(SHARES, subject.path, "1").output.split())
        yield f"#8 sorting, nesting, links, steps: {more_s / parse_s:.0%} of the parse (at most 30%)"


def _cache(subject: Subject) -> Iterator[str]:
    if subject.megabytes >= _HUGE_MB:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            output = cost(CACHE, subject.path).output
        finally:
            del os.environ["XDG_CACHE_HOME"]
    read_s, store_s, reopen_s, n_bytes = map(float, output.split())
    yield (
        f"#9 cache: written in {store_s / read_s:.1%} of the parse (at most 5%),"
        f" {n_bytes / subject.n_bytes:.1%} of the JSON (at most 20%),"
        f" reopened {read_s / reopen_s:.0f}x faster (at least 20x at 1 GB)"
    )


def _timeline(subject: Subject) -> Iterator[str]:
    if subject.megabytes < _HUGE_MB:
        cells_ms, record_ms = map(float, cost(TIMELINE, subject.path).output.split())
        yield (
            f"#12 a zoom of 40 x 200 cells: {cells_ms:.1f} ms, {cells_ms / 10:.2f} of what is allowed;"
            f" raw record of an event: {record_ms:.1f} ms, {record_ms / 10:.2f} (10 ms each)"
        )


def _exactness(subject: Subject) -> Iterator[str]:
    if subject.megabytes < _MEDIUM_MB:
        n_lost, n_times, n_sums, n_events, n_names = map(
            int, cost(EXACT, subject.path).output.split()
        )
        yield (
            f"#13 against a Decimal reference: {n_lost} of {n_events:,} events lost, {n_times} times"
            f" and {n_sums} of {n_names:,} sums differ (none may)"
        )


_CHECKS: Final[tuple[Callable[[Subject], Iterator[str]], ...]] = (
    _peers, _yardstick, _memory, _second_process, _after_parsing, _cache, _timeline, _exactness,
)  # fmt: skip


def report(path: Path) -> None:
    """Print a line for each target that a file of this size can tell something of."""
    subject = _subject(path)
    print(f"{subject.megabytes:,.0f} MB, read in {subject.one.wall_s:.1f} s by one process")
    for check in _CHECKS:
        for line in _lines(check, subject):
            print(f"  {line}", flush=True)


def _lines(check: Callable[[Subject], Iterator[str]], subject: Subject) -> Iterator[str]:
    try:
        yield from check(subject)
    except ProgramFailedError as error:
        yield f"{check.__name__.strip('_')} failed: {error}"


def main() -> None:
    """Make each file that is not there, measure, print."""
    for word in sys.argv[1:] or ["10", "100"]:
        if Path(word).is_file():
            report(Path(word))
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{word}.json"
            start = time.perf_counter()
            n_events = write_trace(path, int(word) * BYTES_PER_MB)
            print(f"{n_events:,} events written in {time.perf_counter() - start:.1f} s")
            report(path)


if __name__ == "__main__":
    main()
