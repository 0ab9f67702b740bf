"""Numbers as text: the one place that rounds."""

from enum import Enum
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


def duration(ns: int | None) -> str:
    """Return nanoseconds in the unit that reads best, with three significant decimals."""
    if ns is None:
        return NOT_MEASURED
    size = abs(ns)
    if size < NS_PER_US:
        return f"{ns} ns"
    if size < NS_PER_MS:
        return f"{ns / NS_PER_US:.2f} µs"
    if size < NS_PER_S:
        return f"{ns / NS_PER_MS:.3f} ms"
    return f"{ns / NS_PER_S:.3f} s"


class TimeUnit(Enum):
    """How a column writes its times."""

    AUTO = ""
    """Each in the unit that reads best."""
    MICROSECONDS = "µs"
    MILLISECONDS = "ms"

    @property
    def following(self) -> "TimeUnit":
        """Return the next one, around the end."""
        units = list(TimeUnit)
        return units[(units.index(self) + 1) % len(units)]


def time_cell(ns: int | None, unit: TimeUnit) -> str:
    """Return nanoseconds for a column: without the unit where all of the column have the same.

    Nothing at all is a bare zero, so that a column of few figures stays quiet.
    """
    if ns == 0:
        return "0"
    if ns is None or unit is TimeUnit.AUTO:
        return duration(ns)
    if unit is TimeUnit.MICROSECONDS:
        return f"{ns / NS_PER_US:,.2f}"
    return f"{ns / NS_PER_MS:,.4f}"


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
