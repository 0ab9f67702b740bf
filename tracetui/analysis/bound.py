"""What holds a device back: its own work, or the host that has to launch it; with the evidence."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from tracetui.analysis.artefacts import CountedUse, counted_use
from tracetui.analysis.idle import whole_gaps
from tracetui.analysis.launches import launch_stats
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import DeviceUse, GapCause, utilization
from tracetui.model.trace import Trace

BUSY_RATIO: Final = 0.8
"""From here on a device counts as busy."""
_MOST: Final = 0.5
"""From this share on a part is most of a whole."""


class BoundKind(Enum):
    """What a device's time is spent on, or lost to."""

    COMPUTE = "compute"
    """It is busy, mostly with kernels."""
    COMMUNICATION = "communication"
    """It is busy, mostly with communication that no kernel hides; or that is more than it computes,
    and more than it waits."""
    COPY = "copy"
    """The same of copies that no kernel hides."""
    OVERHEAD = "overhead"
    """It waits, mostly for the host to launch."""
    SYNC = "sync"
    """It waits, mostly while the host sits in a synchronise call."""
    OTHER = "other"
    """It waits, mostly for reasons that the recording does not show."""
    BALANCED = "balanced"
    """It is neither busy throughout nor held back by one thing."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The verdict on one device; shares are of the time that counts, artefacts left out."""

    device: int
    kind: BoundKind
    counted: CountedUse
    busy_ratio: float
    overhead_ratio: float
    """Waiting for the host: for the launch call to begin, or to return."""
    sync_ratio: float
    """Idle while the host sat in a synchronise call, the next work not yet launched."""
    other_ratio: float
    """Idle for other reasons: the device's own latency, or unknown."""
    comm_ratio: float
    """Communicating with no kernel beside it, of all the time from first to last device work."""
    ahead_ratio: float | None
    """Share of the work whose call had returned before the work before it on the stream ended.

    ``None`` where no launch calls are known.
    """
    queued_ns: int | None
    """Median time between a call's return and the start of its work."""
    mean_depth: float | None
    """How many calls, on average over the device's span, had begun and their work had not."""


@once_per_trace
def bounds(trace: Trace) -> tuple[Bound, ...]:
    """Return the verdict on each device that did any work, artefacts left out."""
    return tuple(device_bound(trace, use) for use in utilization(trace))


def bound(trace: Trace) -> Bound | None:
    """Return the verdict on the busiest device, ``None`` without device work."""
    uses = utilization(trace)
    if not uses:
        return None
    place = max(range(len(uses)), key=lambda index: uses[index].busy_ns)
    return bounds(trace)[place]


def device_bound(trace: Trace, use: DeviceUse, *, with_artefacts: bool = False) -> Bound:
    """Return the verdict on one device.

    Args:
        trace: The recording.
        use: One of its devices.
        with_artefacts: Count the profiler's own doing and the cold first step too.
    """
    counted = counted_use(trace, use, with_artefacts=with_artefacts)
    span_ns = max(counted.span_ns, 1)
    overhead_ns = counted.idle.launch_ns + counted.idle.host_wait_ns
    sync_ns = min(_stalling_sync_ns(trace, use), counted.idle.sync_ns)
    ahead, queued_ns, depth = _launched_ahead(trace, use)
    return Bound(
        device=use.device,
        kind=_kind(use, counted, sync_ns),
        counted=counted,
        busy_ratio=counted.busy_ns / span_ns,
        overhead_ratio=overhead_ns / span_ns,
        sync_ratio=sync_ns / span_ns,
        other_ratio=(counted.idle_ns - overhead_ns - sync_ns) / span_ns,
        comm_ratio=use.comm_exposed_ns / max(use.span_ns, 1),
        ahead_ratio=ahead,
        queued_ns=queued_ns,
        mean_depth=depth,
    )


def _kind(use: DeviceUse, counted: CountedUse, sync_ns: int) -> BoundKind:
    if counted.busy_ns >= BUSY_RATIO * counted.span_ns:
        if use.comm_exposed_ns >= _MOST * use.busy_ns:
            return BoundKind.COMMUNICATION
        if use.memcpy_exposed_ns >= _MOST * use.busy_ns:
            return BoundKind.COPY
        return BoundKind.COMPUTE
    exposed_ns = max(use.comm_exposed_ns, use.memcpy_exposed_ns)
    if exposed_ns >= counted.idle_ns and exposed_ns >= _MOST * use.busy_ns:
        is_copy = use.memcpy_exposed_ns == exposed_ns
        return BoundKind.COPY if is_copy else BoundKind.COMMUNICATION
    overhead_ns = counted.idle.launch_ns + counted.idle.host_wait_ns
    if overhead_ns >= _MOST * counted.idle_ns:
        return BoundKind.OVERHEAD
    if sync_ns >= _MOST * counted.idle_ns:
        return BoundKind.SYNC
    if counted.idle_ns - overhead_ns - sync_ns >= _MOST * counted.idle_ns:
        return BoundKind.OTHER
    return BoundKind.BALANCED


def _stalling_sync_ns(trace: Trace, use: DeviceUse) -> int:
    """Return the idle time in synchronise calls that kept the host from launching.

    While the host waits for work that is queued, a gap between two kernels is the device's own.
    """
    found = whole_gaps(trace)[use.device]
    return int(found.cause_ns[~found.is_queued, GapCause.SYNC].sum())


def _launched_ahead(trace: Trace, use: DeviceUse) -> tuple[float | None, int | None, float | None]:
    """Return how far the host was ahead: share of work, median wait in the queue, mean depth."""
    slices = trace.slices
    launches = launch_stats(trace)
    of_track = np.array([track.device for track in trace.tracks], np.int64)
    own = of_track[slices.track_id[launches.device_slice_id]] == use.device
    work, call = launches.device_slice_id[own], launches.launch_id[own]
    if not len(work):
        return None, None, None
    # A graph is one entry in the queue, whatever it holds.
    _, first = np.unique(call, return_index=True)
    residence_ns = slices.ts_ns[work[first]] - slices.ts_ns[call[first]]
    depth = float(np.maximum(residence_ns, 0).sum()) / max(use.span_ns, 1)
    queued_ns = int(np.median(launches.delay_ns[own]))
    # Rows are sorted by track and time: the row before is the work before on the same stream.
    has_before = (work > 0) & (slices.track_id[work - 1] == slices.track_id[work])
    work, call = work[has_before], call[has_before]
    if not len(work):
        return None, queued_ns, depth
    is_ahead = slices.end_ns[call] <= slices.end_ns[work - 1]
    return float(is_ahead.mean()), queued_ns, depth
