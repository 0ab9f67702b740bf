"""What a slice costs, what it attains, and how it occupies its device, as lines of text."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from tracetui.analysis.cost import operator_costs
from tracetui.analysis.links import links
from tracetui.analysis.occupancy import LOW_RATIO, Occupancy, is_low_by_design, kernel_occupancy
from tracetui.analysis.roofline import ROOF_PRECISIONS, attained, costed_calls, trace_peaks
from tracetui.format import count, metric, percent
from tracetui.model.arrays import NO_ID
from tracetui.model.device import OccupancyLimits
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_AGREES: Final = 0.015
"""Reported and computed occupancies that differ by less are one: files have whole percents."""

_FACTORS: Final = {"REGS": "registers", "SMEM": "shared memory"}
"""The file's words for what limits, where ours are longer."""


def work_lines(trace: Trace, slice_id: int) -> Iterator[str]:
    """Yield the facts of an operator or a kernel; none where nothing is known."""
    operator = costed_operator(trace, slice_id)
    if operator != NO_ID:
        yield from _cost_lines(trace, operator, slice_id)
    if int(trace.slices.kind[slice_id]) == SliceKind.KERNEL:
        yield from _occupancy_lines(trace, slice_id)


def costed_operator(trace: Trace, slice_id: int) -> int:
    """Return the counted operator that a slice is, or that launched it; else ``NO_ID``."""
    counted = operator_costs(trace).is_counted
    owner = int(links(trace).owner_id[slice_id])
    here = owner if owner >= 0 else slice_id
    if here == slice_id and not counted[here]:
        return NO_ID
    while here >= 0 and not counted[here]:
        here = int(trace.slices.parent_id[here])
    return here


def _cost_lines(trace: Trace, operator: int, slice_id: int) -> Iterator[str]:
    costs = operator_costs(trace)
    flop = int(costs.flop[operator])
    n_bytes = None if np.isnan(costs.n_bytes[operator]) else int(costs.n_bytes[operator])
    of = "" if operator == slice_id else f" of {trace.name_of(operator)}"
    yield f"cost      {metric(flop, 'FLOP')}, {metric(n_bytes, 'B')} at least{of}"
    calls = costed_calls(trace)
    found = np.flatnonzero(calls.slice_id == operator)
    if not len(found):
        return
    row = int(found[0])
    busy_ns = int(calls.busy_ns[row])
    rates = f"{metric(flop / busy_ns * 1e9, 'FLOP/s')}"
    if n_bytes is not None:
        rates += f", {metric(n_bytes / busy_ns * 1e9, 'B/s')}"
    yield f"attained  {rates}"
    peaks = trace_peaks(trace)
    if peaks is None:
        return
    code = int(calls.precision[row])
    precision = None if code == NO_ID else ROOF_PRECISIONS[code]
    roof = peaks.flop_per_s(precision, is_matrix=bool(calls.is_matrix[row]))
    shares = attained(flop, n_bytes, busy_ns, roof, peaks.bytes_per_s)
    if shares.roof_ratio is not None:
        yield f"roof      {percent(shares.roof_ratio)} of it, bound by {shares.bound}"


def _occupancy_lines(trace: Trace, slice_id: int) -> Iterator[str]:
    occupancy = kernel_occupancy(trace).of(slice_id)
    geometry_id = int(trace.slices.geometry_id[slice_id])
    geometry = None if geometry_id == NO_ID else trace.geometries[geometry_id]
    reported = None if geometry is None else geometry.occupancy_ratio
    said = None if geometry is None or geometry.limits is None else limits_text(geometry.limits)
    if occupancy is None:
        if reported is not None:
            yield f"occupancy {percent(reported)}, as reported"
        if said:
            yield f"reported  {said}"
        return
    yield f"occupancy {occupancy_text(trace.name_of(slice_id), occupancy, reported)}"
    blocks = f"{count(occupancy.blocks)} {'block' if occupancy.blocks == 1 else 'blocks'}"
    warps = f"{count(occupancy.warps)} of {count(occupancy.max_warps)} warps"
    yield f"          {warps}, {blocks} a processor"
    if occupancy.waves is not None and occupancy.tail_ratio is not None:
        yield f"waves     {occupancy.waves:.2f}, {percent(occupancy.tail_ratio)} full"
    if said:
        yield f"reported  {said}"


def limits_text(limits: OccupancyLimits) -> str:
    """Return what the file's own calculator said of a launch; nothing where it said nothing."""
    if limits.active_blocks is None:
        return ""
    if not limits.active_blocks:
        return "that no block fits: the profiler's calculator gave up"
    blocks = f"{count(limits.active_blocks)} {'block' if limits.active_blocks == 1 else 'blocks'}"
    factors = [_FACTORS.get(word, word.lower()) for word in limits.factors]
    return f"{blocks} a processor" + (f" by {' and '.join(factors)}" if factors else "")


def occupancy_text(name: str, occupancy: Occupancy, reported: float | None) -> str:
    """Return the occupancy with what limits it, and what the file says where that differs."""
    computed = f"{percent(occupancy.ratio)} by {occupancy.limiter}"
    expected = occupancy.ratio if occupancy.estimate_ratio is None else occupancy.estimate_ratio
    differs = reported is not None and abs(reported - min(expected, 1.0)) > _AGREES
    text = f"reported {percent(reported)}, computed {computed}" if differs else computed
    if occupancy.ratio <= LOW_RATIO:
        return text + (", by design" if is_low_by_design(name, occupancy) else ", low")
    return text
