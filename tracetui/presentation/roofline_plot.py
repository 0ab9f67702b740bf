"""The roofline as a plot: roofs as braille lines, operators as glyphs, on logarithmic axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.roofline import Roofline, RooflinePoint
from tracetui.format import metric
from tracetui.model.arrays import NO_ID
from tracetui.presentation.table import cell_width, shortened

DOTS_ACROSS: Final = 2
DOTS_DOWN: Final = 4
_BRAILLE: Final = 0x2800
_DOT_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell by row and column of its dots."""

GLYPHS: Final = ("·", "•", "●")
"""A point by its share of the time."""
_BIG: Final = 0.2
_MEDIUM: Final = 0.03
SELECTED_GLYPH: Final = "◉"
OTHER_GLYPH: Final = "○"
"""Where the same work stands in the baseline."""
ASCII_GLYPHS: Final = (".", "o", "O", "@")
_ASCII_OTHER: Final = "0"
_AXIS_WIDTH: Final = 7
_MIN_DECADES: Final = 2.0
_LEAST_WIDTH: Final = 24
LEAST_HEIGHT: Final = 5
_LABEL_ROOM: Final = 14
_N_LABELS: Final = 6
_CLICK_REACH: Final = 6
"""How far from a point a click may be and still mean it."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A point as it stands on the plot."""

    row: int
    column: int
    glyph: str
    work_class: int
    point: int
    """Into the points."""


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One row of the plot: its text, and the cells that have a colour of their own."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Column and class of work."""
    selected: int = NO_ID
    """Column of the selected point, or ``NO_ID``."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis over whole decades."""

    low: float
    high: float
    """Exponents of ten."""

    def place(self, value: float, n: int) -> int:
        """Return which of ``n`` equal parts a value falls into, the last for what lies beyond."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return min(max(int(share * n), 0), n - 1)

    def value(self, part: float, n: int) -> float:
        """Return the value in the middle of one of ``n`` parts."""
        return float(10 ** (self.low + (part + 0.5) / n * (self.high - self.low)))


def scale_over(values: Sequence[float]) -> Scale:
    """Return an axis that holds all values, a tenth of a decade from its ends."""
    exponents = [math.log10(value) for value in values if value > 0]
    if not exponents:
        return Scale(0, _MIN_DECADES)
    low, high = min(exponents) - 0.1, max(exponents) + 0.1
    middle = (low + high) / 2
    reach = max(high - low, _MIN_DECADES) / 2
    return Scale(middle - reach, middle + reach)


@dataclass(frozen=True, slots=True)
class Roof:
    """One line of the plot."""

    title: str
    flop_per_s: float
    bytes_per_s: float

    @property
    def ridge(self) -> float:
        """Return the intensity from which arithmetic and no longer memory limits."""
        return self.flop_per_s / self.bytes_per_s

    def attainable(self, intensity: float) -> float:
        """Return the best rate at an intensity."""
        return min(self.flop_per_s, intensity * self.bytes_per_s)


def roofs_of(line: Roofline) -> list[Roof]:
    """Return the roofs that the points are held against, the highest first."""
    peaks = line.peaks
    if peaks is None or not peaks.bytes_per_s:
        return []
    found: dict[float, str] = {}
    for point in line.points:
        if point.roof_flop_per_s and point.precision:
            title = point.precision if point.is_matrix else f"{point.precision} vector"
            found.setdefault(point.roof_flop_per_s, title)
    return [
        Roof(title, rate, peaks.bytes_per_s) for rate, title in sorted(found.items(), reverse=True)
    ]


def plottable(line: Roofline) -> list[int]:
    """Return the points that have an intensity and a rate; copies have neither."""
    return [
        row
        for row, point in enumerate(line.points)
        if point.flop > 0 and point.intensity and point.flop_per_s
    ]


def glyph_of(point: RooflinePoint, total_ns: int, *, ascii_only: bool) -> str:
    """Return a glyph that grows with the point's share of the time."""
    share = point.time_ns / total_ns if total_ns else 0.0
    size = 2 if share >= _BIG else 1 if share >= _MEDIUM else 0
    return (ASCII_GLYPHS if ascii_only else GLYPHS)[size]


def nearest_point(line: Roofline, width: int, height: int, row: int, column: int) -> int:
    """Return the point whose glyph is nearest to a cell of the plot, or ``NO_ID`` if none is near.

    Cells are about twice as high as wide, so that a row counts double.
    """
    area = _area(line, width, height, None)
    reach = [
        (2 * abs(each.row - row) + abs(each.column + _AXIS_WIDTH - column), each.point)
        for each in (_markers(line, area, NO_ID, ascii_only=False) if area else ())
    ]
    distance, point = min(reach, default=(_CLICK_REACH + 1, NO_ID))
    return point if distance <= _CLICK_REACH else NO_ID


