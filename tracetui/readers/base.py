"""What a reader is and how far it has come."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load has come."""

    n_bytes_read: int
    n_bytes_total: int | None
    n_events: int
    elapsed_s: float
    is_complete: bool
