"""A trace by hand: ``trace_of(("aten::linear", 0, 100), ("aten::addmm", 10, 40))``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracetui.model.builder import EventKey, TraceBuilder, event_block
from tracetui.model.counters import MemoryTable
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.trace import Origin, Trace


@dataclass(frozen=True)
class Row:
    """One complete event; times in nanoseconds."""

    name: str
    ts_ns: int
    dur_ns: int
    category: str = "cpu_op"
    pid: str = "1"
    tid: str = "1"
    correlation: int = 0
    external_id: int = 0
    n_bytes: int = -1
    shape: str | None = None
    """Input shapes as JSON text."""
    types: str | None = None
    """Input types as JSON text."""
    values: str | None = None
    """Concrete inputs as JSON text."""
    strides: str | None = None
    """Input strides as JSON text."""
    geometry: Geometry | None = None


def kernel(
    name: str, ts_ns: int, dur_ns: int, correlation: int = 0, *, stream: int = 7, device: int = 0
) -> Row:
    """Return a kernel on a stream."""
    return Row(name, ts_ns, dur_ns, "kernel", str(device), str(stream), correlation)


def launch(
    ts_ns: int, dur_ns: int, correlation: int, *, name: str = "cudaLaunchKernel", tid: str = "1"
) -> Row:
    """Return a launch call on the host."""
    return Row(name, ts_ns, dur_ns, "cuda_runtime", "1", tid, correlation)


def annotation(name: str, ts_ns: int, dur_ns: int, *, tid: str = "1") -> Row:
    """Return a user annotation on the host."""
    return Row(name, ts_ns, dur_ns, "user_annotation", "1", tid)


def trace_of(*rows: Row | tuple[str, int, int], devices: Sequence[DeviceSpec] = ()) -> Trace:
    """Return the trace of these rows; a tuple is an operator's name, start and duration."""
    builder = TraceBuilder()
    shapes: dict[str, int] = {}
    signatures: dict[str, int] = {}
    table = []
    for event_id, given in enumerate(rows):
        row = given if isinstance(given, Row) else Row(*given)
        key = builder.key(EventKey(row.category, row.name, row.pid, row.tid))
        values = {
            "key": key,
            "ts_ns": row.ts_ns,
            "dur_ns": row.dur_ns,
            "event_id": event_id,
            "correlation": row.correlation,
            "external_id": row.external_id,
            "n_bytes": row.n_bytes,
        }
        if row.shape is not None:
            values["shape_id"] = shapes.setdefault(row.shape, len(shapes))
            parts = (row.shape, row.types, row.values, row.strides)
            signature = f"[{','.join(part or 'null' for part in parts)}]"
            values["signature_id"] = signatures.setdefault(signature, len(signatures))
        if row.geometry is not None:
            values["geometry_id"] = builder.geometry(row.geometry)
        table.append(values)
    builder.shapes = list(shapes)
    builder.signatures = list(signatures)
    builder.devices = tuple(devices)
    builder.blocks.append(event_block(table))
    builder.report.n_events = builder.report.n_complete = len(table)
    return builder.build(Origin("by hand", 0, "by hand", "by hand"))


def with_memory(
    trace: Trace,
    *records: tuple[int, int, int, int, int, int],
    addresses: Sequence[int] = (),
    tracks: Sequence[int] = (),
) -> Trace:
    """Return the trace with allocator records, in time order.

    Args:
        trace: One without.
        records: Time, bytes, total allocated, total reserved, device type, device index.
        addresses: Of each record; none are known without.
        tracks: Of each record; without, the first of all.
    """
    table = np.array(records, np.int64).reshape(-1, 6)
    memory = MemoryTable(
        ts_ns=table[:, 0],
        n_bytes=table[:, 1],
        total_allocated=table[:, 2],
        total_reserved=table[:, 3],
        device_type=table[:, 4].astype(np.int32),
        device_index=table[:, 5].astype(np.int32),
        track_id=np.array(tracks or [0] * len(table), np.int32),
        address=np.array(addresses or [0] * len(table), np.int64),
    )
    return replace(trace, memory=memory, memo={})
