"""The first picture of a trace: the answer, where time goes, and what the file lacks."""

import textwrap
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from tracetui.analysis.bound import device_bound
from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.critical_path import critical_path
from tracetui.analysis.kernels import kernel_stats
from tracetui.analysis.links import links
from tracetui.analysis.operators import NameStats, annotation_stats, operator_stats
from tracetui.analysis.steps import Step, steps
from tracetui.analysis.utilization import DeviceUse, GapCause, host_use, utilization
from tracetui.analysis.work_class import WorkClass, short_kernel_name
from tracetui.format import NOT_MEASURED, count, duration, middle_ellipsis, percent, size
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.bound import (
    CAUSE_NAMES,
    bound_sentence,
    evidence,
    excluded_text,
    holder_text,
    worth_naming,
)
from tracetui.presentation.findings import gain_title, verdict, worth_a_look
from tracetui.presentation.path import compile_texts, path_texts
from tracetui.presentation.table import cell_width, cut_off

N_FINDINGS: Final = 3
"""How many findings the overview lists."""
N_TOP: Final = 5
"""How many operators, kernels and annotations the overview lists."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"
_LABEL_WIDTH: Final = 9
_FIGURE_WIDTH: Final = 12
_SUFFIX_WIDTH: Final = 23
"""Room for the figure behind a bar."""
_LAUNCH_WORDS: Final = ("LaunchKernel", "GraphLaunch", "LaunchCooperativeKernel")
_STEP_PREFIX: Final = "ProfilerStep#"
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


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line and what it is; the screen chooses the colour."""

    text: str
    role: str = ""
    """``answer``, ``heading``, ``dim``, ``warning``, ``bar`` or nothing."""
    work_class: WorkClass | None = None