def moved(line: Roofline, baseline: Roofline) -> list[tuple[int, RooflinePoint]]:
    """Return the points that the baseline has too, by name and shapes, and where it has them."""
    known = {_work_of(baseline.points[row]): baseline.points[row] for row in plottable(baseline)}
    return [
        (row, known[_work_of(line.points[row])])
        for row in plottable(line)
        if _work_of(line.points[row]) in known
    ]


def _work_of(point: RooflinePoint) -> tuple[str, str]:
    return point.label, point.shapes


def plot_lines(
    line: Roofline,
    width: int,
    height: int,
    selected: int = NO_ID,
    *,
    baseline: Roofline | None = None,
    ascii_only: bool = False,
) -> list[PlotLine]:
    """Return the plot as rows of exactly ``width`` cells; none where there is no room for one.

    Both axes are logarithmic: FLOP for each byte to the right, FLOP a second upwards. Roofs are
    lines of dots, points are glyphs over them, the bigger ones last so that they stay in sight.
    Of a baseline the same work is drawn too, hollow, with a line of dots to where it stands now.
    """
    area = _area(line, width, height, baseline)
    if area is None:
        return []
    cells = _roof_cells(area, ascii_only=ascii_only)
    if baseline is not None:
        _write_moves(cells, area, line, moved(line, baseline), ascii_only=ascii_only)
    markers = _markers(line, area, selected, ascii_only=ascii_only)
    for marker in markers:
        cells[marker.row][marker.column] = marker.glyph
    chosen = next((each for each in markers if each.point == selected), None)
    # The selected point has its name in any case, the longest others where there is room.
    named = ([chosen] if chosen else []) + [each for each in reversed(markers) if each != chosen]
    for place, marker in enumerate(named[:_N_LABELS]):
        _write_label(
            cells, marker, line.points[marker.point].label, over_roofs=place == 0 and bool(chosen)
        )
    _write_titles(cells, area)
    labels = _rate_labels(area.rates, area.down)
    lines = []
    for row in range(area.down):
        marks = {each.column: each.work_class for each in markers if each.row == row}
        lines.append(
            PlotLine(
                f"{labels.get(row, '')[: _AXIS_WIDTH - 1]:>{_AXIS_WIDTH - 1}} "
                + "".join(cells[row]),
                tuple((column + _AXIS_WIDTH, value) for column, value in sorted(marks.items())),
                chosen.column + _AXIS_WIDTH if chosen and chosen.row == row else NO_ID,
            )
        )
    lines.append(PlotLine(_intensity_axis(area.intensities, area.across, width)))
    return lines


@dataclass(frozen=True, slots=True)
class _Area:
    """The part of the plot inside its axes."""

    roofs: tuple[Roof, ...]
    intensities: Scale
    rates: Scale
    across: int
    down: int


def _area(line: Roofline, width: int, height: int, baseline: Roofline | None) -> _Area | None:
    """Return the area of a plot of this size; ``None`` without room or anything to draw."""
    rows = plottable(line)
    if not rows or width < _LEAST_WIDTH or height < LEAST_HEIGHT:
        return None
    roofs = tuple(roofs_of(line))
    points = [line.points[row] for row in rows]
    if baseline is not None:
        points += [point for _, point in moved(line, baseline)]
    xs = [point.intensity or 1.0 for point in points] + [roof.ridge for roof in roofs]
    ys = [point.flop_per_s or 1.0 for point in points] + [roof.flop_per_s for roof in roofs]
    return _Area(roofs, scale_over(xs), scale_over(ys), width - _AXIS_WIDTH, height - 1)


def _roof_cells(area: _Area, *, ascii_only: bool) -> list[list[str]]:
    across, down = area.across, area.down
    n_x, n_y = across * DOTS_ACROSS, down * DOTS_DOWN
    bits = np.zeros((down, across), np.int64)
    for roof in area.roofs:
        before = None
        for x in range(n_x):
            rate = roof.attainable(area.intensities.value(x, n_x))
            y = n_y - 1 - area.rates.place(rate, n_y)
            # A steep roof stays one line: the dots between two columns are drawn too.
            start, stop = (y, y) if before is None else (min(before, y), max(before, y))
            before = y
            for dot in range(start if start == y else start + 1, stop + 1):
                bits[dot // DOTS_DOWN, x // DOTS_ACROSS] |= _DOT_BITS[dot % DOTS_DOWN][
                    x % DOTS_ACROSS
                ]
    mark = "-" if ascii_only else ""
    return [
        [(mark or chr(_BRAILLE + cell)) if cell else " " for cell in row] for row in bits.tolist()
    ]


