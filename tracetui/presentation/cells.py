"""What each cell of a lane shows, at the cost of the cells and not of the slices."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tracetui.model.arrays import Bools, Int8s, Int32s, Int64s
from tracetui.presentation.lanes import Lane
from tracetui.presentation.viewport import Viewport


class CellShape(IntEnum):
    """How a cell is drawn."""

    BLANK = 0
    FULL = 1
    """One slice fills it."""
    HEIGHT = 2
    """As high as its busy share."""
    LEFT = 3
    """One slice fills its left part."""
    RIGHT = 4
    """One slice fills its right part."""
    SPLIT = 5
    """Two slices meet in it."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneCells:
    """One lane at one viewport, a value for each cell."""

    width_ns: Int64s
    covered_ns: Int64s
    first: Int64s
    """The first row of the lane that touches the cell."""
    count: Int64s
    """How many rows touch it."""
    hue: Int8s
    """The hue that fills most of it."""
    shape: Int8s
    """``CellShape``."""
    eighths: Int8s
    """How high the cell is filled, or where its edge lies: counted from the left."""
    is_dim: Bools
    """Whether nothing that a filter keeps touches the cell; of two that meet there, the left."""
    is_right_dim: Bools
    """Whether a filter leaves out the right one of two slices that meet in the cell."""


def busy_eighths(covered_ns: Int64s, width_ns: Int64s, count: Int64s) -> Int8s:
    """Return the height of cells: anything is seen, and only full is full."""
    width = np.maximum(width_ns, 1)
    eighths = (covered_ns * 16 + width) // (2 * width)
    low = np.where(count > 0, 1, 0)
    high = np.where((covered_ns >= width_ns) & (covered_ns > 0), 8, 7)
    height: Int8s = np.clip(eighths, low, high).astype(np.int8)
    return height


def lane_cells(
    lane: Lane, viewport: Viewport, width: int, matching: Lane | None = None
) -> LaneCells:
    """Return what each cell of a lane shows; the cost is that of the cells, not of the slices.

    Args:
        lane: The lane.
        viewport: What is visible.
        width: How many cells there are.
        matching: Of its slices those that a filter keeps; ``None`` where there is no filter. They
            alone give a cell its hue, wherever they touch it.
    """
    edges = viewport.edges(width)
    left, right = edges[:-1], edges[1:]
    width_ns = right - left
    covered = lane.spans.covered(edges)
    first, after = lane.spans.touching(edges)
    n_touching = after - first
    is_dim = np.zeros(width, bool)
    if not len(lane.spans):
        zeros = np.zeros(width, np.int8)
        return LaneCells(width_ns, covered, first, n_touching, zeros, zeros, zeros, is_dim, is_dim)
    at = np.minimum(first, len(lane.spans) - 1)
    hue = _dominant_hues(lane, edges, lane.hues[at])
    is_right_dim = is_dim
    if matching is not None:
        first_kept, after_kept = matching.spans.touching(edges)
        is_kept = after_kept > first_kept
        is_dim = (n_touching > 0) & ~is_kept
        kept_at = np.minimum(first_kept, len(matching.spans) - 1)
        kept_hue = matching.hues[kept_at] if len(matching.spans) else hue
        hue = np.where(is_kept, _dominant_hues(matching, edges, kept_hue), hue)
    eighths = busy_eighths(covered, width_ns, n_touching)
    shape = np.where(n_touching > 0, CellShape.HEIGHT, CellShape.BLANK).astype(np.int8)
    starts, ends = lane.spans.starts[at], lane.spans.ends[at]
    one = (n_touching == 1) & (covered > 0)
    shape[one & (covered == width_ns)] = CellShape.FULL
    ends_here = one & (starts <= left) & (ends < right)
    shape[ends_here] = CellShape.LEFT
    starts_here = one & (starts > left) & (ends >= right)
    shape[starts_here] = CellShape.RIGHT
    split = (n_touching == 2) & (covered == width_ns) & (ends > left) & (ends < right)
    shape[split] = CellShape.SPLIT
    if matching is not None:
        is_dim, is_right_dim = is_dim.copy(), is_dim.copy()
        is_dim[split] = ~_is_among(matching, lane.slice_ids[first[split]])
        is_right_dim[split] = ~_is_among(matching, lane.slice_ids[first[split] + 1])
    has_edge = ends_here | starts_here | split
    offset = np.where(starts_here, starts, ends) - left
    edge = np.clip((offset * 16 + width_ns) // np.maximum(2 * width_ns, 1), 1, 7)
    eighths = np.where(has_edge, edge, eighths).astype(np.int8)
    return LaneCells(
        width_ns, covered, first, n_touching, hue, shape, eighths, is_dim, is_right_dim
    )


def _dominant_hues(lane: Lane, edges: Int64s, otherwise: Int8s) -> Int8s:
    """Return for each cell the hue that fills most of it, ``otherwise`` where none fills any."""
    if not lane.by_hue:
        return otherwise
    shares = np.stack([sums.covered(edges) for _, sums in lane.by_hue])
    of_row = np.array([hue for hue, _ in lane.by_hue], np.int8)
    found: Int8s = np.where(shares.any(axis=0), of_row[shares.argmax(axis=0)], otherwise)
    return found


def _is_among(lane: Lane, slice_ids: Int32s) -> Bools:
    """Return which slices are a lane's."""
    if not len(lane.slice_ids):
        return np.zeros(len(slice_ids), bool)
    at = np.minimum(np.searchsorted(lane.slice_ids, slice_ids), len(lane.slice_ids) - 1)
    found: Bools = lane.slice_ids[at] == slice_ids
    return found