@dataclass(frozen=True, slots=True)
class OverviewLine:
    """One line, and where ``enter`` leads from it."""

    parts: tuple[Part, ...] = ()
    view: str = ""
    """The view to go to; empty where the line leads nowhere."""
    slice_id: int = NO_ID

    @property
    def text(self) -> str:
        """Return the line as plain text."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class MissingInput:
    """Something the recording lacks."""

    what: str
    disables: tuple[str, ...]
    flag: str
    """What to give the profiler to have it."""


def _has_kind(trace: Trace, *kinds: SliceKind) -> bool:
    return bool(np.isin(trace.slices.kind, np.array(kinds, dtype=np.int8)).any())


def n_launches(trace: Trace) -> int:
    """Return how many calls launch a kernel or a graph."""
    names = [
        name_id
        for name_id, name in enumerate(trace.names)
        if any(word in name for word in _LAUNCH_WORDS)
    ]
    is_runtime = trace.slices.kind == SliceKind.RUNTIME
    return int((np.isin(trace.slices.name_id, names) & is_runtime).sum())


def missing_inputs(trace: Trace) -> tuple[MissingInput, ...]:
    """Return what the recording lacks, what that switches off and the profiler flag to have it."""
    missing = []
    has_operators = _has_kind(trace, SliceKind.OPERATOR)
    if not has_operators:
        missing.append(
            MissingInput("operators", ("operator table", "call tree"), "ProfilerActivity.CPU")
        )
    if not bool(trace.slices.is_device_work().any()):
        missing.append(
            MissingInput(
                "device activity",
                ("kernels", "device time", "utilization"),
                "ProfilerActivity.CUDA",
            )
        )
    if has_operators and not bool((trace.slices.shape_id >= 0).any()):
        missing.append(
            MissingInput("input shapes", ("grouping by shape", "FLOP"), "record_shapes=True")
        )
    if not _has_kind(trace, SliceKind.PYTHON):
        missing.append(MissingInput("stacks", ("Python frames",), "with_stack=True"))
    if not len(trace.memory):
        missing.append(
            MissingInput("memory", ("memory by operator", "peak memory"), "profile_memory=True")
        )
    if not steps(trace):
        missing.append(
            MissingInput("steps", ("times per step",), "schedule=… and prof.step() in the loop")
        )
    return tuple(missing)


def answer(trace: Trace, *, with_artefacts: bool = False) -> str:
    """Return the one sentence that says what this recording shows, and over what range.

    Args:
        trace: The recording.
        with_artefacts: Count the profiler's own doing and the cold first step too.
    """
    if not len(trace.slices):
        return "Nothing to show: this file has no slice"
    uses = utilization(trace)
    if uses:
        return bound_sentence(trace, uses, with_artefacts=with_artefacts)
    launches = n_launches(trace)
    if launches:
        return f"GPU records missing: {count(launches)} launches without kernels"
    host = host_use(trace)
    if not host.n_threads:
        slices = "1 slice" if len(trace.slices) == 1 else f"{count(len(trace.slices))} slices"
        return (
            f"Nothing of PyTorch in this file: {slices} of something else,"
            f" {duration(trace.end_ns)}; the timeline shows them"
        )
    threads = "1 thread" if host.n_threads == 1 else f"{count(host.n_threads)} threads"
    return f"CPU only: no GPU activity in this file; {threads}, {duration(host.span_ns)}"


def recorded(trace: Trace) -> str:
    """Return what was recorded, for the header: device, producer, steps and length."""
    parts = []
    names = list(dict.fromkeys(device.name for device in trace.devices if device.name))
    uses = [use.name for use in utilization(trace) if use.name]
    names = names or list(dict.fromkeys(uses))
    if names:
        parts.append(clean_text(names[0]) + (f" ×{len(trace.devices)}" * (len(trace.devices) > 1)))
    if trace.origin.producer:
        parts.append(trace.origin.producer)
    n_steps = len(steps(trace))
    if n_steps:
        parts.append("1 step" if n_steps == 1 else f"{n_steps} steps")
    parts.append(duration(trace.end_ns))
    return " · ".join(parts)


def bar(ratio: float, width: int, *, ascii_only: bool = False) -> str:
    """Return a bar of ``width`` cells, filled to an eighth of a cell."""
    filled = max(0.0, min(1.0, ratio)) * max(width, 0)
    if ascii_only:
        return ("#" * round(filled)).ljust(max(width, 0), ".")
    whole = int(filled)
    rest = _EIGHTHS[int((filled - whole) * 8)].strip()
    return ("█" * whole + rest).ljust(max(width, 0))


def _blank() -> OverviewLine:
    return OverviewLine()


def _heading(text: str, unit: str = "") -> OverviewLine:
    return OverviewLine((Part(text, "heading"), Part(unit, "dim")))


def _label(text: str) -> Part:
    return Part(f"{text:<{_LABEL_WIDTH}}", "dim")


def _first_slice(trace: Trace, name_id: int, kinds: tuple[SliceKind, ...]) -> int:
    """Return the longest slice of a name; the one most worth looking at."""
    is_match = (trace.slices.name_id == name_id) & np.isin(
        trace.slices.kind, np.array(kinds, dtype=np.int8)
    )
    ids = np.flatnonzero(is_match)
    if not len(ids):
        return NO_ID
    return int(ids[int(np.argmax(trace.slices.dur_ns[ids]))])


def _device_lines(
    trace: Trace, use: DeviceUse, width: int, *, ascii_only: bool, with_artefacts: bool
) -> list[OverviewLine]:
    found = device_bound(trace, use, with_artefacts=with_artefacts)
    counted = found.counted
    ratio = found.busy_ratio
    bar_width = max(width - _LABEL_WIDTH - _SUFFIX_WIDTH, 8)
    first = OverviewLine(
        (
            _label(f"{use.kind.upper()} {use.device}"),
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
        Part(f"{CAUSE_NAMES[cause]} {duration(cause_ns)}", "dim")
        for cause, cause_ns in sorted(by_cause.items(), key=lambda item: -item[1])
        if cause_ns
    ]
    idle.insert(0, Part(f"idle {duration(counted.idle_ns)}"))
    if counted.excluded_ns:
        idle.append(Part(f"not counted: {excluded_text(found)}", "dim"))
    total_ns = max(int(use.class_ns.sum()), 1)
    split = [
        Part(
            f"{_CLASS_NAMES[WorkClass(int(index))]} {use.class_ns[index] / total_ns * 100:.1f} %",
            work_class=WorkClass(int(index)),
        )
        for index in np.argsort(-use.class_ns, kind="stable")
        if use.class_ns[index]
    ]
    ahead = [Part(text, "dim") for text in evidence(found)]
    return [
        first,
        *_flowing(split, width, "kernels"),
        *_flowing(idle, width, "timeline"),
        *_flowing(ahead, width, "timeline"),
    ]


def _holder_lines(trace: Trace, uses: tuple[DeviceUse, ...], width: int) -> list[OverviewLine]:
    """Return who held the devices' idle time; each line leads to its longest gap."""
    holders = worth_naming(trace, sum(use.span_ns for use in uses))
    room = max(width - _LABEL_WIDTH, 20)
    return [
        OverviewLine(
            (_label("" if place else "Held by"), Part(middle_ellipsis(holder_text(holder), room))),
            "timeline",
            holder.longest_id,
        )
        for place, holder in enumerate(holders)
    ]


