"""What is compared: which slices of a trace belong to which step, call or total."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.modules import MODULE_PREFIX
from tracetui.analysis.steps import steps
from tracetui.errors import UsageError
from tracetui.model.arrays import NO_ID, Int32s, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

Per: TypeAlias = Literal["step", "call", "total"]
PERS: Final[tuple[Per, ...]] = get_args(Per)

_LEAST_COVERAGE: Final = 0.5
"""A name that holds less of a trace's work does not stand for it."""
_MOST_TRIED: Final = 8
"""So many of the longest names are looked at; a shorter one holds less still."""
_GENERATED: Final = (
    "ProfilerStep#",
    "## Call CompiledFxGraph",
    "Optimizer.",
    "enumerate(DataLoader)",
)
"""How annotations start that nobody wrote to be compared."""


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of one trace, in nanoseconds since its origin."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What is compared, the same on both sides."""

    within: str | None
    """The annotation, module or operator; ``None`` for everything."""
    per: Per


def chosen_scope(
    traces: Sequence[Trace], within: str | None = None, per: Per | None = None
) -> Scope:
    """Return what is compared in two or more traces.

    Without ``per``: per step where all have steps, else per call, else the total. Where calls are
    compared and no name is given, the annotation that all have and that takes most time is taken,
    else such a module; without ``per`` only one that holds at least half of the work.

    Raises:
        UsageError: If ``within`` or ``per`` asks for what a trace does not have.
    """
    have_steps = all(steps(trace) for trace in traces)
    if within is not None:
        for trace in traces:
            if not len(calls_named(trace, within)):
                raise UsageError(_no_such_scope(traces, trace, within))
    if per == "step" and not have_steps:
        lacking = next(trace for trace in traces if not steps(trace))
        raise UsageError(f"{lacking.origin.path}: has no profiler steps; use --per call or total")
    if per is None and have_steps:
        per = "step"
    if within is None and per in (None, "call"):
        names = common_names(traces)
        telling = [
            name
            for name in names[:_MOST_TRIED]
            if all(_coverage_ratio(trace, name) >= _LEAST_COVERAGE for trace in traces)
        ]
        if per == "call":
            telling += names
        within = telling[0] if telling else None
        if within is None and per == "call":
            raise UsageError(
                "no annotation or module has the same name in all traces; use --within"
            )
    return Scope(within, per or ("total" if within is None else "call"))


def common_names(traces: Sequence[Trace]) -> tuple[str, ...]:
    """Return annotations, then modules, that all traces have; the longest come first."""
    found: list[str] = []
    for kind in (SliceKind.ANNOTATION, SliceKind.PYTHON):
        totals = [_time_by_name(trace, kind) for trace in traces]
        shared = set(totals[0]).intersection(*totals[1:])
        found += sorted(shared, key=lambda name: (-sum(total[name] for total in totals), name))
    return tuple(found)


def calls_named(trace: Trace, name: str) -> Int32s:
    """Return the outermost slices of a name, of the first kind that has it, in time order."""
    slices, link = trace.slices, links(trace)
    name_ids = [trace.names.find(name), trace.names.find(MODULE_PREFIX + name)]
    named = np.isin(slices.name_id, [name_id for name_id in name_ids if name_id != NO_ID])
    for kind in (SliceKind.ANNOTATION, SliceKind.OPERATOR, SliceKind.PYTHON):
        rows = np.flatnonzero(named & (slices.kind == kind))
        if len(rows):
            reach = np.maximum.accumulate(link.subtree_end[rows])
            outer = np.concatenate(([True], rows[1:] >= reach[:-1]))
            rows = rows[outer]
            return rows[np.argsort(slices.ts_ns[rows], kind="stable")].astype(np.int32)
    return np.empty(0, np.int32)


def _time_by_name(trace: Trace, kind: SliceKind) -> dict[str, int]:
    slices = trace.slices
    rows = np.flatnonzero(slices.kind == kind)
    total = group_sums(slices.name_id[rows], slices.dur_ns[rows], len(trace.names))
    found = {}
    for name_id in np.unique(slices.name_id[rows]).tolist():
        name = trace.names[name_id]
        if kind == SliceKind.ANNOTATION and not name.startswith(_GENERATED):
            found[name] = int(total[name_id])
        if kind == SliceKind.PYTHON and name.startswith(MODULE_PREFIX):
            found[name.removeprefix(MODULE_PREFIX)] = int(total[name_id])
    return found


def _coverage_ratio(trace: Trace, name: str) -> float:
    """Return how much of a trace's device work, or of its time without a device, a name holds."""
    slices, link = trace.slices, links(trace)
    calls = calls_named(trace, name)
    if link.has_device:
        whole = int(slices.dur_ns[slices.is_device_work()].sum())
        part = int(link.device_total_ns[calls].sum())
    else:
        whole, part = trace.end_ns, int(slices.dur_ns[calls].sum())
    return part / whole if whole else 0.0


def _no_such_scope(traces: Sequence[Trace], trace: Trace, within: str) -> str:
    names = common_names(traces)[:5]
    offer = f"; in all: {', '.join(names)}" if names else ""
    return f"{trace.origin.path}: nothing is called {within!r}{offer}"
