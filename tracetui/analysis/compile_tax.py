"""What ``torch.compile`` costs on the host at each call, and whether it compiled again.

Around each compiled call torch records the lookup in Dynamo's cache, where the guards are checked,
the compiled region with the number of its frame and of its variant (``0/1`` is frame 0 compiled for
the second time), the prologue of AOTDispatcher, and the call of the generated code with the hash of its
graph. The tax is all of that but the generated code itself.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

_LOOKUP: Final = re.compile(r"TorchDynamo Cache Lookup")
_REGION: Final = re.compile(r"Torch-Compiled Region: (\S+)")
_PROLOGUE: Final = re.compile(r"AOTDispatcher .*Prologue")
_GRAPH: Final = re.compile(r"## Call CompiledFxGraph (\S+) ##")
_COMPILES: Final = re.compile(r"dynamo|entire_frame_compile|(?!CUDAGraph).*\(dynamo_timed\)")
_RECORDS: Final = re.compile(r"CUDAGraphNode\.record.*")
"""A CUDA graph is recorded once, inside the generated code's call."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledCalls:
    """One row for each call of a compiled region, in time order; columns of one length."""

    region_id: Int32s
    """The slice of the region."""
    lookup_id: Int32s
    """The cache lookup just before it, or ``NO_ID``."""
    tax_ns: Int64s
    """The lookup and the region, less the generated code, compiled calls in it and compiling itself."""
    lookup_ns: Int64s
    prologue_ns: Int64s
    graph_ns: Int64s
    """The generated code, its operators and launches."""
    variant: tuple[str, ...]
    """Which compilation ran: the region's number, the hash of its graph."""

    def __len__(self) -> int:
        return len(self.region_id)

    @property
    def rest_ns(self) -> Int64s:
        """Return the tax without lookup and prologue: bytecode and wrappers in Python."""
        rest: Int64s = self.tax_ns - self.lookup_ns - self.prologue_ns
        return rest


@dataclass(frozen=True, slots=True, eq=False)
class CompiledFrame:
    """One function that was compiled, whatever its variants."""

    name: str
    """Its number, as in ``Torch-Compiled Region: 0/1`` the part before the slash."""
    n_calls: int
    median_tax_ns: int
    total_tax_ns: int
    total_ns: int
    """Its regions and their lookups."""
    variants: tuple[str, ...]
    """The distinct compilations that ran, in the order of their first call."""
    changed_at: Int32s
    """The region of each first call of a variant but the first: here it had been compiled anew."""

    @property
    def n_recompiles(self) -> int:
        """Return how often the recording sees a compilation that it had not seen before."""
        return len(self.changed_at)


@dataclass(frozen=True, slots=True, eq=False)
class CompileTax:
    """What compiling costs in a recording."""

    calls: CompiledCalls
    frames: tuple[CompiledFrame, ...]
    """Most tax first."""
    n_lookups: int
    lookup_ns: int
    n_missed: int
    """Lookups that no compiled region followed: nothing fitted, or the frame was skipped."""
    compile_ids: Int64s
    """Slices in which compiling itself was recorded, the outermost ones."""
    compile_ns: int
    record_ids: Int64s
    """Slices in which a CUDA graph was recorded, once for each graph."""
    record_ns: int

    @property
    def per_call_ns(self) -> int | None:
        """Return the median tax of a call, ``None`` if no region was called."""
        return int(np.median(self.calls.tax_ns)) if len(self.calls) else None

    @property
    def total_ns(self) -> int:
        """Return the tax of all calls."""
        return int(self.calls.tax_ns.sum())

    @property
    def n_recompiles(self) -> int:
        """Return how often any frame changed to a compilation not seen before."""
        return sum(frame.n_recompiles for frame in self.frames)


@once_per_trace
def compile_tax(trace: Trace) -> CompileTax | None:
    """Return what ``torch.compile`` costs, or ``None`` where the trace shows nothing of it."""
    lookups, regions = _slices(trace, _LOOKUP), _slices(trace, _REGION)
    graphs, compiles = _slices(trace, _GRAPH), _outermost(trace, _slices(trace, _COMPILES))
    records = _outermost(trace, _slices(trace, _RECORDS))
    if not (len(lookups) or len(regions) or len(graphs) or len(compiles)):
        return None
    lookup_of = _lookup_before(trace, lookups, regions)
    calls = _calls(trace, regions, lookup_of, graphs, compiles)
    return CompileTax(
        calls=calls,
        frames=_frames(trace, calls),
        n_lookups=len(lookups),
        lookup_ns=int(trace.slices.dur_ns[lookups].sum()),
        n_missed=len(lookups) - int((lookup_of >= 0).sum()),
        compile_ids=frozen(compiles),
        compile_ns=int(trace.slices.dur_ns[compiles].sum()),
        record_ids=frozen(records),
        record_ns=int(trace.slices.dur_ns[records].sum()),
    )


def _slices(trace: Trace, pattern: re.Pattern[str]) -> Int64s:
    """Return the host slices whose whole name fits, in time order."""
    slices = trace.slices
    name_ids = [i for i, name in enumerate(trace.names) if pattern.fullmatch(name)]
    if not name_ids:
        return np.empty(0, np.int64)
    is_host = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    rows = np.flatnonzero(
        np.isin(slices.name_id, name_ids)
        & is_host[slices.track_id]
        & (slices.kind <= SliceKind.ANNOTATION)
    )
    return rows[np.lexsort((rows, slices.ts_ns[rows]))]


