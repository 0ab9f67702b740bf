"""What a rule says: what is wrong, which slices show it, what it costs and what to try."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol

import numpy as np

from tracetui.diagnosis.needs import Need
from tracetui.model.arrays import Float64s, Int64s
from tracetui.model.intervals import Intervals, covered_before
from tracetui.model.trace import Trace

HIGH_RATIO: Final = 0.1
"""A finding about this share of the time, or more, is of high severity."""
MEDIUM_RATIO: Final = 0.03


class Severity(IntEnum):
    """How much a finding matters; the order is that of the screen."""

    HIGH = 0
    MEDIUM = 1
    LOW = 2


def severity_of(ratio: float) -> Severity:
    """Return the severity of something that costs this share of the time."""
    if ratio >= HIGH_RATIO:
        return Severity.HIGH
    return Severity.MEDIUM if ratio >= MEDIUM_RATIO else Severity.LOW


@dataclass(frozen=True, slots=True, eq=False)
class Saving:
    """Spans of time in which something could be saved, in columns of one length."""

    start_ns: Int64s
    end_ns: Int64s
    saved_ns: Int64s
    """How much of each span would go, from 0 to the whole of it."""
    how: str
    """How it was estimated, as half a sentence: "all of the copies, in place needs none"."""
    is_host_work: bool = False
    """Whether the host works that much less, so that it can launch the rest earlier."""

    @classmethod
    def whole(
        cls, start_ns: Int64s, end_ns: Int64s, how: str, *, is_host_work: bool = False
    ) -> "Saving":
        """Return the saving of all the time in some spans."""
        return cls(start_ns, end_ns, end_ns - start_ns, how, is_host_work)

    @classmethod
    def of_slices(cls, trace: Trace, slice_ids: Int64s, how: str) -> "Saving":
        """Return the saving of the whole of some slices."""
        start_ns = trace.slices.ts_ns[slice_ids]
        return cls.whole(start_ns, start_ns + trace.slices.dur_ns[slice_ids], how)

    @property
    def total_ns(self) -> int:
        """Return what would be saved, moments that several spans share counted once."""
        return saved_time((self,)).within_ns()


@dataclass(frozen=True, slots=True, eq=False)
class SavedTime:
    """What several savings bring together, moment by moment."""

    moments_ns: Int64s
    """Where spans begin and end, ascending and distinct."""
    rate: Float64s
    """How much of each piece between two moments is saved, 0 to 1; one shorter."""

    def within_ns(self, spans: Intervals | None = None) -> int:
        """Return what is saved in some spans; ``None`` is everywhere."""
        if spans is None:
            return round(float((self.rate * np.diff(self.moments_ns)).sum()))
        return round(float((self.rate * np.diff(covered_before(spans, self.moments_ns))).sum()))


def saved_time(savings: Sequence[Saving]) -> SavedTime:
    """Return what savings bring together.

    A span gives its saving evenly over its length. Where spans overlap, of one saving or of
    several, only the one that saves most counts, so that no moment is saved twice.
    """
    none = np.empty(0, np.int64)
    start_ns = np.concatenate([none, *(each.start_ns for each in savings)])
    end_ns = np.concatenate([none, *(each.end_ns for each in savings)])
    saved_ns = np.concatenate([none, *(each.saved_ns for each in savings)])
    kept = (end_ns > start_ns) & (saved_ns > 0)
    start_ns, end_ns, saved_ns = start_ns[kept], end_ns[kept], saved_ns[kept]
    moments = np.unique(np.concatenate((start_ns, end_ns)))
    best = np.zeros(max(len(moments) - 1, 0))
    rate = np.minimum(saved_ns / (end_ns - start_ns), 1.0)
    first, last = np.searchsorted(moments, start_ns), np.searchsorted(moments, end_ns)
    # Most spans are cut by no other; a loop is left for those that are.
    whole = last == first + 1
    np.maximum.at(best, first[whole], rate[whole])
    for row in np.flatnonzero(~whole).tolist():
        piece = slice(first[row], last[row])
        best[piece] = np.maximum(best[piece], rate[row])
    return SavedTime(moments, best)


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One thing that is wrong."""

    rule: str
    severity: Severity
    summary: str
    """A whole sentence with the figure in it, without a full stop at its end."""
    slices: Int64s
    """The slices that show it, in time order; never empty."""
    change: str
    """Exactly what to try."""
    saving: Saving | None = None
    """What the change would save; ``None`` where that cannot be estimated."""

    @property
    def gain_ns(self) -> int | None:
        """Return what the change would save over the whole recording, ``None`` if unknown."""
        return None if self.saving is None else self.saving.total_ns

    @property
    def gain_how(self) -> str:
        """Return how the gain was estimated, or that it was not."""
        return "not estimated" if self.saving is None else self.saving.how

    @property
    def first_slice(self) -> int:
        """Return the first slice that shows it."""
        return int(self.slices[0])


class Rule(Protocol):
    """Looks for one known trouble; its fields are its thresholds."""

    @property
    def name(self) -> str:
        """The rule's name in reports, such as ``cold-step``."""
        ...

    @property
    def about(self) -> str:
        """What it looks for, in a few words: the README lists it."""
        ...

    @property
    def needs(self) -> tuple[Need, ...]:
        """What a trace must hold for the rule to judge it."""
        ...

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield what is wrong; nothing where all is well or cannot be told."""
        ...


def in_time_order(trace: Trace, slice_ids: Int64s) -> Int64s:
    """Return the slices sorted by start."""
    ordered: Int64s = slice_ids[np.lexsort((slice_ids, trace.slices.ts_ns[slice_ids]))]
    return ordered
