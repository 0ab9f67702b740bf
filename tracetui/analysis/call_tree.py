"""The tree of operators, annotations and runtime calls: call by call, or merged by call path."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class CallTree:
    """Nodes in preorder, in columns of one length: row + 1 to ``subtree_end`` lies below a row."""

    names: StringTable
    has_device: bool
    depth: Int32s
    subtree_end: Int32s
    """One past the last row below this one."""
    name_id: Int32s
    kind: Int8s
    """``SliceKind`` of the node's calls."""
    slice_id: Int32s
    """The only call, or the first of those merged here."""
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
    slices, link, rows = trace.slices, links(trace), _host_rows(trace)
    # A thread's slices are sorted in preorder and no other track lies between them.
    size = link.subtree_end[rows] - rows
    return CallTree(
        names=trace.names,
        has_device=link.has_device,
        depth=frozen(slices.depth[rows]),
        subtree_end=frozen((np.arange(len(rows)) + size).astype(np.int32)),
        name_id=frozen(slices.name_id[rows]),
        kind=frozen(slices.kind[rows]),
        slice_id=frozen(rows.astype(np.int32)),
        calls=frozen(np.ones(len(rows), np.int64)),
        total_ns=frozen(slices.dur_ns[rows]),
        self_ns=frozen(link.self_ns[rows]),
        device_total_ns=frozen(link.device_total_ns[rows]),
        device_self_ns=frozen(link.device_self_ns[rows]),
        n_kernels=frozen(link.n_device_total[rows].astype(np.int64)),
    )


@once_per_trace
def merged_tree(trace: Trace) -> CallTree:
    """Return one row for each call path, over all threads; the longest sibling comes first."""
    slices, link, rows = trace.slices, links(trace), _host_rows(trace)
    node_of, parent, depth = _paths(trace, rows)
    n_nodes = len(parent)

    def summed(values: Int64s | Int32s) -> Int64s:
        return group_sums(node_of, values[rows].astype(np.int64), n_nodes)

    total_ns = summed(slices.dur_ns)
    first = np.full(n_nodes, len(slices), np.int64)
    np.minimum.at(first, node_of, rows)
    place, size = _preorder(parent, depth, total_ns)
    order = np.argsort(place)
    slice_id = first[order]
    return CallTree(
        names=trace.names,
        has_device=link.has_device,
        depth=frozen(depth[order]),
        subtree_end=frozen((np.arange(n_nodes) + size[order]).astype(np.int32)),
        name_id=frozen(slices.name_id[slice_id]),
        kind=frozen(slices.kind[slice_id]),
        slice_id=frozen(slice_id.astype(np.int32)),
        calls=frozen(np.bincount(node_of, minlength=n_nodes).astype(np.int64)[order]),
        total_ns=frozen(total_ns[order]),
        self_ns=frozen(summed(link.self_ns)[order]),
        device_total_ns=frozen(summed(link.device_total_ns)[order]),
        device_self_ns=frozen(summed(link.device_self_ns)[order]),
        n_kernels=frozen(summed(link.n_device_total)[order]),
    )


def _host_rows(trace: Trace) -> Int64s:
    is_host = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    on_host = is_host[trace.slices.track_id] if len(trace.slices) else np.empty(0, bool)
    return np.flatnonzero(on_host)


def _levels(depth: Int32s) -> list[Int64s]:
    """Return the rows of each depth, from the root down."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _paths(trace: Trace, rows: Int64s) -> tuple[Int64s, Int64s, Int32s]:
    """Return each row's node, and each node's parent and depth; parents come before children."""
    slices = trace.slices
    word = slices.name_id[rows] * np.int64(len(SliceKind)) + slices.kind[rows]
    n_words = len(trace.names) * len(SliceKind)
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
