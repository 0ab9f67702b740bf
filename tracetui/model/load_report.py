"""What a reader skipped, repaired and flagged, by reason."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class LoadReport:
    """Counts by reason; a reader fills it, everyone else reads it."""

    n_events: int = 0
    n_complete: int = 0
    """Phase-X events kept."""
    n_flows: int = 0
    """Flow events read, starts and finishes."""
    skipped: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    other_phases: Counter[str] = field(default_factory=Counter)
    """Events of phases that tracetui counts and does not show; no damage."""
    notes: list[str] = field(default_factory=list)
    """Warnings about the file as a whole, such as bytes after the compressed data."""
    is_truncated: bool = False
    is_damaged: bool = False
    is_stopped: bool = False
    """The user stopped the load."""

    is_part: bool = False
    """Only a part of the file was asked for; a note says which."""

    @property
    def has_warnings(self) -> bool:
        """Return whether anything was not taken as it stood."""
        return bool(
            self.skipped
            or self.repaired
            or self.flagged
            or self.is_truncated
            or self.is_damaged
            or self.is_part
            or self.notes
        )

    @property
    def status(self) -> str:
        """Return ``ok`` or ``ok-with-warnings``."""
        return "ok-with-warnings" if self.has_warnings else "ok"
