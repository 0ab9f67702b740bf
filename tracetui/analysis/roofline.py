"""Attained against attainable: each operator's rates beside the roofs of its device.

S. Williams, A. Waterman, D. Patterson: "Roofline: an insightful visual performance model for
multicore architectures", Commun. ACM 52(4), 2009.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tracetui.analysis.cost import MODELS, PRECISIONS, operator_costs
from tracetui.analysis.cost.arithmetic import COPIES, ELEMENT_FLOP
from tracetui.analysis.cost.convolutions import CONVOLUTIONS
from tracetui.analysis.cost.products import ATTENTIONS, PRODUCTS
from tracetui.analysis.device_table import DevicePeaks, peaks_of
from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.occupancy import device_of
from tracetui.analysis.work_class import WorkClass, work_class
from tracetui.model.arrays import NO_ID, Bools, Float64s, Int8s, Int64s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_S

Bound = Literal["compute", "memory", "latency"]

ROOF_PRECISIONS: Final = (*PRECISIONS, "tf32")
"""What ``CostedCalls.precision`` counts in."""

LATENCY_RATIO: Final = 0.1
"""Below this share of both roofs neither explains the time: too little work, or waiting."""


@dataclass(frozen=True, slots=True, eq=False)
class CostedCalls:
    """Operators that count and ran, one row for each call; the longest first."""

    slice_id: Int64s
    busy_ns: Int64s
    """Union of its device work; its own duration in a recording without a device."""
    flop: Float64s
    n_bytes: Float64s
    """NaN where types are not recorded."""
    precision: Int8s
    """Into ``ROOF_PRECISIONS``, as the kernels tell: fp32 on tensor cores is tf32; ``NO_ID``."""
    is_matrix: Bools
    work_class: Int64s
    """``WorkClass`` of its longest kernel; on a host, of the operator."""
    has_device: bool
    """Whether times are of a device."""
    device: str | None
    """The device's name, as the file has it."""
    device_bytes: int | None
    """Its memory."""

    def __len__(self) -> int:
        return len(self.slice_id)


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """One operator with its shapes, or one class of work."""

    label: str
    shapes: str
    """Input shapes as the file has them; empty for a class."""
    slice_id: int
    """The longest of its calls."""
    calls: int
    time_ns: int
    flop: int
    n_bytes: int | None
    precision: str | None
    is_matrix: bool
    work_class: int
    """``WorkClass``."""
    roof_flop_per_s: float | None
    roof_ratio: float | None
    """Time the roofs allow over time taken, 0 to 1; above 1 where a cache served the bytes."""
    compute_ratio: float | None
    """Share of the arithmetic roof alone."""
    memory_ratio: float | None
    """Share of the bandwidth alone."""
    bound: Bound | None
    """What holds it back, or ``None`` where the device's roofs are not known."""

    @property
    def intensity(self) -> float | None:
        """Return FLOP for each byte."""
        return self.flop / self.n_bytes if self.n_bytes else None

    @property
    def flop_per_s(self) -> float | None:
        """Return the attained arithmetic rate."""
        return self.flop * NS_PER_S / self.time_ns if self.time_ns else None

    @property
    def bytes_per_s(self) -> float | None:
        """Return the attained bandwidth, by least bytes."""
        if self.n_bytes is None or not self.time_ns:
            return None
        return self.n_bytes * NS_PER_S / self.time_ns


@dataclass(frozen=True, slots=True, eq=False)
class Roofline:
    """The roofs and the points below them, most time first."""

    device: str | None
    peaks: DevicePeaks | None
    points: tuple[RooflinePoint, ...]
    has_device: bool
    costed_ns: int
    """Time of all points."""
    total_ns: int
    """Busy time of kernels, or of operators on a host, of which the points explain a part."""

    @property
    def roof_ratio(self) -> float | None:
        """Return the time that the roofs allow over the time taken, of all points that have one."""
        known = [each for each in self.points if each.roof_ratio is not None]
        taken_ns = sum(each.time_ns for each in known)
        allowed_ns = sum((each.roof_ratio or 0.0) * each.time_ns for each in known)
        return allowed_ns / taken_ns if taken_ns else None


def _is_host_copy(trace: Trace) -> Bools:
    """Return, by name, which copies cross to or from the host: no device roof holds for them."""
    return np.array([name.startswith(("Memcpy HtoD", "Memcpy DtoH")) for name in trace.names], bool)