def _write_moves(
    cells: list[list[str]],
    area: _Area,
    line: Roofline,
    moves: Sequence[tuple[int, RooflinePoint]],
    *,
    ascii_only: bool,
) -> None:
    """Write where the baseline's points stand, and dots from there to where they are now."""
    dot = "." if ascii_only else "⠂"
    for row, old in moves:
        new = line.points[row]
        (x0, y0), (x1, y1) = (_place(area, point) for point in (old, new))
        n = max(abs(x1 - x0), abs(y1 - y0))
        for step in range(1, n):
            x, y = x0 + round((x1 - x0) * step / n), y0 + round((y1 - y0) * step / n)
            if cells[y][x] == " ":
                cells[y][x] = dot
        if n:
            cells[y0][x0] = _ASCII_OTHER if ascii_only else OTHER_GLYPH


def _place(area: _Area, point: RooflinePoint) -> tuple[int, int]:
    """Return the column and the row of a point."""
    return (
        area.intensities.place(point.intensity or 1.0, area.across),
        area.down - 1 - area.rates.place(point.flop_per_s or 1.0, area.down),
    )


def _write_titles(cells: list[list[str]], area: _Area) -> None:
    """Write each roof's name under its flat part, else over it, as far right as there is room."""
    down, across = area.down, area.across
    for roof in area.roofs:
        text = f"{roof.title} {metric(roof.flop_per_s, 'FLOP/s')}"
        at = down - 1 - area.rates.place(roof.flop_per_s, down)
        for row in (at + 1, at - 1):
            start = _free_start(cells[row], len(text)) if 0 <= row < down else NO_ID
            if start >= across // 3:
                cells[row][start : start + len(text)] = list(text)
                break


def _free_start(row: list[str], width: int) -> int:
    """Return the last column from which ``width`` cells and one before are blank, or ``NO_ID``."""
    for start in range(len(row) - width, 0, -1):
        if all(cell == " " for cell in row[start - 1 : start + width]):
            return start
    return NO_ID


def _markers(line: Roofline, area: _Area, selected: int, *, ascii_only: bool) -> list[Marker]:
    """Return the glyphs, the longest last, the selected one at the very end."""
    found = []
    order = sorted(plottable(line), key=lambda each: (each == selected, line.points[each].time_ns))
    for row in order:
        point = line.points[row]
        glyph = glyph_of(point, line.costed_ns, ascii_only=ascii_only)
        if row == selected:
            glyph = ASCII_GLYPHS[-1] if ascii_only else SELECTED_GLYPH
        column, at = _place(area, point)
        found.append(
            Marker(row=at, column=column, glyph=glyph, work_class=point.work_class, point=row)
        )
    return found


_ALL_GLYPHS: Final = frozenset((*GLYPHS, *ASCII_GLYPHS, SELECTED_GLYPH))


def _write_label(cells: list[list[str]], marker: Marker, label: str, *, over_roofs: bool) -> None:
    """Write a point's name at its right, else at its left, where nothing else stands.

    Of double-width names there is none: cells hold one letter each.
    """
    row = cells[marker.row]
    text = shortened(label.rpartition("::")[2], _LABEL_ROOM)
    width = len(text)
    if cell_width(text) != width:
        return
    for start in (marker.column + 2, marker.column - 1 - width):
        around = row[max(start - 1, 0) : start + width + 1]
        if over_roofs:
            is_free = _ALL_GLYPHS.isdisjoint(row[max(start, 0) : start + width])
        else:
            is_free = all(cell == " " for cell in around)
        if start >= 0 and start + width <= len(row) and is_free:
            row[start : start + width] = list(text)
            return


def _rate_labels(axis: Scale, down: int) -> dict[int, str]:
    """Return the powers of ten on the vertical axis by row."""
    labels = {}
    for exponent in range(math.ceil(axis.low), math.floor(axis.high) + 1):
        labels[down - 1 - axis.place(10.0**exponent, down)] = metric(10.0**exponent, "").rstrip()
    return {row: _bare(text) for row, text in labels.items()}


def _bare(text: str) -> str:
    """Return ``1.00 T`` as ``1T``."""
    number, _, prefix = text.partition(" ")
    return f"{float(number):g}{prefix}"


def _intensity_axis(axis: Scale, across: int, width: int) -> str:
    cells = [" "] * width
    title = "FLOP/B"
    cells[: len(title)] = list(title)
    for exponent in range(math.ceil(axis.low), math.floor(axis.high) + 1):
        text = f"{10.0**exponent:g}"
        start = _AXIS_WIDTH + axis.place(10.0**exponent, across)
        if start + len(text) <= width:
            cells[start : start + len(text)] = list(text)
    return "".join(cells)
