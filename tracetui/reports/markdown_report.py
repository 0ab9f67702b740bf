"""A report as Markdown: tables for people, on a terminal or in an issue."""

import re
from collections.abc import Callable
from typing import Any, Final

from tracetui.format import NOT_MEASURED, count, duration, metric, middle_ellipsis, percent, size
from tracetui.presentation.overview import answer, file_line, load_lines, recorded
from tracetui.presentation.roofline import intensity_text, shapes_text
from tracetui.reports.report import Row, Time, TraceReport, file_title

# An underscore inside a word and a number sign inside a line are letters to Markdown.
_MARKUP: Final = re.compile(r"([\\`*\[\]<|~&]|^#|(?<!\w)_|_(?!\w))")
_NAME_WIDTH: Final = 80
_TABLES: Final = {
    "devices": ("Devices", ("device", "name", "span_us", "busy_us", "idle_us", "kernels")),
    "idle": (
        "Idle time of the devices, by cause",
        (
            "device",
            "sync_us",
            "launch_us",
            "host_wait_us",
            "kernel_wait_us",
            "artefact_us",
            "other_us",
        ),
    ),
    "bound": (
        "What holds the devices back",
        (
            "device",
            "bound",
            "counted_us",
            "busy_ratio",
            "overhead_ratio",
            "sync_ratio",
            "other_ratio",
            "launched_ahead_ratio",
            "queued_median_us",
        ),
    ),
    "idle_holders": (
        "Who held idle time",
        ("cause", "name", "frame", "gaps", "total_us", "longest_us"),
    ),
    "critical_path": ("Critical path", ("class", "total_us", "ratio")),
    "critical_path_slices": (
        "On the critical path",
        ("class", "name", "pieces", "total_us"),
    ),
    "compile_tax": (
        "What torch.compile costs",
        ("frame", "calls", "tax_median_us", "tax_us", "total_us", "variants", "recompiles"),
    ),
    "artefacts": ("The profiler's own doing", ("kind", "name", "start_us", "total_us")),
    "steps": ("Steps", ("number", "start_us", "wall_us", "gpu_by_launch_us", "kernels")),
    "annotations": (
        "Annotations",
        ("name", "calls", "total_us", "self_us", "device_total_us", "kernels_per_call"),
    ),
    "modules": (
        "Modules",
        ("name", "calls", "total_us", "self_us", "device_total_us", "device_self_us", "kernels"),
    ),
    "operators": (
        "Operators",
        ("name", "calls", "total_us", "self_us", "device_total_us", "device_self_us", "kernels"),
    ),
    "kernels": (
        "Kernels",
        (
            "short_name",
            "class",
            "calls",
            "total_us",
            "mean_us",
            "min_us",
            "max_us",
            "occupancy_theoretical_ratio",
            "occupancy_limiter",
        ),
    ),
    "roofline": (
        "Roofline",
        (
            "operator",
            "shapes",
            "calls",
            "total_us",
            "flop_per_byte",
            "flop_per_s",
            "bytes_per_s",
            "precision",
            "roof_ratio",
            "bound",
        ),
    ),
    "tiles": (
        "Tiles of matrix products",
        (
            "short_name",
            "calls",
            "total_us",
            "m",
            "n",
            "batch",
            "tile_m",
            "tile_n",
            "tiles",
            "tile_ratio",
            "wave_ratio",
        ),
    ),
    "memory_operators": (
        "Memory by operator",
        (
            "device",
            "name",
            "peak_bytes",
            "peak_ratio",
            "self_bytes",
            "total_bytes",
            "allocated_bytes",
            "blocks",
        ),
    ),
    "memory_blocks": (
        "Blocks at the peak of memory",
        ("device", "operator", "shapes", "bytes", "peak_ratio", "allocated_us", "lived_us"),
    ),
    "memops": ("Copies and memsets", ("name", "calls", "total_us", "bytes")),
    "runtime_calls": ("Runtime calls", ("name", "calls", "total_us", "self_us")),
    "python_functions": ("Python functions", ("name", "calls", "total_us", "self_us")),
    "other_slices": ("Other slices", ("name", "calls", "total_us", "self_us")),
}


def escaped(text: str) -> str:
    """Return text that Markdown shows letter for letter, also inside a table."""
    return _MARKUP.sub(r"\\\1", text)


_AS_TEXT: Final[dict[str, Callable[[Any], str]]] = {
    "shapes": lambda value: escaped(middle_ellipsis(shapes_text(value or ""), _NAME_WIDTH)),
    "flop_per_s": lambda value: metric(value, "FLOP/s"),
    "bytes_per_s": lambda value: metric(value, "B/s"),
    "flop_per_byte": intensity_text,
    "roof_ratio": percent,
    "busy_ratio": percent,
    "overhead_ratio": percent,
    "sync_ratio": percent,
    "other_ratio": percent,
    "launched_ahead_ratio": percent,
    "ratio": percent,
    "tile_ratio": percent,
    "wave_ratio": percent,
    "occupancy_theoretical_ratio": percent,
    "peak_ratio": percent,
    "peak_bytes": size,
    "self_bytes": size,
    "total_bytes": size,
    "allocated_bytes": size,
    "bytes": size,
}
"""Columns whose figures read better in a unit of their own."""


