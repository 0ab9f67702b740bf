"""What a report says, as plain rows whose times still know that they are times."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from tracetui.analysis.cost import counted_sums
from tracetui.analysis.device_table import DevicePeaks, with_peak
from tracetui.analysis.kernel_names import KernelName, decode
from tracetui.analysis.kernels import kernel_stats, memop_stats
from tracetui.analysis.memory import memory_use
from tracetui.analysis.modules import module_stats
from tracetui.analysis.operators import (
    NameStats,
    annotation_stats,
    merged_annotation_stats,
    merged_operator_stats,
    operator_stats,
    other_stats,
    python_stats,
    runtime_stats,
)
from tracetui.analysis.roofline import trace_peaks
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import DeviceUse, StreamIdle, host_use, utilization
from tracetui.analysis.work_class import WorkClass
from tracetui.diagnosis.engine import findings
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.missing import missing_inputs
from tracetui.reports.cost_tables import (
    occupancy_columns,
    roofline_rows,
    roofs,
    tile_rows,
    uncosted_rows,
)
from tracetui.reports.memory_tables import block_rows, operator_rows, peak_rows
from tracetui.reports.time import Row, Time
from tracetui.reports.wait_tables import (
    artefact_rows,
    bound_rows,
    compile_rows,
    holder_rows,
    path_rows,
    path_slice_rows,
)

__all__ = ["SCHEMA", "TABLES", "Row", "Time", "TraceReport", "file_title"]

SCHEMA: Final = 1
"""Grows by one whenever a key changes its meaning or goes."""

_DEVICE_TIMES: Final = (
    "sum_ns",
    "busy_ns",
    "idle_ns",
    "span_ns",
    "compute_ns",
    "comm_ns",
    "comm_overlap_ns",
    "comm_exposed_ns",
    "memcpy_exposed_ns",
)
_DEVICE_COUNTS: Final = ("n_kernels", "n_memcpys", "n_memsets")
_IDLE_CAUSES: Final = (
    "artefact_ns",
    "sync_ns",
    "launch_ns",
    "host_wait_ns",
    "kernel_wait_ns",
    "other_ns",
)


def _time(ns: int | None) -> Time | None:
    return None if ns is None else Time(int(ns))


def _in_us(name: str) -> str:
    """Return the key that a field has in a report: its unit there is the microsecond."""
    return f"{name.removesuffix('_ns')}_us"


def _rows(columns: dict[str, list[Any] | None], n_rows: int) -> list[Row]:
    """Return columns as rows; a column that was not measured is ``None`` in each."""
    lists = [[None] * n_rows if column is None else column for column in columns.values()]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


def _times(column: Any, limit: int | None) -> list[Any] | None:
    return None if column is None else [Time(ns) for ns in column[:limit].tolist()]


def _numbers(column: Any, limit: int | None) -> list[Any] | None:
    return None if column is None else column[:limit].tolist()


@dataclass(frozen=True, slots=True)
class TraceReport:
    """Everything a report says of one trace; each format is written from here."""

    trace: Trace
    is_torch_merged: bool = False
    """Fold a call whose only child has its name, as torch's own table does."""
    given_peaks: Mapping[str, float] = field(default_factory=dict)
    """Rates that the user gives in place of the table's, as ``parse_peak`` returns them."""

    def summary(self) -> Row:
        """Return what the file is, how it was read and what it lacks."""
        trace = self.trace
        report = trace.report
        return {
            "file": {
                "path": trace.origin.path,
                "bytes": trace.origin.n_bytes,
                "format": trace.origin.format,
                "producer": trace.origin.producer,
                "gzip": trace.origin.is_compressed,
                "origin_ns": trace.origin_ns,
            },
            "load": {
                "status": report.status,
                "events": report.n_events,
                "slices": int((trace.slices.kind != SliceKind.ASYNC).sum()),
                "complete_events": report.n_complete,
                "instants": len(trace.instants) + len(trace.memory),
                "counters": len(trace.counters),
                "flows": report.n_flows,
                "skipped": dict(report.skipped),
                "repaired": dict(report.repaired),
                "flagged": dict(report.flagged),
                "truncated": report.is_truncated,
                "damaged": report.is_damaged,
                "notes": list(report.notes),
            },
            "missing": [
                {"what": each.what, "disables": list(each.disables), "flag": each.flag}
                for each in missing_inputs(trace)
            ],
        }

    def tables(self, limit: int = 0) -> dict[str, list[Row]]:
        """Return every table by its name.

        Args:
            limit: How many rows each table of names has at most; 0 is all.
        """
        return {name: table(self, limit or None) for name, table in TABLES.items()}

    def gpu(self) -> Row:
        """Return the devices added up; nothing is a number where there is no device work."""
        uses = utilization(self.trace)

        def total(field: str) -> int | None:
            return sum(getattr(use, field) for use in uses) if uses else None

        return {
            **{_in_us(field): _time(total(field)) for field in _DEVICE_TIMES},
            **{field.removeprefix("n_"): total(field) for field in _DEVICE_COUNTS},
            "unattributed_us": _time(total("unattributed_ns")),
            "unattributed_events": total("n_unattributed"),
        }

    def host(self) -> Row:
        """Return how busy the threads were."""
        use = host_use(self.trace)
        return {
            "threads": use.n_threads,
            "busy_us": Time(use.busy_ns),
            "span_us": Time(use.span_ns),
            "overhead_us": Time(use.overhead_ns),
        }

    def findings(self) -> list[Row]:
        """Return what the rules found, most gain first."""
        return [
            {
                "rule": each.rule,
                "severity": each.severity.name.lower(),
                "summary": each.summary,
                "evidence": {
                    "slices": len(each.slices),
                    "first_us": Time(int(self.trace.slices.ts_ns[each.first_slice])),
                },
                "gain_us": _time(each.gain_ns),
                "gain_how": each.gain_how,
                "try": each.change,
            }
            for each in findings(self.trace).found
        ]

    def abstentions(self) -> list[Row]:
        """Return which rules could not judge, why, and the flag that would bring what they lack."""
        return [
            {"rule": each.rule, "reason": each.reason, "flag": each.flag or None}
            for each in findings(self.trace).abstained
        ]

    def peaks(self) -> DevicePeaks | None:
        """Return the roofs of the trace's device, with what the user gave in their place."""
        return with_peak(trace_peaks(self.trace), self.given_peaks)

    def roofs(self) -> Row | None:
        """Return what the roofline's shares are shares of, or nothing for an unknown device."""
        return roofs(self.peaks())

    def uncosted(self) -> list[Row]:
        """Return which operators have a cost that could not be said, and why."""
        return uncosted_rows(self.trace)

    def memory(self) -> Row | None:
        """Return the peaks of the allocators, or nothing where they were not recorded."""
        use = memory_use(self.trace)
        if use is None:
            return None
        return {"peak_bytes": dict(use.peak_bytes), "peaks": peak_rows(self.trace)}


