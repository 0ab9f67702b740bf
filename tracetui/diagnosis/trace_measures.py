"""Functions about a whole recording: its devices, its steps, its verdict."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tracetui.analysis.bound import BUSY_RATIO, bound
from tracetui.analysis.call_counts import call_counts
from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.critical_path import PathClass, critical_path
from tracetui.analysis.idle import idle_holders
from tracetui.analysis.links import links
from tracetui.analysis.operators import NameStats, operator_stats
from tracetui.analysis.steps import Step, steps
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.engine import findings
from tracetui.diagnosis.expressions import ExpectationError, near, shown
from tracetui.diagnosis.measured import (
    NO_DEVICE,
    NO_SLICES,
    NO_STEPS,
    Measured,
    device_rows,
    median_us,
    not_measured,
    of_n,
    us,
)
from tracetui.diagnosis.named_slices import required_slices
from tracetui.diagnosis.rules import RULES
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


def gpu_us(trace: Trace, name: str) -> Measured:
    """Device time: the median call of a name, else the median step, else all of it."""
    if not links(trace).has_device:
        return not_measured(NO_DEVICE)
    if name:
        named = required_slices(trace, name)
        ns = trace.slices.dur_ns[named.slice_ids]
        if not named.is_device_work:
            ns = call_counts(trace, named.slice_ids).device_ns
        return Measured(median_us(ns.tolist()), named.slice_ids, of_n(len(ns), "call"))
    warm = _warm_steps(trace)
    if warm:
        times = [step.gpu_by_launch_ns or 0 for step in warm]
        return Measured(median_us(times), _ids(warm), of_n(len(warm), "step"))
    rows = device_rows(trace)
    return Measured(us(trace.slices.dur_ns[rows].sum()), rows, "in total: no steps")


def host_us(trace: Trace, name: str) -> Measured:
    """Time on the host: the median call of a name, else the median step."""
    if name:
        rows = required_slices(trace, name).slice_ids
        times = trace.slices.dur_ns[rows].tolist()
        return Measured(median_us(times), rows, of_n(len(rows), "call"))
    warm = _warm_steps(trace)
    if not warm:
        return not_measured(NO_STEPS)
    return Measured(median_us([step.wall_ns for step in warm]), _ids(warm), of_n(len(warm), "step"))


def wall_us(trace: Trace, _: str) -> Measured:
    """The median period of the steps, by completion on the device where there is one."""
    found = steps(trace)
    if not found:
        return not_measured(NO_STEPS)
    if len(found) == 1:
        return Measured(us(found[0].wall_ns), _ids(found), "one step: its width on the host")
    done_ns = _completions(trace, found)
    periods = [after - before for before, after in pairwise(done_ns)]
    return Measured(median_us(periods), _ids(found[1:]), of_n(len(periods), "period"))


def _completions(trace: Trace, found: tuple[Step, ...]) -> list[int]:
    """Return when each step's last device work ended, or each start where not all have some."""
    slices, launch = trace.slices, links(trace).launch_id
    works = np.flatnonzero(slices.is_device_work() & (launch != NO_ID))
    called_ns = slices.ts_ns[launch[works]]
    order = np.argsort(called_ns, kind="stable")
    called_ns, ends = called_ns[order], slices.end_ns[works[order]]
    done = []
    for step in found:
        first, last = np.searchsorted(called_ns, (step.start_ns, step.end_ns))
        if first >= last:
            return [each.start_ns for each in found]
        done.append(int(ends[first:last].max()))
    return done


def _warm_steps(trace: Trace) -> tuple[Step, ...]:
    """Return the steps, the first left out where it is cold and two others remain."""
    found = steps(trace)
    warm = tuple(step for step in found if not step.is_outlier)
    return warm if len(warm) >= 2 else found


def _ids(found: tuple[Step, ...]) -> Int64s:
    return np.array([step.slice_id for step in found], np.int64)


def n_of_kind(kinds: tuple[SliceKind, ...]) -> Callable[[Trace, str], Measured]:
    """Return the function that counts slices of these kinds."""

    def measured(trace: Trace, _: str) -> Measured:
        if not links(trace).has_device:
            return not_measured(NO_DEVICE)
        rows = np.flatnonzero(np.isin(trace.slices.kind, np.array(kinds, np.int8)))
        return Measured(Fraction(len(rows)), rows)

    return measured


def launches(trace: Trace, _: str) -> Measured:
    """Return how many calls launched device work."""
    if not links(trace).has_device:
        return not_measured(NO_DEVICE)
    launch = links(trace).launch_id
    rows = np.unique(launch[launch != NO_ID]).astype(np.int64)
    return Measured(Fraction(len(rows)), rows)


def n_steps(trace: Trace, _: str) -> Measured:
    """Return the number of steps."""
    found = steps(trace)
    return Measured(Fraction(len(found)), _ids(found))


def busy_ratio(trace: Trace, _: str) -> Measured:
    """Return busy over span of all devices together."""
    uses = utilization(trace)
    if not uses:
        return not_measured(NO_DEVICE)
    span_ns = sum(use.span_ns for use in uses)
    busy_ns = sum(use.busy_ns for use in uses)
    rows = device_rows(trace)
    if not span_ns:
        return Measured(None, rows, "all device work has no length")
    return Measured(Fraction(busy_ns, span_ns), rows)


