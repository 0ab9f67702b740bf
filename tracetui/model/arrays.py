"""Column types, the id of nothing, and freezing a column."""

from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Int64s: TypeAlias = npt.NDArray[np.int64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int8s: TypeAlias = npt.NDArray[np.int8]
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


def group_sums(group: npt.NDArray[Any], values: Int64s, n_groups: int) -> Int64s:
    """Return the exact integer sum of ``values`` by ``group``, shape ``(n_groups,)``.

    ``np.bincount`` adds in float64, which loses nanoseconds above 2**53.
    """
    sums = np.zeros(n_groups, np.int64)
    np.add.at(sums, group, values)
    return sums