def _stream_idle_row(idle: StreamIdle) -> Row:
    return {
        "host_wait_us": Time(idle.host_wait_ns),
        "kernel_wait_us": Time(idle.kernel_wait_ns),
        "other_us": Time(idle.other_ns),
        "host_wait_gaps": idle.n_host_wait,
        "kernel_wait_gaps": idle.n_kernel_wait,
        "other_gaps": idle.n_other,
    }


def _device_row(use: DeviceUse) -> Row:
    return {
        "device": use.device,
        "name": use.name,
        "kind": use.kind,
        **{_in_us(field): Time(getattr(use, field)) for field in _DEVICE_TIMES},
        **{field.removeprefix("n_"): getattr(use, field) for field in _DEVICE_COUNTS},
        "streams": [
            {
                "stream": None if stream.stream == NO_ID else stream.stream,
                "sum_us": Time(stream.sum_ns),
                "busy_us": Time(stream.busy_ns),
                "idle_us": Time(stream.idle_ns),
                "span_us": Time(stream.span_ns),
                "slices": stream.n_slices,
                "idle_hta": _stream_idle_row(stream.idle_hta),
            }
            for stream in use.streams
        ],
    }


def _devices(report: TraceReport, _limit: int | None) -> list[Row]:
    return [_device_row(use) for use in utilization(report.trace)]


