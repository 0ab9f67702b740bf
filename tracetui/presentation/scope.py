"""Which part of a trace the tables are about: what a filter keeps, inside a range of time."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.slice_sums import SliceSums, slice_sums, slice_sums_within, touching
from tracetui.model.arrays import Bools, Int64s
from tracetui.model.trace import Trace
from tracetui.presentation.query import parse_query


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter and a range; both may be missing."""

    filter_text: str = ""
    span_ns: tuple[int, int] | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether it is all of the trace."""
        return not self.filter_text and self.span_ns is None

    @property
    def words(self) -> str:
        """Return what holds for it, to stand behind a noun; nothing for the whole trace."""
        words = "" if self.span_ns is None else " in the range"
        return words + (" that pass the filter" if self.filter_text else "")

    def sums(self, trace: Trace) -> SliceSums:
        """Return what each slice adds to a table."""
        return (
            slice_sums(trace) if self.span_ns is None else slice_sums_within(trace, *self.span_ns)
        )

    def slices(self, trace: Trace) -> Bools | None:
        """Return which slices it holds; ``None`` for the whole trace.

        Raises:
            UsageError: If the filter cannot be understood.
        """
        chosen: Bools | None = None
        if self.filter_text:
            chosen = parse_query(self.filter_text).slice_mask(trace)
        if self.span_ns is not None:
            inside = touching(trace, *self.span_ns)
            chosen = inside if chosen is None else chosen & inside
        return chosen

    def calls(self, trace: Trace) -> Bools | None:
        """Return which host slices it holds: also the owners of device slices that it holds.

        Raises:
            UsageError: If the filter cannot be understood.
        """
        chosen = self.slices(trace)
        if chosen is None:
            return None
        found: Bools = chosen.copy()
        device_ids = np.flatnonzero(chosen & trace.slices.is_device_work())
        owners, launches = (
            column[device_ids] for column in (links(trace).owner_id, links(trace).launch_id)
        )
        found[owners[owners >= 0]] = True
        launches = launches[launches >= 0]
        if self.span_ns is not None:
            # A launch has no device time of its own: outside the range it has nothing to tell.
            launches = launches[touching(trace, *self.span_ns)[launches]]
        found[launches] = True
        return found

    def device_work(self, trace: Trace) -> Int64s:
        """Return its device slices, ascending.

        Raises:
            UsageError: If the filter cannot be understood.
        """
        chosen = self.slices(trace)
        is_device = trace.slices.is_device_work()
        found: Int64s = np.flatnonzero(is_device if chosen is None else is_device & chosen)
        return found
