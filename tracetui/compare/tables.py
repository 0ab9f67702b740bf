"""Operators and kernels of both sides joined by name, for those who look for a name."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.compare.sides import Side
from tracetui.compare.spread import median_ns
from tracetui.model.arrays import Int64s
from tracetui.model.slices import SliceKind


@dataclass(frozen=True, slots=True)
class NameRow:
    """One name; a side that does not have it has ``None``, which is not 0."""

    name: str
    baseline_calls: int | None
    candidate_calls: int | None
    baseline_ns: int | None
    candidate_ns: int | None
    baseline_gpu_ns: int | None = None
    """Device work below, for operators; ``None`` as well where there is no device."""
    candidate_gpu_ns: int | None = None

    @property
    def delta_ns(self) -> int:
        """Return candidate less baseline, a missing side as nothing."""
        return (self.candidate_ns or 0) - (self.baseline_ns or 0)


def operator_rows(baseline: Side, candidate: Side) -> tuple[NameRow, ...]:
    """Return the operators by name: host time of all calls, medians over the instances."""
    return _joined(_operators(baseline), _operators(candidate))


def kernel_rows(baseline: Side, candidate: Side) -> tuple[NameRow, ...]:
    """Return the kernels, copies and memsets by name, medians over the instances."""
    return _joined(_kernels(baseline), _kernels(candidate))


@dataclass(frozen=True, slots=True)
class _Sums:
    calls: int
    ns: int
    gpu_ns: int | None


def _joined(baseline: dict[str, _Sums], candidate: dict[str, _Sums]) -> tuple[NameRow, ...]:
    rows = []
    for name in [*baseline, *(name for name in candidate if name not in baseline)]:
        base, cand = baseline.get(name), candidate.get(name)
        rows.append(
            NameRow(
                name,
                base.calls if base else None,
                cand.calls if cand else None,
                base.ns if base else None,
                cand.ns if cand else None,
                base.gpu_ns if base else None,
                cand.gpu_ns if cand else None,
            )
        )
    return tuple(
        sorted(rows, key=lambda row: (-max(row.baseline_ns or 0, row.candidate_ns or 0), row.name))
    )


def _operators(side: Side) -> dict[str, _Sums]:
    slices = side.trace.slices
    rows = np.flatnonzero((slices.kind == SliceKind.OPERATOR) & (side.instance_of >= 0))
    link = links(side.trace)
    return _by_name(side, rows, link.device_total_ns[rows] if link.has_device else None)


def _kernels(side: Side) -> dict[str, _Sums]:
    slices = side.trace.slices
    return _by_name(side, np.flatnonzero(slices.is_device_work() & (side.instance_of >= 0)), None)


def _by_name(side: Side, rows: Int64s, gpu_ns: Int64s | None) -> dict[str, _Sums]:
    slices = side.trace.slices
    name_ids, group = np.unique(slices.name_id[rows], return_inverse=True)
    shape = (len(name_ids), len(side.labels))
    instance = side.instance_of[rows]
    calls, total, device = (np.zeros(shape, np.int64) for _ in range(3))
    np.add.at(calls, (group, instance), 1)
    np.add.at(total, (group, instance), slices.dur_ns[rows])
    if gpu_ns is not None:
        np.add.at(device, (group, instance), gpu_ns)
    return {
        side.trace.names[name_id]: _Sums(
            median_ns(calls[row][side.kept]),
            median_ns(total[row][side.kept]),
            median_ns(device[row][side.kept]) if gpu_ns is not None else None,
        )
        for row, name_id in enumerate(name_ids.tolist())
        if bool(calls[row][side.kept].any())
    }