def _outermost(trace: Trace, rows: Int64s) -> Int64s:
    """Return the slices that lie in none of the others."""
    above = nearest(trace.slices.parent_id, _marked(trace, rows))
    parent = trace.slices.parent_id[rows]
    inside = (parent >= 0) & (above[parent] >= 0)
    return rows[~inside]


def _marked(trace: Trace, rows: Int64s) -> Bools:
    is_marked = np.zeros(len(trace.slices), bool)
    is_marked[rows] = True
    return is_marked


def _lookup_before(trace: Trace, lookups: Int64s, regions: Int64s) -> Int64s:
    """Return for each region the lookup that led to it, or ``NO_ID``.

    It is the last thing of the two kinds on the thread before the region begins, and no child of a
    region that is still running in between.
    """
    slices = trace.slices
    found = np.full(len(regions), NO_ID, np.int64)
    both = np.concatenate((lookups, regions))
    # Slices of one track are sorted by time, so ids alone put both in order.
    order = np.argsort(both, kind="stable")
    ranked = both[order]
    place = np.empty(len(both), np.int64)
    place[order] = np.arange(len(both))
    before = place[len(lookups) :] - 1
    candidate = ranked[np.maximum(before, 0)]
    fits = (
        (before >= 0)
        & (order[np.maximum(before, 0)] < len(lookups))
        & (slices.track_id[candidate] == slices.track_id[regions])
        & (slices.end_ns[candidate] <= slices.ts_ns[regions])
        & (slices.parent_id[candidate] == slices.parent_id[regions])
    )
    found[fits] = candidate[fits]
    return found


def _sum_below(trace: Trace, region_of: Int64s, rows: Int64s, regions: Int64s) -> Int64s:
    """Return for each region the time of ``rows`` directly in it, no region between."""
    total = np.zeros(len(trace.slices) + 1, np.int64)
    np.add.at(total, region_of[rows], trace.slices.dur_ns[rows])
    return total[regions]


def _calls(
    trace: Trace, regions: Int64s, lookup_of: Int64s, graphs: Int64s, compiles: Int64s
) -> CompiledCalls:
    slices = trace.slices
    region_of = nearest(slices.parent_id, _marked(trace, regions))
    # Generated code that calls back into compiled code counts once, by its outermost call.
    outer_graphs = _outermost(trace, graphs)
    prologues = _slices(trace, _PROLOGUE)
    graph_ns = _sum_below(trace, region_of, outer_graphs, regions)
    lookup_ns = np.where(lookup_of >= 0, slices.dur_ns[lookup_of], 0)
    not_tax_ns = _nested_ns(trace, region_of, regions)
    not_tax_ns += _sum_below(trace, region_of, compiles, regions)
    hashes: dict[int, list[str]] = {}
    for graph, region in zip(outer_graphs.tolist(), region_of[outer_graphs].tolist(), strict=True):
        match = _GRAPH.fullmatch(trace.name_of(graph))
        hashes.setdefault(region, []).append(match.group(1) if match else "")
    variant = []
    for region in regions.tolist():
        match = _REGION.fullmatch(trace.name_of(region))
        number = match.group(1) if match else ""
        variant.append(" ".join([number, *hashes.get(region, [])]))
    return CompiledCalls(
        region_id=frozen(regions.astype(np.int32)),
        lookup_id=frozen(lookup_of.astype(np.int32)),
        tax_ns=frozen(lookup_ns + slices.dur_ns[regions] - graph_ns - not_tax_ns),
        lookup_ns=frozen(lookup_ns),
        prologue_ns=frozen(_sum_below(trace, region_of, prologues, regions)),
        graph_ns=frozen(graph_ns),
        variant=tuple(variant),
    )


def _nested_ns(trace: Trace, region_of: Int64s, regions: Int64s) -> Int64s:
    """Return for each region the time of the regions directly in it but in none of its graphs."""
    parent = trace.slices.parent_id[regions]
    outer = np.where(parent >= 0, region_of[parent], NO_ID)
    graph_above = nearest(trace.slices.parent_id, _marked(trace, _slices(trace, _GRAPH)))
    in_graph = (parent >= 0) & (graph_above[parent] > outer)
    inner = (outer >= 0) & ~in_graph
    total = np.zeros(len(trace.slices) + 1, np.int64)
    np.add.at(total, outer[inner], trace.slices.dur_ns[regions[inner]])
    return total[regions]


def _frames(trace: Trace, calls: CompiledCalls) -> tuple[CompiledFrame, ...]:
    """Return the calls by frame; loops over calls because each has a text to compare."""
    rows_of: dict[str, list[int]] = {}
    for row, variant in enumerate(calls.variant):
        rows_of.setdefault(variant.split(" ")[0].rsplit("/", 1)[0], []).append(row)
    found = []
    for name, own in rows_of.items():
        rows = np.array(own, np.int64)
        first_row: dict[str, int] = {}
        for row in own:
            first_row.setdefault(calls.variant[row], row)
        changed = list(first_row.values())[1:]
        regions = calls.region_id[rows]
        found.append(
            CompiledFrame(
                name=name,
                n_calls=len(own),
                median_tax_ns=int(np.median(calls.tax_ns[rows])),
                total_tax_ns=int(calls.tax_ns[rows].sum()),
                total_ns=int(trace.slices.dur_ns[regions].sum() + calls.lookup_ns[rows].sum()),
                variants=tuple(first_row),
                changed_at=frozen(calls.region_id[np.array(changed, np.int64)]),
            )
        )
    return tuple(sorted(found, key=lambda frame: -frame.total_tax_ns))
