"""The functions that an expectation may use, each a question to one trace."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from tracetui.analysis.call_counts import CallCounts, call_counts, copying_slices
from tracetui.analysis.links import links
from tracetui.analysis.operators import NameStats, operator_stats
from tracetui.analysis.steps import Step, steps
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.analysis.work_class import WorkClass, short_kernel_name, slice_classes
from tracetui.diagnosis.expressions import ExpectationError, near, shown
from tracetui.diagnosis.named_slices import NamedSlices, named_slices, required_slices
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_NO_SLICES: Final[Int64s] = np.empty(0, np.int64)
_NS_PER_US: Final = 1_000
_MOST_LISTED: Final = 4
_NO_DEVICE: Final = "no device activity was recorded"
_NO_STEPS: Final = "no profiler steps were recorded"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What one function found in one trace."""

    value: Fraction | str | bool | None
    """``None`` where the recording lacks what it takes; ``remark`` then says what."""
    slices: Int64s
    """The slices that show it."""
    remark: str = ""
    telling_id: int = NO_ID
    """The one slice to look at first; ``NO_ID`` where it is the first of ``slices``."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One function: what it takes, what it gives."""

    measured: Callable[[Trace, str], Measured]
    argument: str
    """What its help calls the argument; empty if it takes none, in brackets if it may be left out."""
    unit: str
    """``us``, ``bytes``, ``ratio``, ``text``, ``bool`` or nothing for a count."""
    summary: str

    def usage(self, name: str) -> str:
        """Return how it is written."""
        return f"{name}({self.argument})"


def _us(ns: int) -> Fraction:
    return Fraction(int(ns), _NS_PER_US)


def _mean(values: Int64s) -> Fraction:
    return Fraction(int(values.sum()), len(values))


