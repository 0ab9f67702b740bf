"""All open traces in a table, one row each, the best of each column marked; below, what has none yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tracetui.compare.scoreboard import Scoreboard, ScoreRow
from tracetui.format import TimeUnit, count, duration, percent, size, with_unit
from tracetui.model.strings import clean_text
from tracetui.presentation.table import MIN_NAME_WIDTH, cut_off, padded

BEST: Final = "•"
_MARKS_WIDTH: Final = 4
_LONGEST_NAME: Final = 40
_BEST_GAP: Final = 4
"""Cells before a figure: a gap, and the mark of the best."""


@dataclass(frozen=True, slots=True)
class _Score:
    """One column."""

    title: str
    field: str
    text: Callable[[Any], str]
    width: int
    meaning: str
    has_best: bool = True


def bare_name(name: str) -> str:
    """Return a file's name without what all traces end in, for a sentence."""
    return name.removesuffix(".gz").removesuffix(".json").removesuffix(".pt.trace") or name


def _agreement(is_equal: bool | None) -> str:  # noqa: FBT001 - a cell's value
    return {True: "yes", False: "NO", None: "–"}[is_equal]


_COLUMNS: Final = (
    _Score("timed", "unprofiled_ns", duration, 12, "median of the runs without the profiler"),
    _Score("device", "gpu_ns", duration, 12, "device work launched, added up"),
    _Score("host", "host_ns", duration, 12, "time on the host"),
    _Score("wall", "wall_ns", duration, 12, "from one step's completion to the next"),
    _Score("kernels", "kernels", count, 9, "kernels, copies and fills"),
    _Score("launches", "launches", count, 10, "calls that launched at least one kernel"),
    _Score("copies", "copies", count, 8, "device copies"),
    _Score("equal", "is_equal", _agreement, 7, "results agree with the reference", has_best=False),
    _Score("tensor", "tensor_core_ratio", percent, 9, "kernel time that names tensor cores"),
    _Score(
        "roof", "roof_ratio", percent, 9, "least time the device's roofs allow, over that taken"
    ),
    _Score("occup.", "occupancy_ratio", percent, 9, "theoretical occupancy", has_best=False),
    _Score("limit", "limiter", str, 11, "what limits occupancy", has_best=False),
    _Score("tax", "compile_tax_ns", duration, 12, "what compiled code costs the host per call"),
    _Score("peak", "peak_bytes", size, 11, "the most memory held at once"),
)


@dataclass(frozen=True, slots=True)
class Awaited:
    """A variant of a capture that has no trace yet, or gets none."""

    name: str
    text: str
    """What is being done with it, or why it has no trace."""
    is_coming: bool
    """Whether a trace of it may still come."""


