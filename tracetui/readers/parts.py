"""What a second process read, on its way to the first: columns in a file that both map, the rest as one message.

A part is what a builder gained since the last part. Numbers that a builder gives out (names, shapes,
geometries, flows) mean something else in the other process, and are translated on arrival.
"""

import pickle
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from tracetui.model.arrays import NO_ID, is_alike, joined
from tracetui.model.builder import (
    EventBlock,
    EventKey,
    FlowBlock,
    ThreadNames,
    TraceBuilder,
)
from tracetui.model.device import Geometry
from tracetui.model.load_report import LoadReport
from tracetui.readers.arguments import ChunkTable
from tracetui.readers.pytorch import add_metadata

_ROWS: Final = ("begin_ends", "async_marks", "instants", "memory", "counters")
_NUMBERED: Final = ("keys", "shapes", "signatures", "geometries", "flow_names")
_KEYED_ROWS: Final = ("begin_ends", "async_marks", "instants", "memory")
_EVENT_COLUMNS: Final = tuple(column.name for column in fields(EventBlock))
_FLOW_COLUMNS: Final = tuple(column.name for column in fields(FlowBlock))
_FIRST_FLOW_NAME: Final = -2


@dataclass(frozen=True, slots=True)
class Stored:
    """One column in the shared file."""

    dtype: str
    n: int
    at: int
    """Bytes from the file's start."""
    alike: int | None = None
    """The one value that stands for all of them; such a column is not in the file."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What was read since the part before."""

    keys: list[EventKey]
    shapes: list[str]
    signatures: list[str]
    geometries: list[Geometry]
    flow_names: list[str]
    rows: dict[str, list[Any]]
    events: dict[str, Stored]
    flows: dict[str, Stored]
    thread_names: ThreadNames
    metadata: dict[str, Any]
    report: LoadReport
    chunks: ChunkTable
    first_offset: int
    """Where in the unpacked text the first part of all begins."""
    end_offset: int
    """Up to where in the unpacked text this part reaches."""
    end_event: int
    """The number after the last event's."""
    n_file_bytes: int
    """How much of the file itself was read."""
    is_last: bool


class PartWriter:
    """Takes what is new out of a builder; the builder keeps only the numbers it gave out."""

    def __init__(self, builder: TraceBuilder, chunks: ChunkTable, columns: IO[bytes]) -> None:
        self._builder = builder
        self._chunks = chunks
        self._columns = columns
        self._n_sent = dict.fromkeys(_NUMBERED, 0)

    def part(
        self,
        *,
        first_offset: int,
        end_offset: int,
        end_event: int,
        n_file_bytes: int,
        is_last: bool = False,
    ) -> Part:
        """Return what is new, its columns written."""
        builder = self._builder
        part = Part(
            **{name: getattr(builder, name)[n:] for name, n in self._n_sent.items()},
            rows={name: list(getattr(builder, name)) for name in _ROWS},
            events=self._stored(builder.blocks, _EVENT_COLUMNS),
            flows=self._stored(builder.flow_blocks, _FLOW_COLUMNS),
            thread_names=builder.thread_names,
            metadata=dict(builder.metadata),
            report=_drained(builder.report),
            chunks=self._chunks.drained(),
            first_offset=first_offset,
            end_offset=end_offset,
            end_event=end_event,
            n_file_bytes=n_file_bytes,
            is_last=is_last,
        )
        self._columns.flush()
        for name in self._n_sent:
            self._n_sent[name] = len(getattr(builder, name))
        for name in (*_ROWS, "blocks", "flow_blocks"):
            getattr(builder, name).clear()
        return part

    def _stored(self, blocks: list[Any], names: Iterable[str]) -> dict[str, Stored]:
        if not blocks:
            return {}
        stored = {}
        for name in names:
            column = joined([getattr(block, name) for block in blocks])
            dtype, place = column.dtype.str, self._columns.tell()
            if is_alike(column):
                stored[name] = Stored(dtype, len(column), place, int(column[0]))
            else:
                stored[name] = Stored(dtype, len(column), place)
                self._columns.write(column.data)
        return stored


def _drained(report: LoadReport) -> LoadReport:
    """Return the counts so far and begin to count anew; what is true of the file stays true."""
    taken = LoadReport(
        **{
            column.name: value.copy() if hasattr(value, "copy") else value
            for column in fields(report)
            for value in (getattr(report, column.name),)
        }
    )
    for column in fields(report):
        value = getattr(report, column.name)
        if isinstance(value, (Counter, list)):
            value.clear()
        elif not isinstance(value, bool):
            setattr(report, column.name, 0)
    return taken


