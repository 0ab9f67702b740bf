"""A device that mostly waits for the host to launch its next kernel."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.launches import launch_stats
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, LAUNCHES, Need
from tracetui.diagnosis.scope import holder_of, named, steady_ns, top_operators
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_MS, NS_PER_US

_WAIT: Final = re.compile(r"^(cuda|hip)(Stream|Device|Event)Synchronize$|^(cuda|hip)Memcpy$")
"""Calls that no CUDA graph can hold."""


@dataclass(frozen=True, slots=True)
class OverheadBound:
    """Fires when a device spends much of its time in short waits for the next launch.

    Only short gaps count: a long one is a load, a compilation or a start, and no launch overhead.
    Such a device has short kernels and an empty queue; both are asked for.
    """

    name: str = "overhead-bound"
    about: str = "a device that mostly waits for the host to launch short kernels"
    needs: tuple[Need, ...] = (DEVICE_WORK, LAUNCHES)
    min_share_ratio: float = 0.3
    """The device's time in short waits for a launch."""
    max_gap_ns: int = NS_PER_MS // 2
    max_median_kernel_ns: int = 50 * NS_PER_US
    min_launches: int = 6
    """Of the time that is judged."""
    min_drained_ratio: float = 0.5
    """Launches that began when the device had nothing left to do."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each such device."""
        first_ns, last_ns = steady_ns(trace)
        n_steps = sum(step.start_ns >= first_ns for step in steps(trace))
        for use in utilization(trace):
            found = gaps(trace, use.device)
            waits = np.isin(found.cause, (GapCause.HOST_WAIT, GapCause.LAUNCH))
            whole_ns = _whole_gaps(found.start_ns, found.end_ns, found.next_slice_id)
            kept = (
                waits
                & (whole_ns <= self.max_gap_ns)
                & (found.start_ns >= first_ns)
                & (found.end_ns <= last_ns)
            )
            span_ns = min(use.end_ns, last_ns) - max(use.start_ns, first_ns)
            saving = Saving.whole(
                found.start_ns[kept],
                found.end_ns[kept],
                "all short waits for a launch, at most; the profiler itself lengthens them",
            )
            ratio = saving.total_ns / span_ns if span_ns > 0 else 0.0
            starved = np.unique(found.next_slice_id[kept])
            if ratio < self.min_share_ratio or not self._is_starved(
                trace, use.device, len(starved), first_ns
            ):
                continue
            a_step = f" in {n_steps} steps" if n_steps > 1 else ""
            yield Finding(
                self.name,
                severity_of(ratio),
                f"The device waits {percent(ratio)} of its time for the host to launch short"
                f" kernels: {duration(saving.total_ns)} before {count(len(starved))} of"
                f" them{a_step}",
                starved[np.argsort(trace.slices.ts_ns[starved], kind="stable")].astype(np.int64),
                _change(trace),
                saving,
            )

    def _is_starved(self, trace: Trace, device: int, n_starved: int, first_ns: int) -> bool:
        """Return whether the device's kernels are many, short and mostly waited for."""
        launches = launch_stats(trace)
        of_track = np.array([track.device for track in trace.tracks], np.int64)
        own = of_track[trace.slices.track_id[launches.device_slice_id]] == device
        own &= trace.slices.ts_ns[launches.device_slice_id] >= first_ns
        n_launches = int(own.sum())
        return (
            n_launches >= self.min_launches
            and float(np.median(launches.gpu_ns[own])) <= self.max_median_kernel_ns
            and n_starved >= self.min_drained_ratio * n_launches
        )


def _change(trace: Trace) -> str:
    """Return what to try: first a CUDA graph, unless operators wait for the device meanwhile."""
    waits = named(trace, _WAIT, SliceKind.RUNTIME)
    top = top_operators(trace)
    row = holder_of(trace, waits, top)
    name_ids, amounts = np.unique(trace.slices.name_id[top[row[row != NO_ID]]], return_counts=True)
    if not len(name_ids):
        return (
            'Capture the step as a CUDA graph: torch.compile(mode="reduce-overhead"); or do more in'
            " each launch (larger batches, fused kernels)"
        )
    worst = [trace.names[each] for each in name_ids[np.argsort(-amounts, kind="stable")][:2]]
    return (
        "Do more in each launch (larger batches, fused kernels); or capture the step as a CUDA"
        f' graph, torch.compile(mode="reduce-overhead"), but without {" and ".join(worst)}, which'
        f" {'waits' if len(worst) == 1 else 'wait'} for the device here"
    )


def _whole_gaps(start_ns: np.ndarray, end_ns: np.ndarray, next_id: np.ndarray) -> np.ndarray:
    """Return for each piece how long the gap is that it is a piece of."""
    _, gap = np.unique(next_id, return_inverse=True)
    whole = np.bincount(gap.reshape(-1), weights=(end_ns - start_ns).astype(np.float64))
    return whole[gap]
