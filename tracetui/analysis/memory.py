"""What the allocator recorded: curves and peaks of each device, and bytes by host slice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int64s, frozen, group_sums
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

if TYPE_CHECKING:
    import pandas as pd

_CPU: Final = 0
_DEVICE_WORDS: Final = {1: "cuda", 6: "hip", 12: "xpu", 13: "mps", 15: "hpu", 19: "mtia", 20: "npu"}
"""The device types of c10 that allocators record."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The moment at which a device held most."""

    ts_ns: int
    n_bytes: int
    reserved_bytes: int | None
    record: int
    """The record of ``Trace.memory`` that brought it; in a range whose start is its peak the last
    one before, and ``NO_ID`` where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoryCurve:
    """What one device held, record by record."""

    device: str
    """``cpu``, or kind and number as in ``cuda:0``."""
    record: Int64s
    """Which records of ``Trace.memory`` these are."""
    start_bytes: int
    """What was allocated before the first record."""
    ts_ns: Int64s
    allocated_bytes: Int64s
    reserved_bytes: Int64s | None
    """What the allocator took from the device; ``None`` where the file does not say."""

    @property
    def peak_bytes(self) -> int:
        """Return the most that was allocated at once, what was there at the start included."""
        return int(self.allocated_bytes.max())

    def peak(self, span_ns: tuple[int, int] | None = None) -> Peak:
        """Return the first moment at which most was allocated, of all or of a range of time."""
        start_ns, end_ns = span_ns or (int(self.ts_ns[0]), int(self.ts_ns[-1]))
        first = int(np.searchsorted(self.ts_ns, start_ns, side="left"))
        after = int(np.searchsorted(self.ts_ns, end_ns, side="right"))
        inside = self.allocated_bytes[first:after]
        held = self.start_bytes if first == 0 else int(self.allocated_bytes[first - 1])
        place = first - 1
        # What ends as the range begins is not part of it; a recording begins with its first record.
        begins_anew = len(inside) > 0 and int(self.ts_ns[first]) == start_ns
        if len(inside) and (begins_anew or int(inside.max()) > held):
            place = first + int(np.argmax(inside))
        reserved = None if self.reserved_bytes is None else int(self.reserved_bytes[max(place, 0)])
        if place < first:
            return Peak(start_ns, held, reserved, NO_ID if place < 0 else int(self.record[place]))
        level = int(self.allocated_bytes[place])
        return Peak(int(self.ts_ns[place]), level, reserved, int(self.record[place]))

    def highest(self, edges_ns: Int64s) -> tuple[Int64s, Int64s | None]:
        """Return the most that was allocated, and reserved, between neighbours of some moments.

        Args:
            edges_ns: Ascending; a span holds its start and not its end. A level holds until the
                next record.

        Returns:
            Two columns, one shorter than ``edges_ns``; no second one where it was not recorded.
        """
        allocated = highest_between(self.ts_ns, self.allocated_bytes, self.start_bytes, edges_ns)
        if self.reserved_bytes is None:
            return allocated, None
        before = int(self.reserved_bytes[0])
        return allocated, highest_between(self.ts_ns, self.reserved_bytes, before, edges_ns)


def highest_between(ts_ns: Int64s, levels: Int64s, before: int, edges_ns: Int64s) -> Int64s:
    """Return the highest level between neighbours of some moments, shape ``(edges - 1,)``.

    Args:
        ts_ns: When the level changes, ascending; it holds until the next change.
        levels: To what it changes.
        before: The level before the first change.
        edges_ns: The moments, ascending.
    """
    places = np.searchsorted(ts_ns, edges_ns, side="left")
    # The level held at a place is the one before it; one more at the end for reduceat's bounds.
    held = np.concatenate(([before], levels, [before]))
    # What changes at an edge ends the level before: that is no part of the span.
    begins_anew = np.searchsorted(ts_ns, edges_ns, side="right") > places
    bounds = np.column_stack(((places + begins_anew)[:-1], places[1:] + 1)).ravel()
    found: Int64s = np.maximum.reduceat(held, bounds)[::2]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class MemoryUse:
    """The curves, and what each slice allocated less what it released.

    The columns by slice hold one row for each slice of the trace, 0 beside the operator trees. A
    record belongs to every slice, of any thread, that is open at its time, both ends included,
    which is how torch counts.
    """

    curves: tuple[MemoryCurve, ...]
    total_bytes: Int64s
    """Host memory, of the slice and all below it."""
    self_bytes: Int64s
    """Host memory, less the direct children's."""
    device_total_bytes: Int64s
    device_self_bytes: Int64s
    outside_bytes: dict[str, int]
    """By device, what was allocated less released while no host slice was open."""

    @property
    def peak_bytes(self) -> dict[str, int]:
        """Return each device's peak."""
        return {curve.device: curve.peak_bytes for curve in self.curves}

    def to_pandas(self) -> "pd.DataFrame":
        """Return the curves, one under the other, as a data frame."""
        import pandas as pd  # noqa: PLC0415 - slow to import, and most runs never need it

        frame: pd.DataFrame = pd.concat(
            [
                pd.DataFrame(
                    {
                        "device": curve.device,
                        "ts_ns": curve.ts_ns,
                        "allocated_bytes": curve.allocated_bytes,
                        "reserved_bytes": curve.reserved_bytes,
                    }
                )
                for curve in self.curves
            ],
            ignore_index=True,
        )
        return frame