def add_report(total: LoadReport, more: LoadReport) -> None:
    """Count what another part of the same file counted."""
    for column in fields(total):
        value = getattr(more, column.name)
        if isinstance(value, Counter):
            getattr(total, column.name).update(value)
        elif isinstance(value, bool):
            setattr(total, column.name, getattr(total, column.name) or value)
        elif isinstance(value, list):
            known = getattr(total, column.name)
            known += [each for each in value if each not in known]
        else:
            setattr(total, column.name, getattr(total, column.name) + value)


class PartTaker:
    """Adds parts to a builder, in the numbers that this builder gives out."""

    def __init__(self, builder: TraceBuilder, chunks: ChunkTable, columns: Path) -> None:
        self._builder = builder
        self._chunks = chunks
        self._columns = columns
        self._key_of: list[int] = []
        self._shape_of: list[int] = []
        self._signature_of: list[int] = []
        self._geometry_of: list[int] = []
        self._flow_name_of: list[int] = []

    def take(self, part: Part) -> None:
        """Add one part; parts come in the order in which they were made."""
        builder = self._builder
        self._key_of += map(builder.key, part.keys)
        self._shape_of += map(builder.shape, part.shapes)
        self._signature_of += map(builder.signature, part.signatures)
        self._geometry_of += map(builder.geometry, part.geometries)
        self._flow_name_of += map(builder.flow_name, part.flow_names)
        keys = np.array(self._key_of, np.int32)
        if part.events:
            columns = self._mapped(part.events)
            columns["key"] = keys[columns["key"]]
            columns["shape_id"] = _translated(columns["shape_id"], self._shape_of)
            columns["signature_id"] = _translated(columns["signature_id"], self._signature_of)
            columns["geometry_id"] = _translated(columns["geometry_id"], self._geometry_of)
            builder.blocks.append(EventBlock(**columns))
        if part.flows:
            columns = self._mapped(part.flows)
            columns["key"] = keys[columns["key"]]
            columns["flow_id"] = self._flow_ids(columns["flow_id"])
            builder.flow_blocks.append(FlowBlock(**columns))
        for name, rows in part.rows.items():
            if name in _KEYED_ROWS:
                rows = [row._replace(key=self._key_of[row.key]) for row in rows]  # noqa: PLW2901
            getattr(builder, name).extend(rows)
        for each in fields(ThreadNames):
            getattr(builder.thread_names, each.name).update(getattr(part.thread_names, each.name))
        if part.metadata:
            add_metadata(builder, part.metadata)
        add_report(builder.report, part.report)
        self._chunks.extend(part.chunks)

    def _mapped(self, stored: dict[str, Stored]) -> dict[str, Any]:
        return {name: self._mapped_column(each) for name, each in stored.items()}

    def _mapped_column(self, stored: Stored) -> Any:
        if stored.alike is not None:
            return np.broadcast_to(np.array(stored.alike, stored.dtype), (stored.n,))
        if not stored.n:
            return np.empty(0, stored.dtype)
        return np.memmap(self._columns, stored.dtype, "r", stored.at, (stored.n,))

    def _flow_ids(self, flow_id: Any) -> Any:
        """Return flow ids with those that stand for a text translated."""
        named = flow_id <= _FIRST_FLOW_NAME
        if not named.any():
            return flow_id
        flow_id = np.array(flow_id)
        known = np.array(self._flow_name_of, np.int64)
        flow_id[named] = known[_FIRST_FLOW_NAME - flow_id[named]]
        return flow_id


def _translated(ids: Any, known: list[int]) -> Any:
    """Return ids in this process's numbers; none stays none."""
    numbers = np.array([*known, NO_ID], np.int32)
    return np.broadcast_to(numbers[ids[0]], ids.shape) if is_alike(ids) else numbers[ids]


def send(part: Part, pipe: IO[bytes]) -> None:
    """Write a part's message."""
    message = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(message).to_bytes(8, "little") + message)
    pipe.flush()


def received(pipe: IO[bytes]) -> Part | None:
    """Wait for a part's message and return it, or ``None`` where the other end is gone.

    Only for a pipe from a process that this one started: a message is trusted.
    """
    head = pipe.read(8)
    if len(head) < 8:
        return None
    n_bytes = int.from_bytes(head, "little")
    message = pipe.read(n_bytes)
    if len(message) < n_bytes:
        return None
    part = pickle.loads(message)
    return part if isinstance(part, Part) else None