def idle_us(trace: Trace, cause: str) -> Measured:
    """Return the idle time of all devices, of one cause or of all."""
    uses = utilization(trace)
    causes = {each.name.lower(): each for each in GapCause}
    if cause and cause not in causes:
        raise ExpectationError(
            f"idle_us: {shown(cause)!r} is no cause of idle time ({', '.join(causes)})"
        )
    if not uses:
        return not_measured(NO_DEVICE)
    total_ns, after = 0, []
    for use in uses:
        found = gaps(trace, use.device)
        kept = np.ones(len(found), bool) if not cause else found.cause == causes[cause]
        total_ns += int((found.end_ns - found.start_ns)[kept].sum())
        after.append(found.next_slice_id[kept].astype(np.int64))
    return Measured(us(total_ns), np.unique(np.concatenate(after)), "the work after each gap")


def class_us(trace: Trace, name: str) -> Measured:
    """Return the device time of one class of work."""
    classes = {each.name.lower(): each for each in WorkClass}
    if name not in classes:
        raise ExpectationError(
            f"class_us: {shown(name)!r} is no class of work ({', '.join(classes)})"
        )
    if not links(trace).has_device:
        return not_measured(NO_DEVICE)
    rows = device_rows(trace)
    rows = rows[slice_classes(trace)[rows] == classes[name]]
    return Measured(us(trace.slices.dur_ns[rows].sum()), rows)


def path_us(trace: Trace, name: str) -> Measured:
    """Return the time of one class on the critical path."""
    classes = {each.name.lower(): each for each in PathClass}
    if name not in classes:
        raise ExpectationError(
            f"path_us: {shown(name)!r} is no class of the critical path ({', '.join(classes)})"
        )
    path = critical_path(trace)
    own = path.path_class == classes[name]
    rows = path.slice_id[own]
    slices = np.unique(rows[rows >= 0]).astype(np.int64)
    return Measured(us((path.end_ns - path.start_ns)[own].sum()), slices)


def hottest_operator(stats: NameStats) -> int:
    """Return the row of the operator with most device time of its own, else most host time."""
    if not len(stats):
        return NO_ID
    own = stats.self_ns if stats.device_self_ns is None else stats.device_self_ns
    return int(np.argmax(own if own.any() else stats.self_ns))


def hottest(trace: Trace, _: str) -> Measured:
    """Return the operator with most device time of its own, else most host time."""
    stats = operator_stats(trace)
    row = hottest_operator(stats)
    if row == NO_ID:
        return not_measured("no operators were recorded")
    name_id = int(stats.name_id[row])
    is_it = (trace.slices.name_id == name_id) & (trace.slices.kind == SliceKind.OPERATOR)
    where = "host" if stats.device_self_ns is None else "device"
    return Measured(trace.names[name_id], np.flatnonzero(is_it), f"most {where} time of its own")


def _matching(trace: Trace, pattern: str) -> Int64s:
    try:
        wanted = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ExpectationError(f"{shown(pattern)!r} is no regular expression: {error}") from error
    rows = device_rows(trace)
    names = np.unique(trace.slices.name_id[rows]).tolist()
    fitting = [name_id for name_id in names if wanted.search(trace.names[name_id])]
    return rows[np.isin(trace.slices.name_id[rows], fitting)]


def has_kernel(trace: Trace, pattern: str) -> Measured:
    """Return whether any device work has a fitting name."""
    if not links(trace).has_device:
        return not_measured(NO_DEVICE)
    rows = _matching(trace, pattern)
    return Measured(bool(len(rows)), rows)


def kernel_calls(trace: Trace, pattern: str) -> Measured:
    """Return how much device work has a fitting name."""
    if not links(trace).has_device:
        return not_measured(NO_DEVICE)
    rows = _matching(trace, pattern)
    return Measured(Fraction(len(rows)), rows)


def verdict(trace: Trace, _: str) -> Measured:
    """Return what holds the busiest device back."""
    found = bound(trace)
    if found is None:
        return not_measured(NO_DEVICE)
    held = idle_holders(trace)
    telling = held[0].longest_id if held and found.busy_ratio < BUSY_RATIO else NO_ID
    text = f"busy {found.busy_ratio * 100:.1f} %, waiting for the host {found.overhead_ratio * 100:.1f} %"
    return Measured(found.kind.value, device_rows(trace), text, telling)


def n_findings(trace: Trace, rule: str) -> Measured:
    """Return how much a rule, or all of them, found."""
    names = tuple(each.name for each in RULES)
    if rule and rule not in names:
        raise ExpectationError(f"findings: {shown(rule)!r} is no rule{near(rule, names)}")
    found = findings(trace)
    abstained = {each.rule: each for each in found.abstained}
    if rule in abstained:
        return not_measured(abstained[rule].reason)
    own = [each for each in found.found if not rule or each.rule == rule]
    slices = [each.slices for each in own]
    return Measured(
        Fraction(len(own)),
        np.unique(np.concatenate(slices)) if slices else NO_SLICES,
        own[0].summary if own else "",
        int(own[0].slices[0]) if own else NO_ID,
    )


def compile_tax_us(trace: Trace, _: str) -> Measured:
    """Return the tax of the median compiled call."""
    tax = compile_tax(trace)
    if tax is None or tax.per_call_ns is None:
        return Measured(Fraction(0), NO_SLICES, "no compiled region ran")
    regions = tax.calls.region_id.astype(np.int64)
    return Measured(us(tax.per_call_ns), regions, of_n(len(regions), "call"))


def recompiles(trace: Trace, _: str) -> Measured:
    """Return how many recompilations the recording sees."""
    tax = compile_tax(trace)
    if tax is None:
        return Measured(Fraction(0), NO_SLICES, "no compiled region ran")
    changed = [frame.changed_at.astype(np.int64) for frame in tax.frames]
    return Measured(
        Fraction(tax.n_recompiles),
        np.unique(np.concatenate(changed)) if changed else NO_SLICES,
        "compilations seen for the first time after another of the same function",
    )
