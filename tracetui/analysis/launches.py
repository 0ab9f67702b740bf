"""From the call that launches to the work on the device: delays, and how full the queues were."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Int32s, Int64s, frozen
from tracetui.model.trace import Trace

SHORT_CALLS: Final = (
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
)
"""The calls that Holistic Trace Analysis counts as launches."""


@dataclass(frozen=True, slots=True, eq=False)
class LaunchStats:
    """One row for each piece of device work whose launch call is known, in the order of slices."""

    launch_id: Int32s
    """The runtime or driver call; several rows share it where a graph was launched."""
    device_slice_id: Int32s
    cpu_ns: Int64s
    """How long the call took."""
    gpu_ns: Int64s
    """How long the work took."""
    delay_ns: Int64s
    """From the call's end to the work's start; 0 where the work started earlier."""
    start_to_start_ns: Int64s
    """From the call's start to the work's start."""

    def __len__(self) -> int:
        return len(self.launch_id)

    @property
    def n_shorter_than_call(self) -> int:
        """Return how much device work took less time than its call."""
        return int((self.gpu_ns < self.cpu_ns).sum())

    def called(self, trace: Trace, names: tuple[str, ...] = SHORT_CALLS) -> "LaunchStats":
        """Return the rows whose call has one of these names."""
        wanted = [trace.names.find(name) for name in names]
        kept = np.isin(trace.slices.name_id[self.launch_id], [i for i in wanted if i != NO_ID])
        return LaunchStats(
            self.launch_id[kept],
            self.device_slice_id[kept],
            self.cpu_ns[kept],
            self.gpu_ns[kept],
            self.delay_ns[kept],
            self.start_to_start_ns[kept],
        )

    def first_of_each_call(self) -> "LaunchStats":
        """Return one row for each call, that of its earliest work."""
        order = np.lexsort((self.start_to_start_ns, self.launch_id))
        is_first = np.concatenate(([True], np.diff(self.launch_id[order]) != 0))[: len(order)]
        kept = np.sort(order[is_first])
        return LaunchStats(
            self.launch_id[kept],
            self.device_slice_id[kept],
            self.cpu_ns[kept],
            self.gpu_ns[kept],
            self.delay_ns[kept],
            self.start_to_start_ns[kept],
        )


@dataclass(frozen=True, slots=True, eq=False)
class QueueDepth:
    """How many launches of one stream wait for the device, after each change of that number."""

    device: int
    stream: int
    track_id: int
    time_ns: Int64s
    depth: Int64s

    @property
    def mean_depth(self) -> float:
        """Return the mean over time, from the first launch to the last start."""
        span_ns = int(self.time_ns[-1] - self.time_ns[0])
        weighted = int((self.depth[:-1] * np.diff(self.time_ns)).sum())
        return weighted / span_ns if span_ns else float(self.depth.mean())

    def depth_at(self, time_ns: int) -> int:
        """Return the depth just after a moment; 0 before the first launch."""
        row = int(np.searchsorted(self.time_ns, time_ns, side="right")) - 1
        return int(self.depth[row]) if row >= 0 else 0


@once_per_trace
def launch_stats(trace: Trace) -> LaunchStats:
    """Return call and work side by side, for all device work that names its call."""
    slices = trace.slices
    rows = np.flatnonzero(slices.is_device_work() & (links(trace).launch_id != NO_ID))
    call = links(trace).launch_id[rows]
    called_ns = slices.ts_ns[call]
    start_ns = slices.ts_ns[rows]
    return LaunchStats(
        launch_id=frozen(call),
        device_slice_id=frozen(rows.astype(np.int32)),
        cpu_ns=frozen(slices.dur_ns[call]),
        gpu_ns=frozen(slices.dur_ns[rows]),
        delay_ns=frozen(np.maximum(start_ns - called_ns - slices.dur_ns[call], 0)),
        start_to_start_ns=frozen(start_ns - called_ns),
    )


@once_per_trace
def queue_depth(trace: Trace) -> tuple[QueueDepth, ...]:
    """Return the queue of each stream: one more when a launch call starts, one less when its work does.

    A call that launches several pieces of work (a graph) says nothing of a queue and is left out.
    At one moment, calls count before starts.
    """
    slices = trace.slices
    launches = launch_stats(trace)
    n_works = np.bincount(launches.launch_id, minlength=len(slices))
    single = n_works[launches.launch_id] == 1
    call = launches.launch_id[single]
    work = launches.device_slice_id[single]
    track_of_work = slices.track_id[work]
    found = []
    for track_id in np.unique(track_of_work).tolist():
        own = track_of_work == track_id
        time_ns = np.concatenate((slices.ts_ns[call[own]], slices.ts_ns[work[own]]))
        change = np.repeat(np.array([1, -1], np.int64), int(own.sum()))
        order = np.lexsort((-change, time_ns))
        track = trace.tracks[track_id]
        found.append(
            QueueDepth(
                device=track.device,
                stream=track.stream,
                track_id=track_id,
                time_ns=frozen(time_ns[order]),
                depth=frozen(np.cumsum(change[order])),
            )
        )
    return tuple(found)