@dataclass(slots=True, eq=False)
class ScoreTable:
    """The scoreboard as lines, the variants without a trace last; two traces may be picked."""

    scoreboard: Scoreboard
    names: Sequence[str]
    """What each trace is called, in the scoreboard's order."""
    baseline: int = 0
    picked: list[int] = field(default_factory=list)
    """Rows picked for the pair, the older first; at most two."""
    awaited: Sequence[Awaited] = ()
    unit: TimeUnit = TimeUnit.AUTO
    """How times are written."""
    order: list[int] = field(init=False)
    """The rows, the fastest first."""

    def __post_init__(self) -> None:
        """Sort by the first time that all rows have."""
        self.order = sorted(range(len(self.scoreboard.rows)), key=self._speed)

    def _speed(self, row: int) -> tuple[int, int]:
        measure = self._measure()
        value = getattr(self.scoreboard.rows[row], measure)
        return (0, value) if value is not None else (1, 0)

    def _measure(self) -> str:
        rows = self.scoreboard.rows
        for name in ("unprofiled_ns", "gpu_ns"):
            if rows and all(getattr(row, name) is not None for row in rows):
                return name
        return "host_ns"

    @property
    def summary(self) -> str:
        """Return the answer: which is fastest, by how much, and by what."""
        n_coming = sum(each.is_coming for each in self.awaited)
        answer = with_unit(self._answer(), self.unit)
        return f"{answer} · {n_coming} to come" if n_coming else answer

    def _answer(self) -> str:
        rows = self.scoreboard.rows
        if not rows:
            return "No trace is whole yet"
        scope = self.scoreboard
        within = "" if scope.within is None else f" of {clean_text(scope.within)}"
        per = "in total" if scope.per == "total" else f"per {scope.per}{within}"
        if len(rows) == 1:
            return f"One trace, {per}; o opens another"
        measure = self._measure()
        words = {"unprofiled_ns": "without the profiler", "gpu_ns": "on the device"}
        first, last = self.order[0], self.order[-1]
        fast, slow = getattr(rows[first], measure), getattr(rows[last], measure)
        if measure == "host_ns" and any(row.gpu_ns is not None for row in rows):
            # A host that launches and returns has not done the work: no ratio would be fair.
            return (
                f"Some traces have device work, some not: {bare_name(self.names[first])} takes its host least,"
                f" {duration(fast)} {per}"
            )
        ratio = (
            f", {slow / fast:.2f}x as fast as {bare_name(self.names[last])}"
            if fast and slow
            else ""
        )
        where = words.get(measure, "on the host, profiled")
        return f"{bare_name(self.names[first])} is fastest {where}: {duration(fast)} {per}{ratio}"

    def __len__(self) -> int:
        return len(self.order)

    @property
    def n_lines(self) -> int:
        """Return how many lines there are: a trace each, then what has none."""
        return len(self.order) + len(self.awaited)

    def _shown(self) -> list[_Score]:
        return [
            column
            for column in _COLUMNS
            if any(getattr(row, column.field) is not None for row in self.scoreboard.rows)
        ]

    def _fitting(self, width: int) -> tuple[int, list[_Score]]:
        """Return the width of the name and the columns that have room beside it."""
        names = [*self.names, *(each.name for each in self.awaited)]
        longest = max(map(len, names), default=0) + 2
        name = max(min(longest, _LONGEST_NAME, width // 3), MIN_NAME_WIDTH)
        room = width - _MARKS_WIDTH - name
        shown = []
        for column in self._shown():
            if self._width(column) > room:
                break
            shown.append(column)
            room -= self._width(column)
        return name, shown

    def header(self, width: int) -> str:
        """Return the column titles."""
        name, columns = self._fitting(width)
        cells = "".join(f"{column.title:>{self._width(column)}}" for column in columns)
        return cut_off(f"{'':<{_MARKS_WIDTH}}{padded('trace', name)}{cells}", width)

    def line(self, place: int, width: int) -> str:
        """Return one row: its marks, its name, its figures, or why there are none."""
        name, columns = self._fitting(width)
        if place >= len(self):
            awaited = self.awaited[place - len(self)]
            head = f"{'':<{_MARKS_WIDTH}}{padded(' ' + awaited.name, name)}"
            return cut_off(f"{head}  {awaited.text}", width)
        row = self.order[place]
        mark = ("[x]" if row in self.picked else "[ ]") + ("A" if row == self.baseline else " ")
        cells = "".join(self._cell(row, column) for column in columns)
        return cut_off(f"{mark}{padded(' ' + self.names[row], name)}{cells}", width)

    def _cell(self, row: int, column: _Score) -> str:
        text = self._text(row, column)
        is_best = column.has_best and row in self.scoreboard.best(column.field)
        return f"{f'{BEST} {text}' if is_best else text:>{self._width(column)}}"

    def _text(self, row: int, column: _Score) -> str:
        value = getattr(self.scoreboard.rows[row], column.field)
        if value is None:
            return "–"
        return duration(value, self.unit) if column.text is duration else column.text(value)

    def _width(self, column: _Score) -> int:
        """Return how many cells a column has: in one unit for all, times are longer."""
        if self.unit is TimeUnit.AUTO or column.text is not duration:
            return column.width
        longest = max((len(self._text(row, column)) for row in self.order), default=0)
        return max(column.width, longest + _BEST_GAP)

    def row_at(self, place: int) -> int | None:
        """Return which trace stands on a line; none where its trace is awaited."""
        return self.order[place] if place < len(self) else None

    def toggle(self, place: int) -> None:
        """Pick a row for the pair, or put it back; a third takes the place of the oldest."""
        row = self.row_at(place)
        if row is None:
            return
        if row in self.picked:
            self.picked.remove(row)
        else:
            self.picked = [*self.picked, row][-2:]

    def pair(self, place: int) -> tuple[int, int] | None:
        """Return which two to compare: those picked, else the baseline and the row's trace."""
        if len(self.picked) == 2:
            chosen = set(self.picked)
            if self.baseline in chosen:
                return self.baseline, (chosen - {self.baseline}).pop()
            return self.picked[0], self.picked[1]
        other = self.picked[0] if self.picked else self.row_at(place)
        return None if other is None or other == self.baseline else (self.baseline, other)

    def details(self, place: int) -> list[str]:
        """Return all figures of a row, with what they mean."""
        row = self.row_at(place)
        if row is None:
            awaited = self.awaited[place - len(self)]
            return [awaited.name, "", awaited.text, "", "ctrl+r shows the capture"]
        score: ScoreRow = self.scoreboard.rows[row]
        lines = [self.names[row]]
        if score.variant:
            lines.append(f"Variant {score.variant}")
        lines.append("")
        lines += [
            f"{column.title:<9}{self._text(row, column)}   {column.meaning}" for column in _COLUMNS
        ]
        return [*lines, "", "space picks two, enter compares, b makes this the baseline"]
