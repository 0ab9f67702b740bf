"""How steps are called in a trace, and what becomes of one that turned out to be none."""

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import Final

STEP_PREFIX: Final = "ProfilerStep#"
NO_STEP_PREFIX: Final = "Outside step#"
"""As long as the name of a step: it is written over it."""


def rename_dropped_steps(trace: Path, names: Iterable[str]) -> None:
    """Write over the names of what was no step, in place: the file, uncompressed, may be large."""
    with trace.open("r+b") as file, mmap.mmap(file.fileno(), 0) as text:
        for name in names:
            old = f'"{name}"'.encode()
            new = old.replace(STEP_PREFIX.encode(), NO_STEP_PREFIX.encode())
            place = text.find(old)
            while place >= 0:
                text[place : place + len(old)] = new
                place = text.find(old, place + len(new))
