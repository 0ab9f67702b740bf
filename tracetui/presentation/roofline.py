"""The roofline as a plot of cells and a table: what each operator attains under its roofs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from tracetui.analysis.cost import operator_costs
from tracetui.analysis.device_table import with_peak
from tracetui.analysis.links import links
from tracetui.analysis.roofline import Roofline, RooflinePoint, roofline, trace_peaks
from tracetui.analysis.work_class import WorkClass
from tracetui.format import NOT_MEASURED, TimeUnit, count, duration, metric, percent
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.table import Column, Table, Tabled, time_column

By = Literal["operator", "class"]


def shapes_text(text: str) -> str:
    """Return input shapes for people, as in ``[8192,768]x[768,3072]``; scalars are left out."""
    try:
        shapes = json.loads(text) if text else []
    except ValueError:
        return text
    parts = [_shape_text(shape) for shape in shapes if shape]
    return "x".join(part for part in parts if part)


def _shape_text(shape: object) -> str:
    if not isinstance(shape, list):
        return ""
    if any(isinstance(each, list) for each in shape):
        return f"{{{count(len(shape))} tensors}}"
    return f"[{','.join(map(str, shape))}]"


@dataclass(slots=True, eq=False)
class RooflineTable(Tabled):
    """The points as a sortable table, with a summary and what the pane says of each."""

    trace: Trace
    roofline: Roofline
    by: By
    unit: TimeUnit = TimeUnit.AUTO
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        """Lay the columns out, most time first."""
        columns = _columns(self.roofline, self.unit)
        start = next(
            place for place, column in enumerate(columns) if column.title.startswith("time")
        )
        self.table = Table(columns, sort_column=start)

    @classmethod
    def of(
        cls, trace: Trace, rates: Mapping[str, float] | None = None, *, by: By = "operator"
    ) -> "RooflineTable":
        """Return the table under the roofs of the trace's device, or what is given for them."""
        return cls(trace, roofline(trace, with_peak(trace_peaks(trace), rates or {}), by), by)

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        self.table.columns = _columns(self.roofline, unit)

    @property
    def summary(self) -> str:
        """Return what the view found, in one line."""
        return summary_of(self.trace, self.roofline, self.unit)

    def point_at(self, place: int) -> RooflinePoint:
        """Return the point at a place of the table."""
        return self.roofline.points[self.row_at(place)]

    def work_class(self, place: int) -> int:
        """Return the class of the work of a row."""
        return self.point_at(place).work_class

    def slice_at(self, place: int) -> int:
        """Return the longest call of a row."""
        return self.point_at(place).slice_id

    def place_of_slice(self, slice_id: int) -> int:
        """Return the row of the operator that a slice is, belongs to or lies in, or -1."""
        if not 0 <= slice_id < len(self.trace.slices):
            return -1
        slices, link = self.trace.slices, links(self.trace)
        counted = operator_costs(self.trace).is_counted
        owner = int(link.owner_id[slice_id])
        here = owner if owner >= 0 else slice_id
        while here >= 0 and not counted[here]:
            here = int(slices.parent_id[here])
        if here < 0:
            return -1
        key = (slices.name_id[here], slices.shape_id[here])
        for row, point in enumerate(self.roofline.points):
            if (slices.name_id[point.slice_id], slices.shape_id[point.slice_id]) == key:
                return self.table.place_of(row)
        return -1


def summary_of(trace: Trace, line: Roofline, unit: TimeUnit = TimeUnit.AUTO) -> str:
    """Return the answer in one line: what bounds the time, or why nothing can be said."""
    if not line.points:
        return empty_reason(trace)
    bounds: dict[str, int] = {}
    for point in line.points:
        if point.bound is not None:
            bounds[point.bound] = bounds.get(point.bound, 0) + point.time_ns
    costed = f"{percent(line.costed_ns / line.total_ns if line.total_ns else None)} of kernel time"
    if not line.has_device:
        costed = f"{duration(line.costed_ns, unit)} in operators"
    if not bounds:
        device = line.device or ("this device" if line.has_device else "this host")
        return f"No roofs of {device} are known, P gives them; {costed} costed"
    parts = [
        f"{name} {percent(bounds[name] / line.costed_ns)}"
        for name in sorted(bounds, key=lambda each: -bounds[each])
        if bounds[name] / line.costed_ns >= _WORTH_SAYING
    ]
    return f"Bound by {', '.join(parts)}; {costed} costed"


_WORTH_SAYING: Final = 0.005
"""A smaller share of the time is left out of the first line."""


