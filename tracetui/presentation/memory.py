"""Memory as a chart and a table: what a device held, who held the peak, and which blocks."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tracetui.analysis.allocations import held_bytes, operator_memory
from tracetui.analysis.memory import MemoryUse, memory_use
from tracetui.analysis.work_class import WorkClass
from tracetui.format import TimeUnit, count, size
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.memory_peak import PeakMoment, curve_of
from tracetui.presentation.memory_plot import Held, chart_lines
from tracetui.presentation.memory_rows import BlockRows, OperatorRows
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
    moment: PeakMoment | None
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
            return cls(trace, scope, page, None, None, Table(_NAME_ALONE), None)
        curve = curve_of(use, device)
        moment = PeakMoment.of(trace, curve, scope.span_ns)
        peak = moment.peak
        rows: OperatorRows | BlockRows
        if page == "operators":
            found = operator_memory(trace, curve, peak, scope.span_ns, chosen)
            rows = OperatorRows.of(trace, found, is_whole=chosen is None)
        else:
            rows = BlockRows.of(trace, curve, peak, chosen)
        columns = rows.columns(trace, peak, TimeUnit.AUTO)
        start = next(place for place, each in enumerate(columns) if each.title == rows.sorted_by)
        table = Table(columns, sort_column=start)
        return cls(trace, scope, page, use, moment, table, rows)

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        if self.rows is not None and self.moment is not None:
            self.table.columns = self.rows.columns(self.trace, self.moment.peak, unit)

    @property
    def device(self) -> str:
        """Return which device this is about; nothing without records."""
        return "" if self.moment is None else self.moment.curve.device

    def next_device(self) -> str:
        """Return the device after this one, around the end."""
        if self.use is None or self.moment is None:
            return ""
        curves = self.use.curves
        return curves[(curves.index(self.moment.curve) + 1) % len(curves)].device

    @property
    def summary(self) -> str:
        """Return the peak, what ran then, and the peaks of the other devices."""
        if self.use is None or self.moment is None:
            return NO_RECORDS
        where = " of the range" if self.scope.span_ns is not None else ""
        said = f"{self.device} peak{where} {size(self.moment.peak.n_bytes)}"
        if isinstance(self.rows, BlockRows):
            n = len(self.rows.block)
            blocks = f"{count(n)} {'block' if n == 1 else 'blocks'}"
            passing = " that pass the filter" if self.scope.filter_text else ""
            said = f"{blocks}{passing} in the {said}"
        said += f" {self.moment.words(self.unit)}"
        others = [each for each in self.use.curves if each is not self.moment.curve]
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
        if self.moment is None or self.rows is None:
            return []
        curve, peak = self.moment.curve, self.moment.peak
        whole = (0, max(self.trace.end_ns, int(curve.ts_ns[-1]), 1))
        held = None
        if 0 <= place < self.n_rows():
            own = self.rows.blocks_of(self.trace, curve, self.row_at(place))
            held = Held(*held_bytes(self.trace, own))
        span_ns = self.scope.span_ns or window or whole
        return chart_lines(curve, peak, span_ns, width, height, held=held, unit=self.unit)

    def row_lines(self, place: int) -> list[str]:
        """Return what the pane says of a row."""
        if self.rows is None or self.moment is None:
            return []
        return self.rows.facts(self.trace, self.row_at(place), self.moment.peak, self.unit)

    def peak_lines(self) -> list[str]:
        """Return what ran when most was allocated, outermost first."""
        return [] if self.moment is None else self.moment.lines(self.unit)


def _no_name(row: int) -> str:
    del row
    return ""


_NAME_ALONE: Final = (Column("operator", _no_name, np.empty(0, str), is_number=False),)
