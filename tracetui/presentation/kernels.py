"""The kernels as a table, and one kernel's distribution."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.kernels import KernelStats, kernel_stats
from tracetui.analysis.work_class import WorkClass, short_kernel_name
from tracetui.format import NOT_MEASURED, count, duration, percent
from tracetui.model.trace import Trace
from tracetui.presentation.query import parse_query
from tracetui.presentation.table import Column, Table, cell_width, shortened

_N_BINS = 24
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_MISLEADING = 1.2
"""A mean this much above the median tells of a few long runs, not of the typical one."""
_MIN_NAME_WIDTH = 16


@dataclass(slots=True, eq=False)
class KernelTable:
    """The kernels' statistics as a sortable table."""

    trace: Trace
    stats: KernelStats
    table: Table
    widths: tuple[int, ...]

    @classmethod
    def of(cls, trace: Trace, filter_text: str = "") -> "KernelTable":
        """Return the table of a trace, the longest total first.

        Raises:
            UsageError: If the filter cannot be understood.
        """
        stats = kernel_stats(trace)
        columns, widths = _columns(trace, stats)
        table = Table(columns, sort_column=3)
        if filter_text:
            names = [trace.names[name_id] for name_id in stats.name_id.tolist()]
            table.keep(parse_query(filter_text).row_mask(names, stats.total_ns))
        return cls(trace, stats, table, widths)

    @property
    def summary(self) -> str:
        """Return what the view found, in one line."""
        n_calls = int(self.stats.calls.sum())
        if not n_calls:
            return "No kernels in this file"
        total = int(self.stats.total_ns.sum())
        top = int(np.argmax(self.stats.total_ns))
        share = int(self.stats.total_ns[top]) / total if total else None
        return (
            f"{count(n_calls)} kernels of {count(len(self.stats.name_id))} names, "
            f"{duration(total)} in sum; {percent(share)} in "
            f"{short_kernel_name(self.trace.names[int(self.stats.name_id[top])])}"
        )

    def header(self, width: int) -> str:
        """Return the titles; the column that the rows are sorted by is marked."""
        table = self.table
        titles = []
        for place, column in enumerate(table.columns):
            mark = ("▴" if table.is_inverted else "▾") if place == table.sort_column else ""
            titles.append(f"{column.title}{mark}")
        return self._laid_out(titles, width)

    def line(self, place: int, width: int) -> str:
        """Return one row."""
        return self._laid_out(self.table.cells(place), width)

    def work_class(self, place: int) -> int:
        """Return the class of the work of a row."""
        return int(self.stats.work_class[int(self.table.order[place])])

    def slice_at(self, place: int) -> int:
        """Return the longest run of a row's kernel."""
        rows = self.stats.instances(int(self.stats.name_id[int(self.table.order[place])]))
        return int(rows[np.argmax(self.trace.slices.dur_ns[rows])])

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
        row = int(self.table.order[place])
        stats, trace = self.stats, self.trace
        rows = stats.instances(int(stats.name_id[row]))
        dur_ns = trace.slices.dur_ns[rows]
        mean, median = float(stats.mean_ns[row]), float(stats.median_ns[row])
        warning = "   mean misleads: a few runs are long" if mean > _MISLEADING * median else ""
        low, high = int(dur_ns.min()), int(dur_ns.max())
        operators = ", ".join(stats.operators[row]) or "no operator in this file"
        return [
            shortened(trace.names[int(stats.name_id[row])], width),
            f"mean {duration(round(mean))}  median {duration(round(median))}{warning}",
            f"{duration(low)} {histogram(dur_ns)} {duration(high)}   runs by duration",
            f"over time {history(dur_ns, max(width - 12, 8))}",
            shortened(f"launched by {operators}", width),
        ]

    def _laid_out(self, cells: list[str], width: int) -> str:
        widths = list(self.widths)
        while len(widths) > 1 and width - sum(widths[1:]) < max(_MIN_NAME_WIDTH, width // 3):
            widths.pop()
        name_width = max(width - sum(widths[1:]), 1)
        name = shortened(cells[0], name_width - 1)
        text = name + " " * (name_width - cell_width(name))
        return text + "".join(
            cell.rjust(size) for cell, size in zip(cells[1:], widths[1:], strict=False)
        )


def histogram(dur_ns: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
    """Return how many runs fall into each of the equal spans from shortest to longest."""
    counts, _ = np.histogram(dur_ns, bins=_N_BINS)
    return _bars(counts.astype(float))


def history(dur_ns: np.ndarray[tuple[int, ...], np.dtype[np.int64]], width: int) -> str:
    """Return the runs in order of time, the longest of those that share a cell."""
    parts = np.array_split(dur_ns, min(width, len(dur_ns)))
    return _bars(np.array([part.max() for part in parts], float))


def _bars(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    top = float(values.max()) if len(values) else 0.0
    if top <= 0:
        return _HEIGHTS[0] * len(values)
    # A value that is not zero never vanishes.
    return "".join(_HEIGHTS[0 if v <= 0 else max(1, round(v / top * 8))] for v in values.tolist())


def _columns(trace: Trace, stats: KernelStats) -> tuple[tuple[Column, ...], tuple[int, ...]]:
    names = [short_kernel_name(trace.names[name_id]) for name_id in stats.name_id.tolist()]
    total = max(int(stats.total_ns.sum()), 1)
    geometries = [trace.geometries[row] if row >= 0 else None for row in stats.geometry_id.tolist()]

    def shape(row: int, side: str) -> str:
        geometry = geometries[row]
        extent = getattr(geometry, side) if geometry is not None else None
        return NOT_MEASURED if extent is None else "x".join(map(str, extent))

    def amount(row: int, side: str) -> str:
        geometry = geometries[row]
        return count(getattr(geometry, side)) if geometry is not None else NOT_MEASURED

    def sizes(side: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return np.array(
            [(getattr(g, side) or 0) if g is not None else -1 for g in geometries], np.int64
        )

    order = np.arange(len(names))
    columns = (
        Column("kernel", names.__getitem__, np.array(names, dtype=str), is_number=False),
        Column("class", lambda r: WorkClass(int(stats.work_class[r])).name.lower(),
               stats.work_class, is_number=False),
        Column("calls", lambda r: count(int(stats.calls[r])), stats.calls),
        Column("sum", lambda r: duration(int(stats.total_ns[r])), stats.total_ns),
        Column("share", lambda r: percent(int(stats.total_ns[r]) / total), stats.total_ns),
        Column("median", lambda r: duration(round(float(stats.median_ns[r]))), stats.median_ns),
        Column("mean", lambda r: duration(round(float(stats.mean_ns[r]))), stats.mean_ns),
        Column("min", lambda r: duration(int(stats.min_ns[r])), stats.min_ns),
        Column("max", lambda r: duration(int(stats.max_ns[r])), stats.max_ns),
        Column("regs", lambda r: amount(r, "registers"), sizes("registers")),
        Column("shared B", lambda r: amount(r, "shared_bytes"), sizes("shared_bytes")),
        Column("grid", lambda r: shape(r, "grid"), order, is_number=False),
        Column("block", lambda r: shape(r, "block"), order, is_number=False),
    )  # fmt: skip
    return columns, (0, 11, 8, 11, 9, 11, 11, 11, 11, 6, 10, 14, 12)
