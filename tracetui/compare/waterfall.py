"""A difference split into parts that add up to it, with what no part explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.links import links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.compare.kinds import Match, MatchKind
from tracetui.compare.sides import Side
from tracetui.compare.spread import median_ns
from tracetui.compare.typical import computing_operators
from tracetui.compare.words import stable_name
from tracetui.model.arrays import Bools, Int8s, Int32s, Int64s, frozen, group_sums
from tracetui.model.intervals import Intervals, covered_before, difference, union
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

COPIES: Final = "copies and fills"
COMMUNICATION: Final = "communication"
COMPILE_TAX: Final = "compile tax"
COMPILING: Final = "compiling"
LAUNCH_CALLS: Final = "launch calls"
SYNCHRONISING: Final = "waiting for the device"
RUNTIME_CALLS: Final = "other runtime calls"
GENERATED: Final = "generated code between its operators"
UNRECORDED: Final = "Python and what is not recorded"
BETWEEN: Final = "between steps"
OUTSIDE: Final = "before and after the device works"
_GRAPH_CALL: Final = "## Call CompiledFxGraph"
_OPERATORS_BOTH: Final = "operators in both"
_OPERATORS_BASELINE: Final = "operators only in the baseline"
_OPERATORS_CANDIDATE: Final = "operators only in the candidate"
_GLUE: Final = "wrappers and views"

_PART_OF_KIND: Final = {
    MatchKind.SAME: "same work",
    MatchKind.SLOWER: "same work, slower",
    MatchKind.FASTER: "same work, faster",
    MatchKind.FUSED: "fused",
    MatchKind.SPLIT: "split",
    MatchKind.SWAPPED: "other kernel for the same work",
    MatchKind.MOVED_TO_HOST: "moved to the host",
    MatchKind.ONLY_BASELINE: "only in the baseline",
    MatchKind.ONLY_CANDIDATE: "only in the candidate",
    MatchKind.NEW_COPY: COPIES,
}
_PART_OF_CAUSE: Final = {
    GapCause.ARTEFACT: "idle: the profiler itself",
    GapCause.SYNC: "idle: the host synchronises",
    GapCause.LAUNCH: "idle: launching",
    GapCause.HOST_WAIT: "idle: waiting for the host",
    GapCause.KERNEL_WAIT: "idle: between kernels",
    GapCause.OTHER: "idle: other",
}
_TAX: Final = 1
_COMPILING: Final = 2
_COMPUTING: Final = "computing"
_EXPOSED_COMM: Final = "exposed communication"
_EXPOSED_COPIES: Final = "exposed copies and fills"


@dataclass(frozen=True, slots=True)
class Part:
    """One reason of a difference."""

    name: str
    baseline_ns: int
    candidate_ns: int
    matches: tuple[int, ...] = ()
    """Which matches it adds up, by their place; empty where it is no sum of matches."""

    @property
    def delta_ns(self) -> int:
        """Return candidate less baseline."""
        return self.candidate_ns - self.baseline_ns


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The parts of a difference; parts and residual add up to it, exactly."""

    parts: tuple[Part, ...]
    delta_ns: int

    @property
    def residual_ns(self) -> int:
        """Return what no part explains: medians of parts are not the parts of a median."""
        return self.delta_ns - sum(part.delta_ns for part in self.parts)


def part_name(match: Match) -> str:
    """Return the part that a match counts for."""
    if match.is_comm:
        return COMMUNICATION
    return COPIES if match.is_copy else _PART_OF_KIND[match.kind]


def match_parts(matches: Sequence[Match]) -> tuple[Part, ...]:
    """Return the matches added up by what became of the work, in a fixed order."""
    places: dict[str, list[int]] = {name: [] for name in _PART_OF_KIND.values()}
    places[COMMUNICATION] = []
    for place, match in enumerate(matches):
        places[part_name(match)].append(place)
    return tuple(
        Part(
            name,
            sum([unit.dur_ns for place in own for unit in matches[place].baseline]),
            sum([unit.dur_ns for place in own for unit in matches[place].candidate]),
            tuple(own),
        )
        for name, own in places.items()
        if own
    )


def host_parts(baseline: Side, candidate: Side, matches: Sequence[Match] = ()) -> tuple[Part, ...]:
    """Return the host's time by what it was spent on, medians over the instances.

    Args:
        baseline: One side.
        candidate: The other.
        matches: Operators that were matched, where there is no device: their time is theirs, and
            the rest is what wraps them.
    """
    names = (_operator_names(baseline), _operator_names(candidate))
    columns = [
        _host_columns(side, own, names[0] & names[1], by_operator=bool(matches))
        for side, own in ((baseline, _OPERATORS_BASELINE), (candidate, _OPERATORS_CANDIDATE))
    ]
    return (*match_parts(matches), *_joined(columns[0], columns[1]))


