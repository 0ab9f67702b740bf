"""What a step would take if some findings were mended, and what would hold it back then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import GapCause, gaps, host_use, utilization
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.finding import Finding, SavedTime, saved_time
from tracetui.diagnosis.scope import outermost, steady_ns
from tracetui.model.arrays import Int64s
from tracetui.model.intervals import Intervals, difference, intersection, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind
from tracetui.units import NS_PER_US

_BLOCKED_NS: Final = 100 * NS_PER_US
"""A runtime call as long as this waits for the device; the host would not need it."""
_LAUNCHES_LESS: Final = ("overhead-bound", "fragmented-optimizer")
"""Rules whose change takes launches off the host: its time no longer bounds the step."""
_IDLE_NAMES: Final = {
    GapCause.ARTEFACT: "the profiler itself",
    GapCause.SYNC: "synchronisation",
    GapCause.LAUNCH: "launch calls",
    GapCause.HOST_WAIT: "waiting for the host",
    GapCause.KERNEL_WAIT: "gaps between kernels",
    GapCause.OTHER: "idle time of no known cause",
}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The time of one step as recorded and as it would be; without steps, of the recording."""

    n_steps: int
    """How many steps it is the mean of, a cold first one left out; 0 is the whole recording."""
    now_ns: int
    then_ns: int
    saved_ns: int
    """What the changes save where they apply; the host may not let the step get that much faster."""
    is_host_bound: bool
    """Whether the host's own work is what ``then_ns`` consists of."""
    bottleneck: str
    """What takes most of the time that is left; empty if nothing is known of it."""
    bottleneck_ns: int

    @property
    def speedup(self) -> float | None:
        """Return how many times as fast a step would be, ``None`` if nothing would be left."""
        return self.now_ns / self.then_ns if self.then_ns else None


def prediction(trace: Trace, chosen: Sequence[Finding]) -> Prediction:
    """Return what mending the chosen findings would bring.

    Each saves what it was estimated to, independently of the others; where two are about the same
    moment, only the larger saving counts. With a device, a step cannot get shorter than what the
    host needs to launch it, unless a chosen change takes launches off the host.
    """
    window, n_steps = _window(trace)
    savings = tuple(each.saving for each in chosen if each.saving is not None)
    saved = saved_time(savings)
    saved_ns = saved.within_ns(window)
    left_ns = max(window.total_ns - saved_ns, 0)
    host_ns = 0
    if links(trace).has_device and not any(each.rule in _LAUNCHES_LESS for each in chosen):
        freed = saved_time([each for each in savings if each.is_host_work])
        host_ns = _host_work_ns(trace, window, freed)
    is_host_bound = bool(saved_ns) and host_ns > left_ns
    then_ns = max(left_ns, host_ns) if saved_ns else window.total_ns
    parts = [
        (spans.total_ns - saved.within_ns(spans), name) for name, spans in _parts(trace, window)
    ]
    most_ns, most = max(parts, default=(0, ""), key=lambda part: part[0])
    if is_host_bound:
        most_ns, most = host_ns, "the host's own work"
    share = max(n_steps, 1)
    return Prediction(
        n_steps,
        window.total_ns // share,
        then_ns // share,
        saved_ns // share,
        is_host_bound,
        most,
        most_ns // share,
    )


def gain_in_step_ns(trace: Trace, finding: Finding) -> int | None:
    """Return what a finding saves in a mean step, or without steps in the recording.

    What it saves outside the judged steps, in a cold first one for example, does not count.
    """
    if finding.saving is None:
        return None
    window, n_steps = _window(trace)
    return saved_time((finding.saving,)).within_ns(window) // max(n_steps, 1)


def n_judged_steps(trace: Trace) -> int:
    """Return how many steps a gain is the mean of; 0 is the whole recording."""
    return _window(trace)[1]


@once_per_trace
def _window(trace: Trace) -> tuple[Intervals, int]:
    """Return the time to judge and the number of steps in it."""
    first_ns, _ = steady_ns(trace)
    found = [step for step in steps(trace) if step.start_ns >= first_ns]
    uses = utilization(trace)
    if found:
        end_ns = max([found[-1].end_ns, *(use.end_ns for use in uses)])
        return _span(found[0].start_ns, end_ns), len(found)
    if uses:
        return _span(min(use.start_ns for use in uses), max(use.end_ns for use in uses)), 0
    if not host_use(trace).n_threads:
        return _span(0, 0), 0
    host = trace.slices.ts_ns[np.isin(trace.slices.track_id, _host_tracks(trace))]
    start_ns = int(host.min()) if len(host) else 0
    return _span(start_ns, start_ns + host_use(trace).span_ns), 0


def _span(start_ns: int, end_ns: int) -> Intervals:
    return union(np.array([start_ns], np.int64), np.array([end_ns], np.int64))


def _host_tracks(trace: Trace) -> list[int]:
    return [row for row, track in enumerate(trace.tracks) if track.kind == TrackKind.HOST]


def _host_work_ns(trace: Trace, window: Intervals, saved: SavedTime) -> int:
    """Return how long the busiest thread works in operators and calls that do not wait.

    Not counted is what some savings take off the host.
    """
    slices = trace.slices
    works = (slices.kind == SliceKind.OPERATOR) | (slices.kind == SliceKind.RUNTIME)
    waits = (slices.kind == SliceKind.RUNTIME) & (slices.dur_ns >= _BLOCKED_NS)
    longest = 0
    for track_id in _host_tracks(trace):
        own = slices.track_id == track_id
        busy = difference(_union(trace, own & works), _union(trace, own & waits))
        busy = intersection(busy, window)
        longest = max(longest, busy.total_ns - saved.within_ns(busy))
    return longest


def _union(trace: Trace, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Intervals:
    rows: Int64s = np.flatnonzero(mask)
    return union(trace.slices.ts_ns[rows], trace.slices.end_ns[rows])


def _parts(trace: Trace, window: Intervals) -> Iterator[tuple[str, Intervals]]:
    """Yield what the time consists of: classes of device work and causes of idleness."""
    slices = trace.slices
    is_work, classes = slices.is_device_work(), slice_classes(trace)
    for work in WorkClass:
        spans = intersection(_union(trace, is_work & (classes == work)), window)
        yield f"{work.name.lower()} kernels", spans
    for use in utilization(trace):
        found = gaps(trace, use.device)
        for cause, name in _IDLE_NAMES.items():
            own = found.cause == cause
            yield name, intersection(union(found.start_ns[own], found.end_ns[own]), window)
    if not links(trace).has_device:
        yield from _operator_parts(trace, window)


def _operator_parts(trace: Trace, window: Intervals) -> Iterator[tuple[str, Intervals]]:
    """Yield the operators that do most of their time themselves, by name: a host's own work."""
    slices = trace.slices
    works = slices.kind == SliceKind.OPERATOR
    works &= links(trace).self_ns * 2 >= slices.dur_ns
    rows = outermost(trace, np.flatnonzero(works))
    for name_id in np.unique(slices.name_id[rows]).tolist():
        own = rows[slices.name_id[rows] == name_id]
        yield (
            trace.names[name_id],
            intersection(union(slices.ts_ns[own], slices.end_ns[own]), window),
        )
