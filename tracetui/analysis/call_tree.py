"""The tree of operators, annotations and runtime calls: by call, by path, or equal ones as one."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.slice_sums import SliceSums, slice_sums, with_parents
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

if TYPE_CHECKING:
    import pandas as pd

UInt64s: TypeAlias = npt.NDArray[np.uint64]

_ROW_COLUMNS: Final = (
    "depth", "name_id", "shape_id", "kind", "slice_id", "times", "calls", "total_ns", "self_ns",
    "device_total_ns", "device_self_ns", "n_kernels",
)  # fmt: skip
_BASE: Final = 0x9E3779B97F4A7C15
"""Odd, and therefore with an inverse modulo 2**64; the digits are those of the golden ratio."""


@dataclass(frozen=True, slots=True, eq=False)
class CallTree:
    """Nodes in preorder, in columns of one length: row + 1 to ``subtree_end`` lies below a row."""

    names: StringTable
    shapes: StringTable
    has_device: bool
    depth: Int32s
    subtree_end: Int32s
    """One past the last row below this one."""
    name_id: Int32s
    shape_id: Int32s
    """Input shapes of the node's calls, into ``shapes``; ``NO_ID`` where they may differ."""
    kind: Int8s
    """``SliceKind`` of the node's calls."""
    slice_id: Int32s
    """The only call, or the first of those merged here."""
    times: Int64s
    """How many equal siblings a row stands for, in each call of its parent."""
    calls: Int64s
    total_ns: Int64s
    self_ns: Int64s
    device_total_ns: Int64s
    device_self_ns: Int64s
    n_kernels: Int64s
    """Device slices of the row and all below it."""

    def __len__(self) -> int:
        return len(self.depth)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the tree as a data frame with names and kinds written out."""
        import pandas as pd  # noqa: PLC0415 - slow to import, and most runs never need it

        frame: pd.DataFrame = pd.DataFrame(
            {
                "depth": self.depth,
                "name": [self.names[name_id] for name_id in self.name_id.tolist()],
                "kind": [SliceKind(kind).name.lower() for kind in self.kind.tolist()],
                "calls": self.calls,
                "total_ns": self.total_ns,
                "self_ns": self.self_ns,
                "device_total_ns": self.device_total_ns,
                "device_self_ns": self.device_self_ns,
                "n_kernels": self.n_kernels,
            }
        )
        return frame


@once_per_trace
def instance_tree(trace: Trace) -> CallTree:
    """Return every call as a row, thread after thread in the order of the screen."""
    return calls_tree(trace, slice_sums(trace))


@once_per_trace
def merged_tree(trace: Trace) -> CallTree:
    """Return one row for each call path, over all threads; the longest sibling comes first."""
    return paths_tree(trace, slice_sums(trace))


def calls_tree(trace: Trace, sums: SliceSums, chosen: Bools | None = None) -> CallTree:
    """Return a row for each chosen call.

    Args:
        trace: The trace.
        sums: What each slice adds.
        chosen: The slices to list, with all that enclose one of them; ``None`` lists all.
    """
    slices, rows = trace.slices, host_rows(trace, chosen)
    # A thread's slices are sorted in preorder and no other track lies between them.
    is_row = np.zeros(len(slices) + 1, np.int64)
    is_row[rows + 1] = 1
    place = np.cumsum(is_row)
    return CallTree(
        names=trace.names,
        shapes=trace.shapes,
        has_device=sums.has_device,
        depth=frozen(slices.depth[rows]),
        subtree_end=frozen(place[links(trace).subtree_end[rows]].astype(np.int32)),
        name_id=frozen(slices.name_id[rows]),
        shape_id=frozen(slices.shape_id[rows]),
        kind=frozen(slices.kind[rows]),
        slice_id=frozen(rows.astype(np.int32)),
        times=frozen(np.ones(len(rows), np.int64)),
        calls=frozen(sums.calls[rows]),
        total_ns=frozen(sums.total_ns[rows]),
        self_ns=frozen(sums.self_ns[rows]),
        device_total_ns=frozen(sums.device_total_ns[rows]),
        device_self_ns=frozen(sums.device_self_ns[rows]),
        n_kernels=frozen(sums.n_kernels[rows]),
    )


def paths_tree(
    trace: Trace, sums: SliceSums, chosen: Bools | None = None, *, by_shape: bool = False
) -> CallTree:
    """Return one row for each call path of the chosen calls, the longest sibling first.

    With ``by_shape`` calls of one name with other input shapes are other rows.
    """
    rows = host_rows(trace, chosen)
    word = words(trace, rows, by_shape=by_shape)
    return _merged(trace, sums, rows, word, by_shape=by_shape, by_time=False)


def equal_siblings_tree(
    trace: Trace, sums: SliceSums, chosen: Bools | None = None, *, by_shape: bool = False
) -> CallTree:
    """Return the calls with equal siblings as one row, in the order of their first call.

    Siblings are equal where all that is below them is: names, kinds and order, and with
    ``by_shape`` the input shapes.
    """
    rows = host_rows(trace, chosen)
    calls = calls_tree(trace, sums, chosen)
    word = words(trace, rows, by_shape=by_shape)
    size = calls.subtree_end - np.arange(len(rows))
    alike = _subtree_words(word, size)
    return _merged(trace, sums, rows, alike, by_shape=by_shape, by_time=True)


def _merged(
    trace: Trace,
    sums: SliceSums,
    rows: Int64s,
    word: Int64s,
    *,
    by_shape: bool,
    by_time: bool,
) -> CallTree:
    """Return one row for the rows that have one parent and one word."""
    slices = trace.slices
    node_of, parent, depth = _paths(trace, rows, word)
    n_nodes = len(parent)

    def summed(values: Int64s) -> Int64s:
        return group_sums(node_of, values[rows], n_nodes)

    total_ns = summed(sums.total_ns)
    first = np.full(n_nodes, len(slices), np.int64)
    np.minimum.at(first, node_of, rows)
    place, size = _preorder(parent, depth, -first if by_time else total_ns)
    order = np.argsort(place)
    slice_id = first[order]
    members = np.bincount(node_of, minlength=n_nodes).astype(np.int64)
    around = np.where(parent >= 0, members[parent], 1) if n_nodes else members
    shape_id = slices.shape_id[slice_id] if by_shape else np.full(n_nodes, NO_ID, np.int32)
    return CallTree(
        names=trace.names,
        shapes=trace.shapes,
        has_device=sums.has_device,
        depth=frozen(depth[order]),
        subtree_end=frozen((np.arange(n_nodes) + size[order]).astype(np.int32)),
        name_id=frozen(slices.name_id[slice_id]),
        shape_id=frozen(shape_id),
        kind=frozen(slices.kind[slice_id]),
        slice_id=frozen(slice_id.astype(np.int32)),
        times=frozen((members // around)[order] if by_time else np.ones(n_nodes, np.int64)),
        calls=frozen(summed(sums.calls)[order]),
        total_ns=frozen(total_ns[order]),
        self_ns=frozen(summed(sums.self_ns)[order]),
        device_total_ns=frozen(summed(sums.device_total_ns)[order]),
        device_self_ns=frozen(summed(sums.device_self_ns)[order]),
        n_kernels=frozen(summed(sums.n_kernels)[order]),
    )


def sorted_tree(calls: CallTree, weight: Int64s) -> tuple[CallTree, Int64s]:
    """Return the tree with the siblings of most weight first, and each new row's old row."""
    parent = _parents(calls.depth)
    place, size = _preorder(parent, calls.depth, weight)
    order = np.argsort(place)
    columns = {name: frozen(getattr(calls, name)[order]) for name in _ROW_COLUMNS}
    end = frozen((np.arange(len(order)) + size[order]).astype(np.int32))
    return replace(calls, subtree_end=end, **columns), order


