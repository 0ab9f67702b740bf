"""Memory as a chart and a table: what a device held, who held the peak, and which blocks."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tracetui.analysis.allocations import Running, held_bytes, operator_memory, running_at
from tracetui.analysis.memory import MemoryCurve, MemoryUse, Peak, memory_use
from tracetui.analysis.steps import steps
from tracetui.analysis.work_class import WorkClass
from tracetui.format import TimeUnit, count, duration, size
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.memory_plot import Held, chart_lines
from tracetui.presentation.memory_rows import PATH_JOINT, BlockRows, OperatorRows
from tracetui.presentation.roofline_plot import PlotLine
from tracetui.presentation.scope import Scope
from tracetui.presentation.table import Column, Table, Tabled

Page = Literal["operators", "blocks"]

NO_RECORDS: Final = "no memory records in this file; profile_memory=True brings them"
NO_ADDRESSES: Final = "no addresses in this file: which blocks were there is not known"


@dataclass(slots=True, eq=False)
class MemoryTable(Tabled):
    """One device's memory: the rows of a page, and the chart above them."""

    trace: Trace
    scope: Scope
    page: Page
    use: MemoryUse | None
    """``None`` where the file has no records."""
    curve: MemoryCurve | None
    peak: Peak | None
    running: Running
    table: Table
    rows: OperatorRows | BlockRows | None
    unit: TimeUnit = TimeUnit.AUTO

    @classmethod
    def of(
        cls, trace: Trace, scope: Scope | None = None, *, device: str = "", page: Page = "operators"
    ) -> "MemoryTable":
        """Return the table of a part of a trace, what holds most of the peak first.

        Args:
            trace: The recording.
            scope: Which part; a range has a peak of its own.
            device: As ``MemoryCurve.device``; any other word means the one worth looking at.
            page: Operators, or the blocks that were there at the peak.

        Raises:
            UsageError: If the filter of the scope cannot be understood.
        """
        scope = scope or Scope()
        chosen = scope.slices(trace)
        use = memory_use(trace)
        if use is None:
            return cls(trace, scope, page, None, None, None, _NOTHING, Table(_NAME_ALONE), None)
        curve = curve_of(use, device)
        peak = curve.peak(scope.span_ns)
        step_ids = np.array([step.slice_id for step in steps(trace)], np.int64)
        running = running_at(trace, peak, step_ids)
        rows: OperatorRows | BlockRows
        if page == "operators":
            found = operator_memory(trace, curve, peak, scope.span_ns, chosen)
            rows = OperatorRows.of(trace, found, is_whole=chosen is None)
        else:
            rows = BlockRows.of(trace, curve, peak, chosen)
        columns = rows.columns(trace, peak, TimeUnit.AUTO)
        start = next(place for place, each in enumerate(columns) if each.title == rows.sorted_by)
        table = Table(columns, sort_column=start)
        return cls(trace, scope, page, use, curve, peak, running, table, rows)

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        if self.rows is not None and self.peak is not None:
            self.table.columns = self.rows.columns(self.trace, self.peak, unit)

    @property
    def device(self) -> str:
        """Return which device this is about; nothing without records."""
        return "" if self.curve is None else self.curve.device

    def next_device(self) -> str:
        """Return the device after this one, around the end."""
        if self.use is None or self.curve is None:
            return ""
        curves = self.use.curves
        return curves[(curves.index(self.curve) + 1) % len(curves)].device

    @property
    def summary(self) -> str:
        """Return the peak, what ran then, and the peaks of the other devices."""
        if self.use is None or self.curve is None or self.peak is None:
            return NO_RECORDS
        where = " of the range" if self.scope.span_ns is not None else ""
        said = f"{self.device} peak{where} {size(self.peak.n_bytes)}"
        if isinstance(self.rows, BlockRows):
            n = len(self.rows.block)
            blocks = f"{count(n)} {'block' if n == 1 else 'blocks'}"
            passing = " that pass the filter" if self.scope.filter_text else ""
            said = f"{blocks}{passing} in the {said}"
        said += f" at {duration(self.peak.ts_ns, self.unit)}"
        running = self.running
        if running.path:
            said += f" in {self.trace.name_of(running.path[-1])}"
        around = [each for each in (running.annotation_id, running.step_id) if each != NO_ID]
        said += "".join(
            f", {self.trace.name_of(each)}" for each in around if each not in running.path[-1:]
        )
        others = [each for each in self.use.curves if each is not self.curve]
        if others:
            peaks = ", ".join(f"{each.device} {size(each.peak_bytes)}" for each in others)
            said += f"; {peaks} (d)"
        return said

    @property
    def empty_text(self) -> str:
        """Return why there are no rows."""
        if self.use is None:
            return NO_RECORDS
        if self.page == "blocks" and not self.trace.memory.address.any():
            return NO_ADDRESSES
        return f"Nothing was allocated{self.scope.words}."

    def work_class(self, place: int) -> int:
        """Return the class of work, which decides the colour: memory has none of its own."""
        del place
        return int(WorkClass.OTHER)

    def slice_at(self, place: int) -> int:
        """Return the slice of a row: the call that holds or allocated most, or asked."""
        return NO_ID if self.rows is None else int(self.rows.slice_id[self.row_at(place)])

    def place_of_slice(self, slice_id: int) -> int:
        """Return the row of a slice, of its name where it has none itself, or -1."""
        if self.rows is None or not 0 <= slice_id < len(self.trace.slices):
            return -1
        row = self.rows.row_of(self.trace, slice_id)
        return -1 if row == NO_ID else self.table.place_of(row)

    def chart(
        self, width: int, height: int, place: int, window: tuple[int, int] | None
    ) -> list[PlotLine]:
        """Return the chart with the row at a place; none without records or room.

        Args:
            width: Cells across.
            height: Lines.
            place: The row whose bytes are drawn below, or -1.
            window: What the timeline shows; a range that was chosen goes before it.
        """
        if self.curve is None or self.peak is None or self.rows is None:
            return []
        whole = (0, max(self.trace.end_ns, int(self.curve.ts_ns[-1]), 1))
        held = None
        if 0 <= place < self.n_rows():
            own = self.rows.blocks_of(self.trace, self.curve, self.row_at(place))
            held = Held(*held_bytes(self.trace, own))
        span_ns = self.scope.span_ns or window or whole
        return chart_lines(self.curve, self.peak, span_ns, width, height, held=held)

    def row_lines(self, place: int) -> list[str]:
        """Return what the pane says of a row."""
        if self.rows is None or self.peak is None:
            return []
        return self.rows.facts(self.trace, self.row_at(place), self.peak, self.unit)

    def peak_lines(self) -> list[str]:
        """Return what ran when most was allocated, outermost first."""
        if self.peak is None:
            return []
        trace, running = self.trace, self.running
        lines = [f"The peak: {size(self.peak.n_bytes)} at {duration(self.peak.ts_ns, self.unit)}"]
        if self.peak.reserved_bytes:
            lines.append(f"{'reserved':<11}{size(self.peak.reserved_bytes)}")
        for title, slice_id in (
            ("step", running.step_id),
            ("annotation", running.annotation_id),
        ):
            if slice_id != NO_ID:
                lines.append(f"{title:<11}{trace.name_of(slice_id)}")
        path = PATH_JOINT.join(trace.name_of(each) for each in running.path)
        lines.append(f"{'running':<11}{path or 'nothing that was recorded'}")
        return lines


def curve_of(use: MemoryUse, device: str = "") -> MemoryCurve:
    """Return the curve of a device; else that of the accelerator, or host, that held most."""
    for curve in use.curves:
        if curve.device == device:
            return curve
    return max(use.curves, key=lambda each: (each.device != "cpu", each.peak_bytes))


_NOTHING: Final = Running((), NO_ID, NO_ID)


def _no_name(row: int) -> str:
    del row
    return ""


_NAME_ALONE: Final = (Column("operator", _no_name, np.empty(0, str), is_number=False),)