def wall_parts(baseline: Side, candidate: Side) -> tuple[Part, ...]:
    """Return the wall time by what the device did, medians over the instances."""
    return _joined(_wall_columns(baseline), _wall_columns(candidate))


def between_parts(baseline: Side, candidate: Side) -> tuple[Part, ...]:
    """Return the wall time less the host's own, for sides without a device."""
    return _joined(*({BETWEEN: _between_ns(side)} for side in (baseline, candidate)))


def _joined(baseline: dict[str, int], candidate: dict[str, int]) -> tuple[Part, ...]:
    names = [*baseline, *(name for name in candidate if name not in baseline)]
    return tuple(
        Part(name, baseline.get(name, 0), candidate.get(name, 0))
        for name in names
        if baseline.get(name, 0) or candidate.get(name, 0)
    )


def _operator_names(side: Side) -> frozenset[str]:
    slices = side.trace.slices
    rows = np.flatnonzero((slices.kind == SliceKind.OPERATOR) & (side.instance_of >= 0))
    return frozenset(
        stable_name(side.trace.names[name_id])
        for name_id in np.unique(slices.name_id[rows]).tolist()
    )


class _Sort(IntEnum):
    """What a host slice's own time is spent on."""

    TAX = 0
    COMPILING = 1
    LAUNCH = 2
    SYNC = 3
    RUNTIME = 4
    OPERATOR_BOTH = 5
    OPERATOR_ONLY = 6
    GENERATED = 7
    UNRECORDED = 8


def _host_columns(
    side: Side, only: str, shared: frozenset[str], *, by_operator: bool
) -> dict[str, int]:
    """Return the median self time of each sort of host slice, on the scope's own threads."""
    link = links(side.trace)
    rows = own_host_rows(side)
    if by_operator:
        rows = rows[~_inside_computing(side.trace)[rows]]
    table = np.zeros((len(_Sort), len(side.labels)), np.int64)
    np.add.at(
        table,
        (_sorts(side, rows, shared, by_operator=by_operator), side.instance_of[rows]),
        link.self_ns[rows],
    )
    table[_Sort.UNRECORDED] += side.host_ns - _covered_ns(side)
    names = {
        _Sort.TAX: COMPILE_TAX,
        _Sort.COMPILING: COMPILING,
        _Sort.LAUNCH: LAUNCH_CALLS,
        _Sort.SYNC: SYNCHRONISING,
        _Sort.RUNTIME: RUNTIME_CALLS,
        _Sort.OPERATOR_BOTH: _GLUE if by_operator else _OPERATORS_BOTH,
        _Sort.OPERATOR_ONLY: only,
        _Sort.GENERATED: GENERATED,
        _Sort.UNRECORDED: UNRECORDED,
    }
    return {name: median_ns(table[sort][side.kept]) for sort, name in names.items()}


def _sorts(side: Side, rows: Int64s, shared: frozenset[str], *, by_operator: bool) -> Int64s:
    """Return the sort of each host slice in ``rows``."""
    trace, slices, link = side.trace, side.trace.slices, links(side.trace)
    names = trace.names
    is_shared = np.array([by_operator or stable_name(name) in shared for name in names], bool)
    synchronises = np.array(["ynchronize" in name for name in names], bool)
    is_graph = np.array([name.startswith(_GRAPH_CALL) for name in names], bool)
    kind, name_id = slices.kind[rows], slices.name_id[rows]
    launches = _marked(trace, link.launch_id[link.launch_id >= 0])[rows]
    is_runtime = kind == SliceKind.RUNTIME
    compiler = _compiler_rows(trace)[rows]
    sort: Int64s = np.select(
        [
            compiler == _TAX,
            compiler == _COMPILING,
            is_runtime & synchronises[name_id],
            is_runtime & launches,
            is_runtime,
            is_graph[name_id],
            kind == SliceKind.ANNOTATION,
            is_shared[name_id],
        ],
        [
            _Sort.TAX,
            _Sort.COMPILING,
            _Sort.SYNC,
            _Sort.LAUNCH,
            _Sort.RUNTIME,
            _Sort.GENERATED,
            _Sort.UNRECORDED,
            _Sort.OPERATOR_BOTH,
        ],
        _Sort.OPERATOR_ONLY,
    )
    return sort


def own_host_rows(side: Side) -> Int64s:
    """Return the host slices on the threads whose time is the side's host time."""
    slices = side.trace.slices
    member = np.flatnonzero((side.instance_of >= 0) & (slices.kind <= SliceKind.RUNTIME))
    if not len(member):
        return member
    if len(side.call_id):
        tracks = [side.trace.tracks[t] for t in np.unique(slices.track_id[side.call_id]).tolist()]
        threads = {(track.pid, track.tid) for track in tracks}
        on_own = np.array([(t.pid, t.tid) in threads for t in side.trace.tracks], bool)
        own: Int64s = member[on_own[slices.track_id[member]]]
        return own
    busy = group_sums(
        slices.track_id[member], links(side.trace).self_ns[member], len(side.trace.tracks)
    )
    busiest: Int64s = member[slices.track_id[member] == int(busy.argmax())]
    return busiest


