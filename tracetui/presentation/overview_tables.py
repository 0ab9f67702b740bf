"""The tables of the overview: findings, operators, kernels and annotations, the most of each."""

from typing import Final

import numpy as np

from tracetui.analysis.kernels import kernel_stats
from tracetui.analysis.operators import NameStats
from tracetui.analysis.utilization import utilization
from tracetui.analysis.work_class import WorkClass, short_kernel_name
from tracetui.format import NOT_MEASURED, count, duration, percent
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.findings import gain_title, verdict, worth_a_look
from tracetui.presentation.overview_line import (
    FIGURE_WIDTH,
    OverviewLine,
    Part,
    table_head,
    table_row,
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


def worth_a_look_lines(trace: Trace, width: int) -> list[OverviewLine]:
    """Return the findings that save most; each leads to its evidence, the heading to all."""
    found = worth_a_look(trace, N_FINDINGS)
    title, room = "Worth a look", max(width - FIGURE_WIDTH - 2, 12)
    said = cut_off(f"  {verdict(trace)}", max(room + 2 - len(title), 0))
    unit = gain_title(trace) if any(each.gain for each in found) else ""
    padding = " " * max(room + 2 - len(title) - cell_width(said), 0)
    head = (Part(title, "heading"), Part(said, "dim"), Part(padding + f"{unit:>12}", "dim"))
    lines = [OverviewLine(head, "findings")]
    for each in found:
        text = cut_off(each.text, room - 1)
        padding = " " * max(room - cell_width(text), 0)
        parts = (Part(f"  {text}{padding}"), Part(f"{each.gain:>{FIGURE_WIDTH}}"))
        lines.append(OverviewLine(parts, "timeline", each.slice_id))
    return lines


def name_rows(
    trace: Trace,
    stats: NameStats,
    title: str,
    kind: SliceKind,
    width: int,
    n_rows: int | None = N_TOP,
) -> list[OverviewLine]:
    """Return the names of one kind with their calls and times, the most time first."""
    device_ns = stats.device_total_ns
    self_device_ns = stats.device_self_ns
    if device_ns is None or self_device_ns is None:
        order = np.argsort(-stats.self_ns, kind="stable")[:n_rows]
    elif kind == SliceKind.OPERATOR:
        order = np.argsort(-self_device_ns, kind="stable")[:n_rows]
    else:
        order = np.argsort(-device_ns, kind="stable")[:n_rows]
    lines = [table_head(title, ("calls", "CPU self", "CPU total", "GPU total"), width)]
    for index in order:
        name_id = int(stats.name_id[index])
        device = NOT_MEASURED if device_ns is None else duration(int(device_ns[index]))
        figures = (
            count(int(stats.calls[index])),
            duration(int(stats.self_ns[index])),
            duration(int(stats.total_ns[index])),
            device,
        )
        lines.append(
            OverviewLine(
                table_row(trace.names[name_id], figures, width),
                "operators",
                _first_slice(trace, name_id, (kind,)),
            )
        )
    return lines


def kernel_rows(trace: Trace, width: int, n_rows: int | None = N_TOP) -> list[OverviewLine]:
    """Return the kernels by name, the most time first."""
    stats = kernel_stats(trace)
    # Copies count too, as in the shares of the classes above and on the kernels' own screen.
    total_ns = sum(use.sum_ns for use in utilization(trace))
    lines = [table_head("Top kernels", ("calls", "total", "share"), width)]
    for index in range(len(stats.name_id))[:n_rows]:
        name_id = int(stats.name_id[index])
        kernel_ns = int(stats.total_ns[index])
        figures = (
            count(int(stats.calls[index])),
            duration(kernel_ns),
            percent(kernel_ns / total_ns if total_ns else None),
        )
        name, *rest = table_row(short_kernel_name(trace.names[name_id]), figures, width)
        work_class = WorkClass(int(stats.work_class[index]))
        lines.append(
            OverviewLine(
                (Part(name.text, work_class=work_class), *rest),
                "kernels",
                _first_slice(trace, name_id, (SliceKind.KERNEL,)),
            )
        )
    return lines
