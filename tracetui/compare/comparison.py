"""One trace against another: what differs, by how much, and whether it is real."""

import gc
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.memory import memory_use
from tracetui.compare.captured import captured
from tracetui.compare.grouping import Group, groups
from tracetui.compare.kinds import Match, MatchKind, classified
from tracetui.compare.match import tree_match
from tracetui.compare.scope import Per, Range, Scope, chosen_scope
from tracetui.compare.sides import Side, side
from tracetui.compare.spread import Spread, median_ns, spread
from tracetui.compare.tables import NameRow, kernel_rows, operator_rows
from tracetui.compare.typical import work
from tracetui.compare.units import Work
from tracetui.compare.waterfall import (
    Waterfall,
    between_parts,
    host_parts,
    match_parts,
    wall_parts,
)
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is of something, the median over a side's instances."""

    baseline: int
    candidate: int

    @property
    def delta(self) -> int:
        """Return candidate less baseline."""
        return self.candidate - self.baseline


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A baseline and a candidate over the same scope."""

    scope: Scope
    baseline: Side
    candidate: Side
    gpu: Spread | None
    """Durations of the device work, added up; ``None`` where a side has none."""
    host: Spread
    wall: Spread | None
    unprofiled: Spread | None
    """Runs timed without the profiler, where both captures recorded them; they decide."""
    n_captures: tuple[int, int]
    """How many captures of each side count; what runs is shown of the first."""
    gpu_waterfall: Waterfall | None
    host_waterfall: Waterfall
    wall_waterfall: Waterfall | None
    matches: tuple[Match, ...]
    """In the order of the baseline, what only the candidate has at its place."""
    node_pairs: tuple[tuple[int, int], ...]
    """Host slices of the typical instances that are the same operator: baseline, candidate."""
    baseline_work: Work
    candidate_work: Work
    launches: Counts
    kernels: Counts
    """Pieces of device work, copies and memsets among them."""
    copies: Counts
    operators: tuple[NameRow, ...]
    kernel_names: tuple[NameRow, ...]
    peak_bytes: tuple[int | None, int | None]
    """The largest allocation on the busiest kind of device, of each side."""

    @property
    def is_by_operator(self) -> bool:
        """Return whether operators of the host are matched, for want of a device on a side."""
        return self.baseline_work.by_operator

    @property
    def ranges(self) -> tuple[Range, Range]:
        """Return the typical instance of each side, from its start to its end on host and device."""
        return _range(self.baseline_work), _range(self.candidate_work)

    @property
    def differences(self) -> tuple[int, ...]:
        """Return the matches that differ, by their place, the largest difference first.

        What is the same and differs by no more than its own spread comes after all others.
        """
        matches = self.matches
        places = [
            place
            for place, match in enumerate(matches)
            if match.delta_ns or match.kind is not MatchKind.SAME
        ]
        return tuple(
            sorted(
                places,
                key=lambda place: (
                    matches[place].kind is MatchKind.SAME,
                    -abs(matches[place].delta_ns),
                ),
            )
        )

    @property
    def host_runs_ahead(self) -> tuple[bool, bool]:
        """Return for each side whether its device ends later than its host does."""
        return _runs_ahead(self.baseline), _runs_ahead(self.candidate)


def comparison(
    baseline: Trace,
    candidate: Trace,
    within: str | tuple[Range, Range] | None = None,
    per: Per | None = None,
    repeats: tuple[Sequence[Trace], Sequence[Trace]] = ((), ()),
) -> Comparison:
    """Compare two traces.

    Of long steps a great many small objects are made, none of which becomes garbage on the way:
    the collector of cycles would only look at all of them again and again, and rests.

    Args:
        baseline: The trace to compare with.
        candidate: The other one.
        within: An annotation, module or operator, or a range of each trace; chosen if ``None``.
        per: Whether steps, calls or totals are compared; chosen if ``None``.
        repeats: Further captures of the baseline and of the candidate. Their steps or calls count
            for medians, intervals and verdicts; what runs is shown of the first of each.

    Raises:
        UsageError: If a trace does not have what ``within`` or ``per`` asks for.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _comparison(baseline, candidate, within, per, repeats)
    finally:
        if was_enabled:
            gc.enable()


