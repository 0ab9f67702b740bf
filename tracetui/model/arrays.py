"""Column types, the id of nothing, and freezing a column."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

Int64s: TypeAlias = npt.NDArray[np.int64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int8s: TypeAlias = npt.NDArray[np.int8]
Numbers: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.int32]
"""Numbers to compare and look up, as narrow as they fit: no arithmetic but in wider types."""
UInt8s: TypeAlias = npt.NDArray[np.uint8]
Float64s: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

NO_ID: Final = -1
"""The id of no row."""

_Column = TypeVar("_Column", bound=npt.NDArray[Any])


def frozen(column: _Column) -> _Column:
    """Return the column after making it read-only."""
    column.setflags(write=False)
    return column


def narrowed(numbers: Int64s) -> Numbers:
    """Return numbers in 32 bits where all of them fit."""
    limits = np.iinfo(np.int32)
    if len(numbers) and (numbers.min() < limits.min or numbers.max() > limits.max):
        return numbers
    return numbers.astype(np.int32, copy=False)


def compact(column: _Column) -> _Column:
    """Return a read-only column of the same values; one that is all alike takes no room."""
    if len(column) and column.min() == column.max():
        alike: Any = np.broadcast_to(column[0], column.shape)
        return cast("_Column", alike)
    return frozen(column)


def is_alike(column: npt.NDArray[Any]) -> bool:
    """Return whether one value stands for all of them, as ``compact`` leaves it."""
    return len(column) > 0 and column.strides == (0,)


def joined(pieces: Sequence[_Column]) -> _Column:
    """Return columns one after the other; where one value stands for all, that takes no room."""
    filled = [piece for piece in pieces if len(piece)]
    if filled and all(is_alike(piece) and piece[0] == filled[0][0] for piece in filled):
        alike: Any = np.broadcast_to(filled[0][0], (sum(map(len, filled)),))
        return cast("_Column", alike)
    return cast("_Column", np.concatenate(pieces))


def group_sums(group: npt.NDArray[Any], values: Int64s, n_groups: int) -> Int64s:
    """Return the exact integer sum of ``values`` by ``group``, shape ``(n_groups,)``.

    ``np.bincount`` adds in float64, which loses nanoseconds above 2**53.
    """
    sums = np.zeros(n_groups, np.int64)
    np.add.at(sums, group, values)
    return sums