def _median_us(values_ns: list[int]) -> Fraction:
    ordered = sorted(values_ns)
    middle = len(ordered) // 2
    return _us(ordered[middle] + ordered[(len(ordered) - 1) // 2]) / 2


def _not_measured(why: str) -> Measured:
    return Measured(None, _NO_SLICES, why)


def _device_rows(trace: Trace) -> Int64s:
    return np.flatnonzero(trace.slices.is_device_work())


def _composition(trace: Trace, device_ids: Int64s) -> str:
    """Return what one call's device work is, in few words and in order of launch."""
    names = [short_kernel_name(trace.name_of(int(row))) for row in device_ids.tolist()]
    counted = {name: names.count(name) for name in dict.fromkeys(names)}
    listed = [
        shown(name) + (f" ×{number}" if number > 1 else "")
        for name, number in list(counted.items())[:_MOST_LISTED]
    ]
    rest = len(counted) - len(listed)
    return ", ".join(listed) + (f" and {rest} more" if rest > 0 else "")


def _owner_text(trace: Trace, device_id: int) -> str:
    owner = int(links(trace).owner_id[device_id])
    return f" under {shown(trace.name_of(owner))}" if owner != NO_ID else ""


def _range_text(values: Int64s) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low} to {high} by call; " if low != high else ""


def _of_host_calls(trace: Trace, name: str) -> tuple[NamedSlices, CallCounts] | None:
    """Return the calls of a name and what hangs below them; ``None`` without device activity."""
    named = required_slices(trace, name)
    if named.is_device_work:
        raise ExpectationError(
            f"{shown(name)!r} is device work; name the operator or annotation that launches it"
        )
    if not links(trace).has_device:
        return None
    return named, call_counts(trace, named.slice_ids)


def _kernels_per_call(trace: Trace, name: str) -> Measured:
    found = _of_host_calls(trace, name)
    if found is None:
        return _not_measured(_NO_DEVICE)
    named, counts = found
    one = int(named.slice_ids[int(np.argmax(counts.n_kernels))])
    copies = counts.device_ids[copying_slices(trace)[counts.device_ids]]
    telling = int(copies[0]) if len(copies) else NO_ID
    text = _composition(trace, links(trace).device_slices_of(one)) or "launches nothing"
    if telling != NO_ID:
        text += f"; {shown(trace.name_of(telling))}{_owner_text(trace, telling)}"
    return Measured(
        _mean(counts.n_kernels),
        counts.device_ids if len(counts.device_ids) else named.slice_ids,
        _range_text(counts.n_kernels) + text,
        telling,
    )


def _copies_per_call(trace: Trace, name: str) -> Measured:
    found = _of_host_calls(trace, name)
    if found is None:
        return _not_measured(_NO_DEVICE)
    named, counts = found
    copies = counts.device_ids[copying_slices(trace)[counts.device_ids]]
    remark = _range_text(counts.n_copies)
    if len(copies):
        first = int(copies[np.argmin(trace.slices.ts_ns[copies])])
        remark += f"{shown(trace.name_of(first))}{_owner_text(trace, first)}"
    shown_by = copies if len(copies) else named.slice_ids
    return Measured(_mean(counts.n_copies), shown_by, remark.removesuffix("; "))


def _launches_per_call(trace: Trace, name: str) -> Measured:
    found = _of_host_calls(trace, name)
    if found is None:
        return _not_measured(_NO_DEVICE)
    named, counts = found
    launch = links(trace).launch_id[counts.device_ids]
    calls: Int64s = np.unique(launch[launch != NO_ID]).astype(np.int64)
    remark = _range_text(counts.n_launches).removesuffix("; ")
    return Measured(_mean(counts.n_launches), calls if len(calls) else named.slice_ids, remark)


def _calls(trace: Trace, name: str) -> Measured:
    named = named_slices(trace, name)
    if named is None:
        return Measured(Fraction(0), _NO_SLICES, "no slice of this name")
    return Measured(Fraction(len(named.slice_ids)), named.slice_ids)


def _total_us(trace: Trace, name: str) -> Measured:
    rows = required_slices(trace, name).slice_ids
    return Measured(_us(trace.slices.dur_ns[rows].sum()), rows)


def _self_us(trace: Trace, name: str) -> Measured:
    named = required_slices(trace, name)
    own_ns = trace.slices.dur_ns if named.is_device_work else links(trace).self_ns
    return Measured(_us(own_ns[named.slice_ids].sum()), named.slice_ids)


def _device_us(trace: Trace, name: str) -> Measured:
    named = required_slices(trace, name)
    if named.is_device_work:
        return Measured(_us(trace.slices.dur_ns[named.slice_ids].sum()), named.slice_ids)
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    counts = call_counts(trace, named.slice_ids)
    slices = counts.device_ids if len(counts.device_ids) else named.slice_ids
    return Measured(_us(counts.device_ns.sum()), slices)


def _gpu_us(trace: Trace, name: str) -> Measured:
    """Device time: the median call of a name, else the median step, else all of it."""
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    if name:
        named = required_slices(trace, name)
        ns = trace.slices.dur_ns[named.slice_ids]
        if not named.is_device_work:
            ns = call_counts(trace, named.slice_ids).device_ns
        return Measured(_median_us(ns.tolist()), named.slice_ids, _of_n(len(ns), "call"))
    warm = _warm_steps(trace)
    if warm:
        times = [step.gpu_by_launch_ns or 0 for step in warm]
        return Measured(_median_us(times), _ids(warm), _of_n(len(warm), "step"))
    rows = _device_rows(trace)
    return Measured(_us(trace.slices.dur_ns[rows].sum()), rows, "in total: no steps")


def _host_us(trace: Trace, name: str) -> Measured:
    """Time on the host: the median call of a name, else the median step."""
    if name:
        rows = required_slices(trace, name).slice_ids
        times = trace.slices.dur_ns[rows].tolist()
        return Measured(_median_us(times), rows, _of_n(len(rows), "call"))
    warm = _warm_steps(trace)
    if not warm:
        return _not_measured(_NO_STEPS)
    return Measured(
        _median_us([step.wall_ns for step in warm]), _ids(warm), _of_n(len(warm), "step")
    )


def _wall_us(trace: Trace, _: str) -> Measured:
    """The median period of the steps, by completion on the device where there is one."""
    found = steps(trace)
    if not found:
        return _not_measured(_NO_STEPS)
    if len(found) == 1:
        return Measured(_us(found[0].wall_ns), _ids(found), "one step: its width on the host")
    done_ns = _completions(trace, found)
    periods = [after - before for before, after in pairwise(done_ns)]
    return Measured(_median_us(periods), _ids(found[1:]), _of_n(len(periods), "period"))


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


def _of_n(amount: int, word: str) -> str:
    return f"one {word}" if amount == 1 else f"median of {amount} {word}s"


def _n_of_kind(kinds: tuple[SliceKind, ...]) -> Callable[[Trace, str], Measured]:
    def measured(trace: Trace, _: str) -> Measured:
        if not links(trace).has_device:
            return _not_measured(_NO_DEVICE)
        rows = np.flatnonzero(np.isin(trace.slices.kind, np.array(kinds, np.int8)))
        return Measured(Fraction(len(rows)), rows)

    return measured


def _copies(trace: Trace, _: str) -> Measured:
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    rows = np.flatnonzero(copying_slices(trace))
    return Measured(Fraction(len(rows)), rows)


def _launches(trace: Trace, _: str) -> Measured:
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    launch = links(trace).launch_id
    rows = np.unique(launch[launch != NO_ID]).astype(np.int64)
    return Measured(Fraction(len(rows)), rows)


def _steps(trace: Trace, _: str) -> Measured:
    found = steps(trace)
    return Measured(Fraction(len(found)), _ids(found))


def _busy_ratio(trace: Trace, _: str) -> Measured:
    uses = utilization(trace)
    if not uses:
        return _not_measured(_NO_DEVICE)
    span_ns = sum(use.span_ns for use in uses)
    busy_ns = sum(use.busy_ns for use in uses)
    rows = _device_rows(trace)
    if not span_ns:
        return Measured(None, rows, "all device work has no length")
    return Measured(Fraction(busy_ns, span_ns), rows)


def _idle_us(trace: Trace, cause: str) -> Measured:
    uses = utilization(trace)
    causes = {each.name.lower(): each for each in GapCause}
    if cause and cause not in causes:
        raise ExpectationError(
            f"idle_us: {shown(cause)!r} is no cause of idle time ({', '.join(causes)})"
        )
    if not uses:
        return _not_measured(_NO_DEVICE)
    total_ns, after = 0, []
    for use in uses:
        found = gaps(trace, use.device)
        kept = np.ones(len(found), bool) if not cause else found.cause == causes[cause]
        total_ns += int((found.end_ns - found.start_ns)[kept].sum())
        after.append(found.next_slice_id[kept].astype(np.int64))
    return Measured(_us(total_ns), np.unique(np.concatenate(after)), "the work after each gap")


def _class_us(trace: Trace, name: str) -> Measured:
    classes = {each.name.lower(): each for each in WorkClass}
    if name not in classes:
        raise ExpectationError(
            f"class_us: {shown(name)!r} is no class of work ({', '.join(classes)})"
        )
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    rows = _device_rows(trace)
    rows = rows[slice_classes(trace)[rows] == classes[name]]
    return Measured(_us(trace.slices.dur_ns[rows].sum()), rows)


def hottest_operator(stats: NameStats) -> int:
    """Return the row of the operator with most device time of its own, else most host time."""
    if not len(stats):
        return NO_ID
    own = stats.self_ns if stats.device_self_ns is None else stats.device_self_ns
    return int(np.argmax(own if own.any() else stats.self_ns))


def _hottest(trace: Trace, _: str) -> Measured:
    stats = operator_stats(trace)
    row = hottest_operator(stats)
    if row == NO_ID:
        return _not_measured("no operators were recorded")
    name_id = int(stats.name_id[row])
    is_it = (trace.slices.name_id == name_id) & (trace.slices.kind == SliceKind.OPERATOR)
    where = "host" if stats.device_self_ns is None else "device"
    return Measured(trace.names[name_id], np.flatnonzero(is_it), f"most {where} time of its own")


def _matching(trace: Trace, pattern: str) -> Int64s:
    try:
        wanted = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ExpectationError(f"{shown(pattern)!r} is no regular expression: {error}") from error
    rows = _device_rows(trace)
    names = np.unique(trace.slices.name_id[rows]).tolist()
    fitting = [name_id for name_id in names if wanted.search(trace.names[name_id])]
    return rows[np.isin(trace.slices.name_id[rows], fitting)]


def _has_kernel(trace: Trace, pattern: str) -> Measured:
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    rows = _matching(trace, pattern)
    return Measured(bool(len(rows)), rows)


def _kernel_calls(trace: Trace, pattern: str) -> Measured:
    if not links(trace).has_device:
        return _not_measured(_NO_DEVICE)
    rows = _matching(trace, pattern)
    return Measured(Fraction(len(rows)), rows)


_ALL_WORK: Final = (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)

MEASURES: Final[dict[str, Measure]] = {
    "kernels_per_call": Measure(
        _kernels_per_call, "NAME", "", "device work below one call, copies and memsets included"
    ),
    "copies_per_call": Measure(_copies_per_call, "NAME", "", "the part of it that copies"),
    "launches_per_call": Measure(
        _launches_per_call, "NAME", "", "runtime calls below one call that launch device work"
    ),
    "calls": Measure(_calls, "NAME", "", "how often it ran; 0 for a name that is not there"),
    "total_us": Measure(_total_us, "NAME", "us", "durations added up"),
    "self_us": Measure(_self_us, "NAME", "us", "the same less what runs inside"),
    "device_us": Measure(_device_us, "NAME", "us", "device time launched below, added up"),
    "gpu_us": Measure(
        _gpu_us, "[NAME]", "us", "device time of the median call, or of the median step"
    ),
    "host_us": Measure(
        _host_us, "[NAME]", "us", "width on the host of the median call, or of the median step"
    ),
    "wall_us": Measure(_wall_us, "", "us", "median period of the steps"),
    "kernels": Measure(_n_of_kind((SliceKind.KERNEL,)), "", "", "kernels alone"),
    "device_slices": Measure(_n_of_kind(_ALL_WORK), "", "", "kernels, copies and memsets"),
    "copies": Measure(_copies, "", "", "device work that copies"),
    "launches": Measure(_launches, "", "", "runtime calls that launch device work"),
    "steps": Measure(_steps, "", "", "profiler steps"),
    "busy_ratio": Measure(_busy_ratio, "", "ratio", "busy over span, of all devices"),
    "idle_us": Measure(_idle_us, "[CAUSE]", "us", "idle time of the devices, of one cause or all"),
    "class_us": Measure(_class_us, "CLASS", "us", "device time of one class of work"),
    "hottest": Measure(_hottest, "", "text", "operator with most device time of its own"),
    "has_kernel": Measure(_has_kernel, '"REGEX"', "bool", "whether any device work is named so"),
    "kernel_calls": Measure(_kernel_calls, '"REGEX"', "", "how much device work is named so"),
}
"""Every function, in the order in which help lists them."""


def measured(trace: Trace, function: str, argument: str | None) -> Measured:
    """Return what a function finds in a trace.

    Raises:
        ExpectationError: If there is no such function, if an argument is missing or too many, or
            if the name is none of the trace's.
    """
    measure = MEASURES.get(function)
    if measure is None:
        raise ExpectationError(
            f"{shown(function)!r} is no function{near(function, tuple(MEASURES))}"
        )
    if argument and not measure.argument:
        raise ExpectationError(f"{function}() takes no name, {shown(argument)!r} was given")
    if not argument and measure.argument and not measure.argument.startswith("["):
        raise ExpectationError(f"{function} needs a name: {measure.usage(function)}")
    return measure.measured(trace, argument or "")
