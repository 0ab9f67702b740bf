"""The visible part of a recording: zooming, panning, its cells, its ruler, times as typed."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from tracetui.format import TimeUnit
from tracetui.model.arrays import Int64s
from tracetui.units import NS_PER_MS, NS_PER_S, NS_PER_US

MIN_SPAN_NS: Final = 1_000
"""No viewport shows less: below it a cell would be under a nanosecond."""
TICK_CELLS: Final = 16
"""The least distance of two ruler ticks."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """The visible part of a recording, always within it."""

    start_ns: int
    end_ns: int
    total_ns: int
    """The recording's length."""

    @classmethod
    def whole(cls, total_ns: int) -> "Viewport":
        """Return the viewport that shows everything."""
        total = max(total_ns, MIN_SPAN_NS)
        return cls(0, total, total)

    def between(self, start_ns: int, end_ns: int) -> "Viewport":
        """Return the viewport nearest to these bounds that is inside and not too narrow."""
        span = min(max(end_ns - start_ns, MIN_SPAN_NS), self.total_ns)
        start = start_ns - (span - (end_ns - start_ns)) // 2
        start = min(max(start, 0), self.total_ns - span)
        return Viewport(start, start + span, self.total_ns)

    @property
    def span_ns(self) -> int:
        """Return how much time is visible."""
        return self.end_ns - self.start_ns

    @property
    def is_whole(self) -> bool:
        """Return whether everything is visible."""
        return self.span_ns >= self.total_ns

    def zoomed(self, factor: int, at_ns: int, *, inwards: bool) -> "Viewport":
        """Return the viewport ``factor`` times as near, or as far; ``at_ns`` keeps its place."""
        span = self.span_ns // factor if inwards else self.span_ns * factor
        span = min(max(span, MIN_SPAN_NS), self.total_ns)
        at = min(max(at_ns, self.start_ns), self.end_ns)
        start = at - (at - self.start_ns) * span // self.span_ns
        return self.between(start, start + span)

    def panned(self, eighths: int) -> "Viewport":
        """Return the viewport moved by so many eighths of itself."""
        step = self.span_ns * eighths // 8
        start = min(max(self.start_ns + step, 0), self.total_ns - self.span_ns)
        return Viewport(start, start + self.span_ns, self.total_ns)

    def centred(self, at_ns: int) -> "Viewport":
        """Return the viewport with a time in its middle."""
        start = at_ns - self.span_ns // 2
        return self.between(start, start + self.span_ns)

    def fitted(self, start_ns: int, end_ns: int) -> "Viewport":
        """Return the viewport in which a span takes most of the room."""
        margin = max((end_ns - start_ns) // 8, 1)
        return self.between(start_ns - margin, end_ns + margin)

    def edges(self, width: int) -> Int64s:
        """Return the bounds of ``width`` cells, ``width + 1`` whole nanoseconds."""
        steps = np.arange(width + 1, dtype=np.int64)
        edges: Int64s = self.start_ns + self.span_ns * steps // width
        return edges

    def column(self, at_ns: int, width: int) -> int:
        """Return the cell that a time lies in; below 0 or from ``width`` on if out of sight."""
        if at_ns < self.start_ns:
            return -1
        column = (at_ns - self.start_ns) * width // self.span_ns
        # A cell's left bound is rounded down, so the next one may already hold the time.
        bound = self.start_ns + self.span_ns * (column + 1) // width
        return int(column + (at_ns >= bound))


def _unit(ns: int) -> TimeUnit:
    for unit in (TimeUnit.SECONDS, TimeUnit.MILLISECONDS, TimeUnit.MICROSECONDS):
        if ns >= unit.scale_ns:
            return unit
    return TimeUnit.NANOSECONDS


def tick_step_ns(span_ns: int, width: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50 … ns that keeps ticks apart."""
    least = max(span_ns * TICK_CELLS // max(width, 1), 1)
    power = 1
    while power * 10 <= least:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10, 20) if power * factor >= least)


def ruler_ticks(
    viewport: Viewport, width: int, unit: TimeUnit = TimeUnit.AUTO
) -> list[tuple[int, str]]:
    """Return the ruler's ticks: cell and label."""
    if width <= 0:
        return []
    step = tick_step_ns(viewport.span_ns, width)
    own = _unit(viewport.end_ns) if unit is TimeUnit.AUTO else unit
    first = -(-viewport.start_ns // step) * step
    ticks = []
    for at in range(first, viewport.end_ns, step):
        value = Decimal(at) / Decimal(own.scale_ns)
        ticks.append((viewport.column(at, width), f"{value.normalize():,f} {own.value}"))
    return ticks


def ruler_text(
    viewport: Viewport,
    width: int,
    *,
    ascii_only: bool = False,
    unit: TimeUnit = TimeUnit.AUTO,
) -> str:
    """Return the ruler's row."""
    letters = [" "] * width
    mark = "|" if ascii_only else "╷"
    ticks = ruler_ticks(viewport, width, unit)
    ends = [column for column, _ in [*ticks, (width, "")][1:]]
    for (column, label), end in zip(ticks, ends[: len(ticks)], strict=True):
        # Where all times have one unit, a label may have no room; its tick stays.
        text = mark + label if column + 1 + len(label) <= end else mark
        if column + len(text) <= width:
            letters[column : column + len(text)] = text
    text = "".join(letters)
    return text.replace("µ", "u") if ascii_only else text


def hit_columns(viewport: Viewport, width: int, starts_ns: Int64s, ends_ns: Int64s) -> list[int]:
    """Return the cells that search hits touch, however narrow these are.

    Args:
        viewport: What is visible.
        width: Cells.
        starts_ns: Starts of the hits, of any number and in any order.
        ends_ns: Their ends.
    """
    inside = (starts_ns < viewport.end_ns) & (ends_ns >= viewport.start_ns)
    if width <= 0 or not bool(inside.any()):
        return []
    left = viewport.edges(width)[:-1]
    first = np.searchsorted(left, starts_ns[inside], side="right") - 1
    last = np.searchsorted(left, ends_ns[inside] - 1, side="right") - 1
    steps = np.zeros(width + 1, np.int64)
    np.add.at(steps, np.clip(first, 0, width - 1), 1)
    np.add.at(steps, np.clip(np.maximum(first, last), 0, width - 1) + 1, -1)
    return [int(column) for column in np.flatnonzero(np.cumsum(steps[:-1]))]


_TIME: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(ns|us|µs|μs|ms|s)?\s*")
_TIME_UNITS: Final = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S}


def parse_time(text: str) -> int | None:
    """Return a time as typed, in nanoseconds: ``1.2ms``, ``340us``; ``None`` if it is none.

    Without a unit it is milliseconds.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    unit = (found.group(2) or "ms").replace("µ", "u").replace("μ", "u")
    return int(Decimal(found.group(1)) * _TIME_UNITS[unit])
