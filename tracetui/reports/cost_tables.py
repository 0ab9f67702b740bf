"""The rows of a report that tell what work costs, and how near to its device's roofs it runs."""

from typing import Any

from tracetui.analysis.cost import operator_costs
from tracetui.analysis.device_table import DevicePeaks
from tracetui.analysis.kernels import KernelStats
from tracetui.analysis.occupancy import Occupancy, device_of, theoretical_occupancy
from tracetui.analysis.quantization import tiled_products
from tracetui.analysis.roofline import roofline
from tracetui.analysis.work_class import WorkClass, short_kernel_name
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.reports.time import Row, Time


def roofs(peaks: DevicePeaks | None) -> Row | None:
    """Return what the shares of the roofs are shares of, or nothing for a device not known."""
    if peaks is None:
        return None
    return {
        "device": peaks.name,
        "bytes_per_s": peaks.bytes_per_s,
        "matrix_flop_per_s": dict(peaks.matrix),
        "vector_flop_per_s": dict(peaks.vector),
        "source": peaks.source,
    }


def roofline_rows(trace: Trace, peaks: DevicePeaks | None, limit: int | None) -> list[Row]:
    """Return each operator with its shapes, under its roof; most time first."""
    return [
        {
            "operator": point.label,
            "shapes": point.shapes or None,
            "class": WorkClass(point.work_class).name.lower(),
            "calls": point.calls,
            "total_us": Time(point.time_ns),
            "flop": point.flop,
            "bytes": point.n_bytes,
            "flop_per_byte": point.intensity,
            "flop_per_s": point.flop_per_s,
            "bytes_per_s": point.bytes_per_s,
            "precision": point.precision,
            "roof_ratio": point.roof_ratio,
            "compute_ratio": point.compute_ratio,
            "memory_ratio": point.memory_ratio,
            "bound": point.bound,
        }
        for point in roofline(trace, peaks).points[:limit]
    ]


def tile_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return how each matrix product fills its tiles and waves; most time first."""
    return [
        {
            "operator": each.operator,
            "kernel": each.kernel_name,
            "short_name": short_kernel_name(each.kernel_name),
            "calls": each.calls,
            "total_us": Time(each.time_ns),
            "m": each.tiling.m,
            "n": each.tiling.n,
            "batch": each.tiling.batch,
            "tile_m": each.tiling.tile_m,
            "tile_n": each.tiling.tile_n,
            "tiles": each.tiling.n_tiles,
            "tile_ratio": each.tiling.tile_ratio,
            "wave_ratio": each.tiling.wave_ratio,
        }
        for each in tiled_products(trace)[:limit]
    ]


def uncosted_rows(trace: Trace) -> list[Row]:
    """Return the operators that have a model which could not say, and why; most calls first."""
    return [
        {"operator": name, "why": reason, "calls": n_calls}
        for name, reason, n_calls in operator_costs(trace).abstained
    ]


def occupancy_columns(trace: Trace, stats: KernelStats, limit: int | None) -> dict[str, list[Any]]:
    """Return the theoretical occupancy of each kernel's most common launch, and its limiter."""
    found = [
        _occupancy(trace, int(stats.slice_ids[int(stats.first[row])]), geometry_id)
        for row, geometry_id in enumerate(stats.geometry_id[:limit].tolist())
    ]
    return {
        "occupancy_theoretical_ratio": [each.ratio if each else None for each in found],
        "occupancy_limiter": [each.limiter if each else None for each in found],
    }


def _occupancy(trace: Trace, slice_id: int, geometry_id: int) -> Occupancy | None:
    if geometry_id == NO_ID:
        return None
    device = device_of(trace, trace.tracks[int(trace.slices.track_id[slice_id])].device)
    return None if device is None else theoretical_occupancy(trace.geometries[geometry_id], device)
