"""What reading reports back, and how it is stopped."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load has come."""

    n_bytes_read: int
    """Bytes of the file itself, compressed or not."""
    n_bytes_total: int | None
    """The file's size, or ``None`` where it cannot be known."""
    n_events: int
    elapsed_s: float
    is_complete: bool


Publish: TypeAlias = Callable[[Trace | None, Progress], None]
"""Takes how far a load is and, now and then, a new frozen trace of all that has been read so far."""
