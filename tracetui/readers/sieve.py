"""The events of a part of a file, told from the others before anything is kept of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from tracetui.errors import TraceFormatError
from tracetui.format import count
from tracetui.model.arrays import Int64s
from tracetui.model.categories import kind_of_category
from tracetui.model.portion import Portion
from tracetui.model.slices import SliceKind
from tracetui.readers.decode import Event, arguments
from tracetui.readers.numbers import nanosecond_column
from tracetui.readers.pytorch import whole

_STEP_WORD: Final = "ProfilerStep#"
_STEP_NAME: Final = re.compile(_STEP_WORD + r"(\d{1,18})")
_DEVICE_KINDS: Final = frozenset(
    (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET, SliceKind.DEVICE_ANNOTATION)
)
_STEP_KINDS: Final = frozenset((SliceKind.ANNOTATION, SliceKind.OPERATOR))
_STARTING_PHASES: Final = ("X", "B", "b")
_FLOW_PHASES: Final = ("s", "f", "t")


class Sieve(Protocol):
    """Decides what is kept of a chunk's events."""

    n_left_out: int
    """How many events were not kept."""

    def kept(self, events: Sequence[Event], event_id: Int64s) -> tuple[list[Event], Int64s]:
        """Return the events that are kept and their numbers."""
        ...

    @property
    def is_full(self) -> bool:
        """Return whether nothing that comes will be kept."""
        ...

    @property
    def note(self) -> str:
        """Return what a trace of these events has to say of itself."""
        ...


class _KindNumbers(dict[Any, int]):
    """Which kind a category is, by number; each is looked up once."""

    def __missing__(self, category: object) -> int:
        kind = int(kind_of_category(category if isinstance(category, str) else ""))
        self[category] = kind
        return kind

    def of(self, events: Sequence[Event]) -> np.ndarray[Any, np.dtype[np.int8]]:
        try:
            numbers = [self[event.cat] for event in events]
        except TypeError:  # a list or an object where a text belongs
            numbers = [self[event.cat if isinstance(event.cat, str) else ""] for event in events]
        return np.array(numbers, np.int8)


