"""Events of one chunk into columns: the typed fast path."""

import math
import re
from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final

import msgspec
import numpy as np
import orjson

from tracetui.model.builder import (
    AsyncMark,
    BeginEnd,
    CounterRow,
    EventBlock,
    EventKey,
    FlowBlock,
    InstantRow,
    MemoryRow,
    TraceBuilder,
)
from tracetui.model.device import Geometry
from tracetui.model.slices import SliceFlag
from tracetui.readers.numbers import nanosecond_column
from tracetui.readers.pytorch import whole

NO_NAME: Final = "(no name)"
_EMPTY: Final = msgspec.Raw(b"")
_SPACE: Final = re.compile(rb"\s+")
_COUNTED_PHASES: Final = frozenset("RNDOPSTpFvVc(),=")
"""Legal phases that tracetui has no picture for."""


class Arguments(msgspec.Struct, gc=False):
    """The few arguments that become columns; all others stay in the file."""

    correlation: Any = 0
    external_id: Any = msgspec.field(default=0, name="External id")
    dims: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input Dims")
    types: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input type")
    values: msgspec.Raw = msgspec.field(default=_EMPTY, name="Concrete Inputs")
    strides: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input Strides")
    sequence: Any = msgspec.field(default=-1, name="Sequence number")
    n_bytes: Any = msgspec.field(default=-1, name="bytes")
    registers: Any = msgspec.field(default=None, name="registers per thread")
    shared_bytes: Any = msgspec.field(default=None, name="shared memory")
    blocks_per_sm: Any = msgspec.field(default=None, name="blocks per SM")
    warps_per_sm: Any = msgspec.field(default=None, name="warps per SM")
    grid: msgspec.Raw = _EMPTY
    block: msgspec.Raw = _EMPTY
    occupancy: Any = msgspec.field(default=None, name="est. achieved occupancy %")
    python_id: Any = msgspec.field(default=-1, name="Python id")
    python_parent_id: Any = msgspec.field(default=-1, name="Python parent id")
    old_external_id: Any = msgspec.field(default=0, name="external id")
    old_dims: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input dims")
    old_occupancy: Any = msgspec.field(default=None, name="theoretical occupancy %")
    moved: Any = msgspec.field(default=None, name="Bytes")
    allocated: Any = msgspec.field(default=None, name="Total Allocated")
    reserved: Any = msgspec.field(default=None, name="Total Reserved")
    device_type: Any = msgspec.field(default=None, name="Device Type")
    device_index: Any = msgspec.field(default=None, name="Device Id")
    name: Any = None
    labels: Any = None
    sort_index: Any = None


class Event(msgspec.Struct, gc=False):
    """One record of the trace-event format."""

    ph: Any = None
    cat: Any = None
    name: Any = None
    pid: Any = None
    tid: Any = None
    ts: msgspec.Raw = _EMPTY
    dur: msgspec.Raw = _EMPTY
    id: Any = None
    args: Arguments | None = None


EVENTS: Final = msgspec.json.Decoder(list[Event])
RAW_EVENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
NO_ARGUMENTS: Final = Arguments()


def line_id(value: object) -> str:
    """Return a process or thread id as text; 4100, 4100.0 and "4100" are one."""
    if type(value) is str:
        return value.strip()
    if type(value) is int:
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _ratio(value: object) -> float | None:
    percent = _number(value)
    return None if percent is None else percent / 100


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type] # any spelling
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _extent(raw: bytes) -> tuple[int, ...] | None:
    if not raw:
        return None
    try:
        values = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return tuple(whole(v, -1) for v in values) if isinstance(values, list) else None