def _covered_ns(side: Side) -> Int64s:
    """Return how much of each instance its own slices cover by their self times."""
    rows = own_host_rows(side)
    return group_sums(side.instance_of[rows], links(side.trace).self_ns[rows], len(side.labels))


@once_per_trace
def _inside_computing(trace: Trace) -> Bools:
    """Return which slices are, or lie in, an operator that does the work."""
    return _subtree(trace, np.flatnonzero(computing_operators(trace)))


def _between_ns(side: Side) -> int:
    samples = side.wall_samples()
    known = side.kept[np.isin(side.kept, side.wall_instance)]
    return median_ns(samples - side.host_ns[known]) if len(samples) else 0


@once_per_trace
def _device_time(trace: Trace) -> dict[str, Intervals]:
    """Return the device's time in pieces that do not overlap, by what it did or waited for.

    Of several devices, one that works counts for all; while none does, the busiest one's gaps tell
    the cause.
    """
    slices = trace.slices
    rows = np.flatnonzero(slices.is_device_work())
    kind, classes = slices.kind[rows], slice_classes(trace)[rows]
    is_kernel = kind == SliceKind.KERNEL
    is_comm = is_kernel & (classes == WorkClass.COMM)

    def spans(own: Bools) -> Intervals:
        return union(slices.ts_ns[rows[own]], slices.end_ns[rows[own]])

    compute = spans(is_kernel & ~is_comm)
    comm = difference(spans(is_comm), compute)
    busy = spans(np.ones(len(rows), bool))
    copies = difference(difference(busy, compute), comm)
    found = {_COMPUTING: compute, _EXPOSED_COMM: comm, _EXPOSED_COPIES: copies}
    uses = utilization(trace)
    if uses:
        busiest = max(uses, key=lambda use: use.busy_ns)
        idle = gaps(trace, busiest.device)
        for cause, name in _PART_OF_CAUSE.items():
            own = idle.cause == cause
            found[name] = difference(union(idle.start_ns[own], idle.end_ns[own]), busy)
    return found


def _wall_columns(side: Side) -> dict[str, int]:
    known = side.kept[np.isin(side.kept, side.wall_instance)]
    if not len(known):
        return {}
    n = len(side.labels)
    rest = group_sums(side.wall_instance, side.wall_end_ns - side.wall_start_ns, n)
    found: dict[str, int] = {}
    for name, spans in _device_time(side.trace).items():
        inside = covered_before(spans, side.wall_end_ns) - covered_before(spans, side.wall_start_ns)
        total = group_sums(side.wall_instance, inside, n)
        rest -= total
        found[name] = median_ns(total[known])
    found[OUTSIDE] = median_ns(rest[known])
    return found


def compile_tax_ns(side: Side) -> int:
    """Return what guarding, wrapping and calling compiled code costs the host, the median."""
    rows = own_host_rows(side)
    rows = rows[_compiler_rows(side.trace)[rows] == _TAX]
    tax = group_sums(side.instance_of[rows], links(side.trace).self_ns[rows], len(side.labels))
    return median_ns(tax[side.kept])


@once_per_trace
def _compiler_rows(trace: Trace) -> Int8s:
    """Return which slices are compile tax, and which compiling itself; 0 elsewhere.

    The tax is all self time in the cache lookups and compiled regions that is not in the generated
    code's own call, as ``analysis.compile_tax`` counts it.
    """
    found = np.zeros(len(trace.slices), np.int8)
    cost = compile_tax(trace)
    if cost is None:
        return frozen(found)
    lookups = cost.calls.lookup_id[cost.calls.lookup_id >= 0]
    is_graph = np.array([name.startswith(_GRAPH_CALL) for name in trace.names], bool)
    graphs = np.flatnonzero(is_graph[trace.slices.name_id])
    held = nearest(trace.slices.parent_id, _marked(trace, cost.calls.region_id, graphs))
    in_region = np.isin(held, cost.calls.region_id)
    found[in_region & (trace.slices.kind <= SliceKind.RUNTIME)] = _TAX
    found[_subtree(trace, lookups)] = _TAX
    found[_subtree(trace, cost.compile_ids)] = _COMPILING
    return frozen(found)


def _marked(trace: Trace, *rows: Int64s | Int32s) -> Bools:
    marked = np.zeros(len(trace.slices), bool)
    for own in rows:
        marked[own] = True
    return marked


def _subtree(trace: Trace, rows: Int64s | Int32s) -> Bools:
    """Return which slices are one of these or lie in one of these."""
    change = np.zeros(len(trace.slices) + 1, np.int64)
    np.add.at(change, rows, 1)
    np.add.at(change, links(trace).subtree_end[rows], -1)
    inside: Bools = np.cumsum(change)[:-1] > 0
    return inside