def _path_lines(trace: Trace, width: int) -> list[OverviewLine]:
    """Return what the critical path is made of, and what compiled calls cost."""
    lines = []
    path = [Part(text, "dim") for text in path_texts(critical_path(trace))]
    if path and links(trace).has_device:
        lines += _labelled("Path", path, width)
    tax = compile_tax(trace)
    if tax is not None and (texts := compile_texts(tax)):
        lines += _labelled("Compiled", [Part(text, "dim") for text in texts], width)
    return lines


def _labelled(label: str, parts: list[Part], width: int) -> list[OverviewLine]:
    first, *rest = _flowing(parts, width, "timeline")
    return [OverviewLine((_label(label), *first.parts[1:]), first.view), *rest]


def _flowing(parts: list[Part], width: int, view: str) -> list[OverviewLine]:
    """Return the parts side by side, on as many lines as they need."""
    lines: list[OverviewLine] = []
    row: list[Part] = []
    used = _LABEL_WIDTH
    for part in parts:
        if row and used + len(part.text) > width:
            lines.append(OverviewLine((_label(""), *row), view))
            row, used = [], _LABEL_WIDTH
        row += [Part("  "), part] if row else [part]
        used += len(part.text) + 2
    if row:
        lines.append(OverviewLine((_label(""), *row), view))
    return lines


def _host_line(trace: Trace, width: int, *, ascii_only: bool) -> OverviewLine:
    host = host_use(trace)
    available_ns = host.span_ns * host.n_threads
    ratio = host.busy_ns / available_ns if available_ns else 0.0
    bar_width = max(width - _LABEL_WIDTH - _SUFFIX_WIDTH, 8)
    threads = "busy" if host.n_threads == 1 else f"of {host.n_threads} threads"
    return OverviewLine(
        (
            _label("Host"),
            Part(bar(ratio, bar_width, ascii_only=ascii_only), "bar"),
            Part(f" {percent(ratio):>7} {threads}"),
        ),
        "operators",
    )


def _step_lines(found: tuple[Step, ...], width: int, *, ascii_only: bool) -> list[OverviewLine]:
    walls = sorted(step.wall_ns for step in found)
    longest = max(walls[-1], 1)
    middle_ns = round(median(walls))
    spread = (walls[-1] - walls[0]) / middle_ns if middle_ns else 0.0
    heights = "123456789" if ascii_only else _HEIGHTS
    strip = "".join(
        heights[min(int(step.wall_ns / longest * len(heights)), len(heights) - 1)]
        for step in found[: max(width - _LABEL_WIDTH - 44, 8)]
    )
    text = f"  {len(found)} steps, median {duration(middle_ns)}, range {percent(spread)} of it"
    if len(found) == 1:
        text = f"  1 step, {duration(middle_ns)}"
    slowest = max(found, key=lambda step: step.wall_ns)
    lines = [
        OverviewLine(
            (_label("Steps"), Part(strip, "bar"), Part(text)), "timeline", slowest.slice_id
        )
    ]
    lines.extend(
        OverviewLine(
            (
                _label(""),
                Part(f"#{step.number} took {duration(step.wall_ns)}: an outlier", "warning"),
            ),
            "timeline",
            step.slice_id,
        )
        for step in found[:N_TOP]
        if step.is_outlier
    )
    return lines