def _parents(depth: Int32s) -> Int64s:
    """Return each row's parent from the depths of a preorder."""
    parent = np.full(len(depth), NO_ID, np.int64)
    above: Int64s | None = None
    for level in _levels(depth):
        if above is not None:
            parent[level] = above[np.searchsorted(above, level) - 1]
        above = level
    return parent


def host_rows(trace: Trace, chosen: Bools | None) -> Int64s:
    """Return the slices of host threads that are chosen, or enclose a chosen one; in preorder."""
    is_host = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    on_host = is_host[trace.slices.track_id] if len(trace.slices) else np.empty(0, bool)
    return np.flatnonzero(on_host if chosen is None else on_host & with_parents(trace, chosen))


def words(trace: Trace, rows: Int64s, *, by_shape: bool) -> Int64s:
    """Return a number for each row, one for each distinct name and kind, counted from 0."""
    slices = trace.slices
    word = slices.name_id[rows] * np.int64(len(SliceKind)) + slices.kind[rows]
    if by_shape:
        word = word * np.int64(len(trace.shapes) + 1) + slices.shape_id[rows] + 1
    _, dense = np.unique(word, return_inverse=True)
    return dense.astype(np.int64)


def _subtree_words(word: Int64s, size: Int64s) -> Int64s:
    """Return a number for each row of a preorder, equal where the whole subtrees are.

    The words and sizes of a subtree in preorder tell the tree, so a polynomial over them modulo
    2**64 is compared; two of a million different subtrees meet with a chance of 1 in 10**7.
    """
    n = len(word)
    letters = _mixed(word.astype(np.uint64) * np.uint64(n + 1) + size.astype(np.uint64))
    base, inverse = np.uint64(_BASE), np.uint64(pow(_BASE, -1, 1 << 64))
    powers = np.cumprod(np.full(n, base, np.uint64))
    back = np.cumprod(np.full(n, inverse, np.uint64))
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(letters * powers)))
    start = np.arange(n)
    key = (sums[start + size] - sums[start]) * back
    _, dense = np.unique(key, return_inverse=True)
    return dense.astype(np.int64)


