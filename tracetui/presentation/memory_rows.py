"""The rows of the memory table: operators by name, and the blocks that were there at the peak."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.allocations import (
    Allocations,
    OperatorMemory,
    allocations,
    device_blocks,
)
from tracetui.analysis.memory import MemoryCurve, Peak
from tracetui.format import NOT_MEASURED, TimeUnit, count, duration, percent, size
from tracetui.model.arrays import NO_ID, Bools, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.memory_peak import PATH_JOINT
from tracetui.presentation.roofline import shapes_text
from tracetui.presentation.table import Column, time_column

OUTSIDE: Final = "(outside of operators)"
BEFORE: Final = "(there before the recording)"
_SIZE_WIDTH: Final = 12
_UNKNOWN: Final = np.iinfo(np.int64).min
"""Sorts below every amount."""


def _names_column(title: str, names: list[str]) -> Column:
    return Column(title, names.__getitem__, np.array(names, dtype=str), is_number=False)


def _bytes_column(title: str, values: Int64s, *, width: int = _SIZE_WIDTH) -> Column:
    """Return a column of amounts; one below the least of all is not measured."""

    def cell(row: int) -> str:
        value = int(values[row])
        return NOT_MEASURED if value == _UNKNOWN else size(value)

    return Column(title, cell, values, width=width)


def _share_column(values: Int64s, whole: int) -> Column:
    def cell(row: int) -> str:
        value = int(values[row])
        return NOT_MEASURED if value == _UNKNOWN or not whole else percent(value / whole)

    return Column("share", cell, values, width=9)


@dataclass(frozen=True, slots=True, eq=False)
class OperatorRows:
    """One row for each name, and for what no operator asked for."""

    names: list[str]
    slice_id: Int64s
    name_id: Int64s
    """``NO_ID`` for what is no name."""
    peak_bytes: Int64s
    total_bytes: Int64s
    self_bytes: Int64s
    allocated_bytes: Int64s
    n_blocks: Int64s
    sorted_by: str

    @classmethod
    def of(cls, trace: Trace, found: OperatorMemory, *, is_whole: bool) -> "OperatorRows":
        """Return the names; with the rest only where no filter asks for some of them."""
        unknown = _UNKNOWN
        # Name, at the peak, asked for and blocks of what belongs to no operator.
        rest = [
            (
                OUTSIDE,
                found.outside_peak_bytes,
                found.outside_allocated_bytes,
                found.outside_blocks,
            ),
            (BEFORE, found.before_bytes, 0, 0),
        ]
        rest = [each for each in rest if is_whole and any(each[1:])]
        n = len(rest)
        none = np.full(n, unknown, np.int64)
        at_peak = np.full(len(found), unknown) if found.peak_bytes is None else found.peak_bytes

        def joined(values: Int64s, more: list[int | None]) -> Int64s:
            own = [unknown if each is None else each for each in more]
            return np.concatenate((values, np.array(own, np.int64)))

        is_before = np.array([each[0] == BEFORE for each in rest], bool)
        # Blocks are put down to operators: annotations have only what happened inside of them.
        is_annotation = trace.slices.kind[found.slice_id] == SliceKind.ANNOTATION
        at_peak, asked, blocks = (
            np.where(is_annotation, unknown, each)
            for each in (at_peak, found.allocated_bytes, found.n_blocks)
        )
        asked = joined(asked, [each[2] for each in rest])
        blocks = joined(blocks, [each[3] for each in rest])
        asked[len(found) :][is_before] = unknown
        blocks[len(found) :][is_before] = unknown
        return cls(
            names=[trace.names[each] for each in found.name_id.tolist()] + [e[0] for e in rest],
            slice_id=np.concatenate((found.slice_id, np.full(n, NO_ID, np.int64))),
            name_id=np.concatenate((found.name_id, np.full(n, NO_ID, np.int64))),
            peak_bytes=joined(at_peak, [each[1] for each in rest]),
            total_bytes=np.concatenate((found.total_bytes, none)),
            self_bytes=np.concatenate((found.self_bytes, none)),
            allocated_bytes=asked,
            n_blocks=blocks,
            sorted_by="asked for" if found.peak_bytes is None else "at peak",
        )

    def columns(self, trace: Trace, peak: Peak, unit: TimeUnit) -> tuple[Column, ...]:
        """Return the columns."""
        del trace, unit

        def blocks(row: int) -> str:
            n = int(self.n_blocks[row])
            return NOT_MEASURED if n == _UNKNOWN else count(n)

        return (
            _names_column("operator", self.names),
            _bytes_column("at peak", self.peak_bytes, width=11),
            _share_column(self.peak_bytes, peak.n_bytes),
            _bytes_column("self", self.self_bytes),
            _bytes_column("total", self.total_bytes),
            _bytes_column("asked for", self.allocated_bytes),
            Column("blocks", blocks, self.n_blocks, width=9),
        )

    def row_of(self, trace: Trace, slice_id: int) -> int:
        """Return the row of a slice's name."""
        found = np.flatnonzero(self.name_id == trace.slices.name_id[slice_id])
        return int(found[0]) if len(found) else NO_ID

    def blocks_of(self, trace: Trace, curve: MemoryCurve, row: int) -> Bools:
        """Return the blocks that calls of a name asked for."""
        blocks = allocations(trace)
        own = device_blocks(trace, curve)
        made = np.flatnonzero(own & (blocks.maker_id >= 0))
        if self.names[row] == OUTSIDE:
            own[made] = False
            return own
        names = trace.slices.name_id[blocks.maker_id[made]]
        found = np.zeros(len(blocks), bool)
        found[made[names == self.name_id[row]]] = True
        return found

    def facts(self, trace: Trace, row: int, peak: Peak, unit: TimeUnit) -> list[str]:
        """Return all that is known of a row."""
        del trace, unit
        name = self.names[row]
        if name == BEFORE:
            return [
                name,
                f"at peak    {size(int(self.peak_bytes[row]))} of {size(peak.n_bytes)}",
                "what was allocated before the recording began, such as parameters,",
                "or without a record",
            ]
        lines = [name]
        if self.allocated_bytes[row] == _UNKNOWN:
            lines.append("blocks are put down to the operators in it")
        elif self.peak_bytes[row] == _UNKNOWN:
            lines.append("at peak    not known: this file has no addresses")
        else:
            held = int(self.peak_bytes[row])
            share = percent(held / peak.n_bytes if peak.n_bytes else None)
            lines.append(f"at peak    {size(held)}, {share} of {size(peak.n_bytes)}")
        if self.allocated_bytes[row] != _UNKNOWN:
            n = int(self.n_blocks[row])
            blocks = f"{count(n)} {'block' if n == 1 else 'blocks'}"
            lines.append(f"asked for  {size(int(self.allocated_bytes[row]))} in {blocks}")
        if name != OUTSIDE:
            lines += [
                f"self       {size(int(self.self_bytes[row]))}, allocated less released",
                f"total      {size(int(self.total_bytes[row]))}, with what it calls",
            ]
        return lines


