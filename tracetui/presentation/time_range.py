"""What a cell and a range of time hold, in words."""

from dataclasses import dataclass

from tracetui.analysis.slice_sums import slice_sums_within
from tracetui.analysis.work_class import WorkClass
from tracetui.format import TimeUnit, count, duration, percent
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind
from tracetui.presentation.hues import HUE_NAMES, HUE_OF_KIND
from tracetui.presentation.lanes import Lane, LaneIndex


def _noun(trace: Trace, lane: Lane, amount: int) -> str:
    """Return what the spans of a lane are called."""
    noun = "slice"
    kind = trace.tracks[lane.track_id].kind
    if lane.is_union:
        noun = "busy span"
    elif kind == TrackKind.PYTHON:
        noun = "frame"
    elif kind == TrackKind.DEVICE and WorkClass.COPY not in lane.present:
        noun = "kernel"
    return noun if amount == 1 else f"{noun}s"


def cell_text(
    trace: Trace, lane: Lane, start_ns: int, end_ns: int, matching: Lane | None = None
) -> str:
    """Return what one cell of a lane holds: ``37 kernels here, 61.0 % busy``.

    Where there is a filter, also how much of that it keeps: ``5 match, 12.0 % busy``.
    """
    n_here = lane.spans.count_between(start_ns, end_ns)
    busy = _busy_text(lane, start_ns, end_ns)
    text = f"{count(n_here)} {_noun(trace, lane, n_here)} here, {busy}"
    if matching is None:
        return text
    n_match = matching.spans.count_between(start_ns, end_ns)
    if not n_match:
        return f"{text}, none matches"
    return f"{text}, {count(n_match)} match, {_busy_text(matching, start_ns, end_ns)}"


def _busy_text(lane: Lane, start_ns: int, end_ns: int) -> str:
    covered = lane.spans.covered_between(start_ns, end_ns)
    return f"{percent(covered / max(end_ns - start_ns, 1))} busy"


@dataclass(frozen=True, slots=True)
class RangeStats:
    """What a range of time holds."""

    busy_ns: int
    """Time in which any device works, or the host where there is no device work."""
    sum_ns: int
    """Summed over all streams, parts in the range alone."""
    n_slices: int
    by_class: tuple[tuple[str, int, int], ...]
    """Name, summed time and number of each class of work, the longest first."""


def range_stats(trace: Trace, index: LaneIndex, start_ns: int, end_ns: int) -> RangeStats:
    """Return what lies between two times.

    Device work does not nest and counts as it lies there; the host's calls nest and count by
    their self time, so that no nanosecond of a thread counts twice.
    """
    sums: dict[int, list[int]] = {}
    if not index.has_device:
        sums = _host_sums(trace, start_ns, end_ns)
    for lane in index.lanes if index.has_device else ():
        if trace.tracks[lane.track_id].kind != TrackKind.DEVICE or not len(lane.hues):
            continue
        for hue, spans in lane.by_hue or ((int(lane.hues[0]), lane.spans),):
            entry = sums.setdefault(hue, [0, 0])
            entry[0] += spans.covered_between(start_ns, end_ns)
            entry[1] += spans.count_between(start_ns, end_ns)
    busy = index.device_busy if index.has_device else index.host_busy
    rows = [(HUE_NAMES[hue], ns, n) for hue, (ns, n) in sums.items() if n]
    rows.sort(key=lambda row: (-row[1], row[0]))
    return RangeStats(
        busy.covered_between(start_ns, end_ns),
        sum(ns for _, ns, _ in rows),
        sum(n for _, _, n in rows),
        tuple(rows),
    )


def _host_sums(trace: Trace, start_ns: int, end_ns: int) -> dict[int, list[int]]:
    """Return self time and number of the operators and runtime calls, by hue."""
    inside, kind = slice_sums_within(trace, start_ns, end_ns), trace.slices.kind
    return {
        HUE_OF_KIND[each]: [
            int(inside.self_ns[kind == each].sum()),
            int(inside.calls[kind == each].sum()),
        ]
        for each in (SliceKind.OPERATOR, SliceKind.RUNTIME)
    }


def range_text(
    trace: Trace,
    index: LaneIndex,
    start_ns: int,
    end_ns: int,
    unit: TimeUnit = TimeUnit.AUTO,
) -> str:
    """Return one line on a range."""
    stats = range_stats(trace, index, start_ns, end_ns)
    span = max(end_ns - start_ns, 1)
    where = "device" if index.has_device else "host"
    summed = "sum" if index.has_device else "self times"
    parts = [
        f"range {duration(end_ns - start_ns, unit)}",
        f"{where} busy {duration(stats.busy_ns, unit)} ({percent(stats.busy_ns / span)})",
        f"{summed} {duration(stats.sum_ns, unit)}",
        f"{count(stats.n_slices)} slices",
    ]
    parts += [f"{name} {duration(ns, unit)} in {count(n)}" for name, ns, n in stats.by_class[:4]]
    return " · ".join(parts)
