"""What a function of an expectation found, and what several of them need to say it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.trace import Trace

NO_SLICES: Final[Int64s] = np.empty(0, np.int64)
NO_DEVICE: Final = "no device activity was recorded"
NO_STEPS: Final = "no profiler steps were recorded"
_NS_PER_US: Final = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What one function found in one trace."""

    value: Fraction | str | bool | None
    """``None`` where the recording lacks what it takes; ``remark`` then says what."""
    slices: Int64s
    """The slices that show it."""
    remark: str = ""
    telling_id: int = NO_ID
    """The one slice to look at first; ``NO_ID`` where it is the first of ``slices``."""


def us(ns: int) -> Fraction:
    """Return nanoseconds as exact microseconds."""
    return Fraction(int(ns), _NS_PER_US)


def mean(values: Int64s) -> Fraction:
    """Return the exact mean of whole numbers."""
    return Fraction(int(values.sum()), len(values))


def median_us(values_ns: list[int]) -> Fraction:
    """Return the exact median of nanoseconds, in microseconds."""
    ordered = sorted(values_ns)
    middle = len(ordered) // 2
    return us(ordered[middle] + ordered[(len(ordered) - 1) // 2]) / 2


def not_measured(why: str) -> Measured:
    """Return that the recording lacks what it takes."""
    return Measured(None, NO_SLICES, why)


def device_rows(trace: Trace) -> Int64s:
    """Return the slices that are device work."""
    return np.flatnonzero(trace.slices.is_device_work())


def of_n(amount: int, word: str) -> str:
    """Return over how many of what a median is."""
    return f"one {word}" if amount == 1 else f"median of {amount} {word}s"
