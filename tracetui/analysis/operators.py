"""Calls, self time and total time by name, for every kind of host slice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import Bools, Int32s, Int64s, frozen, group_sums
from tracetui.model.nesting import TOLERANCE_NS
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class NameStats:
    """One row for each name (or name and shapes), the longest total first."""

    name_id: Int32s
    shape_id: Int32s
    """Into ``Trace.shapes``; -1 throughout where rows are by name alone."""
    calls: Int64s
    total_ns: Int64s
    """Durations added up over every call; recursion counts again at each level, as torch counts."""
    self_ns: Int64s
    outer_total_ns: Int64s
    """Durations of the calls that lie in no other call of the same row."""
    device_total_ns: Int64s | None
    """Device work launched in the calls, added up; ``None`` where the trace has no device."""
    device_self_ns: Int64s | None
    n_kernels: Int64s | None
    """Device slices launched in the calls, copies and memsets included."""

    def __len__(self) -> int:
        return len(self.name_id)

    def to_pandas(self, trace: Trace) -> "pd.DataFrame":
        """Return the rows as a data frame, names written out, times in nanoseconds."""
        import pandas as pd  # noqa: PLC0415 - pandas costs 0.4 s and is for export alone

        columns: dict[str, Any] = {
            "name": [trace.names[name_id] for name_id in self.name_id.tolist()]
        }
        for field in ("calls", "total_ns", "self_ns", "outer_total_ns"):
            columns[field] = getattr(self, field)
        for field in ("device_total_ns", "device_self_ns", "n_kernels"):
            values = getattr(self, field)
            columns[field] = [None] * len(self) if values is None else values
        frame: pd.DataFrame = pd.DataFrame(columns)
        return frame


def stats_of_rows(trace: Trace, rows: Int64s, *, by_shape: bool = False) -> NameStats:
    """Return statistics of some slices, grouped by name or by name and input shapes."""
    slices, linked = trace.slices, links(trace)
    names = slices.name_id[rows].astype(np.int64)
    n_shapes = len(trace.shapes) + 1
    identity = names * n_shapes + (slices.shape_id[rows] + 1 if by_shape else 0)
    keys, group = np.unique(identity, return_inverse=True)
    n_groups = len(keys)

    def summed(column: Int64s) -> Int64s:
        return group_sums(group, column[rows].astype(np.int64), n_groups)

    outer = ~_inside_same_group(trace, rows, group)
    outer_ns = group_sums(group[outer], slices.dur_ns[rows][outer], n_groups)
    total_ns = summed(slices.dur_ns)
    order = np.lexsort((keys, -total_ns))
    device = linked.has_device

    def ordered(column: Int64s) -> Int64s:
        return frozen(column[order])

    return NameStats(
        name_id=frozen((keys // n_shapes)[order].astype(np.int32)),
        shape_id=frozen((keys % n_shapes - 1)[order].astype(np.int32)),
        calls=ordered(group_sums(group, np.ones(len(rows), np.int64), n_groups)),
        total_ns=ordered(total_ns),
        self_ns=ordered(summed(linked.self_ns)),
        outer_total_ns=ordered(outer_ns),
        device_total_ns=ordered(summed(linked.device_total_ns)) if device else None,
        device_self_ns=ordered(summed(linked.device_self_ns)) if device else None,
        n_kernels=ordered(summed(linked.n_device_total.astype(np.int64))) if device else None,
    )


def _inside_same_group(trace: Trace, rows: Int64s, group: Any) -> Bools:
    """Return which rows lie in an earlier row of their own group on the same track."""
    slices = trace.slices
    inside = np.zeros(len(rows), bool)
    if not len(rows):
        return inside
    order = np.lexsort((rows, slices.track_id[rows], group))
    line = group[order].astype(np.int64) * len(trace.tracks) + slices.track_id[rows[order]]
    end_ns = slices.end_ns[rows[order]]
    ends, rank = np.unique(end_ns, return_inverse=True)
    # Ranks instead of times keep the offset that separates the lines within 64 bits.
    _, dense_line = np.unique(line, return_inverse=True)
    reach = np.maximum.accumulate(rank + dense_line * len(ends))
    before = np.concatenate(([-1], reach[:-1]))
    same_line = before >= dense_line * len(ends)
    reach_ns = ends[np.where(same_line, before - dense_line * len(ends), 0)]
    inside[order] = (
        same_line & (reach_ns > slices.ts_ns[rows[order]]) & (reach_ns >= end_ns - TOLERANCE_NS)
    )
    return inside


def _of_kind(trace: Trace, *kinds: SliceKind) -> Int64s:
    return np.flatnonzero(np.isin(trace.slices.kind, kinds))


@once_per_trace
def operator_stats(trace: Trace) -> NameStats:
    """Return statistics of operators by name."""
    return stats_of_rows(trace, _of_kind(trace, SliceKind.OPERATOR))


@once_per_trace
def operator_stats_by_shape(trace: Trace) -> NameStats:
    """Return statistics of operators by name and input shapes."""
    return stats_of_rows(trace, _of_kind(trace, SliceKind.OPERATOR), by_shape=True)


@once_per_trace
def annotation_stats(trace: Trace) -> NameStats:
    """Return statistics of the user's annotations by name, the host's side alone."""
    return stats_of_rows(trace, _of_kind(trace, SliceKind.ANNOTATION))


@once_per_trace
def python_stats(trace: Trace) -> NameStats:
    """Return statistics of Python frames by name."""
    return stats_of_rows(trace, _of_kind(trace, SliceKind.PYTHON))


@once_per_trace
def runtime_stats(trace: Trace) -> NameStats:
    """Return statistics of runtime and driver calls by name."""
    return stats_of_rows(trace, _of_kind(trace, SliceKind.RUNTIME))


@once_per_trace
def other_stats(trace: Trace) -> NameStats:
    """Return statistics of slices that PyTorch did not write, begin/end pairs among them."""
    return stats_of_rows(trace, _of_kind(trace, SliceKind.OTHER, SliceKind.ASYNC))