@once_per_trace
def costed_calls(trace: Trace) -> CostedCalls:
    """Return each counted operator with its device time.

    On a device only the operator's kernels count, and copies within the device; the union of
    their intervals is the time. An operator that launched nothing there has no row.
    """
    costs, link, slices = operator_costs(trace), links(trace), trace.slices
    if not link.has_device:
        rows = np.flatnonzero(costs.is_counted & (slices.dur_ns > 0))
        return _calls(trace, rows, slices.dur_ns[rows], None, None)
    work = np.flatnonzero(slices.is_device_work() & (link.owner_id >= 0))
    work = work[~_is_host_copy(trace)[slices.name_id[work]]] if len(work) else work
    counted = nearest(slices.parent_id, costs.is_counted)
    operator = counted[link.owner_id[work]]
    work, operator = work[operator >= 0], operator[operator >= 0]
    busy_ns = _union_by_group(operator, slices.ts_ns[work], slices.end_ns[work], len(slices))
    rows = np.flatnonzero(busy_ns > 0)
    longest = np.full(len(slices), NO_ID, np.int64)
    # Of equal places the last assignment stays: the longest, since they come in ascending order.
    order = np.argsort(slices.dur_ns[work], kind="stable")
    longest[operator[order]] = work[order]
    device = int(trace.tracks[int(slices.track_id[work[0]])].device) if len(work) else NO_ID
    return _calls(trace, rows, busy_ns[rows], longest[rows], device)


def _union_by_group(group: Int64s, start: Int64s, end: Int64s, n_groups: int) -> Int64s:
    """Return the length of the union of intervals of each group."""
    total = np.zeros(n_groups, np.int64)
    if not len(group):
        return total
    order = np.lexsort((start, group))
    group, start, end = group[order], start[order], end[order]
    # Each group gets a stretch of the axis of its own, so that one running maximum serves all.
    span = int(end.max()) - int(start.min()) + 1
    _, dense = np.unique(group, return_inverse=True)
    shift = dense * np.int64(span) - int(start.min())
    reach = np.maximum.accumulate(end + shift)
    before = np.concatenate(([np.int64(-1)], reach[:-1]))
    covered = np.maximum(end + shift - np.maximum(start + shift, before), 0)
    np.add.at(total, group, covered)
    return total


def _calls(
    trace: Trace, rows: Int64s, busy_ns: Int64s, kernel_id: Int64s | None, device: int | None
) -> CostedCalls:
    """Return the calls in order; ``kernel_id`` is the longest kernel of each."""
    costs = operator_costs(trace)
    order = np.lexsort((rows, -busy_ns))
    rows, busy_ns = rows[order], busy_ns[order]
    precision = costs.precision[rows].copy()
    classes = np.full(len(rows), NO_ID, np.int64)
    if kernel_id is None and len(rows):
        names, name_of = np.unique(trace.slices.name_id[rows], return_inverse=True)
        texts = [trace.names[name_id] for name_id in names.tolist()]
        classes = np.array([operator_class(text) for text in texts], np.int64)[name_of]
    elif kernel_id is not None and len(rows):
        names, name_of = np.unique(trace.slices.name_id[kernel_id[order]], return_inverse=True)
        texts = [trace.names[name_id] for name_id in names.tolist()]
        classes = np.array([work_class(text) for text in texts], np.int64)[name_of]
        rounds = np.array([_uses_tf32(text) for text in texts], bool)[name_of]
        is_fp32 = precision == ROOF_PRECISIONS.index("fp32")
        precision[is_fp32 & costs.is_matrix[rows] & rounds] = ROOF_PRECISIONS.index("tf32")
    spec = None if device is None else device_of(trace, device)
    return CostedCalls(
        slice_id=frozen(rows),
        busy_ns=frozen(busy_ns),
        flop=frozen(costs.flop[rows]),
        n_bytes=frozen(costs.n_bytes[rows]),
        precision=frozen(precision),
        is_matrix=frozen(costs.is_matrix[rows]),
        work_class=frozen(classes),
        has_device=device is not None,
        device=spec.name if spec else None,
        device_bytes=spec.total_bytes if spec else None,
    )


def operator_class(name: str) -> WorkClass:
    """Return the class of work that an operator does, where no kernel's name tells."""
    if name in PRODUCTS or name in CONVOLUTIONS:
        return WorkClass.GEMM
    if name in ATTENTIONS:
        return WorkClass.ATTENTION
    if name in COPIES:
        return WorkClass.COPY
    if "norm" in name or "softmax" in name:
        return WorkClass.NORM
    bare = name.removeprefix("aten::").removeprefix("_foreach_").removesuffix("_")
    if bare in ELEMENT_FLOP:
        return WorkClass.POINTWISE
    return WorkClass.REDUCTION if name in MODELS else WorkClass.OTHER


def _uses_tf32(kernel_name: str) -> bool:
    """Return whether a kernel over 32-bit numbers runs on the tensor cores, which round them."""
    kernel = decode(kernel_name)
    if kernel.tensor_cores != "yes":
        return False
    # AMD's matrix units keep all 32 bits; a kernel for NVIDIA's that names no format cannot.
    is_nvidia = (kernel.arch or "").startswith("sm")
    return kernel.dtype_in == "tf32" or (kernel.dtype_in is None and is_nvidia)


