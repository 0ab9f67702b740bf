"""What a device's allocator held over time, as a chart of cells."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.memory import MemoryCurve, Peak, highest_between
from tracetui.analysis.work_class import WorkClass
from tracetui.format import TimeUnit, duration, size
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.presentation.roofline_plot import PlotLine
from tracetui.presentation.table import cut_off

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_RESERVED: Final = "─"
_PEAK: Final = "▾"
AXIS_WIDTH: Final = 11
"""Cells that the amounts take on the left, as in ``1023.9 MiB``."""
_FIXED_ROWS: Final = 3
"""The peak's line, the times, and what the selected row holds."""
LEAST_HEIGHT: Final = 5
_LEAST_WIDTH: Final = 30
_FLAT: Final = 0.5
"""Where the lowest level is above this share of the highest, the axis starts near it."""
_FOOT: Final = 0.25
"""How much of the difference lies below the lowest level there."""
_RESERVED_REACH: Final = 2
"""Reserved memory above so many times the highest level is said, not drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a row of the table held over time."""

    ts_ns: Int64s
    levels: Int64s


def chart_lines(
    curve: MemoryCurve,
    peak: Peak,
    span_ns: tuple[int, int],
    width: int,
    height: int,
    *,
    held: Held | None = None,
    unit: TimeUnit = TimeUnit.AUTO,
) -> list[PlotLine]:
    """Return the chart as rows of ``width`` cells; none where there is no room for one.

    A column shows the most that was allocated at any moment in it. Below stand the times, and what
    the selected row of the table held, as a strip of its own height.

    Args:
        curve: The device.
        peak: The moment to mark.
        span_ns: Start and end of the time that is drawn.
        width: Cells across.
        height: Lines.
        held: What the selected row held, where that is known.
        unit: How times are written.
    """
    if width < _LEAST_WIDTH or height < LEAST_HEIGHT:
        return []
    across, down = width - AXIS_WIDTH, height - _FIXED_ROWS
    edges_ns = _edges(span_ns, across)
    allocated, reserved = curve.highest(edges_ns)
    axis = _axis(allocated, reserved)
    cells = _cells(allocated, reserved, axis, down)
    labels = {0: size(axis.high), down - 1: size(axis.low)}
    lines = [
        PlotLine(f"{labels.get(row, ''):>{AXIS_WIDTH - 1}} {''.join(cells[row])}")
        for row in range(down)
    ]
    return [
        _peak_line(peak, edges_ns, reserved, axis, width),
        *lines,
        PlotLine(_time_axis(span_ns, width, unit)),
        _held_line(held, edges_ns, across),
    ]


@dataclass(frozen=True, slots=True)
class _Axis:
    """The amounts at the foot and at the top of the chart."""

    low: int
    high: int

    def eighths(self, levels: Int64s, down: int) -> Int64s:
        """Return how high each level stands, in eighths of a cell; what is there is seen."""
        share = (levels - self.low) / max(self.high - self.low, 1)
        found: Int64s = np.clip(np.round(share * down * 8), 0, down * 8).astype(np.int64)
        return np.where(levels > self.low, np.maximum(found, 1), 0)


def _edges(span_ns: tuple[int, int], across: int) -> Int64s:
    """Return where the columns begin and the last one ends; the span's end is part of it."""
    start_ns, end_ns = span_ns
    # A whole number of nanoseconds for each column, and the rest one by one: no product overflows.
    each, rest = divmod(end_ns + 1 - start_ns, across)
    columns = np.arange(across + 1)
    edges: Int64s = start_ns + columns * each + columns * rest // across
    return edges


def _axis(allocated: Int64s, reserved: Int64s | None) -> _Axis:
    low, high = int(allocated.min()), int(allocated.max())
    if reserved is not None and int(reserved.max()) <= _RESERVED_REACH * high:
        high = max(high, int(reserved.max()))
    if low > _FLAT * high and high > low:
        return _Axis(max(low - round((high - low) * _FOOT), 0), high)
    return _Axis(0, high)


def _cells(allocated: Int64s, reserved: Int64s | None, axis: _Axis, down: int) -> list[list[str]]:
    eighths = axis.eighths(allocated, down)
    # Rows from the top: each shows of a column what reaches into it.
    foot = (down - 1 - np.arange(down))[:, None] * 8
    filled = np.clip(eighths[None, :] - foot, 0, 8)
    cells = [[_EIGHTHS[each] for each in row] for row in filled.tolist()]
    if reserved is not None:
        at = axis.eighths(reserved, down)
        for column, (level, own) in enumerate(zip(at.tolist(), reserved.tolist(), strict=True)):
            row = down - 1 - max(level - 1, 0) // 8
            if axis.low < own <= axis.high and cells[row][column] == " ":
                cells[row][column] = _RESERVED
    return cells


def _column_of(ts_ns: int, edges_ns: Int64s) -> int:
    """Return the column of a moment, or ``NO_ID`` beyond the chart."""
    column = int(np.searchsorted(edges_ns, ts_ns, side="right")) - 1
    return column if 0 <= column < len(edges_ns) - 1 else NO_ID


def _peak_line(
    peak: Peak, edges_ns: Int64s, reserved: Int64s | None, axis: _Axis, width: int
) -> PlotLine:
    """Return the line above: the peak over its column, and what is reserved beyond the axis."""
    column = _column_of(peak.ts_ns, edges_ns)
    words = f"peak {size(peak.n_bytes)}"
    if reserved is not None and int(reserved.max()) > axis.high:
        words += f"; reserved {size(int(reserved.max()))}, above the chart"
    if column == NO_ID:
        side = "before" if peak.ts_ns < edges_ns[0] else "after"
        return PlotLine(cut_off(f"{'':{AXIS_WIDTH}}{words}; it lies {side} this stretch", width))
    at = AXIS_WIDTH + column
    text = cut_off(f"{'':{at}}{_PEAK} {words}", width)
    if at + 2 + len(words) > width and len(words) < at:
        text = f"{words:>{at - 1}} {_PEAK}"
    return PlotLine(text, ((at, int(WorkClass.OTHER)),), selected=at)


def _held_line(held: Held | None, edges_ns: Int64s, across: int) -> PlotLine:
    """Return how much the selected row held in each column, in heights of its own."""
    if held is None or not len(held.ts_ns):
        return PlotLine("")
    levels = highest_between(held.ts_ns, held.levels, 0, edges_ns)
    most = max(int(held.levels.max()), 1)
    heights = np.clip(np.ceil(levels / most * 8), 0, 8).astype(np.int64)
    strip = "".join(_EIGHTHS[each] for each in heights.tolist())
    return PlotLine(f"{'of the row':<{AXIS_WIDTH}}{strip:<{across}}")


def _time_axis(span_ns: tuple[int, int], width: int, unit: TimeUnit) -> str:
    """Return start, middle and end of the time that is drawn, under their columns."""
    start_ns, end_ns = span_ns
    start, middle, end = (
        duration(each, unit) for each in (start_ns, (start_ns + end_ns) // 2, end_ns)
    )
    across = width - AXIS_WIDTH
    gap = across // 2 - len(start) - len(middle) // 2
    left = f"{start}{' ' * max(gap, 1)}{middle}"
    if gap < 1 or len(left) + len(end) >= across:
        left = start
    return f"{'':{AXIS_WIDTH}}{left}{end:>{max(across - len(left), len(end) + 1)}}"[:width]
