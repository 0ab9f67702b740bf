"""What a program costs in a fresh Python: seconds, and the memory of all its processes."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tracetui.units import BYTES_PER_KIB

_ROOT: Final = Path(__file__).resolve().parents[2]
_SAMPLE_S: Final = 0.02
_PSS: Final = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    wall_s: float
    cpu_s: float
    """Of the process and of those that it waited for."""
    peak_bytes: int | None
    """The most that all processes had at one time, shared pages divided among those that share
    them; ``None`` where nobody looked."""
    output: str


class ProgramFailedError(Exception):
    """A measured program ended with an error; the message is its last line."""


def cost(
    program: str,
    *arguments: str | Path,
    python: str | Path = sys.executable,
    watches_memory: bool = False,
) -> Cost:
    """Return what a Python program costs, the start of Python included.

    Looking at the memory costs time, so that a run gives either exact seconds or the peak.

    Raises:
        ProgramFailedError: If it ended with an error.
    """
    return command_cost(
        [str(python), "-c", program, *map(str, arguments)], watches_memory=watches_memory
    )


def command_cost(command: Sequence[str], *, watches_memory: bool = False) -> Cost:
    """Return what any command costs.

    Raises:
        ProgramFailedError: If it ended with an error, or cannot be started.
    """
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    # Once installed the program has its compiled files, as the library that it is held to has.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise ProgramFailedError(str(error)) from error
    watch = PeakWatch(process.pid) if watches_memory else None
    texts: list[bytes] = [b"", b""]
    readers = [
        threading.Thread(target=_read_into, args=(texts, place, pipe))
        for place, pipe in enumerate((process.stdout, process.stderr))
    ]
    for reader in readers:
        reader.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    for reader in readers:
        reader.join()
    peak = None if watch is None else watch.peak()
    if process.returncode:
        lines = texts[1].decode("utf-8", "replace").strip().splitlines() or ["no word why"]
        raise ProgramFailedError(lines[-1])
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, peak, texts[0].decode("utf-8", "replace"))


def _read_into(texts: list[bytes], place: int, pipe: object) -> None:
    with pipe as open_pipe:  # type: ignore[attr-defined] # a pipe of Popen
        texts[place] = open_pipe.read()


class PeakWatch:
    """Looks at a process and all that come of it, until asked what was the most."""

    def __init__(self, pid: int) -> None:
        """Begin to look."""
        self._pid = pid
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._is_over.wait(_SAMPLE_S):
            self._peak = max(self._peak, sum(map(shared_out_bytes, family(self._pid))))

    def peak(self) -> int:
        """End looking and return the most bytes that were seen at one time."""
        self._is_over.set()
        self._thread.join()
        return self._peak


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that it started, directly or not."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name stands in brackets and may hold anything.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    members = [pid]
    for member in members:
        members += children.get(member, [])
        yield member


def shared_out_bytes(pid: int) -> int:
    """Return a process's proportional set size; 0 where it has gone."""
    try:
        match = _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_bytes())
    except OSError:
        return 0
    return 0 if match is None else int(match.group(1)) * BYTES_PER_KIB
