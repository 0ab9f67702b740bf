"""The tables of the overview: findings, operators, kernels and annotations, the most of each."""

from typing import Final

import numpy as np

from tracetui.analysis.kernels import kernel_stats
from tracetui.analysis.operators import NameStats
from tracetui.analysis.utilization import utilization
from tracetui.analysis.work_class import WorkClass, short_kernel_name
from tracetui.format import NOT_MEASURED, TimeUnit, count, percent, time_cell, titled
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.findings import gain_title, verdict, worth_a_look
from tracetui.presentation.overview_line import (
    FIGURE_WIDTH,
    OverviewLine,
    Part,
    TableRow,
    table,
)
from tracetui.presentation.table import cell_width, cut_off

N_FINDINGS: Final = 3
"""How many findings the overview lists."""
N_TOP: Final = 5
"""How many operators, kernels and annotations the overview lists."""


def _first_slice(trace: Trace, name_id: int, kinds: tuple[SliceKind, ...]) -> int:
    """Return the longest slice of a name; the one most worth looking at."""
    is_match = (trace.slices.name_id == name_id) & np.isin(
        trace.slices.kind, np.array(kinds, dtype=np.int8)
    )
    ids = np.flatnonzero(is_match)
    if not len(ids):
        return NO_ID
    return int(ids[int(np.argmax(trace.slices.dur_ns[ids]))])


def worth_a_look_lines(
    trace: Trace, width: int, unit: TimeUnit = TimeUnit.AUTO
) -> list[OverviewLine]:
    """Return the findings that save most; each leads to its evidence, the heading to all."""
    found = worth_a_look(trace, N_FINDINGS, unit)
    gain_width = max(FIGURE_WIDTH, *(cell_width(each.gain) + 1 for each in found), 0)
    title, room = "Worth a look", max(width - gain_width - 2, 12)
    said = cut_off(f"  {verdict(trace)}", max(room + 2 - len(title), 0))
    gains = gain_title(trace) if any(each.gain for each in found) else ""
    padding = " " * max(room + 2 - len(title) - cell_width(said), 0)
    head = (
        Part(title, "heading"),
        Part(said, "dim"),
        Part(f"{padding}{gains:>{gain_width}}", "dim"),
    )
    lines = [OverviewLine(head, "findings")]
    for each in found:
        text = cut_off(each.text, room - 1)
        padding = " " * max(room - cell_width(text), 0)
        parts = (Part(f"  {text}{padding}"), Part(f"{each.gain:>{gain_width}}"))
        lines.append(OverviewLine(parts, "timeline", each.slice_id))
    return lines


def name_rows(
    trace: Trace,
    stats: NameStats,
    title: str,
    kind: SliceKind,
    width: int,
    unit: TimeUnit = TimeUnit.AUTO,
) -> list[OverviewLine]:
    """Return the names of one kind with their calls and times, the most time first."""
    device_ns = stats.device_total_ns
    self_device_ns = stats.device_self_ns
    if device_ns is None or self_device_ns is None:
        order = np.argsort(-stats.self_ns, kind="stable")[:N_TOP]
    elif kind == SliceKind.OPERATOR:
        order = np.argsort(-self_device_ns, kind="stable")[:N_TOP]
    else:
        order = np.argsort(-device_ns, kind="stable")[:N_TOP]
    rows = []
    for index in order.tolist():
        name_id = int(stats.name_id[index])
        figures = (
            count(int(stats.calls[index])),
            time_cell(int(stats.self_ns[index]), unit),
            time_cell(int(stats.total_ns[index]), unit),
            NOT_MEASURED if device_ns is None else time_cell(int(device_ns[index]), unit),
        )
        longest = _first_slice(trace, name_id, (kind,))
        rows.append(TableRow(trace.names[name_id], figures, "operators", longest))
    titles = (titled(each, unit) for each in ("CPU self", "CPU total", "GPU total"))
    return table(title, ("calls", *titles), rows, width)


def kernel_rows(trace: Trace, width: int, unit: TimeUnit = TimeUnit.AUTO) -> list[OverviewLine]:
    """Return the kernels by name, the most time first."""
    stats = kernel_stats(trace)
    # Copies count too, as in the shares of the classes above and on the kernels' own screen.
    total_ns = sum(use.sum_ns for use in utilization(trace))
    rows = []
    for index in range(min(len(stats.name_id), N_TOP)):
        name_id = int(stats.name_id[index])
        kernel_ns = int(stats.total_ns[index])
        figures = (
            count(int(stats.calls[index])),
            time_cell(kernel_ns, unit),
            percent(kernel_ns / total_ns if total_ns else None),
        )
        rows.append(
            TableRow(
                short_kernel_name(trace.names[name_id]),
                figures,
                "kernels",
                _first_slice(trace, name_id, (SliceKind.KERNEL,)),
                WorkClass(int(stats.work_class[index])),
            )
        )
    return table("Top kernels", ("calls", titled("total", unit), "share"), rows, width)