def _idle(report: TraceReport, _limit: int | None) -> list[Row]:
    return [
        {
            "device": use.device,
            **{_in_us(cause): Time(getattr(use.idle, cause)) for cause in _IDLE_CAUSES},
        }
        for use in utilization(report.trace)
    ]


def _names(trace: Trace, name_ids: Any, limit: int | None) -> list[Any]:
    return [trace.names[name_id] for name_id in name_ids[:limit].tolist()]


def _host_columns(trace: Trace, stats: NameStats, limit: int | None) -> dict[str, Any]:
    return {
        "name": _names(trace, stats.name_id, limit),
        "calls": _numbers(stats.calls, limit),
        "total_us": _times(stats.total_ns, limit),
        "self_us": _times(stats.self_ns, limit),
    }


def _device_columns(stats: NameStats, limit: int | None) -> dict[str, Any]:
    return {
        "device_total_us": _times(stats.device_total_ns, limit),
        "device_self_us": _times(stats.device_self_ns, limit),
    }


def _host_table(
    analysis: Callable[[Trace], NameStats],
) -> Callable[[TraceReport, int | None], list[Row]]:
    def table(report: TraceReport, limit: int | None) -> list[Row]:
        columns = _host_columns(report.trace, analysis(report.trace), limit)
        return _rows(columns, len(columns["name"]))

    return table


def _operators(report: TraceReport, limit: int | None) -> list[Row]:
    trace = report.trace
    stats = merged_operator_stats(trace) if report.is_torch_merged else operator_stats(trace)
    columns = {
        **_host_columns(trace, stats, limit),
        **_device_columns(stats, limit),
        "kernels": _numbers(stats.n_kernels, limit),
        **_cost_columns(trace, stats, limit),
    }
    return _rows(columns, len(columns["name"]))


def _cost_columns(trace: Trace, stats: NameStats, limit: int | None) -> dict[str, Any]:
    """Return FLOP and least bytes of each name, where its own calls count."""
    row_of_name = np.full(len(trace.names), NO_ID, np.int64)
    row_of_name[stats.name_id] = np.arange(len(stats))
    sums = counted_sums(trace, row_of_name[trace.slices.name_id], len(stats))

    def known(values: Any, is_known: Any) -> list[int | None]:
        pairs = zip(values[:limit].tolist(), is_known[:limit].tolist(), strict=True)
        return [value if has_value else None for value, has_value in pairs]

    return {
        "flop": known(sums.flop, sums.has_flop),
        "bytes": known(sums.n_bytes, sums.has_bytes),
    }


def _annotations(report: TraceReport, limit: int | None) -> list[Row]:
    trace = report.trace
    stats = merged_annotation_stats(trace) if report.is_torch_merged else annotation_stats(trace)
    per_call = None if stats.n_kernels is None else stats.n_kernels / np.maximum(stats.calls, 1)
    columns = {
        **_host_columns(trace, stats, limit),
        **_device_columns(stats, limit),
        "kernels_per_call": _numbers(per_call, limit),
    }
    return _rows(columns, len(columns["name"]))


def _modules(report: TraceReport, limit: int | None) -> list[Row]:
    """Return the modules; none where the recording does not tell their calls."""
    trace = report.trace
    stats = module_stats(trace)
    if stats is None:
        return []
    columns = {
        **_host_columns(trace, stats, limit),
        **_device_columns(stats, limit),
        "kernels": _numbers(stats.n_kernels, limit),
    }
    return _rows(columns, len(columns["name"]))


def _memops(report: TraceReport, limit: int | None) -> list[Row]:
    stats = memop_stats(report.trace)
    columns: dict[str, Any] = {
        "name": _names(report.trace, stats.name_id, limit),
        "calls": _numbers(stats.calls, limit),
        "total_us": _times(stats.total_ns, limit),
        "bytes": [None if n < 0 else n for n in stats.n_bytes[:limit].tolist()],
    }
    return _rows(columns, len(columns["name"]))


