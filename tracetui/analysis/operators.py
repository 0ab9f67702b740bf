"""Host time and device time by name, for each kind of host slice."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tracetui.analysis.links import Links, links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import Bools, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class NameStats:
    """One row for each name, the longest total first; columns of one length.

    The device columns are ``None`` where the trace holds no device work.
    """

    names: StringTable
    name_id: Int32s
    calls: Int64s
    total_ns: Int64s
    """Durations added up: a name inside itself counts at every level."""
    self_ns: Int64s
    outer_total_ns: Int64s
    """The same, without the calls that lie in a call of the same name."""
    device_total_ns: Int64s | None
    device_self_ns: Int64s | None
    n_kernels: Int64s | None
    """Device slices, copies and memsets included, that ``device_total_ns`` adds up."""

    def __len__(self) -> int:
        return len(self.name_id)

    def row_of(self, name: str) -> int:
        """Return the row of a name, or -1 if there is none."""
        rows = np.flatnonzero(self.name_id == self.names.find(name))
        return int(rows[0]) if len(rows) else -1

    def to_pandas(self) -> "pd.DataFrame":
        """Return the table as a data frame with the names written out."""
        return _data_frame(self, {"name": (self.names, self.name_id)})


@dataclass(frozen=True, slots=True, eq=False)
class ShapeStats:
    """As ``NameStats``, with one row for each name and input shapes."""

    names: StringTable
    shapes: StringTable
    name_id: Int32s
    shape_id: Int32s
    """Into ``shapes``; ``NO_ID`` where the file gives none."""
    calls: Int64s
    total_ns: Int64s
    self_ns: Int64s
    outer_total_ns: Int64s
    device_total_ns: Int64s | None
    device_self_ns: Int64s | None
    n_kernels: Int64s | None

    def __len__(self) -> int:
        return len(self.name_id)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the table as a data frame with names and shapes written out."""
        return _data_frame(
            self, {"name": (self.names, self.name_id), "shape": (self.shapes, self.shape_id)}
        )


def _data_frame(
    stats: NameStats | ShapeStats, texts: dict[str, tuple[StringTable, Int32s]]
) -> "pd.DataFrame":
    import pandas as pd  # noqa: PLC0415 - slow to import, and most runs never need it

    columns: dict[str, Any] = {
        title: [table[row] if row >= 0 else None for row in ids.tolist()]
        for title, (table, ids) in texts.items()
    }
    written = {"names", "shapes", "name_id", "shape_id"}
    columns |= {
        column.name: getattr(stats, column.name)
        for column in fields(stats)
        if column.name not in written
    }
    frame: pd.DataFrame = pd.DataFrame(columns)
    return frame


@once_per_trace
def operator_stats(trace: Trace) -> NameStats:
    """Return the operators by name; every call counts, a same-named only child too."""
    return stats_by_name(trace, _of_kind(trace, SliceKind.OPERATOR), links(trace).self_ns)


@once_per_trace
def annotation_stats(trace: Trace) -> NameStats:
    """Return the annotations of the host by name; their shadows on the device do not count."""
    return stats_by_name(trace, _of_kind(trace, SliceKind.ANNOTATION), links(trace).self_ns)


@once_per_trace
def python_stats(trace: Trace) -> NameStats:
    """Return the Python functions by name, by the tree of frames alone."""
    return stats_by_name(trace, _of_kind(trace, SliceKind.PYTHON), links(trace).self_ns)


@once_per_trace
def runtime_stats(trace: Trace) -> NameStats:
    """Return the runtime and driver calls by name; their device work is what they launched."""
    link = links(trace)
    rows = _of_kind(trace, SliceKind.RUNTIME)
    launch = link.launch_id[link.launched_id]
    launched_ns = group_sums(launch, trace.slices.dur_ns[link.launched_id], len(trace.slices))
    n_launched = np.bincount(launch, minlength=len(trace.slices)).astype(np.int64)
    return stats_by_name(trace, rows, link.self_ns, (launched_ns, launched_ns, n_launched))


@once_per_trace
def other_stats(trace: Trace) -> NameStats:
    """Return the slices of no known category by name."""
    return stats_by_name(trace, _of_kind(trace, SliceKind.OTHER), links(trace).self_ns)