@once_per_trace
def memory_use(trace: Trace) -> MemoryUse | None:
    """Return what the allocator recorded; ``None`` for a trace without such records."""
    memory = trace.memory
    if not len(memory):
        return None
    lines = sorted(set(zip(memory.device_type.tolist(), memory.device_index.tolist(), strict=True)))
    outside = _outside(trace)
    curves: list[MemoryCurve] = []
    outside_bytes: dict[str, int] = {}
    for device_type, device_index in lines:
        device = _label(device_type, device_index)
        own = (memory.device_type == device_type) & (memory.device_index == device_index)
        curves.append(_curve(trace, device, own))
        outside_bytes[device] = int(memory.n_bytes[own & outside].sum())
    on_host = memory.device_type == _CPU
    total_bytes, self_bytes = bytes_by_slice(trace, on_host)
    device_total_bytes, device_self_bytes = bytes_by_slice(trace, ~on_host)
    return MemoryUse(
        curves=tuple(curves),
        total_bytes=total_bytes,
        self_bytes=self_bytes,
        device_total_bytes=device_total_bytes,
        device_self_bytes=device_self_bytes,
        outside_bytes=outside_bytes,
    )


def _label(device_type: int, device_index: int) -> str:
    if device_type == _CPU:
        return "cpu"
    return f"{_DEVICE_WORDS.get(device_type, f'device type {device_type}')}:{device_index}"


def _curve(trace: Trace, device: str, own: Bools) -> MemoryCurve:
    memory = trace.memory
    allocated, reserved = memory.total_allocated[own], memory.total_reserved[own]
    change = memory.n_bytes[own]
    if (allocated < 0).any():
        # Without the allocator's own sum, the level before the recording is unknown: 0 is least.
        allocated = np.cumsum(change)
        allocated = allocated - min(0, int(allocated.min()))
    return MemoryCurve(
        device=device,
        record=frozen(np.flatnonzero(own)),
        start_bytes=max(int(allocated[0] - change[0]), 0),
        ts_ns=frozen(memory.ts_ns[own]),
        allocated_bytes=frozen(allocated),
        reserved_bytes=None if (reserved < 0).any() else frozen(reserved),
    )


def _host_rows(trace: Trace) -> Int64s:
    is_host = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    on_host = is_host[trace.slices.track_id] if len(trace.slices) else np.empty(0, bool)
    return np.flatnonzero(on_host)


def _outside(trace: Trace) -> Bools:
    """Return which records fall into no slice of any host thread."""
    slices, rows = trace.slices, _host_rows(trace)
    rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
    if not len(rows):
        return np.ones(len(trace.memory), bool)
    reach = np.maximum.accumulate(slices.end_ns[rows])
    place = np.searchsorted(slices.ts_ns[rows], trace.memory.ts_ns, side="right") - 1
    covered: Bools = (place >= 0) & (reach[place] >= trace.memory.ts_ns)
    return ~covered


def bytes_by_slice(trace: Trace, own: Bools) -> tuple[Int64s, Int64s]:
    """Return total and self bytes of each slice, of the records that ``own`` marks.

    As torch counts them: what was allocated less what was released, by any thread, while the slice
    was open, both ends included; self is less the direct children's.
    """
    slices, rows = trace.slices, _host_rows(trace)
    ts_ns = trace.memory.ts_ns[own]
    prefix = np.concatenate(([0], np.cumsum(trace.memory.n_bytes[own])))
    first = np.searchsorted(ts_ns, slices.ts_ns[rows], side="left")
    last = np.searchsorted(ts_ns, slices.end_ns[rows], side="right")
    total = np.zeros(len(slices), np.int64)
    total[rows] = prefix[last] - prefix[first]
    children = rows[slices.parent_id[rows] >= 0]
    below = group_sums(slices.parent_id[children], total[children], len(slices))
    return frozen(total), frozen(total - below)
