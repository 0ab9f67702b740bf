"""Blocks of memory: which operator asked for each, how long it lived, and who held the peak."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.memory import MemoryCurve, Peak, bytes_by_slice
from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

BARE_ALLOCATORS: Final = frozenset(
    {
        "aten::empty",
        "aten::empty_like",
        "aten::empty_strided",
        "aten::new_empty",
        "aten::new_empty_strided",
        "aten::resize_",
        "aten::resize_as_",
        "aten::_resize_output_",
    }
)
"""Operators that do nothing but allocate: of a block of theirs it says more who called them."""


@dataclass(frozen=True, slots=True, eq=False)
class Allocations:
    """Every block that was allocated while recording, in time order; columns of one length."""

    record: Int64s
    """Into ``Trace.memory``: the allocation."""
    freed: Int64s
    """Into ``Trace.memory``: what ended it, or ``NO_ID`` where nothing did.

    Most often its release; else the allocation that got the same address.
    """
    has_address: Bools
    """Whether the file says where it lay; of one without nobody knows when it was released."""
    slice_id: Int64s
    """The innermost host slice of the thread that asked, or ``NO_ID``."""
    maker_id: Int64s
    """The operator that asked, or ``NO_ID``; of a bare allocator's block the one that called it."""

    def __len__(self) -> int:
        return len(self.record)

    def alive_after(self, record: int) -> Bools:
        """Return which blocks were there once a record of ``Trace.memory`` had taken effect."""
        found: Bools = self.has_address & (self.record <= record)
        found &= (self.freed == NO_ID) | (self.freed > record)
        return found


@once_per_trace
def allocations(trace: Trace) -> Allocations:
    """Return the blocks, each with what ended it and who asked for it."""
    memory = trace.memory
    record = np.flatnonzero(memory.n_bytes > 0)
    slice_id = innermost_at(trace, memory.track_id[record], memory.ts_ns[record])
    return Allocations(
        record=frozen(record),
        freed=frozen(_ends(trace)[record]),
        has_address=frozen(memory.address[record] != 0),
        slice_id=frozen(slice_id),
        maker_id=frozen(_makers(trace, slice_id)),
    )