def trace_peaks(trace: Trace) -> DevicePeaks | None:
    """Return the roofs of the device that did the work, or ``None`` if it is not known.

    A host has none: its figures would have to be measured, and are not guessed.
    """
    calls = costed_calls(trace)
    return None if calls.device is None else peaks_of(calls.device, calls.device_bytes)


def roofline(
    trace: Trace, peaks: DevicePeaks | None, by: Literal["operator", "class"] = "operator"
) -> Roofline:
    """Return the points of a trace under the given roofs.

    Args:
        trace: The trace.
        peaks: ``trace_peaks(trace)``, or what the user says; ``None`` gives rates without shares.
        by: One point for each operator, input shapes and precision, or for each class of work.
    """
    calls = costed_calls(trace)
    rows = _groups(trace, calls, by)
    points = [_point(trace, calls, members, peaks, by) for members in rows]
    points.sort(key=lambda point: (-point.time_ns, point.label, point.shapes))
    slices = trace.slices
    kind = SliceKind.KERNEL if calls.has_device else SliceKind.OPERATOR
    of_kind = slices.kind == kind
    if not calls.has_device:
        of_kind &= slices.parent_id < 0
    return Roofline(
        device=calls.device,
        peaks=peaks,
        points=tuple(points),
        has_device=calls.has_device,
        costed_ns=sum(point.time_ns for point in points),
        total_ns=int(slices.dur_ns[of_kind].sum()),
    )


def _groups(trace: Trace, calls: CostedCalls, by: str) -> list[Int64s]:
    """Return the rows of each point, the longest call of each first."""
    if not len(calls):
        return []
    columns = [calls.precision.astype(np.int64), calls.is_matrix.astype(np.int64)]
    if by == "class":
        columns.append(calls.work_class)
    else:
        slices = trace.slices
        columns.append(slices.name_id[calls.slice_id].astype(np.int64))
        columns.append(slices.shape_id[calls.slice_id].astype(np.int64))
    _, group = np.unique(np.stack(columns), axis=1, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    edges = np.flatnonzero(np.diff(group[order])) + 1
    return np.split(order, edges)


def _point(
    trace: Trace, calls: CostedCalls, members: Int64s, peaks: DevicePeaks | None, by: str
) -> RooflinePoint:
    first = int(members[0])
    slice_id = int(calls.slice_id[first])
    shape_id = int(trace.slices.shape_id[slice_id])
    group_class = int(calls.work_class[first])
    time_ns = int(calls.busy_ns[members].sum())
    moved = calls.n_bytes[members]
    n_bytes = None if np.isnan(moved).any() else int(moved.sum())
    flop = int(calls.flop[members].sum())
    code, is_matrix = int(calls.precision[first]), bool(calls.is_matrix[first])
    precision = None if code == NO_ID else ROOF_PRECISIONS[code]
    roof = peaks.flop_per_s(precision, is_matrix=is_matrix) if peaks else None
    bandwidth = peaks.bytes_per_s if peaks else None
    shares = attained(flop, n_bytes, time_ns, roof, bandwidth)
    label = trace.name_of(slice_id)
    if by == "class":
        label = WorkClass(group_class).name.lower()
    return RooflinePoint(
        label=label,
        shapes="" if by == "class" or shape_id < 0 else trace.shapes[shape_id],
        slice_id=slice_id,
        calls=len(members),
        time_ns=time_ns,
        flop=flop,
        n_bytes=n_bytes,
        precision=precision,
        is_matrix=is_matrix,
        work_class=group_class,
        roof_flop_per_s=roof,
        roof_ratio=shares.roof_ratio,
        compute_ratio=shares.compute_ratio,
        memory_ratio=shares.memory_ratio,
        bound=shares.bound,
    )


@dataclass(frozen=True, slots=True)
class Attained:
    """Shares of the roofs; ``None`` where a roof or an amount is not known."""

    roof_ratio: float | None
    compute_ratio: float | None
    memory_ratio: float | None
    bound: Bound | None


def attained(
    flop: int,
    n_bytes: int | None,
    time_ns: int,
    flop_per_s: float | None,
    bytes_per_s: float | None,
) -> Attained:
    """Return the shares of both roofs, and which of them holds the work back.

    The longer of the two times that the roofs demand is the least there can be; what takes more
    than ``1 / LATENCY_RATIO`` times as long is held back by neither, and counts as latency.
    Without arithmetic the memory alone decides; with arithmetic, its roof has to be known.
    """
    if time_ns <= 0:
        return Attained(None, None, None, None)
    seconds = time_ns / NS_PER_S
    compute = flop / flop_per_s / seconds if flop and flop_per_s else None
    memory = n_bytes / bytes_per_s / seconds if n_bytes is not None and bytes_per_s else None
    if not flop and memory is not None:
        compute = 0.0
    if compute is None or memory is None:
        return Attained(None, compute, memory, None)
    share = max(compute, memory)
    bound: Bound = "compute" if compute >= memory else "memory"
    return Attained(share, compute, memory, "latency" if share < LATENCY_RATIO else bound)
