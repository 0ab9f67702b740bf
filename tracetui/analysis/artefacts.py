"""What the profiler put into its own picture, and a device's use without it."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import (
    DeviceUse,
    GapCause,
    IdleCauses,
    artefact_slices,
    busy_intervals,
    gaps,
    sync_slices,
)
from tracetui.model.arrays import Int8s, Int32s, Int64s, frozen
from tracetui.model.intervals import Intervals, covered_before, difference, intersection, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


class ArtefactKind(IntEnum):
    """What is in the recording and not in the program as it runs without the profiler."""

    OVERHEAD = 0
    """The profiler asks for buffers, flushes them, instruments."""
    COLD_STEP = 1
    """The first step, where it takes far longer than the others."""
    FINAL_SYNC = 2
    """The synchronise call that ends the recording: nothing is launched after it began."""


@dataclass(frozen=True, slots=True, eq=False)
class Artefacts:
    """Spans that say nothing of the program itself, in time order; columns of one length."""

    start_ns: Int64s
    end_ns: Int64s
    kind: Int8s
    """``ArtefactKind``."""
    slice_id: Int32s
    """The overhead record, the step or the call."""

    def __len__(self) -> int:
        return len(self.start_ns)

    def spans(self, kind: ArtefactKind) -> Intervals:
        """Return the time that artefacts of a kind cover."""
        own = self.kind == kind
        return union(self.start_ns[own], self.end_ns[own])


@dataclass(frozen=True, slots=True)
class CountedUse:
    """A device's use as percentages count it; ``busy_ns`` and the causes add up to ``span_ns``."""

    span_ns: int
    busy_ns: int
    idle: IdleCauses
    overhead_ns: int
    """Idle time left out because the profiler itself was at work."""
    cold_ns: int
    """Time left out because it belongs to the cold first step, busy or not."""

    @property
    def idle_ns(self) -> int:
        """Return the idle time that counts."""
        return self.span_ns - self.busy_ns

    @property
    def excluded_ns(self) -> int:
        """Return all that was left out."""
        return self.overhead_ns + self.cold_ns

    @property
    def busy_ratio(self) -> float | None:
        """Return busy over span, ``None`` where the work has no length."""
        return self.busy_ns / self.span_ns if self.span_ns else None


@once_per_trace
def artefacts(trace: Trace) -> Artefacts:
    """Return what in a recording is the profiler's doing."""
    slices = trace.slices
    overhead = artefact_slices(trace)
    cold = _cold_step(trace)
    final = _final_syncs(trace)
    rows = np.concatenate((overhead, cold, final)).astype(np.int64)
    kind = np.repeat(np.array(list(ArtefactKind), np.int8), [len(overhead), len(cold), len(final)])
    end_ns = slices.end_ns[rows]
    if len(cold):
        end_ns[kind == ArtefactKind.COLD_STEP] = _cold_end(trace)
    order = np.lexsort((rows, slices.ts_ns[rows]))
    return Artefacts(
        start_ns=frozen(slices.ts_ns[rows][order]),
        end_ns=frozen(end_ns[order]),
        kind=frozen(kind[order]),
        slice_id=frozen(rows[order].astype(np.int32)),
    )


def counted_use(trace: Trace, use: DeviceUse, *, with_artefacts: bool = False) -> CountedUse:
    """Return a device's use as percentages count it.

    Args:
        trace: The recording.
        use: One of its devices.
        with_artefacts: Count what the profiler did and the cold first step like anything else.
            They count too where nothing else is left.
    """
    if not with_artefacts:
        counted = _without_artefacts(trace, use)
        if counted.span_ns:
            return counted
    return CountedUse(use.span_ns, use.busy_ns, use.idle, 0, 0)


def _without_artefacts(trace: Trace, use: DeviceUse) -> CountedUse:
    whole = Intervals(np.array([use.start_ns], np.int64), np.array([use.end_ns], np.int64))
    cold = intersection(whole, artefacts(trace).spans(ArtefactKind.COLD_STEP))
    busy = difference(busy_intervals(trace, use.device), cold)
    pieces = gaps(trace, use.device)
    inside_ns = covered_before(cold, pieces.end_ns) - covered_before(cold, pieces.start_ns)
    left_ns = pieces.end_ns - pieces.start_ns - inside_ns
    by_cause = [int(left_ns[pieces.cause == cause].sum()) for cause in GapCause]
    overhead_ns = by_cause[GapCause.ARTEFACT]
    by_cause[GapCause.ARTEFACT] = 0
    return CountedUse(
        span_ns=use.span_ns - cold.total_ns - overhead_ns,
        busy_ns=busy.total_ns,
        idle=IdleCauses(*by_cause),
        overhead_ns=overhead_ns,
        cold_ns=cold.total_ns,
    )


def _cold_step(trace: Trace) -> Int64s:
    return np.array([step.slice_id for step in steps(trace) if step.is_outlier], np.int64)


def _cold_end(trace: Trace) -> int:
    """Return when the cold step is over: when the next one starts."""
    return steps(trace)[1].start_ns


def _final_syncs(trace: Trace) -> Int64s:
    """Return the synchronise calls that begin after the last launch, one on each thread at most."""
    slices = trace.slices
    syncs = sync_slices(trace)
    is_call = (slices.kind == SliceKind.RUNTIME) & (slices.correlation != 0)
    is_call[syncs] = False
    launches = slices.ts_ns[is_call]
    last_ns = int(launches.max()) if len(launches) else -1
    late = syncs[slices.ts_ns[syncs] > last_ns]
    _, first = np.unique(slices.track_id[late], return_index=True)
    return late[first]