def _ends(trace: Trace) -> Int64s:
    """Return for each record the next one of the same device and address, or ``NO_ID``."""
    memory = trace.memory
    found = np.full(len(memory), NO_ID, np.int64)
    rows = np.flatnonzero((memory.address != 0) & (memory.n_bytes != 0))
    keys = (memory.device_type[rows], memory.device_index[rows], memory.address[rows])
    order = np.lexsort((rows, *keys))
    same = np.ones(max(len(rows) - 1, 0), bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    found[rows[order[:-1][same]]] = rows[order[1:][same]]
    return found


def innermost_at(trace: Trace, track_id: Int32s, ts_ns: Int64s) -> Int64s:
    """Return the innermost slice that is open on a host track at each moment, or ``NO_ID``.

    Both ends of a slice are part of it: where one ends as the next starts, the later one.
    """
    slices = trace.slices
    found = np.full(len(track_id), NO_ID, np.int64)
    for track in np.unique(track_id[track_id >= 0]).tolist():
        first, after = np.searchsorted(slices.track_id, (track, track + 1)).tolist()
        own = np.flatnonzero(track_id == track)
        place = np.searchsorted(slices.ts_ns[first:after], ts_ns[own], side="right") - 1
        found[own] = np.where(place >= 0, first + place, NO_ID)
    end_ns = slices.end_ns
    closed = np.flatnonzero(found >= 0)
    closed = closed[end_ns[found[closed]] < ts_ns[closed]]
    while len(closed):
        found[closed] = slices.parent_id[found[closed]]
        closed = closed[found[closed] >= 0]
        closed = closed[end_ns[found[closed]] < ts_ns[closed]]
    return found


def _makers(trace: Trace, slice_id: Int64s) -> Int64s:
    """Return which operator asked for a block, given the innermost slice at the time."""
    slices = trace.slices
    bare_names = [name_id for name_id, name in enumerate(trace.names) if name in BARE_ALLOCATORS]
    is_operator = slices.kind == SliceKind.OPERATOR
    is_bare = is_operator & np.isin(slices.name_id, np.array(bare_names, np.int64))
    is_annotation = slices.kind == SliceKind.ANNOTATION
    maker = np.full(len(slice_id), NO_ID, np.int64)
    here = slice_id.copy()
    climbing = np.flatnonzero(here >= 0)
    # One round for each level of the deepest stack.
    while len(climbing):
        at = here[climbing]
        # Beyond an annotation lies another piece of work than the one that asked.
        stops = is_annotation[at] & (maker[climbing] != NO_ID)
        climbing, at = climbing[~stops], at[~stops]
        asks = is_operator[at]
        maker[climbing[asks]] = at[asks]
        goes_on = ~asks | is_bare[at]
        climbing, at = climbing[goes_on], slices.parent_id[at[goes_on]]
        here[climbing] = at
        climbing = climbing[at >= 0]
    return maker


@dataclass(frozen=True, slots=True, eq=False)
class OperatorMemory:
    """What the operators and annotations of each name did to one device's memory."""

    name_id: Int64s
    """Into ``Trace.names``, ascending; only names that allocated or released anything."""
    total_bytes: Int64s
    """Allocated less released during all calls, as torch counts: by any thread."""
    self_bytes: Int64s
    """The same, less what the direct children did."""
    allocated_bytes: Int64s
    """Of the blocks that calls of this name asked for, released or not."""
    n_blocks: Int64s
    """How many blocks these are."""
    peak_bytes: Int64s | None
    """What of these was there at the peak; ``None`` where the file does not say where blocks lie."""
    slice_id: Int64s
    """The call to look at: the one with most at the peak, else the one that allocated most."""
    outside_allocated_bytes: int
    """Blocks that no operator asked for."""
    outside_blocks: int
    outside_peak_bytes: int | None
    before_bytes: int | None
    """The rest of the peak: what was there before the recording, or was never recorded."""

    def __len__(self) -> int:
        return len(self.name_id)


def device_blocks(trace: Trace, curve: MemoryCurve) -> Bools:
    """Return which blocks of ``allocations`` are a device's."""
    own = np.zeros(len(trace.memory), bool)
    own[curve.record] = True
    found: Bools = own[allocations(trace).record]
    return found


def operator_memory(
    trace: Trace,
    curve: MemoryCurve,
    peak: Peak,
    span_ns: tuple[int, int] | None = None,
    chosen: Bools | None = None,
) -> OperatorMemory:
    """Return what each name did to a device's memory.

    Args:
        trace: The recording.
        curve: One of its ``memory_use`` curves.
        peak: The moment whose holders are asked for.
        span_ns: Count only what was allocated and released in this range; the peak has all that
            was there.
        chosen: The slices to count, all where ``None``.
    """
    slices, memory = trace.slices, trace.memory
    counted = np.zeros(len(memory), bool)
    counted[curve.record] = True
    if span_ns is not None:
        counted &= (memory.ts_ns >= span_ns[0]) & (memory.ts_ns <= span_ns[1])
    total, own = bytes_by_slice(trace, counted)
    listed = (slices.kind == SliceKind.OPERATOR) | (slices.kind == SliceKind.ANNOTATION)
    if chosen is not None:
        listed &= chosen
    blocks = allocations(trace)
    sizes = memory.n_bytes[blocks.record]
    is_own = device_blocks(trace, curve)
    allocated, n_blocks = _by_maker(trace, blocks, sizes, is_own & counted[blocks.record])
    knows_peak = bool(blocks.has_address[is_own].any())
    alive = is_own & blocks.alive_after(peak.record)
    held, _ = _by_maker(trace, blocks, sizes, alive)
    touched = np.flatnonzero(listed & ((total != 0) | (own != 0) | (allocated > 0) | (held > 0)))
    name_id, row = np.unique(slices.name_id[touched], return_inverse=True)
    n = len(name_id)
    # Of several assignments to one name the last stays, which is the best to look at.
    order = np.lexsort((-touched, total[touched], allocated[touched], held[touched], row))
    slice_id = np.full(n, NO_ID, np.int64)
    slice_id[row[order]] = touched[order]
    unmade = is_own & (blocks.maker_id < 0)
    return OperatorMemory(
        name_id=frozen(name_id.astype(np.int64)),
        total_bytes=frozen(group_sums(row, total[touched], n)),
        self_bytes=frozen(group_sums(row, own[touched], n)),
        allocated_bytes=frozen(group_sums(row, allocated[touched], n)),
        n_blocks=frozen(group_sums(row, n_blocks[touched], n)),
        peak_bytes=frozen(group_sums(row, held[touched], n)) if knows_peak else None,
        slice_id=frozen(slice_id),
        outside_allocated_bytes=int(sizes[unmade & counted[blocks.record]].sum()),
        outside_blocks=int((unmade & counted[blocks.record]).sum()),
        outside_peak_bytes=int(sizes[unmade & alive].sum()) if knows_peak else None,
        before_bytes=peak.n_bytes - int(sizes[alive].sum()) if knows_peak else None,
    )


def _by_maker(
    trace: Trace, blocks: Allocations, sizes: Int64s, own: Bools
) -> tuple[Int64s, Int64s]:
    """Return for each slice the bytes and the number of the blocks in ``own`` that it asked for."""
    own = own & (blocks.maker_id >= 0)
    maker, n = blocks.maker_id[own], len(trace.slices)
    return group_sums(maker, sizes[own], n), np.bincount(maker, minlength=n).astype(np.int64)


def held_bytes(trace: Trace, blocks: Bools) -> tuple[Int64s, Int64s]:
    """Return when the bytes in some of the blocks change, and to what.

    Args:
        trace: The recording.
        blocks: Which blocks of ``allocations``; those without an address do not count.

    Returns:
        Two columns of one length: moments, ascending, and the level from each of them on.
    """
    memory, found = trace.memory, allocations(trace)
    chosen = blocks & found.has_address
    record, freed = found.record[chosen], found.freed[chosen]
    sizes, is_freed = memory.n_bytes[record], freed != NO_ID
    changed = np.concatenate((record, freed[is_freed]))
    order = np.argsort(changed, kind="stable")
    levels = np.cumsum(np.concatenate((sizes, -sizes[is_freed]))[order])
    return frozen(memory.ts_ns[changed[order]]), frozen(levels)


@dataclass(frozen=True, slots=True)
class Running:
    """What ran on the host at a moment; ids are slices, ``NO_ID`` or nothing where there was none."""

    path: tuple[int, ...]
    """The asking thread's open operators, annotations and runtime calls, the outermost first."""
    annotation_id: int
    """The innermost annotation of that thread, else of any; steps apart."""
    step_id: int
    """The step, on whatever thread."""


def running_at(trace: Trace, peak: Peak, step_ids: Int64s) -> Running:
    """Return what ran at a peak, on the thread that asked last.

    Args:
        trace: The recording.
        peak: The moment.
        step_ids: The slices that are steps.
    """
    if peak.record == NO_ID:
        return Running((), NO_ID, NO_ID)
    slices, ts_ns = trace.slices, peak.ts_ns
    asking = trace.memory.track_id[[peak.record]]
    at = int(innermost_at(trace, asking, np.array([ts_ns], np.int64))[0])
    path: list[int] = []
    while at >= 0:
        path.insert(0, at)
        at = int(slices.parent_id[at])
    is_open = (slices.kind == SliceKind.ANNOTATION) & (slices.ts_ns <= ts_ns)
    is_open &= slices.end_ns >= ts_ns
    is_step = np.zeros(len(slices), bool)
    is_step[step_ids] = True
    step = np.flatnonzero(is_step & (slices.ts_ns <= ts_ns) & (slices.end_ns >= ts_ns))
    near = [each for each in path if is_open[each] and not is_step[each]]
    beside = np.flatnonzero(is_open & ~is_step)
    if not near and len(beside):
        near = [int(beside[np.argmin(slices.dur_ns[beside])])]
    return Running(
        path=tuple(each for each in path if not is_step[each]),
        annotation_id=near[-1] if near else NO_ID,
        step_id=int(step[-1]) if len(step) else NO_ID,
    )