def _cell(value: Any, column: str = "") -> str:
    if column in _AS_TEXT:
        return _AS_TEXT[column](value)
    match value:
        case None:
            return NOT_MEASURED
        case str():
            return escaped(middle_ellipsis(value, _NAME_WIDTH))
        case Time():
            return duration(value.ns)
        case int():
            return count(value)
        case float():
            return f"{value:g}"
        case _:
            return escaped(str(value))


def _heading(column: str) -> str:
    bare = column.removesuffix("_us").removesuffix("_ratio").removesuffix("_theoretical")
    bare = bare.removeprefix("short_").removeprefix("occupancy_")
    if bare != "bytes":
        bare = bare.removesuffix("_bytes")
    if column in ("ratio", "peak_ratio"):
        return "share"
    return bare.replace("_", " ")


def _table(title: str, columns: tuple[str, ...], rows: list[Row]) -> list[str]:
    cells = [[_heading(column) for column in columns]]
    cells += [[_cell(row[column], column) for column in columns] for row in rows]
    is_text = [isinstance(rows[0][column], str) for column in columns]
    widths = [max(len(row[position]) for row in cells) for position in range(len(columns))]
    lines = [
        "| "
        + " | ".join(
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, is_text, strict=True)
        )
        + " |"
        for row in cells
    ]
    rule = "|".join(
        "-" * (width + 2) if text else "-" * (width + 1) + ":"
        for width, text in zip(widths, is_text, strict=True)
    )
    return [f"## {title}", "", lines[0], f"|{rule}|", *lines[1:], ""]


def _busy(report: TraceReport) -> str:
    gpu, host = report.gpu(), report.host()
    threads = "1 thread" if host["threads"] == 1 else f"{count(host['threads'])} threads"
    text = f"Host: {threads}, busy {duration(host['busy_us'].ns)}" if host["threads"] else "Host: –"
    if gpu["busy_us"] is None:
        return text
    busy_ns, span_ns = gpu["busy_us"].ns, gpu["span_us"].ns
    ratio = percent(busy_ns / span_ns if span_ns else None)
    return f"{text}. Devices: busy {duration(busy_ns)} of {duration(span_ns)} ({ratio})"


def _findings(report: TraceReport) -> list[str]:
    """Return what is worth a look, as a list; nothing where the rules found nothing."""
    lines = []
    for row in report.findings():
        gain = row["gain_us"]
        saved = "" if gain is None else f" Saves up to {duration(gain.ns)}: {row['gain_how']}."
        lines.append(
            f"- **{escaped(row['summary'])}** ({row['rule']}, {row['severity']})."
            f"{escaped(saved)} Try: {escaped(row['try'])}."
        )
    return ["## Worth a look", "", *lines, ""] if lines else []


def _roof_lines(report: TraceReport) -> list[str]:
    """Return what the roofline's shares are shares of."""
    peaks = report.peaks()
    if peaks is None:
        return ["The device's roofs are not known: rates without shares; `--peak` gives them.", ""]
    rates = [f"{metric(peaks.bytes_per_s, 'B/s')}"]
    rates += [f"{key} {metric(rate, 'FLOP/s')}" for key, rate in peaks.matrix.items()]
    rates += [f"{key} vector {metric(rate, 'FLOP/s')}" for key, rate in peaks.vector.items()]
    return [f"Roofs: {escaped(peaks.name)}, {', '.join(rates)} ({escaped(peaks.source)}).", ""]


def _peak_lines(report: TraceReport) -> list[str]:
    """Return each device's peak and what ran then."""
    memory = report.memory()
    lines = []
    for row in [] if memory is None else memory["peaks"]:
        path = " > ".join(row["running"]) or NOT_MEASURED
        before = "" if row["before_bytes"] is None else f", {size(row['before_bytes'])} from before"
        lines.append(
            f"- {row['device']}: peak {size(row['peak_bytes'])} at {duration(row['peak_us'].ns)}"
            f"{before}; running {escaped(path)}"
        )
    return [*lines, ""]


def markdown_report(report: TraceReport, limit: int = 0) -> str:
    """Return the report as Markdown; ``limit`` rows of each table, 0 for all."""
    trace = report.trace
    lines = [
        f"# {escaped(file_title(report))}",
        "",
        f"**{escaped(answer(trace))}**",
        "",
        f"{escaped(file_line(trace))}  ",
        f"{escaped(recorded(trace))}  ",
        f"{_busy(report)}",
        "",
    ]
    notes = load_lines(trace)
    if notes:
        lines += ["## Reading the file", "", *(f"- {escaped(note)}" for note in notes), ""]
    lines += _findings(report)
    tables = report.tables(limit)
    for name, (title, columns) in _TABLES.items():
        if tables[name]:
            lines += _table(title, columns, tables[name])
            lines += _roof_lines(report) if name == "roofline" else []
            lines += _peak_lines(report) if name == "memory_operators" else []
    missing = report.summary()["missing"]
    if missing:
        lines += ["## Not recorded", ""]
        lines += [
            f"- {each['what']}: no {', '.join(each['disables'])}; record with `{each['flag']}`"
            for each in missing
        ]
        lines.append("")
    return "\n".join(lines)