def _worth_a_look_lines(trace: Trace, width: int) -> list[OverviewLine]:
    """Return the findings that save most; each leads to its evidence, the heading to all."""
    found = worth_a_look(trace, N_FINDINGS)
    title, room = "Worth a look", max(width - _FIGURE_WIDTH - 2, 12)
    said = cut_off(f"  {verdict(trace)}", max(room + 2 - len(title), 0))
    unit = gain_title(trace) if any(each.gain for each in found) else ""
    padding = " " * max(room + 2 - len(title) - cell_width(said), 0)
    head = (Part(title, "heading"), Part(said, "dim"), Part(padding + f"{unit:>12}", "dim"))
    lines = [OverviewLine(head, "findings")]
    for each in found:
        text = cut_off(each.text, room - 1)
        padding = " " * max(room - cell_width(text), 0)
        parts = (Part(f"  {text}{padding}"), Part(f"{each.gain:>{_FIGURE_WIDTH}}"))
        lines.append(OverviewLine(parts, "timeline", each.slice_id))
    return lines


def _row(name: str, figures: tuple[str, ...], width: int) -> tuple[Part, ...]:
    name_width = max(width - _FIGURE_WIDTH * len(figures) - 2, 12)
    shown = middle_ellipsis(name, name_width)
    return (
        Part(f"  {shown:<{name_width}}"),
        *(Part(f"{figure:>{_FIGURE_WIDTH}}") for figure in figures),
    )


def _headings(title: str, figures: tuple[str, ...], width: int) -> OverviewLine:
    name_width = max(width - _FIGURE_WIDTH * len(figures) - 2, 12) + 2
    return OverviewLine(
        (
            Part(f"{title:<{name_width}}", "heading"),
            *(Part(f"{figure:>{_FIGURE_WIDTH}}", "dim") for figure in figures),
        )
    )


def _name_rows(
    trace: Trace,
    stats: NameStats,
    title: str,
    kind: SliceKind,
    width: int,
    n_rows: int | None = N_TOP,
) -> list[OverviewLine]:
    device_ns = stats.device_total_ns
    self_device_ns = stats.device_self_ns
    if device_ns is None or self_device_ns is None:
        order = np.argsort(-stats.self_ns, kind="stable")[:n_rows]
    elif kind == SliceKind.OPERATOR:
        order = np.argsort(-self_device_ns, kind="stable")[:n_rows]
    else:
        order = np.argsort(-device_ns, kind="stable")[:n_rows]
    lines = [_headings(title, ("calls", "CPU self", "CPU total", "GPU total"), width)]
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
                _row(trace.names[name_id], figures, width),
                "operators",
                _first_slice(trace, name_id, (kind,)),
            )
        )
    return lines


def _kernel_rows(trace: Trace, width: int, n_rows: int | None = N_TOP) -> list[OverviewLine]:
    stats = kernel_stats(trace)
    # Copies count too, as in the shares of the classes above and on the kernels' own screen.
    total_ns = sum(use.sum_ns for use in utilization(trace))
    lines = [_headings("Top kernels", ("calls", "total", "share"), width)]
    for index in range(len(stats.name_id))[:n_rows]:
        name_id = int(stats.name_id[index])
        kernel_ns = int(stats.total_ns[index])
        figures = (
            count(int(stats.calls[index])),
            duration(kernel_ns),
            percent(kernel_ns / total_ns if total_ns else None),
        )
        name, *rest = _row(short_kernel_name(trace.names[name_id]), figures, width)
        work_class = WorkClass(int(stats.work_class[index]))
        lines.append(
            OverviewLine(
                (Part(name.text, work_class=work_class), *rest),
                "kernels",
                _first_slice(trace, name_id, (SliceKind.KERNEL,)),
            )
        )
    return lines


