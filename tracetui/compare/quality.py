"""How well the device is used within a scope: tensor cores, share of the roof, occupancy."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.occupancy import kernel_occupancy
from tracetui.analysis.roofline import ROOF_PRECISIONS, costed_calls, trace_peaks
from tracetui.compare.sides import Side
from tracetui.model.arrays import NO_ID, Bools, Int64s, group_sums
from tracetui.model.slices import SliceKind
from tracetui.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class Occupied:
    """The theoretical occupancy of a scope's kernels."""

    ratio: float | None
    """The mean over kernel time, of the kernels whose occupancy is known."""
    limiter: str | None
    """What limits the kernel that takes most time."""


def tensor_core_ratio(own: Side) -> float | None:
    """Return the share of kernel time on tensor cores, by the kernels' names.

    ``None`` where no name tells, neither yes nor no.
    """
    slices = own.trace.slices
    rows = _kernels(own)
    names, group = np.unique(slices.name_id[rows], return_inverse=True)
    total = group_sums(group, slices.dur_ns[rows], len(names)).tolist()
    uses = [decode(own.trace.names[name_id]).tensor_cores for name_id in names.tolist()]
    if not any(use in ("yes", "no") for use in uses) or not sum(total):
        return None
    on_cores = sum(ns for ns, use in zip(total, uses, strict=True) if use == "yes")
    return float(on_cores / sum(total))


def roof_ratio(own: Side) -> float | None:
    """Return the least time that the roofs allow over the time taken, of the operators known.

    ``None`` where the device's roofs are unknown, or no operator's arithmetic and bytes are.
    """
    peaks = trace_peaks(own.trace)
    if peaks is None or peaks.bytes_per_s is None:
        return None
    calls = costed_calls(own.trace)
    inside = np.isin(own.instance_of[calls.slice_id], own.kept) & ~np.isnan(calls.n_bytes)
    least_s, taken_ns = 0.0, 0
    for code in np.unique(calls.precision[inside]).tolist():
        for is_matrix in (False, True):
            rows = inside & (calls.precision == code) & (calls.is_matrix == is_matrix)
            precision = None if code == NO_ID else ROOF_PRECISIONS[code]
            roof = peaks.flop_per_s(precision, is_matrix=is_matrix)
            known = rows if roof else rows & (calls.flop == 0)
            by_memory = calls.n_bytes[known] / peaks.bytes_per_s
            by_arithmetic = calls.flop[known] / roof if roof else np.zeros(int(known.sum()))
            least_s += float(np.maximum(by_memory, by_arithmetic).sum())
            taken_ns += int(calls.busy_ns[known].sum())
    return least_s * NS_PER_S / taken_ns if taken_ns else None


def occupied(own: Side) -> Occupied:
    """Return the theoretical occupancy of the scope's kernels."""
    found = kernel_occupancy(own.trace)
    inside: Bools = np.isin(own.instance_of[found.slice_ids], own.kept) & (found.pair_id >= 0)
    time_ns = group_sums(
        found.pair_id[inside],
        own.trace.slices.dur_ns[found.slice_ids[inside]],
        len(found.occupancies),
    )
    if not time_ns.sum():
        return Occupied(None, None)
    ratios = np.array([occupancy.ratio for occupancy in found.occupancies])
    return Occupied(
        ratio=float((ratios * time_ns).sum() / time_ns.sum()),
        limiter=found.occupancies[int(time_ns.argmax())].limiter,
    )


def _kernels(own: Side) -> Int64s:
    is_kernel = own.trace.slices.kind == SliceKind.KERNEL
    return np.flatnonzero(is_kernel & np.isin(own.instance_of, own.kept))
