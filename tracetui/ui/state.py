"""What all views share: the open trace, one selection, one range of time, one filter."""

from dataclasses import dataclass, replace

from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """The shared state; the main screen replaces it as a whole, views only read it."""

    trace: Trace
    selection: int = NO_ID
    """The selected slice, or ``NO_ID``."""
    window: tuple[int, int] | None = None
    """The visible range of the timeline, in nanoseconds; ``None`` is the whole trace."""
    chosen_range: tuple[int, int] | None = None
    """The range chosen with ``v``; statistics are restricted to it where a view can."""
    filter_text: str = ""
    """The filter expression, as typed."""
    pattern: str = ""
    """What was searched for last; the timeline's ruler shows where it occurs."""
    is_loading: bool = False
    unit: TimeUnit = TimeUnit.AUTO
    """How tables write times."""
    with_artefacts: bool = False
    """Whether shares count the profiler's own doing and the cold first step."""

    @property
    def scope(self) -> Scope:
        """Return which part of the trace the tables are about."""
        return Scope(self.filter_text, self.chosen_range)

    def with_selection(self, slice_id: int) -> "Workspace":
        """Return the workspace with another slice selected."""
        return replace(self, selection=slice_id)


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The traces that are open and whole, and which two of them are compared."""

    traces: tuple[Trace, ...]
    names: tuple[str, ...]
    """The files' names, safe to show; different ones where the files are."""
    paths: tuple[str, ...] = ()
    """Where the files lie."""
    baseline: int = 0
    candidate: int = 1

    @property
    def pair(self) -> tuple[Trace, Trace] | None:
        """Return baseline and candidate, or ``None`` where there is only one trace."""
        if max(self.baseline, self.candidate) >= len(self.traces):
            return None
        return self.traces[self.baseline], self.traces[self.candidate]
