"""Where the time went, as lines of the overview: devices, host, path and steps."""

from dataclasses import fields
from statistics import median
from typing import Final

import numpy as np

from tracetui.analysis.bound import device_bound
from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.critical_path import critical_path
from tracetui.analysis.links import links
from tracetui.analysis.memory import memory_use
from tracetui.analysis.steps import Step
from tracetui.analysis.utilization import DeviceUse, GapCause, host_use
from tracetui.analysis.work_class import WorkClass
from tracetui.format import TimeUnit, duration, percent, size
from tracetui.model.trace import Trace
from tracetui.presentation.bound import (
    CAUSE_NAMES,
    device_title,
    evidence,
    excluded_text,
    holder_text,
    worth_naming,
)
from tracetui.presentation.memory_peak import PeakMoment, curve_of
from tracetui.presentation.overview_line import (
    LABEL_WIDTH,
    OverviewLine,
    Part,
    bar,
    flowing,
    label,
    labelled,
)
from tracetui.presentation.path import compile_texts, path_texts
from tracetui.presentation.table import cut_off

_N_OUTLIERS: Final = 5
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"
_SUFFIX_WIDTH: Final = 23
"""Room for the figure behind a bar."""
_CLASS_NAMES: Final = {
    WorkClass.GEMM: "gemm",
    WorkClass.ATTENTION: "attention",
    WorkClass.NORM: "norm",
    WorkClass.POINTWISE: "pointwise",
    WorkClass.REDUCTION: "reduction",
    WorkClass.TRITON: "triton",
    WorkClass.COPY: "copy",
    WorkClass.COMM: "comm",
    WorkClass.OTHER: "other",
}


def device_lines(
    trace: Trace,
    use: DeviceUse,
    width: int,
    *,
    ascii_only: bool,
    with_artefacts: bool,
    unit: TimeUnit = TimeUnit.AUTO,
) -> list[OverviewLine]:
    """Return how busy a device was, with what, and why it was idle."""
    found = device_bound(trace, use, with_artefacts=with_artefacts)
    counted = found.counted
    ratio = found.busy_ratio
    bar_width = max(width - LABEL_WIDTH - _SUFFIX_WIDTH, 8)
    first = OverviewLine(
        (
            label(device_title(use)),
            Part(bar(ratio, bar_width, ascii_only=ascii_only), "bar"),
            Part(f" {percent(ratio):>7} busy"),
        ),
        "timeline",
    )
    by_cause = {
        GapCause[field.name.removesuffix("_ns").upper()]: getattr(counted.idle, field.name)
        for field in fields(counted.idle)
    }
    idle = [
        Part(f"{CAUSE_NAMES[cause]} {duration(cause_ns, unit)}", "dim")
        for cause, cause_ns in sorted(by_cause.items(), key=lambda item: -item[1])
        if cause_ns
    ]
    idle.insert(0, Part(f"idle {duration(counted.idle_ns, unit)}"))
    if counted.excluded_ns:
        idle.append(Part(f"not counted: {excluded_text(found, unit)}", "dim"))
    total_ns = max(int(use.class_ns.sum()), 1)
    split = [
        Part(
            f"{_CLASS_NAMES[WorkClass(int(index))]} {use.class_ns[index] / total_ns * 100:.1f} %",
            work_class=WorkClass(int(index)),
        )
        for index in np.argsort(-use.class_ns, kind="stable")
        if use.class_ns[index]
    ]
    ahead = [Part(text, "dim") for text in evidence(found, unit)]
    return [
        first,
        *flowing(split, width, "kernels"),
        *flowing(idle, width, "timeline"),
        *flowing(ahead, width, "timeline"),
    ]