def _occupancy(trace: Trace, geometry_id: int) -> float | None:
    if geometry_id == NO_ID:
        return None
    return trace.geometries[geometry_id].occupancy_ratio


def _kernels(report: TraceReport, limit: int | None) -> list[Row]:
    trace = report.trace
    stats = kernel_stats(trace)
    names = _names(trace, stats.name_id, limit)
    columns: dict[str, Any] = {
        "name": names,
        "short_name": [decode(name).short_name for name in names],
        "class": [WorkClass(value).name.lower() for value in stats.work_class[:limit].tolist()],
        "calls": _numbers(stats.calls, limit),
        "total_us": _times(stats.total_ns, limit),
        "mean_us": [Time(round(ns)) for ns in stats.mean_ns[:limit].tolist()],
        "median_us": [Time(round(ns)) for ns in stats.median_ns[:limit].tolist()],
        "min_us": _times(stats.min_ns, limit),
        "max_us": _times(stats.max_ns, limit),
        "operators": [list(operators) for operators in stats.operators[:limit]],
        "occupancy_reported_ratio": [
            _occupancy(trace, geometry_id) for geometry_id in stats.geometry_id[:limit].tolist()
        ],
        **occupancy_columns(trace, stats, limit),
        "decoded": [_decoded(decode(name)) for name in names],
    }
    return _rows(columns, len(names))


_SAID: Final = (
    "origin", "arch", "dtype_in", "dtype_acc", "mma", "tile", "stages", "layout", "kind",
    "direction",
)  # fmt: skip


def _decoded(said: KernelName) -> Row:
    """Return what a kernel's name says, ``None`` for what it does not say."""
    facts: Row = {key: getattr(said, key) for key in _SAID}
    return {
        **facts,
        "operators": list(said.operators) or None,
        "tensor_cores": said.tensor_cores,
    }


def _roofline(report: TraceReport, limit: int | None) -> list[Row]:
    return roofline_rows(report.trace, report.peaks(), limit)


def _tiles(report: TraceReport, limit: int | None) -> list[Row]:
    return tile_rows(report.trace, limit)


def _steps(report: TraceReport, limit: int | None) -> list[Row]:
    return [
        {
            "number": step.number,
            "start_us": Time(step.start_ns),
            "wall_us": Time(step.wall_ns),
            "gpu_by_launch_us": _time(step.gpu_by_launch_ns),
            "gpu_by_clock_us": _time(step.gpu_by_clock_ns),
            "kernels": step.n_kernels,
        }
        for step in steps(report.trace)[:limit]
    ]


TABLES: Final[dict[str, Callable[[TraceReport, int | None], list[Row]]]] = {
    "devices": _devices,
    "operators": _operators,
    "annotations": _annotations,
    "modules": _modules,
    "python_functions": _host_table(python_stats),
    "runtime_calls": _host_table(runtime_stats),
    "other_slices": _host_table(other_stats),
    "memops": _memops,
    "kernels": _kernels,
    "roofline": _roofline,
    "tiles": _tiles,
    "steps": _steps,
    "idle": _idle,
    "bound": lambda report, _limit: bound_rows(report.trace),
    "idle_holders": lambda report, limit: holder_rows(report.trace, limit),
    "artefacts": lambda report, limit: artefact_rows(report.trace, limit),
    "critical_path": lambda report, _limit: path_rows(report.trace),
    "critical_path_slices": lambda report, limit: path_slice_rows(report.trace, limit),
    "compile_tax": lambda report, limit: compile_rows(report.trace, limit),
    "memory_operators": lambda report, limit: operator_rows(report.trace, limit),
    "memory_blocks": lambda report, limit: block_rows(report.trace, limit),
}
"""Every table of a report, in the order in which it is printed."""


def file_title(report: TraceReport) -> str:
    """Return the file's own name, without its folders."""
    return Path(report.trace.origin.path).name or report.trace.origin.path
