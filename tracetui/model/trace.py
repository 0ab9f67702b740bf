"""All tables of one recording."""

from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from tracetui.model.counters import CounterTable, InstantTable, MemoryTable
from tracetui.model.details import ArgumentSource
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.flows import FlowTable
from tracetui.model.load_report import LoadReport
from tracetui.model.slices import SliceKind, SliceTable
from tracetui.model.strings import StringTable
from tracetui.model.tracks import Track


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a trace came from."""

    path: str
    """As the user named it; cleaned of control bytes."""
    n_bytes: int
    format: str
    """The reader's name."""
    producer: str
    """What wrote the file, as far as the file tells."""
    is_compressed: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace:
    """One recording; it never changes, so any thread may read it."""

    slices: SliceTable
    tracks: tuple[Track, ...]
    """A track's id is its position; in the order of the screen."""
    names: StringTable
    categories: StringTable
    shapes: StringTable
    """Distinct input shapes, as JSON text without white space."""
    signatures: StringTable
    """Distinct inputs of operators, as JSON text of a list of four: shapes, types, values and
    strides, each ``null`` where the file has none of it."""
    geometries: tuple[Geometry, ...]
    flows: FlowTable
    counters: CounterTable
    instants: InstantTable
    memory: MemoryTable
    devices: tuple[DeviceSpec, ...]
    metadata: dict[str, Any]
    """The file's top-level members besides the events."""
    origin: Origin
    origin_ns: int
    """Absolute time of the first slice: base time and time stamp, in nanoseconds."""
    report: LoadReport
    details: ArgumentSource
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    """Results of analyses, kept as long as the trace lives."""
    lock: Any = field(default_factory=RLock, repr=False)

    def __repr__(self) -> str:
        """Return one line: its columns would fill the terminal of whoever looks at a trace."""
        return f"<Trace {self.origin.path!r}: {len(self.slices):,} slices on {len(self.tracks)} tracks>"

    @property
    def end_ns(self) -> int:
        """Return the last end of any slice but the profiler's own spans; 0 if there is none."""
        ends = self.slices.end_ns[self.slices.kind != SliceKind.PROFILER]
        return int(ends.max()) if len(ends) else 0

    def name_of(self, slice_id: int) -> str:
        """Return a slice's name."""
        return self.names[int(self.slices.name_id[slice_id])]
