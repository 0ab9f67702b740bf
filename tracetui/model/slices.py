"""Slices in columns."""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final

from tracetui.model.arrays import Bools, Int8s, Int32s, Int64s, Numbers, UInt8s


class SliceKind(IntEnum):
    """What a slice is, by its category alone."""

    OPERATOR = 0
    ANNOTATION = 1
    RUNTIME = 2
    """A call of the device's runtime or driver."""
    PYTHON = 3
    KERNEL = 4
    MEMCPY = 5
    MEMSET = 6
    DEVICE_ANNOTATION = 7
    SYNC = 8
    OVERHEAD = 9
    PROFILER = 10
    ASYNC = 11
    OTHER = 12


DEVICE_WORK: Final = (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)
"""The kinds that are work of a device, and no others."""


class SliceFlag(IntFlag):
    """What is odd about a slice."""

    CROSSES = 1
    """It overlaps an earlier slice of its track without nesting in it."""
    NO_DURATION = 2
    """The file gave none; it counts as 0."""
    NEGATIVE_DURATION = 4
    """The file gave one below 0; it counts as 0."""
    UNFINISHED = 8
    """A begin without an end; drawn to the end of the recording."""
    IMPOSSIBLE = 16
    """A kernel that ends long after the next one on its stream starts."""
    NAME_DIFFERS = 32
    """An end whose name is not its begin's."""
    BEFORE_LAUNCH = 64
    """Device work that starts before the call that launched it: the clocks do not agree."""


@dataclass(frozen=True, slots=True, eq=False)
class SliceTable:
    """Every slice of a trace, in columns of one length, sorted by ``(track_id, ts_ns)``.

    A slice's id is its row. On one track slices nest, follow or, flagged, cross; a parent
    contains its child but for 1 ns.
    """

    ts_ns: Int64s
    """Start, in nanoseconds since ``Trace.origin_ns``."""
    dur_ns: Int64s
    """Duration, never below 0."""
    track_id: Int32s
    name_id: Int32s
    """Into ``Trace.names``."""
    category_id: Int32s
    """Into ``Trace.categories``; the file's own word."""
    kind: Int8s
    """``SliceKind``."""
    parent_id: Int32s
    """The slice that directly encloses this one on its track, or ``NO_ID``."""
    depth: Int32s
    """0 for a root, its parent's plus one otherwise."""
    event_id: Numbers
    """Which event of the file this was, counted from 0; ``ArgumentSource`` takes it."""
    correlation: Numbers
    """The number a launch and its device work share; 0 is none."""
    external_id: Numbers
    """The number that ties a launch to its operator; 0 is none."""
    shape_id: Int32s
    """Into ``Trace.shapes``, an operator's input shapes as the file writes them, or ``NO_ID``."""
    signature_id: Int32s
    """Into ``Trace.signatures``, all that the file says of an operator's inputs, or ``NO_ID``."""
    geometry_id: Int32s
    """Into ``Trace.geometries``, a kernel's launch geometry, or ``NO_ID``."""
    n_bytes: Numbers
    """Bytes a copy or memset moved; -1 where the file does not say."""
    python_id: Numbers
    """``Python id`` of a frame; -1 is none."""
    python_parent_id: Numbers
    """``Python parent id`` of a frame; -1 is none."""
    sequence: Numbers
    """The autograd sequence number; -1 is none."""
    flags: UInt8s
    """``SliceFlag``."""

    def __len__(self) -> int:
        return len(self.ts_ns)

    @property
    def end_ns(self) -> Int64s:
        """Return each slice's end."""
        return self.ts_ns + self.dur_ns

    def is_device_work(self) -> Bools:
        """Return which slices are kernels, copies or memsets."""
        return (self.kind >= SliceKind.KERNEL) & (self.kind <= SliceKind.MEMSET)