def _comparison(
    baseline: Trace,
    candidate: Trace,
    within: str | tuple[Range, Range] | None,
    per: Per | None,
    repeats: tuple[Sequence[Trace], Sequence[Trace]],
) -> Comparison:
    if isinstance(within, tuple):
        scope = Scope(None, "total")
        sides = (side(baseline, scope, within[0]), side(candidate, scope, within[1]))
    else:
        scope = chosen_scope((baseline, candidate, *repeats[0], *repeats[1]), within, per)
        sides = (side(baseline, scope), side(candidate, scope))
    pools = tuple(
        (lead, *(side(trace, scope) for trace in more))
        for lead, more in zip(sides, repeats, strict=True)
    )
    by_operator = not (sides[0].has_device and sides[1].has_device)
    works = (work(sides[0], by_operator=by_operator), work(sides[1], by_operator=by_operator))
    matched, node_pairs = _matched(works)
    host_only = _host_only(sides[1])
    matches = tuple(classified(group, host_only) for group in matched)
    gpu = None if by_operator else _pooled(pools, _gpu_samples)
    host = spread(*(np.concatenate([own.host_ns[own.kept] for own in pool]) for pool in pools))
    wall = _pooled(pools, Side.wall_samples)
    on_host = host_parts(*sides, matches if by_operator else ())
    return Comparison(
        scope=scope,
        baseline=sides[0],
        candidate=sides[1],
        gpu=gpu,
        host=host,
        wall=wall,
        unprofiled=_pooled(pools, _unprofiled_samples),
        n_captures=(len(pools[0]), len(pools[1])),
        gpu_waterfall=None if gpu is None else Waterfall(match_parts(matches), gpu.delta_ns),
        host_waterfall=Waterfall(on_host, host.delta_ns),
        wall_waterfall=None
        if wall is None
        else Waterfall(
            (*on_host, *between_parts(*sides)) if by_operator else wall_parts(*sides),
            wall.delta_ns,
        ),
        matches=matches,
        node_pairs=node_pairs,
        baseline_work=works[0],
        candidate_work=works[1],
        launches=_counts(sides, "n_launches"),
        kernels=_counts(sides, "n_device"),
        copies=_counts(sides, "n_copies"),
        operators=operator_rows(*sides),
        kernel_names=kernel_rows(*sides),
        peak_bytes=(peak_bytes(baseline), peak_bytes(candidate)),
    )


def peak_bytes(trace: Trace) -> int | None:
    """Return the most that a device held at once, else the host; ``None`` if not recorded."""
    use = memory_use(trace)
    if use is None:
        return None
    on_devices = [curve.peak_bytes for curve in use.curves if curve.device != "cpu"]
    return max(on_devices or [curve.peak_bytes for curve in use.curves])


def _matched(works: tuple[Work, Work]) -> tuple[list[Group], tuple[tuple[int, int], ...]]:
    """Return the groups in order and the pairs of operators.

    The sides are put into an order of their own before matching, so that exchanging them cannot
    change which of several equal alignments is taken.
    """
    is_turned = _comes_after(*works)
    first, second = (works[1], works[0]) if is_turned else works
    match = tree_match(first, second)
    found = groups(match)
    nodes = [(a.slice_id, b.slice_id) for a, b in match.node_pairs]
    if is_turned:
        found = [group.swapped for group in found]
        nodes = [(b, a) for a, b in nodes]
    return _in_order(found), tuple(sorted(nodes))


def _comes_after(first: Work, second: Work) -> bool:
    """Return whether one side's content comes after the other's, in an order of its own."""
    if len(first.units) != len(second.units):
        return len(first.units) > len(second.units)
    for column in ("name", "dur_ns", "operator", "shape"):
        read = attrgetter(column)
        before, after = ([read(unit) for unit in given.units] for given in (first, second))
        if before != after:
            return bool(before > after)
    return False


def _in_order(found: list[Group]) -> list[Group]:
    """Sort by the baseline's place; what only the candidate has stands before what follows it there."""
    anchors = sorted(
        (group.second[0].place, group.first[0].place)
        for group in found
        if group.first and group.second
    )
    places = [place for place, _ in anchors]
    n_first = sum(len(group.first) for group in found)

    def key(group: Group) -> tuple[int, int, int]:
        if group.first:
            return group.first[0].place, 0, 0
        own = group.second[0].place
        at = bisect_left(places, own)
        return (anchors[at][1] if at < len(anchors) else n_first), -1, own

    return sorted(found, key=key)


def _host_only(candidate: Side) -> frozenset[str]:
    """Return the operators that ran in the scope and launched nothing."""
    slices, link = candidate.trace.slices, links(candidate.trace)
    rows = np.flatnonzero((slices.kind == SliceKind.OPERATOR) & (candidate.instance_of >= 0))
    launched = np.unique(slices.name_id[rows[link.n_device_total[rows] > 0]])
    silent = np.setdiff1d(np.unique(slices.name_id[rows]), launched)
    return frozenset(candidate.trace.names[name_id] for name_id in silent.tolist())


def _pooled(
    pools: tuple[tuple[Side, ...], ...], samples_of: Callable[[Side], Int64s]
) -> Spread | None:
    """Return the spread over all captures of each side; ``None`` where a side has no samples."""
    baseline, candidate = (np.concatenate([samples_of(own) for own in pool]) for pool in pools)
    return spread(baseline, candidate) if len(baseline) and len(candidate) else None


def _gpu_samples(own: Side) -> Int64s:
    return np.empty(0, np.int64) if own.gpu_ns is None else own.gpu_ns[own.kept]


def _unprofiled_samples(own: Side) -> Int64s:
    record = captured(own.trace)
    return np.empty(0, np.int64) if record is None else record.unprofiled_ns


def _counts(sides: tuple[Side, Side], column: str) -> Counts:
    return Counts(*(median_ns(getattr(each, column)[each.kept]) for each in sides))


def _range(given: Work) -> Range:
    own, instance = given.side, given.instance
    end_ns = max(int(own.end_ns[instance]), int(own.completion_ns[instance]))
    return Range(int(own.start_ns[instance]), end_ns)


def _runs_ahead(given: Side) -> bool:
    """Return whether the device ends later than the host in most instances."""
    known = given.kept[given.completion_ns[given.kept] != NO_ID]
    later = given.completion_ns[known] > given.end_ns[known]
    return bool(len(known)) and 2 * int(later.sum()) > len(known)