@dataclass(frozen=True, slots=True, eq=False)
class BlockRows:
    """One row for each block that was there at the peak."""

    names: list[str]
    slice_id: Int64s
    block: Int64s
    """Into ``allocations``."""
    blocks: Allocations
    start_ns: Int64s
    end_ns: Int64s
    """-1 for what was never released."""
    n_bytes: Int64s
    sorted_by: str = "size"

    @classmethod
    def of(cls, trace: Trace, curve: MemoryCurve, peak: Peak, chosen: Bools | None) -> "BlockRows":
        """Return the blocks, of chosen slices only where a filter asks for some."""
        blocks, memory = allocations(trace), trace.memory
        alive = device_blocks(trace, curve) & blocks.alive_after(peak.record)
        owner = np.where(blocks.maker_id >= 0, blocks.maker_id, blocks.slice_id)
        if chosen is not None and len(chosen):
            alive &= (owner >= 0) & chosen[np.maximum(owner, 0)]
        block = np.flatnonzero(alive)
        record, freed = blocks.record[block], blocks.freed[block]
        return cls(
            names=[_maker_name(trace, each) for each in owner[block].tolist()],
            slice_id=owner[block],
            block=block,
            blocks=blocks,
            start_ns=memory.ts_ns[record],
            end_ns=np.where(freed == NO_ID, -1, memory.ts_ns[np.maximum(freed, 0)]),
            n_bytes=memory.n_bytes[record],
        )

    def columns(self, trace: Trace, peak: Peak, unit: TimeUnit) -> tuple[Column, ...]:
        """Return the columns."""
        del trace
        forever = int(self.end_ns.max(initial=0)) + int(self.start_ns.max(initial=0)) + 1
        lived = np.where(self.end_ns < 0, forever, self.end_ns - self.start_ns)

        def life(row: int) -> str:
            return "kept" if self.end_ns[row] < 0 else duration(int(lived[row]), unit)

        return (
            _names_column("asked by", self.names),
            _bytes_column("size", self.n_bytes),
            _share_column(self.n_bytes, peak.n_bytes),
            time_column("at", self.start_ns, unit),
            Column("lived", life, lived, width=12),
        )

    def row_of(self, trace: Trace, slice_id: int) -> int:
        """Return the largest block that a slice asked for, or one of its name."""
        own = np.flatnonzero(self.slice_id == slice_id)
        if not len(own):
            known = self.slice_id >= 0
            names = trace.slices.name_id[np.maximum(self.slice_id, 0)]
            own = np.flatnonzero(known & (names == trace.slices.name_id[slice_id]))
        return int(own[np.argmax(self.n_bytes[own])]) if len(own) else NO_ID

    def blocks_of(self, trace: Trace, curve: MemoryCurve, row: int) -> Bools:
        """Return the block of a row alone."""
        del trace, curve
        own = np.zeros(len(self.blocks), bool)
        own[self.block[row]] = True
        return own

    def facts(self, trace: Trace, row: int, peak: Peak, unit: TimeUnit) -> list[str]:
        """Return all that is known of a block, and the path that led to it."""
        share = percent(int(self.n_bytes[row]) / peak.n_bytes if peak.n_bytes else None)
        start_ns, end_ns = int(self.start_ns[row]), int(self.end_ns[row])
        lines = [
            self.names[row],
            f"size       {size(int(self.n_bytes[row]))}, {share} of the peak",
            f"allocated  at {duration(start_ns, unit)}",
        ]
        if end_ns < 0:
            lines.append("released   not in this recording")
        else:
            lines.append(
                f"released   at {duration(end_ns, unit)}, after {duration(end_ns - start_ns, unit)}"
            )
        at = int(self.blocks.slice_id[self.block[row]])
        path: list[str] = []
        while at >= 0:
            path.insert(0, trace.name_of(at))
            at = int(trace.slices.parent_id[at])
        if path:
            lines.append(f"in         {PATH_JOINT.join(path)}")
        return lines


def _maker_name(trace: Trace, slice_id: int) -> str:
    """Return who asked for a block, with the shapes it was given."""
    if slice_id < 0:
        return OUTSIDE
    shape = int(trace.slices.shape_id[slice_id])
    text = shapes_text(trace.shapes[shape]) if shape >= 0 else ""
    return f"{trace.name_of(slice_id)} {text}".rstrip()
