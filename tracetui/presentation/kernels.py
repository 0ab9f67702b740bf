"""The kernels as a table, and one kernel's distribution."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.kernels import KernelStats, device_stats
from tracetui.analysis.work_class import WorkClass, short_kernel_name
from tracetui.format import (
    NOT_MEASURED,
    TimeUnit,
    count,
    duration,
    middle_ellipsis,
    percent,
    size,
)
from tracetui.model.arrays import NO_ID, Float64s, Int64s, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.scope import Scope
from tracetui.presentation.table import Column, Table, Tabled, time_column

_N_BINS = 24
_SUMMARY_NAME_WIDTH = 24
_LEAST_BARS = 8
_SPREAD_TEXT_WIDTH = 24
"""Cells that the shortest and the longest run take beside the histogram."""
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_MISLEADING = 1.2
"""A mean this much above the median tells of a few long runs, not of the typical one."""
_CORES: Final = {"yes": "yes", "no": "no", "unknown": NOT_MEASURED}
"""Whether tensor cores are used, as far as the name tells."""


@dataclass(slots=True, eq=False)
class KernelTable(Tabled):
    """The statistics of the kernels, and of copies and memsets, as a sortable table."""

    trace: Trace
    scope: Scope
    stats: KernelStats
    inside_ns: Int64s
    """How long each slice of the trace counts."""
    table: Table
    unit: TimeUnit = TimeUnit.AUTO
    has_copies: bool = True
    """Whether copies and memsets are listed."""

    @classmethod
    def of(
        cls, trace: Trace, scope: Scope | None = None, *, with_copies: bool = True
    ) -> "KernelTable":
        """Return the table of a part of a trace, the longest total first.

        Raises:
            UsageError: If the filter of the scope cannot be understood.
        """
        scope = scope or Scope()
        inside_ns = scope.sums(trace).total_ns
        rows = scope.device_work(trace)
        if not with_copies:
            rows = rows[trace.slices.kind[rows] == SliceKind.KERNEL]
        stats = device_stats(trace, rows, inside_ns[rows])
        columns = _columns(trace, stats, TimeUnit.AUTO)
        start = next(place for place, column in enumerate(columns) if column.title == "sum")
        table = Table(columns, sort_column=start)
        return cls(trace, scope, stats, inside_ns, table, has_copies=with_copies)

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        self.table.columns = _columns(self.trace, self.stats, unit)

    @property
    def summary(self) -> str:
        """Return what the view found, in one line."""
        stats, words = self.stats, self.scope.words
        n_calls = int(stats.calls.sum())
        if not n_calls:
            return f"0 kernels{words}" if words else "No kernels in this file"
        kinds = self.trace.slices.kind[stats.slice_ids]
        n_kernels = int((kinds == SliceKind.KERNEL).sum())
        said = [_amount(n_kernels, "kernel", "kernels")] if n_kernels else []
        if n_kernels < n_calls:
            said.append(_amount(n_calls - n_kernels, "copy", "copies"))
        said.append(_amount(len(stats), "name", "names"))
        total = int(stats.total_ns.sum())
        top = int(np.argmax(stats.total_ns))
        share = int(stats.total_ns[top]) / total if total else None
        name = short_kernel_name(self.trace.names[int(stats.name_id[top])])
        return (
            f"{', '.join(said)}{words}: {duration(total, self.unit)} in sum, {percent(share)} in "
            f"{middle_ellipsis(name, _SUMMARY_NAME_WIDTH)}"
        )

    def work_class(self, place: int) -> int:
        """Return the class of the work of a row."""
        return int(self.stats.work_class[self.row_at(place)])

    def slice_at(self, place: int) -> int:
        """Return the longest run of a row's kernel."""
        rows = self.stats.instances(int(self.stats.name_id[self.row_at(place)]))
        return int(rows[np.argmax(self.inside_ns[rows])])

    def place_of_slice(self, slice_id: int) -> int:
        """Return the row of a kernel, or -1."""
        if slice_id < 0 or slice_id >= len(self.trace.slices):
            return -1
        found = np.flatnonzero(self.stats.name_id == self.trace.slices.name_id[slice_id])
        if not len(found) or not self.trace.slices.is_device_work()[slice_id]:
            return -1
        return self.table.place_of(int(found[0]))

    def distribution(self, place: int, width: int) -> list[str]:
        """Return a kernel's full name, its spread, and who launches it."""
        row = self.row_at(place)
        stats, trace = self.stats, self.trace
        rows = stats.instances(int(stats.name_id[row]))
        dur_ns = self.inside_ns[rows]
        mean, median = float(stats.mean_ns[row]), float(stats.median_ns[row])
        warning = "; the mean misleads: a few runs are long" if mean > _MISLEADING * median else ""
        low, high = int(dur_ns.min()), int(dur_ns.max())

        def written(ns: float) -> str:
            return duration(round(ns), self.unit)

        operators = ", ".join(stats.operators[row]) or "no operator in this file"
        n_bars = max(min(width - _SPREAD_TEXT_WIDTH, _N_BINS), _LEAST_BARS)
        return [
            trace.names[int(stats.name_id[row])],
            f"launched by {operators}",
            f"mean {written(mean)}  median {written(median)}{warning}",
            f"{written(low)} {histogram(dur_ns, n_bars)} {written(high)}",
            f"over time {history(dur_ns, max(width - len('over time '), _LEAST_BARS))}",
        ]