@once_per_trace
def operator_stats_by_shape(trace: Trace) -> ShapeStats:
    """Return the operators by name and input shapes."""
    rows = _of_kind(trace, SliceKind.OPERATOR)
    shape_id = trace.slices.shape_id[rows].astype(np.int64)
    n_shapes = len(trace.shapes) + 1
    columns = _grouped(
        trace,
        rows,
        trace.slices.name_id[rows] * np.int64(n_shapes) + shape_id + 1,
        links(trace).self_ns,
        _device_columns(links(trace)),
    )
    key = columns.pop("key")
    return ShapeStats(
        names=trace.names,
        shapes=trace.shapes,
        name_id=frozen((key // n_shapes).astype(np.int32)),
        shape_id=frozen((key % n_shapes - 1).astype(np.int32)),
        **columns,
    )


@once_per_trace
def merged_operator_stats(trace: Trace) -> NameStats:
    """Return the operators by name as torch's own table counts them."""
    return _merged(trace, SliceKind.OPERATOR)


@once_per_trace
def merged_annotation_stats(trace: Trace) -> NameStats:
    """Return the annotations by name as torch's own table counts them."""
    return _merged(trace, SliceKind.ANNOTATION)


@once_per_trace
def folded_calls(trace: Trace) -> Bools:
    """Return which slices torch folds into their parent: only children of the same name.

    The fold lifts the children's children, so a chain of only children ends as one call; whether
    a slice folds does not depend on the order, for a fold changes neither name nor number of
    the children that any slice has in the end.
    """
    slices = trace.slices
    child = np.flatnonzero(slices.parent_id >= 0)
    parent = slices.parent_id[child]
    n_children = np.bincount(parent, minlength=len(slices))
    folded = np.zeros(len(slices), bool)
    folded[child] = (n_children[parent] == 1) & (slices.name_id[parent] == slices.name_id[child])
    return frozen(folded)


def _merged(trace: Trace, kind: SliceKind) -> NameStats:
    link, folded, parent_id = links(trace), folded_calls(trace), trace.slices.parent_id
    rows = _of_kind(trace, kind)
    inner = np.flatnonzero(folded)
    outermost = nearest(parent_id, ~folded)
    # The self time of a chain is what its links keep for themselves, each being the only child.
    self_ns = np.where(folded, 0, link.self_ns)
    self_ns += group_sums(outermost[inner], link.self_ns[inner], len(self_ns))
    device_self_ns = np.where(folded, 0, link.device_self_ns)
    device_self_ns += group_sums(outermost[inner], link.device_self_ns[inner], len(self_ns))
    device = (link.device_total_ns, device_self_ns, link.n_device_total.astype(np.int64))
    return stats_by_name(trace, rows[~folded[rows]], self_ns, device)


def _of_kind(trace: Trace, kind: SliceKind) -> Int64s:
    return np.flatnonzero(trace.slices.kind == kind)


def _device_columns(link: Links) -> tuple[Int64s, Int64s, Int64s]:
    return link.device_total_ns, link.device_self_ns, link.n_device_total.astype(np.int64)


def stats_by_name(
    trace: Trace,
    rows: Int64s,
    self_ns: Int64s,
    device: tuple[Int64s, Int64s, Int64s] | None = None,
) -> NameStats:
    """Return the statistics of ``rows``, ascending slice ids, by name.

    ``self_ns`` and the three columns of ``device`` (total, self, number of slices) hold one row
    for each slice of the trace; without ``device`` the trace's own links count.
    """
    columns = _grouped(
        trace,
        rows,
        trace.slices.name_id[rows].astype(np.int64),
        self_ns,
        device or _device_columns(links(trace)),
    )
    key = columns.pop("key")
    return NameStats(names=trace.names, name_id=frozen(key.astype(np.int32)), **columns)


def _grouped(
    trace: Trace,
    rows: Int64s,
    key: Int64s,
    self_ns: Int64s,
    device: tuple[Int64s, Int64s, Int64s],
) -> dict[str, Any]:
    """Return the sums of ``rows`` by ``key``, the longest total first."""
    link, dur_ns = links(trace), trace.slices.dur_ns[rows]
    keys, group = np.unique(key, return_inverse=True)
    n_groups = len(keys)

    def summed(values: Int64s) -> Int64s:
        return group_sums(group, values, n_groups)

    total_ns = summed(dur_ns)
    outer = ~_inside_same_key(rows, group, link.subtree_end)
    columns: dict[str, npt.NDArray[Any]] = {
        "key": keys,
        "calls": np.bincount(group, minlength=n_groups).astype(np.int64),
        "total_ns": total_ns,
        "self_ns": summed(self_ns[rows]),
        "outer_total_ns": summed(np.where(outer, dur_ns, 0)),
    }
    names = ("device_total_ns", "device_self_ns", "n_kernels")
    if link.has_device:
        columns |= {name: summed(values[rows]) for name, values in zip(names, device, strict=True)}
    order = np.argsort(-total_ns, kind="stable")
    found: dict[str, Any] = {name: frozen(column[order]) for name, column in columns.items()}
    return found if link.has_device else found | dict.fromkeys(names)


def _inside_same_key(rows: Int64s, group: Int64s, subtree_end: Int32s) -> Bools:
    """Return which rows lie in the subtree of an earlier row of their group.

    Rows ascend, so one running maximum of subtree ends answers for all groups at once when each
    group's numbers start beyond those of the group before.
    """
    inside = np.zeros(len(rows), bool)
    if len(rows) > 1:
        order = np.argsort(group, kind="stable")
        offset = group[order] * np.int64(len(subtree_end) + 1)
        reach = np.maximum.accumulate(offset + subtree_end[rows[order]])
        inside[order[1:]] = reach[:-1] > (offset + rows[order])[1:]
    return inside