def load_lines(trace: Trace) -> list[str]:
    """Return what the reader did not take as it stood, one statement a line."""
    report = trace.report
    lines = []
    if report.is_stopped:
        lines.append("stopped by you: what was read until then is shown")
    if report.is_truncated:
        lines.append("the file ends early: the recording was cut off")
    if report.is_damaged:
        lines.append("the file is damaged: what could be read is shown")
    for word, reasons in (
        ("skipped", report.skipped),
        ("repaired", report.repaired),
        ("flagged", report.flagged),
    ):
        lines.extend(f"{word} {count(n)}: {reason}" for reason, n in reasons.most_common())
    lines.extend(report.notes)
    return [clean_text(line) for line in lines]


def file_line(trace: Trace) -> str:
    """Return which file this is, in one line."""
    origin = trace.origin
    name = clean_text(Path(origin.path).name) if origin.path else "input"
    return (
        f"{name} · {size(origin.n_bytes)} · {clean_text(origin.format)} · "
        f"{count(trace.report.n_events)} events · {count(len(trace.slices))} slices"
    )


def overview_lines(
    trace: Trace,
    width: int,
    *,
    ascii_only: bool = False,
    with_artefacts: bool = False,
    is_partial: bool = False,
) -> tuple[OverviewLine, ...]:
    """Return the overview from its answer down to what the file lacks.

    Args:
        trace: The recording.
        width: How many cells a line may have.
        ascii_only: Draw bars with ASCII characters.
        with_artefacts: Count the profiler's own doing and the cold first step too.
        is_partial: The file is still being read: leave out what takes long and would not hold.
    """
    sentence = textwrap.wrap(answer(trace, with_artefacts=with_artefacts), max(width, 20))
    lines = [OverviewLine((Part(text, "answer"),), "timeline") for text in sentence]
    lines.append(_blank())
    if len(trace.slices):
        lines += _figures(
            trace,
            width,
            ascii_only=ascii_only,
            with_artefacts=with_artefacts,
            is_partial=is_partial,
        )
    report = load_lines(trace)
    lines.append(_heading("The file"))
    lines.append(OverviewLine((Part(f"  {file_line(trace)}"),)))
    lines.extend(OverviewLine((Part(f"  {text}", "warning"),)) for text in report)
    missing = missing_inputs(trace)
    if missing:
        flag_width = max(len(each.flag) for each in missing)
        lines += [_blank(), _heading("Not recorded", "  (record again with)")]
        lines.extend(
            OverviewLine(
                (
                    Part(f"  {each.what:<16}"),
                    Part(f"{each.flag:<{flag_width}}"),
                    Part("  no " + ", ".join(each.disables), "dim"),
                )
            )
            for each in missing
        )
    return tuple(lines)


def _figures(
    trace: Trace, width: int, *, ascii_only: bool, with_artefacts: bool, is_partial: bool
) -> list[OverviewLine]:
    uses = utilization(trace)
    lines: list[OverviewLine] = []
    for use in uses:
        lines += _device_lines(
            trace, use, width, ascii_only=ascii_only, with_artefacts=with_artefacts
        )
    lines += [] if is_partial else _holder_lines(trace, uses, width)
    if host_use(trace).n_threads:
        lines.append(_host_line(trace, width, ascii_only=ascii_only))
    lines += [] if is_partial else _path_lines(trace, width)
    found = steps(trace)
    if found:
        lines += _step_lines(found, width, ascii_only=ascii_only)
    lines += [] if is_partial else [_blank(), *_worth_a_look_lines(trace, width)]
    lines.append(_blank())
    operators = operator_stats(trace)
    if len(operators.name_id):
        lines += _name_rows(trace, operators, "Top operators", SliceKind.OPERATOR, width)
        lines.append(_blank())
    if uses:
        lines += [*_kernel_rows(trace, width), _blank()]
    annotations = annotation_stats(trace)
    if len(annotations.name_id):
        lines += _name_rows(trace, annotations, "Annotations", SliceKind.ANNOTATION, width)
        lines.append(_blank())
    return lines
