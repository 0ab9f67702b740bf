"""Time stamps from their text: exact integers of nanoseconds."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from msgspec import Raw

from tracetui.model.arrays import Int64s

_LIMIT_NS = 2**62


def nanoseconds(text: bytes) -> int | None:
    """Return microseconds written in any legal way as nanoseconds, or ``None`` if it is no number.

    The decimal point moves by three places; what lies below a nanosecond is rounded half to even.
    """
    word = text.strip().strip(b'"').strip()
    try:
        value = Decimal(word.decode("ascii")) * 1000
        if not value.is_finite() or abs(value) > _LIMIT_NS:
            return None
        return int(value.to_integral_value())
    except (ArithmeticError, ValueError):
        return None


def nanosecond_column(texts: Sequence[bytes | Raw]) -> tuple[Int64s, list[int]]:
    """Return all times at once, and the rows that hold no number (as 0).

    Texts of one layout (only digits, the point at one place from the right) are turned into
    digit columns by numpy; any other goes through ``nanoseconds``.
    """
    n = len(texts)
    result = np.zeros(n, np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, n)
    joined = np.frombuffer(b"".join(texts), np.uint8)
    starts = np.cumsum(lengths) - lengths
    done = np.zeros(n, bool)
    for length in np.unique(lengths).tolist():
        if not 0 < length <= 20:
            continue
        rows = np.flatnonzero(lengths == length)
        block = joined[starts[rows][:, None] + np.arange(length)]
        for point in (0, 4):
            _digits(block, rows, point, result, done)
    bad = []
    for row in np.flatnonzero(~done).tolist():
        value = nanoseconds(bytes(texts[row]))
        if value is None:
            bad.append(row)
        else:
            result[row] = value
    return result, bad


def _digits(block: np.ndarray, rows: Int64s, point: int, result: Int64s, done: np.ndarray) -> None:
    """Fill in the rows that are digits with a point before the last ``point - 1`` of them."""
    width = block.shape[1]
    if width <= point or width - (point > 0) > 18:
        return
    digits = np.delete(block, width - point, axis=1) if point else block
    fits = ((digits >= 48) & (digits <= 57)).all(axis=1)
    if point:
        fits &= block[:, width - point] == 46
    values = np.zeros(len(rows), np.int64)
    for column in range(digits.shape[1]):
        values = values * 10 + (digits[:, column].astype(np.int64) - 48)
    if not point:
        values *= 1000
    result[rows[fits]] = values[fits]
    done[rows[fits]] = True
