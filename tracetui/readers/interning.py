"""What many slices share in their arguments, as numbers that a builder gives out."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np
import orjson

from tracetui.model.arrays import NO_ID, Int32s
from tracetui.model.builder import TraceBuilder
from tracetui.model.device import Geometry
from tracetui.readers.pytorch import occupancy_limits, whole

_SPACE: Final = re.compile(rb"\s+")


def number(value: object) -> float | None:
    """Return a number of any spelling, or ``None`` if it is none that can be reckoned with."""
    try:
        found = float(value)  # type: ignore[arg-type] # any spelling
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _ratio(value: object) -> float | None:
    percent = number(value)
    return None if percent is None else percent / 100


def _extent(raw: bytes) -> tuple[int, ...] | None:
    if not raw:
        return None
    try:
        values = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return tuple(whole(v, -1) for v in values) if isinstance(values, list) else None


class Interner:
    """Finds the numbers of operators' inputs and of launches' geometries."""

    def __init__(self, builder: TraceBuilder) -> None:
        """Begin with none; numbers come from ``builder``."""
        self._builder = builder
        self._inputs_of: dict[tuple[bytes, ...], tuple[int, int]] = {}
        self._geometry_of: dict[tuple[Any, ...], int] = {}

    def inputs(self, given: Mapping[str, Sequence[Any]]) -> tuple[Int32s, Int32s] | None:
        """Return each operator's shapes and all that is said of its inputs; ``None`` if of none."""
        dims, old_dims = given["dims"], given["old_dims"]
        if any(old_dims):
            dims = [new or old for new, old in zip(dims, old_dims, strict=True)]
        if not any(dims):
            return None
        has_inputs = list(map(bool, dims))
        ids = np.full((2, len(dims)), NO_ID, np.int32)
        parts = (dims, given["types"], given["values"], given["strides"])
        labels = zip(*(map(bytes, compress(part, has_inputs)) for part in parts), strict=True)
        ids[:, has_inputs] = np.array(list(map(self._inputs, labels)), np.int32).T
        return ids[0], ids[1]

    def _inputs(self, label: tuple[bytes, ...]) -> tuple[int, int]:
        ids = self._inputs_of.get(label)
        if ids is None:
            text = _SPACE.sub(b"", label[0]).decode("utf-8", "replace")
            ids = self._inputs_of[label] = (self._builder.shape(text), self._signature(label))
        return ids

    def _signature(self, label: tuple[bytes, ...]) -> int:
        try:
            parts = [orjson.loads(part) if part else None for part in label]
            return self._builder.signature(orjson.dumps(parts).decode())
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return NO_ID

    def geometries(self, given: Mapping[str, Sequence[Any]]) -> Int32s | None:
        """Return each launch's geometry; ``None`` where none has one."""
        if not any(given["grid"]):
            return None
        has_grid = list(map(bool, given["grid"]))
        occupancies = [
            old if new is None else new
            for new, old in zip(given["occupancy"], given["old_occupancy"], strict=True)
        ]
        labels = zip(
            map(bytes, compress(given["grid"], has_grid)),
            map(bytes, compress(given["block"], has_grid)),
            compress(given["registers"], has_grid),
            compress(given["shared_bytes"], has_grid),
            compress(occupancies, has_grid),
            compress(given["blocks_per_sm"], has_grid),
            compress(given["warps_per_sm"], has_grid),
            map(bytes, compress(given["limits"], has_grid)),
            strict=True,
        )
        ids = np.full(len(has_grid), NO_ID, np.int32)
        ids[has_grid] = list(map(self._geometry, labels))
        return ids

    def _geometry(self, label: tuple[Any, ...]) -> int:
        try:
            known = self._geometry_of.get(label)
        except TypeError:  # a list or an object where a number belongs
            return self._builder.geometry(_geometry(label))
        if known is None:
            known = self._geometry_of[label] = self._builder.geometry(_geometry(label))
        return known


def _geometry(label: tuple[Any, ...]) -> Geometry:
    grid, block, registers, shared_bytes, occupancy, blocks_per_sm, warps_per_sm, limits = label
    return Geometry(
        grid=_extent(grid),
        block=_extent(block),
        registers=None if registers is None else whole(registers, 0),
        shared_bytes=None if shared_bytes is None else whole(shared_bytes, 0),
        occupancy_ratio=_ratio(occupancy),
        blocks_per_sm=number(blocks_per_sm),
        warps_per_sm=number(warps_per_sm),
        limits=occupancy_limits(limits),
    )