def _amount(n: int, one: str, more: str) -> str:
    return f"{count(n)} {one if n == 1 else more}"


def histogram(dur_ns: Int64s, n_bins: int = _N_BINS) -> str:
    """Return how many runs fall into each of the equal spans from shortest to longest."""
    counts, _ = np.histogram(dur_ns, bins=n_bins)
    return _bars(counts.astype(float))


def history(dur_ns: Int64s, width: int) -> str:
    """Return the runs in order of time, the longest of those that share a cell."""
    parts = np.array_split(dur_ns, min(width, len(dur_ns)))
    return _bars(np.array([part.max() for part in parts], float))


def _bars(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    top = float(values.max()) if len(values) else 0.0
    if top <= 0:
        return _HEIGHTS[0] * len(values)
    # A value that is not zero never vanishes.
    return "".join(_HEIGHTS[0 if v <= 0 else max(1, round(v / top * 8))] for v in values.tolist())


def _columns(trace: Trace, stats: KernelStats, unit: TimeUnit) -> tuple[Column, ...]:
    said = [decode(trace.names[name_id]) for name_id in stats.name_id.tolist()]
    names = [each.short_name for each in said]
    libraries = [each.origin or NOT_MEASURED for each in said]
    cores = [_CORES[each.tensor_cores] for each in said]
    total = max(int(stats.total_ns.sum()), 1)
    geometries = [trace.geometries[row] if row >= 0 else None for row in stats.geometry_id.tolist()]
    streams = [",".join(map(str, own)) for own in stats.streams]
    n_bytes = _bytes_moved(trace, stats)

    def times(title: str, values: Int64s | Float64s) -> Column:
        return time_column(title, values, unit)

    def extent(row: int, side: str) -> str:
        geometry = geometries[row]
        sides = getattr(geometry, side) if geometry is not None else None
        return NOT_MEASURED if sides is None else "x".join(map(str, sides))

    def n_threads(side: str) -> Int64s:
        sides = [getattr(each, side) if each is not None else None for each in geometries]
        return np.array([NO_ID if each is None else math.prod(each) for each in sides], np.int64)

    def figure(row: int, side: str) -> int | None:
        geometry = geometries[row]
        return getattr(geometry, side) if geometry is not None else None

    def sizes(side: str) -> Float64s:
        found = [figure(row, side) for row in range(len(geometries))]
        return np.array([NO_ID if each is None else each for each in found], np.float64)

    return (
        Column("kernel", names.__getitem__, np.array(names, dtype=str), is_number=False),
        Column("class", lambda r: WorkClass(int(stats.work_class[r])).name.lower(),
               stats.work_class, is_number=False),
        Column("calls", lambda r: count(int(stats.calls[r])), stats.calls, width=8),
        times("sum", stats.total_ns),
        Column("share", lambda r: percent(int(stats.total_ns[r]) / total), stats.total_ns, width=9),
        times("median", stats.median_ns),
        times("mean", stats.mean_ns),
        times("min", stats.min_ns),
        times("max", stats.max_ns),
        Column("regs", lambda r: count(figure(r, "registers")), sizes("registers"), width=6),
        Column("shared B", lambda r: count(figure(r, "shared_bytes")), sizes("shared_bytes")),
        Column("grid", lambda r: extent(r, "grid"), n_threads("grid"), width=14),
        Column("block", lambda r: extent(r, "block"), n_threads("block"), width=12),
        Column("streams", lambda r: streams[r], np.array(streams, dtype=str), is_number=False,
               width=10),
        Column("occup.", lambda r: percent(figure(r, "occupancy_ratio")), sizes("occupancy_ratio"),
               width=9),
        Column("moved", lambda r: size(int(n_bytes[r])) if n_bytes[r] >= 0 else NOT_MEASURED,
               n_bytes),
        Column("tensor", cores.__getitem__, np.array(cores, dtype=str), is_number=False, width=8),
        Column("library", libraries.__getitem__, np.array(libraries, dtype=str), is_number=False,
               width=18),
    )  # fmt: skip


def _bytes_moved(trace: Trace, stats: KernelStats) -> Int64s:
    """Return the bytes that each row's copies moved, -1 where none says so."""
    moved = trace.slices.n_bytes[stats.slice_ids]
    row = np.repeat(np.arange(len(stats)), np.diff(stats.first))
    says = np.bincount(row[moved >= 0], minlength=len(stats)) > 0
    return np.where(says, group_sums(row, np.maximum(moved, 0), len(stats)), NO_ID)
