"""Threads, device streams and the other lines that slices lie on."""

from dataclasses import dataclass
from enum import IntEnum

from tracetui.model.arrays import NO_ID


class TrackKind(IntEnum):
    """What a track holds; the order is the order on the screen."""

    HOST = 0
    """Operators, annotations and runtime calls of one thread: one tree."""
    PYTHON = 1
    """Python frames of one thread: a tree of their own, for they cross annotations."""
    OTHER = 2
    """Slices of no known category, begin/end pairs among them."""
    ASYNC = 3
    """Asynchronous slices (b/e)."""
    DEVICE = 4
    """Kernels, copies and memsets of one device stream."""
    DEVICE_ANNOTATION = 5
    """The device-side shadows of annotations; never device work."""
    SYNC = 6
    """Synchronisation records (``cuda_sync``): waiting, never device work."""
    OVERHEAD = 7
    """What the profiler itself cost."""
    PROFILER = 8
    """The profiler's own spans (category ``Trace``); they never stretch the recording."""


@dataclass(frozen=True, slots=True)
class Track:
    """One line of slices."""

    kind: TrackKind
    pid: str
    tid: str
    process_name: str
    thread_name: str
    device: int = NO_ID
    """The device's number, for device tracks; ``NO_ID`` elsewhere."""
    stream: int = NO_ID
    """The stream's number, for device tracks; ``NO_ID`` elsewhere or where there is none."""
    sort_index: tuple[int, int] = (0, 0)
    """The producer's sort index of process and thread."""

    @property
    def title(self) -> str:
        """Return what a lane's label says."""
        if self.kind in (TrackKind.DEVICE, TrackKind.DEVICE_ANNOTATION, TrackKind.SYNC):
            stream = "no stream" if self.stream < 0 else f"stream {self.stream}"
            return f"GPU {self.device} {stream}" if self.device >= 0 else stream
        name = self.thread_name or f"thread {self.tid}"
        return name if self.tid in name else f"{name} ({self.tid})"