def holder_lines(
    trace: Trace, uses: tuple[DeviceUse, ...], width: int, unit: TimeUnit = TimeUnit.AUTO
) -> list[OverviewLine]:
    """Return who held the devices' idle time; each line leads to its longest gap."""
    holders = worth_naming(trace, sum(use.span_ns for use in uses))
    room = max(width - LABEL_WIDTH, 20)
    return [
        OverviewLine(
            (
                label("" if place else "Held by"),
                Part(cut_off(holder_text(holder, unit, room), room)),
            ),
            "timeline",
            holder.longest_id,
        )
        for place, holder in enumerate(holders)
    ]


def memory_lines(trace: Trace, width: int, unit: TimeUnit = TimeUnit.AUTO) -> list[OverviewLine]:
    """Return the most that each device held, the accelerator first; none without records."""
    use = memory_use(trace)
    if use is None:
        return []
    first = curve_of(use)
    room = max(width - LABEL_WIDTH, 20)
    lines: list[OverviewLine] = []
    for curve in (first, *(each for each in use.curves if each is not first)):
        moment = PeakMoment.of(trace, curve)
        text = f"{curve.device} peak {size(moment.peak.n_bytes)} {moment.words(unit)}"
        parts = (label("" if lines else "Memory"), Part(cut_off(text, room)))
        lines.append(OverviewLine(parts, "memory", moment.slice_id))
    return lines


def path_lines(trace: Trace, width: int, unit: TimeUnit = TimeUnit.AUTO) -> list[OverviewLine]:
    """Return what the critical path is made of, and what compiled calls cost."""
    lines = []
    path = [Part(text, "dim") for text in path_texts(critical_path(trace))]
    if path and links(trace).has_device:
        lines += labelled("Path", path, width)
    tax = compile_tax(trace)
    if tax is not None and (texts := compile_texts(tax, unit)):
        lines += labelled("Compiled", [Part(text, "dim") for text in texts], width)
    return lines


def host_line(trace: Trace, width: int, *, ascii_only: bool) -> OverviewLine:
    """Return how busy the threads of the host were."""
    host = host_use(trace)
    available_ns = host.span_ns * host.n_threads
    ratio = host.busy_ns / available_ns if available_ns else 0.0
    bar_width = max(width - LABEL_WIDTH - _SUFFIX_WIDTH, 8)
    threads = "busy" if host.n_threads == 1 else f"of {host.n_threads} threads"
    return OverviewLine(
        (
            label("Host"),
            Part(bar(ratio, bar_width, ascii_only=ascii_only), "bar"),
            Part(f" {percent(ratio):>7} {threads}"),
        ),
        "operators",
    )


def step_lines(
    found: tuple[Step, ...],
    width: int,
    *,
    ascii_only: bool,
    unit: TimeUnit = TimeUnit.AUTO,
) -> list[OverviewLine]:
    """Return the steps as a strip, and those that took far longer than the others."""
    walls = sorted(step.wall_ns for step in found)
    longest = max(walls[-1], 1)
    middle_ns = round(median(walls))
    spread = (walls[-1] - walls[0]) / middle_ns if middle_ns else 0.0
    heights = "123456789" if ascii_only else _HEIGHTS
    strip = "".join(
        heights[min(int(step.wall_ns / longest * len(heights)), len(heights) - 1)]
        for step in found[: max(width - LABEL_WIDTH - 44, 8)]
    )
    text = (
        f"  {len(found)} steps, median {duration(middle_ns, unit)}, range {percent(spread)} of it"
    )
    if len(found) == 1:
        text = f"  1 step, {duration(middle_ns, unit)}"
    slowest = max(found, key=lambda step: step.wall_ns)
    lines = [
        OverviewLine((label("Steps"), Part(strip, "bar"), Part(text)), "timeline", slowest.slice_id)
    ]
    lines.extend(
        OverviewLine(
            (
                label(""),
                Part(f"#{step.number} took {duration(step.wall_ns, unit)}: an outlier", "warning"),
            ),
            "timeline",
            step.slice_id,
        )
        for step in found[:_N_OUTLIERS]
        if step.is_outlier
    )
    return lines
