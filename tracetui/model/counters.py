"""Values over time: counters, instants and what the allocator recorded."""

from dataclasses import dataclass

from tracetui.model.arrays import Float64s, Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class CounterTable:
    """Counter samples in file order."""

    ts_ns: Int64s
    series_id: Int32s
    """Into ``Trace.names``: the counter's name and, after a colon, the series' name."""
    value: Float64s

    def __len__(self) -> int:
        return len(self.ts_ns)


@dataclass(frozen=True, slots=True, eq=False)
class InstantTable:
    """Named moments, allocator records apart."""

    ts_ns: Int64s
    name_id: Int32s
    event_id: Int64s

    def __len__(self) -> int:
        return len(self.ts_ns)


@dataclass(frozen=True, slots=True, eq=False)
class MemoryTable:
    """The ``[memory]`` instants: each allocation (above 0) and release (below 0), in time order."""

    ts_ns: Int64s
    n_bytes: Int64s
    total_allocated: Int64s
    """-1 where the file does not say."""
    total_reserved: Int64s
    """-1 where the file does not say."""
    device_type: Int32s
    """0 is the CPU, 1 CUDA, as c10 counts them."""
    device_index: Int32s
    track_id: Int32s
    """The host track of the thread that asked, ``NO_ID`` where it has no slice."""
    address: Int64s
    """What tells a block apart while it lives; 0 where the file does not say."""

    def __len__(self) -> int:
        return len(self.ts_ns)
