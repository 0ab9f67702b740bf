"""Time stamps from their text: exact integers of nanoseconds."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Raw

from tracetui.model.arrays import Bools, Int64s

_UInt64s: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

_LIMIT_NS: Final = 2**62
_WORD: Final = 8
"""How many characters are looked at as one integer."""
_MAX_DIGITS: Final = 2 * _WORD
"""Whole microseconds with so many digits still fit as nanoseconds."""
_DECIMALS: Final = 4
"""The point and three digits."""
_ZEROS: Final = np.uint64(0x3030303030303030)
_KEPT: Final = np.array(
    [(2**64 - 1) & ~((1 << 8 * (_WORD - n)) - 1) for n in range(_WORD + 1)], np.uint64
)
"""For 0 to 8: the bytes of so many characters at a word's end, whose first is the lowest byte."""


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

    Texts of the two usual layouts (digits alone, or with three decimals) are turned into integers
    eight characters at a time; any other goes through ``nanoseconds``.
    """
    n = len(texts)
    result = np.zeros(n, np.int64)
    data = b"".join((b"0" * (_MAX_DIGITS + _DECIMALS), b",".join(texts), b","))
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord(","))
    done = np.zeros(n, bool)
    # A text with a comma in it is no number, and would shift all that follow.
    if n and len(ends) == n:
        _fill_usual(data, ends, result, done)
    bad = []
    for row in np.flatnonzero(~done).tolist():
        value = nanoseconds(bytes(texts[row]))
        if value is None:
            bad.append(row)
        else:
            result[row] = value
    return result, bad


def _fill_usual(data: bytes, ends: Int64s, result: Int64s, done: Bools) -> None:
    """Fill in the rows of a usual layout, and note which they are."""
    lengths = np.diff(ends, prepend=_MAX_DIGITS + _DECIMALS - 1) - 1
    characters = np.frombuffer(data, np.uint8)
    has_point = (characters[ends - _DECIMALS] == ord(".")) & (lengths > _DECIMALS)
    if has_point.all():
        result[:], done[:] = _pointed(data, ends, lengths)
        return
    for rows, read in (
        (np.flatnonzero(has_point), _pointed),
        (np.flatnonzero(~has_point), _plain),
    ):
        if len(rows):
            result[rows], done[rows] = read(data, ends[rows], lengths[rows])


def _pointed(data: bytes, ends: Int64s, lengths: Int64s) -> tuple[Int64s, Bools]:
    """Return the times with three decimals that end there, and which of them are numbers."""
    characters = np.frombuffer(data, np.uint8)
    value, is_number = _plain(data, ends - _DECIMALS, lengths - _DECIMALS)
    for place, scale in ((3, 100), (2, 10), (1, 1)):
        digit = characters[ends - place] - np.uint8(ord("0"))
        is_number &= digit < 10
        value += digit * np.int64(scale)
    is_number &= value <= _LIMIT_NS
    value[~is_number] = 0
    return value, is_number


def _plain(data: bytes, ends: Int64s, n_digits: Int64s) -> tuple[Int64s, Bools]:
    """Return the times of so many digits that end there, and which of them are numbers."""
    # Every place of the text as the beginning of a word, without copying it.
    words = np.ndarray((len(data) - _WORD + 1,), "<u8", data, strides=(1,))
    fewest, most = int(n_digits.min()), int(n_digits.max())
    value = np.zeros(len(ends), np.uint64)
    odd = np.zeros(len(ends), np.uint64)
    for place in range(2 if most > _WORD else 1):
        digits = words[ends - (place + 1) * _WORD] ^ _ZEROS
        if fewest < (place + 1) * _WORD:
            digits &= _KEPT[np.clip(n_digits - place * _WORD, 0, _WORD)]
        # A digit has become its value, and anything else at least 10.
        odd |= digits | (digits + np.uint64(0x7676767676767676))
        value += _value(digits) * np.uint64(10 ** (place * _WORD))
    value *= np.uint64(1000)
    is_number = (odd & np.uint64(0x8080808080808080)) == 0
    is_number &= (n_digits > 0) & (n_digits <= _MAX_DIGITS) & (value <= _LIMIT_NS)
    value[~is_number] = 0
    return value.view(np.int64), is_number


def _value(digits: _UInt64s) -> _UInt64s:
    """Return the numbers of words of eight values of digits, by pairs, then fours, then all."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    low = np.uint64(0x000000FF000000FF)
    value: _UInt64s = (
        (pairs & low) * np.uint64(100 + (1_000_000 << 32))
        + ((pairs >> np.uint64(16)) & low) * np.uint64(1 + (10_000 << 32))
    ) >> np.uint64(32)
    return value