def _among(kinds: frozenset[SliceKind]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for each kind's number whether it is one of these."""
    return np.array([kind in kinds for kind in SliceKind], bool)


def _correlation(event: Event) -> int:
    return whole(arguments([event.args])[0].correlation, 0)


def _arrow_number(event: Event) -> int:
    return whole(event.id, 0)


_IS_OF_DEVICE: Final = _among(_DEVICE_KINDS)
_MAY_BE_STEP: Final = _among(_STEP_KINDS)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """A window in the file's own times, and what was launched in it."""

    start_ns: int
    end_ns: int
    launched: Int64s
    """Correlations, sorted, each once."""


class Survey:
    """Keeps no event: it learns when the trace starts, where its steps are and what launches when."""

    def __init__(self) -> None:
        self.n_left_out = 0
        self._kinds = _KindNumbers()
        self._first_ns: int | None = None
        self._first_profiler_ns: int | None = None
        self._steps: list[tuple[int, int, int]] = []
        self._launch_ns: list[Int64s] = []
        self._launch_correlation: list[Int64s] = []

    def kept(self, events: Sequence[Event], event_id: Int64s) -> tuple[list[Event], Int64s]:
        """Look at the events; none is kept."""
        self.n_left_out += len(events)
        timed = [event for event in events if event.ph in _STARTING_PHASES]
        ts_ns, without = nanosecond_column([event.ts for event in timed])
        has_time = np.ones(len(timed), bool)
        has_time[without] = False
        kinds = self._kinds.of(timed)
        is_complete = np.array([event.ph == "X" for event in timed], bool)
        is_profiler = is_complete & (kinds == SliceKind.PROFILER)
        self._first_ns = _earlier(self._first_ns, ts_ns[has_time & ~is_profiler])
        self._first_profiler_ns = _earlier(self._first_profiler_ns, ts_ns[has_time])
        launches = np.flatnonzero(has_time & (kinds == SliceKind.RUNTIME))
        self._launch_ns.append(ts_ns[launches])
        self._launch_correlation.append(
            np.array([_correlation(timed[row]) for row in launches.tolist()], np.int64)
        )
        for row in np.flatnonzero(has_time & is_complete & _MAY_BE_STEP[kinds]).tolist():
            self._note_step(timed[row], int(ts_ns[row]))
        return [], event_id[:0]

    @property
    def is_full(self) -> bool:
        """Return that the whole file matters."""
        return False

    @property
    def note(self) -> str:
        """Return nothing: no trace comes of it."""
        return ""

    def _note_step(self, event: Event, ts_ns: int) -> None:
        name = event.name
        if not isinstance(name, str) or not name.startswith(_STEP_WORD):
            return
        match = _STEP_NAME.fullmatch(name)
        if match is not None:
            dur_ns, _ = nanosecond_column([event.dur])
            self._steps.append((int(match.group(1)), ts_ns, ts_ns + max(int(dur_ns[0]), 0)))

    def bounds(self, portion: Portion) -> Bounds:
        """Return where a part lies in the file's times.

        Raises:
            TraceFormatError: If the file has none of the steps.
        """
        first_ns = self._first_profiler_ns if self._first_ns is None else self._first_ns
        start_ns, end_ns = -(2**63), 2**63 - 1
        if portion.window_ns is not None:
            start_ns, end_ns = (_limited((first_ns or 0) + at) for at in portion.window_ns)
        if portion.steps is not None or portion.n_steps is not None:
            from_ns, to_ns = self._step_span(portion)
            start_ns, end_ns = max(start_ns, from_ns), min(end_ns, to_ns)
        launch_ns = _joined(self._launch_ns)
        correlation = _joined(self._launch_correlation)
        is_inside = (launch_ns >= start_ns) & (launch_ns < end_ns) & (correlation != 0)
        return Bounds(start_ns, end_ns, np.unique(correlation[is_inside]))

    def _step_span(self, portion: Portion) -> tuple[int, int]:
        """Return from where to where the steps of a part reach, on whatever thread they are."""
        if not self._steps:
            raise TraceFormatError("no ProfilerStep in it: its steps cannot be told apart")
        numbers = sorted({number for number, _, _ in self._steps})
        wanted = set(numbers[: portion.n_steps])
        if portion.steps is not None:
            first, last = portion.steps
            wanted = {number for number in wanted if first <= number <= last}
        chosen = [step for step in self._steps if step[0] in wanted]
        if not chosen:
            raise TraceFormatError(
                f"no such step in it: its steps are {numbers[0]} to {numbers[-1]}"
            )
        return min(step[1] for step in chosen), max(step[2] for step in chosen)


def _limited(at_ns: int) -> int:
    return min(max(at_ns, -(2**63)), 2**63 - 1)


def _earlier(known_ns: int | None, ts_ns: Int64s) -> int | None:
    if not len(ts_ns):
        return known_ns
    first_ns = int(ts_ns.min())
    return first_ns if known_ns is None else min(known_ns, first_ns)


def _joined(columns: list[Int64s]) -> Int64s:
    return np.concatenate(columns) if columns else np.empty(0, np.int64)


class PortionSieve:
    """Keeps what belongs to a part of a file, and counts what does not.

    Names of processes and threads are always kept. An event without a legible time is kept too: it is
    counted as skipped further on.
    """

    def __init__(self, portion: Portion, bounds: Bounds | None = None) -> None:
        """Begin to count.

        Args:
            portion: What to keep.
            bounds: Where that lies, for a window or for steps.
        """
        self.portion = portion
        self.n_kept = 0
        self.n_left_out = 0
        self.is_full = False
        self._bounds = bounds
        self._kinds = _KindNumbers()

    def kept(self, events: Sequence[Event], event_id: Int64s) -> tuple[list[Event], Int64s]:
        """Return the events that belong to the part, and their numbers."""
        phases = [event.ph for event in events]
        keeps = np.ones(len(events), bool)
        if self.portion.is_device_only or self._bounds is not None:
            is_complete = np.array([phase == "X" for phase in phases], bool)
            is_of_device = is_complete & _IS_OF_DEVICE[self._kinds.of(events)]
            if self.portion.is_device_only:
                keeps &= is_of_device
            if self._bounds is not None:
                keeps &= self._is_inside(events, is_of_device, self._bounds)
            keeps |= np.array([phase == "M" for phase in phases], bool)
        if self.portion.n_events is not None:
            keeps &= event_id < self.portion.n_events
            self.is_full = bool(len(events)) and int(event_id[-1]) >= self.portion.n_events
        rows = np.flatnonzero(keeps)
        self.n_kept += len(rows)
        self.n_left_out += len(events) - len(rows)
        return [events[row] for row in rows.tolist()], event_id[rows]

    @staticmethod
    def _is_inside(events: Sequence[Event], is_of_device: Any, bounds: Bounds) -> Any:
        """Return which events start within the bounds, or are work that was launched there.

        An arrow has the number of its launch, and comes with it.
        """
        ts_ns, without = nanosecond_column([event.ts for event in events])
        is_inside = (ts_ns >= bounds.start_ns) & (ts_ns < bounds.end_ns)
        is_inside[without] = True
        is_arrow = np.array([event.ph in _FLOW_PHASES for event in events], bool)
        for rows, number in (
            (np.flatnonzero(~is_inside & is_of_device), _correlation),
            (np.flatnonzero(~is_inside & is_arrow), _arrow_number),
        ):
            numbers = np.array([number(events[row]) for row in rows.tolist()], np.int64)
            is_inside[rows] = np.isin(numbers, bounds.launched)
        return is_inside

    @property
    def note(self) -> str:
        """Return what to say of a trace of this part; empty where nothing was left out."""
        if not self.n_left_out:
            return ""
        if self.portion.n_events is not None and not (
            self.portion.needs_survey or self.portion.is_device_only
        ):
            return f"read in part: {self.portion}"
        n_all = self.n_kept + self.n_left_out
        return f"read in part: {self.portion} ({count(self.n_kept)} of {count(n_all)} events)"
