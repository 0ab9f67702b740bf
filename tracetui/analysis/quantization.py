"""How much of a matrix product's tiles and waves is filled.

A product is cut into tiles of the size in its kernel's name; what hangs over the edge is computed
for nothing, and so are the processors that the last wave of tiles leaves idle.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.cost import Inputs, UnmodelledError, operator_costs
from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.occupancy import device_of
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_FIRST_FACTOR: Final = {
    "aten::mm": 0,
    "aten::bmm": 0,
    "aten::addmm": 1,
    "aten::addmm_": 1,
    "aten::_addmm_activation": 1,
    "aten::baddbmm": 1,
    "aten::baddbmm_": 1,
    "aten::_scaled_mm": 0,
    "aten::_int_mm": 0,
}
"""Products whose result is as the tiles see it, and where their first factor stands."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a product of (m, k) by (k, n) falls into tiles."""

    m: int
    n: int
    batch: int
    tile_m: int
    tile_n: int
    n_tiles: int
    """Blocks of work: tiles of all results, times the parts into which ``k`` is split."""
    tile_ratio: float
    """Share of the tiles' area that belongs to the result, 0 to 1."""
    wave_ratio: float | None
    """Share of the processors that the waves keep busy, 0 to 1; ``None`` without their number."""

    @property
    def ratio(self) -> float:
        """Return the share of the arithmetic that is of use."""
        return self.tile_ratio * (1.0 if self.wave_ratio is None else self.wave_ratio)


@dataclass(frozen=True, slots=True)
class TiledProduct:
    """One kernel of one operator with its shapes."""

    slice_id: int
    """The first such kernel."""
    operator: str
    kernel_name: str
    calls: int
    time_ns: int
    tiling: Tiling


def tiling(
    m: int,
    n: int,
    tile: tuple[int, int],
    *,
    batch: int = 1,
    splits: int = 1,
    n_sms: int | None = None,
) -> Tiling:
    """Return how a result of m by n falls into tiles.

    tile_ratio = mn / (⌈m/tm⌉ tm · ⌈n/tn⌉ tn); wave_ratio = T / (⌈T/P⌉ P) for T tiles on P
    processors, one tile on each at a time.
    """
    rows, columns = -(-m // tile[0]), -(-n // tile[1])
    n_tiles = rows * columns * batch * splits
    area = rows * tile[0] * columns * tile[1]
    wave_ratio = n_tiles / (math.ceil(n_tiles / n_sms) * n_sms) if n_sms and n_tiles else None
    return Tiling(m, n, batch, *tile, n_tiles, m * n / area if area else 0.0, wave_ratio)


def _tile(text: str | None) -> tuple[int, int] | None:
    sides = (text or "").split("x")
    if len(sides) < 2 or not all(side.isdigit() and int(side) for side in sides[:2]):
        return None
    return int(sides[0]), int(sides[1])


def _result(name: str, signature: str) -> tuple[int, int, int] | None:
    """Return batch, m and n of a product."""
    inputs, first = Inputs.from_signature(signature), _FIRST_FACTOR[name]
    try:
        a, b = inputs.tensor(first).shape, inputs.tensor(first + 1).shape
    except UnmodelledError:
        return None
    if len(a) < 2 or len(b) != len(a):
        return None
    return math.prod(a[:-2]), a[-2], b[-1]


@once_per_trace
def tiled_products(trace: Trace) -> tuple[TiledProduct, ...]:
    """Return the products whose kernels name their tile, most time first."""
    slices, link, costs = trace.slices, links(trace), operator_costs(trace)
    wanted = np.array([name in _FIRST_FACTOR for name in trace.names], bool)
    kernels = np.flatnonzero((slices.kind == SliceKind.KERNEL) & (link.owner_id >= 0))
    operator = nearest(slices.parent_id, costs.is_counted)[link.owner_id[kernels]]
    known = (operator >= 0) & (slices.signature_id[operator] >= 0)
    known &= wanted[slices.name_id[operator]]
    kernels, operator = kernels[known], operator[known]
    if not len(kernels):
        return ()
    device = np.array([track.device for track in trace.tracks], np.int64)[slices.track_id[kernels]]
    columns = np.stack(
        [
            slices.name_id[operator].astype(np.int64),
            slices.signature_id[operator].astype(np.int64),
            slices.name_id[kernels].astype(np.int64),
            device,
        ]
    )
    keys, group = np.unique(columns, axis=1, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    edges = np.cumsum(np.bincount(group.reshape(-1), minlength=keys.shape[1]))[:-1]
    found = []
    for members, (name_id, signature_id, kernel_name_id, index) in zip(
        np.split(kernels[order], edges), keys.T.tolist(), strict=True
    ):
        operator_name, kernel_name = trace.names[name_id], trace.names[kernel_name_id]
        kernel = decode(kernel_name)
        tile = _tile(kernel.tile)
        result = _result(operator_name, trace.signatures[signature_id])
        if tile is None or result is None or kernel.kind != "gemm":
            continue
        spec = device_of(trace, index)
        batch, m, n = result
        first = int(members[0])
        grid = _grid(trace, first)
        sides = _oriented(grid, m, n, tile)
        splits = _splits(grid, m, n, sides, batch)
        found.append(
            TiledProduct(
                slice_id=first,
                operator=operator_name,
                kernel_name=kernel_name,
                calls=len(members),
                time_ns=int(slices.dur_ns[members].sum()),
                tiling=tiling(
                    m, n, sides, batch=batch, splits=splits, n_sms=spec.n_sms if spec else None
                ),
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.time_ns, each.slice_id)))


def _grid(trace: Trace, kernel_id: int) -> tuple[int, ...]:
    geometry_id = int(trace.slices.geometry_id[kernel_id])
    return () if geometry_id == NO_ID else trace.geometries[geometry_id].grid or ()


def _n_tiles(m: int, n: int, tile: tuple[int, int]) -> int:
    return -(-m // tile[0]) * -(-n // tile[1])


def _oriented(grid: tuple[int, ...], m: int, n: int, tile: tuple[int, int]) -> tuple[int, int]:
    """Return the tile's sides along the rows and the columns of the result.

    BLAS libraries count columns first, so that the first side in the name lies along n; where
    the launch has exactly the blocks of the other way round, it is the other way round.
    """
    across = (tile[1], tile[0])
    n_blocks = math.prod(grid[:2])
    return tile if n_blocks == _n_tiles(m, n, tile) != _n_tiles(m, n, across) else across


def _splits(grid: tuple[int, ...], m: int, n: int, tile: tuple[int, int], batch: int) -> int:
    """Return into how many parts the inner dimension is split: the layers of blocks beyond one."""
    if len(grid) < 3 or math.prod(grid[:2]) != _n_tiles(m, n, tile):
        return 1
    return max(grid[2] // batch, 1) if batch and grid[2] % batch == 0 else 1
