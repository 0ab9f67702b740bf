"""The open files, and the user's place in each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Final

import numpy as np

from tracetui.format import count, size
from tracetui.model.arrays import NO_ID
from tracetui.model.portion import Portion
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.browse import Place
from tracetui.readers.base import Progress
from tracetui.ui.state import Workspace

FIRST_VIEW: Final = "overview"
"""What a file is shown in that nobody has looked at yet."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A view, a slice by its event, and a window: what marks and the jump list hold.

    The event and not the slice, because slices are numbered anew while a file is being read.
    """

    view: str
    event_id: int = NO_ID
    window: tuple[int, int] | None = None


@dataclass(eq=False)
class Document:
    """One open file and the user's place in it."""

    path: str
    workspace: Workspace | None = None
    view: str = FIRST_VIEW
    progress: Progress | None = None
    is_loading: bool = True
    error: str = ""
    recorded: str = ""
    pattern: str = ""
    jumps: list[Spot] = field(default_factory=list)
    jump: int = 0
    marks: list[Spot] = field(default_factory=list)
    finding: int = -1
    """Which finding ``}`` went to last; -1 before the first."""
    place: Place | None = None
    """Where to come back to, until the user goes anywhere."""
    stop: Event = field(default_factory=Event)
    portion: Portion | None = None
    """What the user chose to read; ``None`` reads the whole file if it fits."""

    @property
    def name(self) -> str:
        """Return the file's name, safe to show."""
        return clean_text(Path(self.path).name)


def names_of(paths: Sequence[str]) -> list[str]:
    """Return the files' names, safe to show; files of one name are told apart by their folders."""
    parts = [Path(path).resolve().parts for path in paths]
    names = []
    for place, own in enumerate(parts):
        others = [each for other, each in enumerate(parts) if other != place and each != own]
        n = 1
        while n < len(own) and any(each[-n:] == own[-n:] for each in others):
            n += 1
        names.append(clean_text("/".join(own[-n:])))
    return names


def slice_of_event(trace: Trace, event_id: int) -> int:
    """Return the slice that an event of the file became, or ``NO_ID``."""
    if event_id < 0:
        return NO_ID
    found = np.flatnonzero(trace.slices.event_id == event_id)
    return int(found[0]) if len(found) else NO_ID


def event_of_slice(trace: Trace, slice_id: int) -> int:
    """Return the event of the file that a slice was, or ``NO_ID``."""
    if not 0 <= slice_id < len(trace.slices):
        return NO_ID
    return int(trace.slices.event_id[slice_id])


def progress_text(name: str, progress: Progress | None) -> str:
    """Return what a load does, how far it is and how long still."""
    if progress is None:
        return f"opening {name}   esc stops"
    parts = [f"reading {name}: {size(progress.n_bytes_read)}"]
    total = progress.n_bytes_total
    if total:
        parts[0] += f" of {size(total)}"
    parts.append(f"{count(progress.n_events)} events")
    read = progress.n_bytes_read
    if total and read and read < total:
        left_s = progress.elapsed_s * (total - read) / read
        parts.append(f"about {left_s:.0f} s left")
    return " · ".join(parts) + "   esc stops and keeps what was read"
