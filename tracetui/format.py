"""Numbers as text: the one place that rounds."""

import re
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Final

from tracetui.units import (
    BYTES_PER_GIB,
    BYTES_PER_KIB,
    BYTES_PER_MIB,
    NS_PER_MS,
    NS_PER_S,
    NS_PER_US,
)

NOT_MEASURED: Final = "–"
"""What the screen shows for ``None``; zero is a measurement and is written as such."""


class TimeUnit(Enum):
    """How times are written."""

    AUTO = ""
    """Each in the unit that reads best."""
    NANOSECONDS = "ns"
    MICROSECONDS = "µs"
    MILLISECONDS = "ms"
    SECONDS = "s"

    @property
    def following(self) -> "TimeUnit":
        """Return the next one, around the end."""
        units = list(TimeUnit)
        return units[(units.index(self) + 1) % len(units)]

    @property
    def scale_ns(self) -> int:
        """Return how many nanoseconds one of it is; 1 where each time has its own."""
        return 1 if self is TimeUnit.AUTO else _SCALES[self][0]


_SCALES: Final = {
    TimeUnit.NANOSECONDS: (1, 0),
    TimeUnit.MICROSECONDS: (NS_PER_US, 2),
    TimeUnit.MILLISECONDS: (NS_PER_MS, 4),
    TimeUnit.SECONDS: (NS_PER_S, 6),
}
"""Nanoseconds in a unit, and how many decimals are written in it."""


def duration(ns: int | None, unit: TimeUnit = TimeUnit.AUTO) -> str:
    """Return nanoseconds with their unit, by default the one that reads best.

    That one has three significant decimals; a fixed one those of ``time_cell``.
    """
    if ns is None:
        return NOT_MEASURED
    if unit is not TimeUnit.AUTO:
        return f"{time_cell(ns, unit)} {unit.value}"
    size = abs(ns)
    if size < NS_PER_US:
        return f"{ns} ns"
    if size < NS_PER_MS:
        return f"{ns / NS_PER_US:.2f} µs"
    if size < NS_PER_S:
        return f"{ns / NS_PER_MS:.3f} ms"
    return f"{ns / NS_PER_S:.3f} s"


def time_cell(ns: int | None, unit: TimeUnit) -> str:
    """Return nanoseconds for a column: without the unit where all of the column have the same.

    Nothing at all is a bare zero, so that a column of few figures stays quiet. What is too short
    for the decimals of a fixed unit gets as many more as it takes to differ from nothing.
    """
    if ns == 0:
        return "0"
    if ns is None or unit is TimeUnit.AUTO:
        return duration(ns)
    scale, decimals = _SCALES[unit]
    while abs(ns) * 10**decimals < scale:
        decimals += 1
    return f"{ns / scale:,.{decimals}f}"


def titled(title: str, unit: TimeUnit) -> str:
    """Return the title of a column of ``time_cell``: it names the unit that the cells leave out."""
    return f"{title} {unit.value}".rstrip()


_WRITTEN: Final = re.compile(
    r"( *)(?<![\w.,])([-+−±]?)(?:(\d+) (ns)|(\d+\.\d\d) (µs)|(\d+\.\d{3}) (ms|s))(?!\w)"
)
"""A time as ``duration`` writes it, to the letter, with its sign and the spaces before it."""
_COLUMN_GAP: Final = 2


def with_unit(text: str, unit: TimeUnit) -> str:
    """Return a finished line with the times that ``duration`` wrote into it in another unit.

    No decimal is made up: 1.234 ms is 1,234 µs, not 1,234.00. A time that stands in a column, with
    more than one space before it, ends where it ended if the spaces have room for it.
    """
    return text if unit is TimeUnit.AUTO else _WRITTEN.sub(partial(_rewritten, unit), text)


def _rewritten(unit: TimeUnit, found: re.Match[str]) -> str:
    spaces, sign, *parts = found.groups()
    digits, own = (part for part in parts if part is not None)
    ns = Decimal(digits) * _SCALES[TimeUnit(own)][0]
    value = ns / _SCALES[unit][0]
    text = f"{sign}{value.normalize() if value else Decimal(0):,f} {unit.value}"
    if len(spaces) < _COLUMN_GAP:
        return spaces + text
    return text.rjust(max(len(found.group()), len(text) + 1))


def microseconds(ns: int | None) -> str:
    """Return nanoseconds as microseconds with three exact decimals."""
    if ns is None:
        return NOT_MEASURED
    sign = "-" if ns < 0 else ""
    whole, rest = divmod(abs(ns), NS_PER_US)
    return f"{sign}{whole}.{rest:03d}"


def count(amount: int | None) -> str:
    """Return a whole number with a thin grouping of thousands."""
    return NOT_MEASURED if amount is None else f"{amount:,}"


def percent(ratio: float | None) -> str:
    """Return a ratio as a percentage with one decimal."""
    return NOT_MEASURED if ratio is None else f"{ratio * 100:.1f} %"


def size(n_bytes: int | None) -> str:
    """Return an amount of memory in binary units."""
    if n_bytes is None:
        return NOT_MEASURED
    amount = abs(n_bytes)
    for unit, name in ((BYTES_PER_GIB, "GiB"), (BYTES_PER_MIB, "MiB"), (BYTES_PER_KIB, "KiB")):
        if amount >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} B"


_METRIC: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def metric(amount: float | None, unit: str) -> str:
    """Return an amount with three digits and a decimal prefix, as in ``203 TFLOP/s``."""
    if amount is None:
        return NOT_MEASURED
    if not amount:
        return f"0 {unit}"
    for scale, prefix in _METRIC:
        # What rounds up to a thousand of a prefix is one of the next.
        if abs(amount) >= scale * 0.9995:
            return f"{_three_digits(amount / scale)} {prefix}{unit}"
    return f"{_three_digits(amount)} {unit}"


def _three_digits(number: float) -> str:
    if abs(number) >= 99.95:
        return f"{number:.0f}"
    return f"{number:.1f}" if abs(number) >= 9.995 else f"{number:.2f}"


def middle_ellipsis(text: str, width: int) -> str:
    """Return ``text`` shortened in its middle to ``width`` characters, both telling ends kept."""
    if len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    tail = (width - 1) // 2
    head = width - 1 - tail
    return f"{text[:head]}…{text[len(text) - tail :]}"