def empty_reason(trace: Trace) -> str:
    """Return why there is no roofline, and which profiler flag would bring one."""
    if not (trace.slices.kind == SliceKind.OPERATOR).any():
        return "No roofline: there are no operators; record with ProfilerActivity.CPU"
    if not (trace.slices.shape_id >= 0).any():
        return "No roofline: input shapes are not recorded; record with record_shapes=True"
    return "No roofline: no operator with a known cost ran here"


def point_lines(line: Roofline, point: RooflinePoint, unit: TimeUnit = TimeUnit.AUTO) -> list[str]:
    """Return what the pane says of a point."""
    lines = [point.label]
    share = percent(point.time_ns / line.costed_ns if line.costed_ns else None)
    if point.shapes:
        lines.append(shapes_text(point.shapes))
    lines += [
        f"{count(point.calls)} calls, {duration(point.time_ns, unit)}, {share} of what is costed",
        f"FLOP      {metric(point.flop, 'FLOP')}",
        f"bytes     {metric(point.n_bytes, 'B')}, the least that have to move",
        f"intensity {intensity_text(point.intensity)} FLOP/B",
        f"attained  {metric(point.flop_per_s, 'FLOP/s')}, {metric(point.bytes_per_s, 'B/s')}",
    ]
    if point.roof_ratio is not None:
        lines += [
            f"share     {percent(point.roof_ratio)} of the roof",
            f"          {percent(point.compute_ratio)} of compute",
            f"          {percent(point.memory_ratio)} of memory bandwidth",
            f"bound by  {bound_text(point)}",
        ]
    else:
        lines.append("share     the roofs of this device are not known (P gives them)")
    if line.peaks is not None:
        lines.append(f"roofs     {line.peaks.name}: {line.peaks.source}")
    return lines


def intensity_text(intensity: float | None) -> str:
    """Return FLOP for each byte, whole from a hundred on."""
    if intensity is None:
        return NOT_MEASURED
    if intensity >= 100:
        return f"{intensity:.0f}"
    return f"{intensity:.2f}" if intensity else "0"


_BEYOND: Final = 1.02
"""Above the compute roof by more than timing explains."""


def bound_text(point: RooflinePoint) -> str:
    """Return what holds a point back, in words."""
    match point.bound:
        case "compute" if (point.roof_ratio or 0) > _BEYOND:
            return "compute; above the roof: the roof is set too low, or the work is less"
        case "compute":
            return f"compute ({point.precision}{'' if point.is_matrix else ', no matrix units'})"
        case "memory" if (point.roof_ratio or 0) > 1:
            return "memory; faster than memory allows: a cache served it"
        case "memory":
            return "memory"
        case "latency":
            return "neither roof: too small for the device, or waiting inside"
        case _:
            return NOT_MEASURED


def _columns(line: Roofline, unit: TimeUnit) -> tuple[Column, ...]:
    points = line.points

    def numbers(
        values: Sequence[float | None],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.array([-1.0 if value is None else value for value in values], np.float64)

    def name(row: int) -> str:
        point = points[row]
        return f"{point.label} {shapes_text(point.shapes)}".rstrip()

    names = np.array([name(row) for row in range(len(points))], dtype=str)
    classes = [WorkClass(point.work_class).name.lower() for point in points]
    bounds = [point.bound or NOT_MEASURED for point in points]
    return (
        Column("operator", name, names, is_number=False),
        time_column("time", np.array([point.time_ns for point in points], np.int64), unit),
        Column(
            "roof",
            lambda r: percent(points[r].roof_ratio),
            numbers([point.roof_ratio for point in points]),
            width=9,
        ),
        Column("bound", bounds.__getitem__, np.array(bounds, dtype=str), is_number=False, width=9),
        Column(
            "FLOP/s",
            lambda r: metric(points[r].flop_per_s, "").rstrip(),
            numbers([point.flop_per_s for point in points]),
            width=9,
        ),
        Column(
            "B/s",
            lambda r: metric(points[r].bytes_per_s, "").rstrip(),
            numbers([point.bytes_per_s for point in points]),
            width=9,
        ),
        Column(
            "FLOP/B",
            lambda r: intensity_text(points[r].intensity),
            numbers([point.intensity for point in points]),
            width=9,
        ),
        Column(
            "calls",
            lambda r: count(points[r].calls),
            np.array([point.calls for point in points], np.int64),
            width=8,
        ),
        Column("class", classes.__getitem__, np.array(classes, dtype=str), is_number=False),
        Column(
            "type",
            lambda r: points[r].precision or NOT_MEASURED,
            np.array([point.precision or "" for point in points], dtype=str),
            is_number=False,
            width=7,
        ),
    )
