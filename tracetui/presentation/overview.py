"""The first picture of a trace: the answer, where time goes, and what the file lacks."""

import textwrap
from pathlib import Path
from typing import Final

from tracetui.analysis.operators import annotation_stats, operator_stats
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import host_use, utilization
from tracetui.format import TimeUnit, count, duration, size
from tracetui.model.slices import SliceKind
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.bound import bound_sentence
from tracetui.presentation.missing import missing_inputs, n_launches
from tracetui.presentation.overview_line import OverviewLine, Part, blank, cut_line, heading
from tracetui.presentation.overview_tables import kernel_rows, name_rows, worth_a_look_lines
from tracetui.presentation.overview_time import (
    device_lines,
    holder_lines,
    host_line,
    memory_lines,
    path_lines,
    step_lines,
)

_LEAST_WIDTH: Final = 20


def answer(trace: Trace, *, with_artefacts: bool = False, unit: TimeUnit = TimeUnit.AUTO) -> str:
    """Return the one sentence that says what this recording shows, and over what range.

    Args:
        trace: The recording.
        with_artefacts: Count the profiler's own doing and the cold first step too.
        unit: How times are written.
    """
    if not len(trace.slices):
        return "Nothing to show: this file has no slice"
    uses = utilization(trace)
    if uses:
        return bound_sentence(trace, uses, with_artefacts=with_artefacts, unit=unit)
    launches = n_launches(trace)
    if launches:
        return f"GPU records missing: {count(launches)} launches without kernels"
    host = host_use(trace)
    if not host.n_threads:
        slices = "1 slice" if len(trace.slices) == 1 else f"{count(len(trace.slices))} slices"
        return (
            f"Nothing of PyTorch in this file: {slices} of something else,"
            f" {duration(trace.end_ns, unit)}; the timeline shows them"
        )
    threads = "1 thread" if host.n_threads == 1 else f"{count(host.n_threads)} threads"
    return f"CPU only: no GPU activity in this file; {threads}, {duration(host.span_ns, unit)}"


def recorded(trace: Trace) -> str:
    """Return what was recorded, for the header: device, producer, steps and length."""
    parts = []
    devices = devices_text(trace)
    if devices:
        parts.append(devices)
    if trace.origin.producer:
        parts.append(trace.origin.producer)
    n_steps = len(steps(trace))
    if n_steps:
        parts.append("1 step" if n_steps == 1 else f"{n_steps} steps")
    parts.append(duration(trace.end_ns))
    return " · ".join(parts)


def devices_text(trace: Trace) -> str:
    """Return which devices the recording knows and how many of them it saw at work.

    A file lists the devices of its machine, of which one process most often uses one.
    """
    uses = utilization(trace)
    listed = [device.name for device in trace.devices if device.name]
    names = list(dict.fromkeys(listed or [use.name for use in uses if use.name]))
    if not names:
        return ""
    name = ", ".join(clean_text(each) for each in names)
    n_all, n_used = max(len(trace.devices), len(uses)), len(uses)
    if n_all == 1:
        return name
    if n_used == n_all:
        return f"{name} ×{n_all}"
    return f"{n_used or 'none'} of {n_all} {name} used"


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
    unit: TimeUnit = TimeUnit.AUTO,
) -> tuple[OverviewLine, ...]:
    """Return the overview from its answer down to what the file lacks.

    Args:
        trace: The recording.
        width: How many cells a line may have.
        ascii_only: Draw bars with ASCII characters.
        with_artefacts: Count the profiler's own doing and the cold first step too.
        is_partial: The file is still being read: leave out what takes long and would not hold.
        unit: How times are written.
    """
    said = answer(trace, with_artefacts=with_artefacts, unit=unit)
    sentence = textwrap.wrap(said, max(width, _LEAST_WIDTH))
    lines = [OverviewLine((Part(text, "answer"),), "timeline") for text in sentence]
    lines.append(blank())
    if len(trace.slices):
        lines += _figures(
            trace,
            width,
            ascii_only=ascii_only,
            with_artefacts=with_artefacts,
            is_partial=is_partial,
            unit=unit,
        )
    report = load_lines(trace)
    lines.append(heading("The file"))
    lines.append(OverviewLine((Part(f"  {file_line(trace)}"),)))
    lines.extend(OverviewLine((Part(f"  {text}", "warning"),)) for text in report)
    missing = missing_inputs(trace)
    if missing:
        flag_width = max(len(each.flag) for each in missing)
        lines += [blank(), heading("Not recorded", "  (record again with)")]
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
    return tuple(cut_line(line, max(width, _LEAST_WIDTH)) for line in lines)


def _figures(
    trace: Trace,
    width: int,
    *,
    ascii_only: bool,
    with_artefacts: bool,
    is_partial: bool,
    unit: TimeUnit,
) -> list[OverviewLine]:
    uses = utilization(trace)
    lines: list[OverviewLine] = []
    for use in uses:
        lines += device_lines(
            trace, use, width, ascii_only=ascii_only, with_artefacts=with_artefacts, unit=unit
        )
    lines += [] if is_partial else holder_lines(trace, uses, width, unit)
    if host_use(trace).n_threads:
        lines.append(host_line(trace, width, ascii_only=ascii_only))
    lines += [] if is_partial else path_lines(trace, width, unit)
    found = steps(trace)
    if found:
        lines += step_lines(found, width, ascii_only=ascii_only, unit=unit)
    lines += [] if is_partial else memory_lines(trace, width, unit)
    lines += [] if is_partial else [blank(), *worth_a_look_lines(trace, width, unit)]
    lines.append(blank())
    operators = operator_stats(trace)
    if len(operators.name_id):
        lines += name_rows(trace, operators, "Top operators", SliceKind.OPERATOR, width, unit)
        lines.append(blank())
    if uses:
        lines += [*kernel_rows(trace, width, unit), blank()]
    annotations = annotation_stats(trace)
    if len(annotations.name_id):
        lines += name_rows(trace, annotations, "Annotations", SliceKind.ANNOTATION, width, unit)
        lines.append(blank())
    return lines
