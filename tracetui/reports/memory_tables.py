"""Tables of a report that say what devices held: each one's peak, by operator and by block."""

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.allocations import (
    allocations,
    device_blocks,
    operator_memory,
    running_at,
)
from tracetui.analysis.memory import MemoryCurve, Peak, memory_use
from tracetui.analysis.steps import steps
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.reports.time import Row, Time


def _peaks(trace: Trace) -> Iterator[tuple[MemoryCurve, Peak]]:
    use = memory_use(trace)
    for curve in () if use is None else use.curves:
        yield curve, curve.peak()


def peak_rows(trace: Trace) -> list[Row]:
    """Return each device's peak, and what ran then."""
    step_ids = np.array([step.slice_id for step in steps(trace)], np.int64)
    rows: list[Row] = []
    for curve, peak in _peaks(trace):
        found = operator_memory(trace, curve, peak)
        running = running_at(trace, peak, step_ids)
        around = {"annotation": running.annotation_id, "step": running.step_id}
        rows.append(
            {
                "device": curve.device,
                "peak_bytes": peak.n_bytes,
                "reserved_bytes": peak.reserved_bytes,
                "peak_us": Time(peak.ts_ns),
                "start_bytes": curve.start_bytes,
                "before_bytes": found.before_bytes,
                "outside_bytes": found.outside_peak_bytes,
                "running": [trace.name_of(each) for each in running.path],
                **{
                    title: None if slice_id == NO_ID else trace.name_of(slice_id)
                    for title, slice_id in around.items()
                },
            }
        )
    return rows


def operator_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return what the operators and annotations of each name did to each device's memory."""
    rows: list[Row] = []
    for curve, peak in _peaks(trace):
        found = operator_memory(trace, curve, peak)
        held = found.peak_bytes
        by = found.allocated_bytes if held is None else held
        order = np.lexsort((found.name_id, -found.allocated_bytes, -by))
        rows += [
            {
                "device": curve.device,
                "name": trace.names[int(found.name_id[row])],
                "peak_bytes": None if held is None else int(held[row]),
                "peak_ratio": None
                if held is None or not peak.n_bytes
                else int(held[row]) / peak.n_bytes,
                "self_bytes": int(found.self_bytes[row]),
                "total_bytes": int(found.total_bytes[row]),
                "allocated_bytes": int(found.allocated_bytes[row]),
                "blocks": int(found.n_blocks[row]),
            }
            for row in order[:limit].tolist()
        ]
    return rows


def block_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return the blocks that were there at each device's peak, the largest first."""
    rows: list[Row] = []
    memory = trace.memory
    for curve, peak in _peaks(trace):
        blocks = allocations(trace)
        alive = np.flatnonzero(device_blocks(trace, curve) & blocks.alive_after(peak.record))
        sizes = memory.n_bytes[blocks.record[alive]]
        for block in alive[np.argsort(-sizes, kind="stable")][:limit].tolist():
            record, freed = int(blocks.record[block]), int(blocks.freed[block])
            maker, start_ns = int(blocks.maker_id[block]), int(memory.ts_ns[record])
            shape = int(trace.slices.shape_id[maker]) if maker >= 0 else NO_ID
            n_bytes = int(memory.n_bytes[record])
            rows.append(
                {
                    "device": curve.device,
                    "operator": trace.name_of(maker) if maker >= 0 else None,
                    "shapes": trace.shapes[shape] if shape >= 0 else None,
                    "bytes": n_bytes,
                    "peak_ratio": n_bytes / peak.n_bytes if peak.n_bytes else None,
                    "allocated_us": Time(start_ns),
                    "lived_us": None
                    if freed == NO_ID
                    else Time(int(memory.ts_ns[freed]) - start_ns),
                }
            )
    return rows
