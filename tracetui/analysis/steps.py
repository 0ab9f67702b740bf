"""The profiler's steps: their time on the host, and on the device by launch and by clock."""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import busy_intervals, utilization
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.intervals import covered_before
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_STEP_NAME: Final = re.compile(r"ProfilerStep#(\d+)")
_FEWEST_FOR_OUTLIER: Final = 3
_OUTLIER_RATIO: Final = 1.5


@dataclass(frozen=True, slots=True)
class Step:
    """One ``ProfilerStep#N`` of a host thread; the device's numbers are ``None`` without a device."""

    number: int
    slice_id: int
    start_ns: int
    wall_ns: int
    end_ns: int
    gpu_by_launch_ns: int | None
    """Durations of the work whose launch call starts inside the step, on whatever thread."""
    gpu_by_clock_ns: int | None
    """How long devices were busy inside the step, whoever launched the work."""
    n_kernels: int | None
    """How many pieces of work, copies and memsets among them, were launched inside the step."""
    is_outlier: bool
    """The first step, where it takes far longer than the others."""


@once_per_trace
def steps(trace: Trace) -> tuple[Step, ...]:
    """Return the steps in time order; none where the profiler had no schedule."""
    slices = trace.slices
    rows, numbers = _step_rows(trace)
    start_ns = slices.ts_ns[rows]
    end_ns = start_ns + slices.dur_ns[rows]
    by_launch, n_kernels = _launched_between(trace, start_ns, end_ns)
    by_clock = _busy_between(trace, start_ns, end_ns)
    has_device = links(trace).has_device
    first_is_outlier = _first_is_outlier(slices.dur_ns[rows])
    return tuple(
        Step(
            number=int(numbers[place]),
            slice_id=int(rows[place]),
            start_ns=int(start_ns[place]),
            wall_ns=int(end_ns[place] - start_ns[place]),
            end_ns=int(end_ns[place]),
            gpu_by_launch_ns=int(by_launch[place]) if has_device else None,
            gpu_by_clock_ns=int(by_clock[place]) if has_device else None,
            n_kernels=int(n_kernels[place]) if has_device else None,
            is_outlier=place == 0 and first_is_outlier,
        )
        for place in range(len(rows))
    )


def _step_rows(trace: Trace) -> tuple[Int64s, Int64s]:
    """Return the slices that are steps, in time order, and their numbers."""
    slices = trace.slices
    may_be = (slices.kind == SliceKind.ANNOTATION) | (slices.kind == SliceKind.OPERATOR)
    number_of_name = np.full(len(trace.names), NO_ID, np.int64)
    for name_id in np.unique(slices.name_id[may_be]).tolist():
        match = _STEP_NAME.fullmatch(trace.names[name_id])
        if match and len(match.group(1)) <= 18:
            number_of_name[name_id] = int(match.group(1))
    rows = np.flatnonzero(may_be)
    rows = rows[number_of_name[slices.name_id[rows]] != NO_ID]
    rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
    return rows, number_of_name[slices.name_id[rows]]


def _launched_between(trace: Trace, start_ns: Int64s, end_ns: Int64s) -> tuple[Int64s, Int64s]:
    """Return the device time and the number of pieces of work launched in each half-open window."""
    slices = trace.slices
    launch = links(trace).launch_id
    works = np.flatnonzero(slices.is_device_work() & (launch != NO_ID))
    called_ns = slices.ts_ns[launch[works]]
    order = np.argsort(called_ns, kind="stable")
    called_ns = called_ns[order]
    before = np.concatenate(([0], np.cumsum(slices.dur_ns[works[order]])))
    first = np.searchsorted(called_ns, start_ns)
    last = np.maximum(np.searchsorted(called_ns, end_ns), first)
    return before[last] - before[first], last - first


def _busy_between(trace: Trace, start_ns: Int64s, end_ns: Int64s) -> Int64s:
    total = np.zeros(len(start_ns), np.int64)
    for use in utilization(trace):
        busy = busy_intervals(trace, use.device)
        total += covered_before(busy, end_ns) - covered_before(busy, start_ns)
    return total


def _first_is_outlier(wall_ns: Int64s) -> bool:
    if len(wall_ns) < _FEWEST_FOR_OUTLIER:
        return False
    return bool(wall_ns[0] > _OUTLIER_RATIO * float(np.median(wall_ns[1:])))