def _mixed(values: UInt64s) -> UInt64s:
    """Return the numbers spread over all 64 bits, by the finaliser of splitmix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: UInt64s = values ^ (values >> np.uint64(31))
    return mixed


def _levels(depth: Int32s) -> list[Int64s]:
    """Return the rows of each depth, from the root down."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _paths(trace: Trace, rows: Int64s, word: Int64s) -> tuple[Int64s, Int64s, Int32s]:
    """Return each row's node, and each node's parent and depth; parents come before children."""
    slices = trace.slices
    n_words = int(word.max(initial=-1)) + 1
    node_of_slice = np.full(len(slices), -1, np.int64)
    parents, depths, n_nodes = [], [], 0
    for level, here in enumerate(_levels(slices.depth[rows])):
        above = slices.parent_id[rows[here]]
        parent = node_of_slice[above] if level else np.full(len(here), -1, np.int64)
        path, node = np.unique((parent + 1) * n_words + word[here], return_inverse=True)
        node_of_slice[rows[here]] = n_nodes + node
        n_nodes += len(path)
        parents.append(path // n_words - 1 if n_words else path)
        depths.append(np.full(len(path), level, np.int32))
    return node_of_slice[rows], np.concatenate(parents), np.concatenate(depths)


def _preorder(parent: Int64s, depth: Int32s, weight: Int64s) -> tuple[Int64s, Int64s]:
    """Return each node's place in preorder, heavier siblings first, and its subtree's size."""
    size = np.ones(len(parent), np.int64)
    levels = _levels(depth)
    for level in levels[:0:-1]:
        np.add.at(size, parent[level], size[level])
    place = np.zeros(len(parent), np.int64)
    for level in levels:
        nodes = level[np.lexsort((-weight[level], parent[level]))]
        before = np.cumsum(size[nodes]) - size[nodes]
        group_start = np.searchsorted(parent[nodes], parent[nodes])
        under = np.where(parent[nodes] >= 0, place[parent[nodes]] + 1, 0)
        if len(nodes):
            place[nodes] = under + before - before[group_start]
    return place, size