class Columns:
    """Feeds a builder with decoded events."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._key_of: dict[tuple[Any, ...], tuple[int, str]] = {}
        self._inputs_of: dict[tuple[bytes, ...], tuple[int, int]] = {}
        self._geometry_of: dict[tuple[Any, ...], int] = {}

    def take(self, events: Sequence[Event], first_id: int, raw: Sequence[bytes] | None) -> None:
        """Add the events; ``raw`` gives the text of each, for the counters among them."""
        rows: list[tuple[Any, ...]] = []
        starts: list[bytes] = []
        lengths: list[bytes] = []
        others: list[tuple[Event, int]] = []
        key_of, default = self._key_of, NO_ARGUMENTS
        for event_id, event in enumerate(events, first_id):
            if event.ph != "X":
                others.append((event, event_id))
                continue
            label = (event.cat, event.name, event.pid, event.tid)
            try:
                key = key_of[label][0]
            except (KeyError, TypeError):
                key = self._key(event)
            given = event.args or default
            starts.append(bytes(event.ts))
            lengths.append(bytes(event.dur))
            parent = given.python_parent_id
            dims = given.dims or given.old_dims
            rows.append(
                (
                    key,
                    event_id,
                    given.correlation,
                    given.external_id or given.old_external_id,
                    *(self._inputs(bytes(dims), given) if dims else (-1, -1)),
                    self._geometry(given) if given.grid else -1,
                    given.n_bytes,
                    given.python_id,
                    -1 if parent is None else parent,
                    given.sequence,
                )
            )
        self._builder.report.n_events += len(events)
        if rows:
            self._add_block(rows, starts, lengths)
        if others:
            self._take_others(others, first_id, raw)

    def _key(self, event: Event, *, is_async: bool = False) -> int:
        name = event.name
        text = name if isinstance(name, str) and name else NO_NAME
        category = event.cat if isinstance(event.cat, str) else ""
        key = self._builder.key(
            EventKey(category, text, line_id(event.pid), line_id(event.tid), is_async)
        )
        if not is_async:
            try:
                self._key_of[event.cat, event.name, event.pid, event.tid] = (key, text)
            except TypeError:
                return key
        return key

    def _inputs(self, dims: bytes, given: Arguments) -> tuple[int, int]:
        """Return the ids of an operator's shapes and of all that is said of its inputs."""
        label = (dims, bytes(given.types), bytes(given.values), bytes(given.strides))
        ids = self._inputs_of.get(label)
        if ids is None:
            text = _SPACE.sub(b"", dims).decode("utf-8", "replace")
            ids = self._inputs_of[label] = (self._builder.shape(text), self._signature(label))
        return ids

    def _signature(self, label: tuple[bytes, ...]) -> int:
        try:
            parts = [orjson.loads(part) if part else None for part in label]
            return self._builder.signature(orjson.dumps(parts).decode())
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return -1

    def _geometry(self, given: Arguments) -> int:
        occupancy = given.old_occupancy if given.occupancy is None else given.occupancy
        label = (
            bytes(given.grid), bytes(given.block), given.registers, given.shared_bytes,
            occupancy, given.blocks_per_sm, given.warps_per_sm,
        )  # fmt: skip
        geometry_id = self._geometry_of.get(label)
        if geometry_id is None:
            geometry_id = self._geometry_of[label] = self._builder.geometry(
                Geometry(
                    grid=_extent(label[0]),
                    block=_extent(label[1]),
                    registers=None if given.registers is None else whole(given.registers, 0),
                    shared_bytes=None
                    if given.shared_bytes is None
                    else whole(given.shared_bytes, 0),
                    occupancy_ratio=_ratio(occupancy),
                    blocks_per_sm=_number(given.blocks_per_sm),
                    warps_per_sm=_number(given.warps_per_sm),
                )
            )
        return geometry_id

    def _add_block(
        self, rows: list[tuple[Any, ...]], starts: list[bytes], lengths: list[bytes]
    ) -> None:
        ts_ns, without_start = nanosecond_column(starts)
        dur_ns, without_length = nanosecond_column(lengths)
        flags = np.zeros(len(rows), np.uint8)
        flags[without_length] = SliceFlag.NO_DURATION
        flags[dur_ns < 0] = SliceFlag.NEGATIVE_DURATION
        columns = [list(column) for column in zip(*rows, strict=True)]
        kept = np.ones(len(rows), bool)
        kept[without_start] = False
        for row in without_start:
            self._skip_time(starts[row])

        def integers(index: int, default: int, dtype: type[Any] = np.int64) -> Any:
            try:
                column = np.array(columns[index], dtype)
            except (TypeError, ValueError, OverflowError):
                column = np.fromiter(
                    map(whole, columns[index], repeat(default)), np.int64, len(rows)
                ).astype(dtype)
            return column[kept]

        self._builder.report.n_complete += int(kept.sum())
        self._builder.blocks.append(
            EventBlock(
                key=integers(0, 0, np.int32),
                ts_ns=ts_ns[kept],
                dur_ns=np.maximum(dur_ns, 0)[kept],
                event_id=integers(1, 0),
                correlation=integers(2, 0),
                external_id=integers(3, 0),
                shape_id=integers(4, -1, np.int32),
                signature_id=integers(5, -1, np.int32),
                geometry_id=integers(6, -1, np.int32),
                n_bytes=integers(7, -1),
                python_id=integers(8, -1),
                python_parent_id=integers(9, -1),
                sequence=integers(10, -1),
                flags=flags[kept],
            )
        )

    def _skip_time(self, text: bytes) -> None:
        missing = not text or text == b"null"
        reason = "event without a time stamp" if missing else "time stamp that is no number"
        self._builder.report.skipped[reason] += 1

    def _take_others(
        self, others: list[tuple[Event, int]], first_id: int, raw: Sequence[bytes] | None
    ) -> None:
        report = self._builder.report
        ts_ns, without = nanosecond_column([bytes(event.ts) for event, _ in others])
        untimed = set(without)
        flows: list[tuple[int, int, int, str]] = []
        for row, (event, event_id) in enumerate(others):
            phase = event.ph
            if phase == "M":
                self._name(event)
            elif not isinstance(phase, str) or not phase:
                if not _is_empty(event):
                    report.skipped["event without a phase"] += 1
            elif phase in "sftBEbneiIC":
                if row in untimed:
                    self._skip_time(bytes(event.ts))
                else:
                    text = raw[event_id - first_id] if phase == "C" and raw is not None else None
                    self._take_timed(event, int(ts_ns[row]), event_id, text, flows)
            else:
                known = phase in _COUNTED_PHASES
                report.other_phases[phase if known else f"unknown phase {phase[:8]}"] += 1
        self._add_flows([flow for flow in flows if flow[3] != "t"])

    def _take_timed(
        self,
        event: Event,
        at: int,
        event_id: int,
        raw: bytes | None,
        flows: list[tuple[int, int, int, str]],
    ) -> None:
        phase = event.ph
        if phase in "sft":
            self._builder.report.n_flows += 1
            flows.append((self._key(event), self._flow(event.id), at, phase))
        elif phase in "BE":
            self._builder.begin_ends.append(BeginEnd(phase == "B", self._key(event), at, event_id))
        elif phase in "be":
            key = self._key(event, is_async=True)
            self._builder.async_marks.append(
                AsyncMark(phase == "b", key, line_id(event.id), at, event_id)
            )
        elif phase == "C" and raw is not None:
            self._counter(event, at, raw)
        else:
            self._instant(event, at, event_id)

    def _add_flows(self, flows: list[tuple[int, int, int, str]]) -> None:
        if flows:
            keys, ids, times, phases = zip(*flows, strict=True)
            self._builder.flow_blocks.append(
                FlowBlock(
                    np.array(keys, np.int32),
                    np.array(ids, np.int64),
                    np.array(times, np.int64),
                    np.array([phase == "s" for phase in phases], bool),
                )
            )

    def _flow(self, flow_id: object) -> int:
        number = whole(flow_id, -1)
        if number >= 0:
            return number
        return self._builder.flow_name(str(flow_id))

    def _instant(self, event: Event, ts_ns: int, event_id: int) -> None:
        key = self._key(event)
        given = event.args or NO_ARGUMENTS
        if event.name == "[memory]" and given.moved is not None:
            self._builder.memory.append(
                MemoryRow(
                    key,
                    ts_ns,
                    whole(given.moved, 0),
                    whole(given.allocated, -1),
                    whole(given.reserved, -1),
                    whole(given.device_type, 0),
                    whole(given.device_index, -1),
                )
            )
        else:
            self._builder.instants.append(InstantRow(key, ts_ns, event_id))

    def _counter(self, event: Event, ts_ns: int, raw: bytes) -> None:
        try:
            values = orjson.loads(raw).get("args") or {}
        except orjson.JSONDecodeError:
            return
        for series, value in values.items() if isinstance(values, dict) else ():
            number = _number(value)
            if number is not None:
                self._builder.counters.append(CounterRow(f"{event.name}: {series}", ts_ns, number))

    def _name(self, event: Event) -> None:
        given, names = event.args or NO_ARGUMENTS, self._builder.thread_names
        pid, tid = line_id(event.pid), line_id(event.tid)
        if event.name == "process_name" and given.name is not None:
            names.process_name[pid] = str(given.name)
        elif event.name == "process_labels" and given.labels is not None:
            names.process_labels[pid] = str(given.labels)
        elif event.name == "process_sort_index":
            names.process_sort[pid] = whole(given.sort_index, 0)
        elif event.name == "thread_name" and given.name is not None:
            names.thread_name[pid, tid] = str(given.name)
        elif event.name == "thread_sort_index":
            names.thread_sort[pid, tid] = whole(given.sort_index, 0)


def _is_empty(event: Event) -> bool:
    """Return whether the record was ``{}``, as some producers end their list."""
    return event.name is None and event.cat is None and not event.ts and event.args is None
