"""Events of one chunk into columns: the typed fast path."""

import math
import re
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import orjson

from tracetui.model.arrays import NO_ID, Int64s, Numbers, narrowed
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
from tracetui.readers.pytorch import occupancy_limits, whole

NO_NAME: Final = "(no name)"
_EMPTY: Final = msgspec.Raw(b"")
_SPACE: Final = re.compile(rb"\s+")
_FLOW_PHASES: Final = ("s", "f", "t")
_INT64_LIMIT: Final = 2**63
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
    limits: msgspec.Raw = msgspec.field(default=_EMPTY, name="occupancy")
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
    address: Any = msgspec.field(default=None, name="Addr")
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


Kept: TypeAlias = Callable[[Sequence[Event], Int64s], tuple[Sequence[Event], Int64s]]
"""Takes events with their numbers and returns those to keep, with theirs."""

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


def _integers(values: list[Any], default: int) -> Numbers:
    """Return numbers of any spelling as a column; ``default`` where one is none."""
    try:
        numbers = np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        numbers = np.fromiter(map(whole, values, repeat(default)), np.int64, len(values))
    return narrowed(numbers)


class Columns:
    """Feeds a builder with decoded events."""

    def __init__(self, builder: TraceBuilder, kept: Kept | None = None) -> None:
        """Begin with none.

        Args:
            builder: Takes the rows.
            kept: Chooses among the events; all are taken where it is ``None``.
        """
        self._builder = builder
        self._kept = kept
        self._key_of: dict[tuple[Any, ...], int] = {}
        self._inputs_of: dict[tuple[bytes, ...], tuple[int, int]] = {}
        self._geometry_of: dict[tuple[Any, ...], int] = {}

    def take(
        self, events: Sequence[Event], first_id: int, texts: Callable[[], Sequence[bytes]]
    ) -> None:
        """Add the events.

        Args:
            events: As decoded.
            first_id: The first one's number; the others count on from there.
            texts: Gives the text of each; called where there are counters among them.
        """
        event_id = np.arange(first_id, first_id + len(events))
        if self._kept is not None:
            events, event_id = self._kept(events, event_id)
        self._builder.report.n_events += len(events)
        phases = [event.ph for event in events]
        if phases.count("X") == len(events):
            self._take_complete(events, event_id)
            return
        complete = [event for event in events if event.ph == "X"]
        if complete:
            is_complete = np.fromiter((phase == "X" for phase in phases), bool, len(phases))
            self._take_complete(complete, event_id[is_complete])
        flows = [event for event in events if event.ph in _FLOW_PHASES]
        if flows:
            self._take_flows(flows)
        if len(complete) + len(flows) < len(events):
            seen = ("X", *_FLOW_PHASES)
            numbered = zip(events, event_id.tolist(), strict=True)
            others = [(event, number) for event, number in numbered if event.ph not in seen]
            self._take_others(others, first_id, texts() if "C" in phases else None)

    def _keys(self, events: Sequence[Event]) -> list[int]:
        try:
            keys = [
                self._key_of.get((event.cat, event.name, event.pid, event.tid)) for event in events
            ]
        except TypeError:  # a list or an object where a text belongs
            return [self._known_key(event) for event in events]
        return [
            self._known_key(event) if key is None else key
            for key, event in zip(keys, events, strict=True)
        ]

    def _known_key(self, event: Event) -> int:
        try:
            return self._key_of[event.cat, event.name, event.pid, event.tid]
        except (KeyError, TypeError):
            return self._key(event)

    def _key(self, event: Event, *, is_async: bool = False) -> int:
        name = event.name
        text = name if isinstance(name, str) and name else NO_NAME
        category = event.cat if isinstance(event.cat, str) else ""
        key = self._builder.key(
            EventKey(category, text, line_id(event.pid), line_id(event.tid), is_async)
        )
        if not is_async:
            try:
                self._key_of[event.cat, event.name, event.pid, event.tid] = key
            except TypeError:
                return key
        return key

    def _inputs(self, given: Arguments) -> tuple[int, int]:
        """Return the ids of an operator's shapes and of all that is said of its inputs."""
        dims = bytes(given.dims or given.old_dims)
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
            occupancy, given.blocks_per_sm, given.warps_per_sm, bytes(given.limits),
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
                    limits=occupancy_limits(label[-1]),
                )
            )
        return geometry_id

    def _take_complete(self, events: Sequence[Event], event_id: Int64s) -> None:
        n = len(events)
        ts_ns, without_start = nanosecond_column([event.ts for event in events])
        dur_ns, without_length = nanosecond_column([event.dur for event in events])
        flags = np.zeros(n, np.uint8)
        flags[without_length] = SliceFlag.NO_DURATION
        flags[dur_ns < 0] = SliceFlag.NEGATIVE_DURATION
        kept = np.ones(n, bool)
        kept[without_start] = False
        for row in without_start:
            self._skip_time(bytes(events[row].ts))
        given = [event.args or NO_ARGUMENTS for event in events]
        shape_id, signature_id, geometry_id = (np.full(n, NO_ID, np.int32) for _ in range(3))
        for row, each in enumerate(given):
            if each.dims or each.old_dims:
                shape_id[row], signature_id[row] = self._inputs(each)
            elif each.grid:
                geometry_id[row] = self._geometry(each)
        parents = [each.python_parent_id for each in given]
        columns: dict[str, Any] = {
            "correlation": _integers([each.correlation for each in given], 0),
            "external_id": _integers(
                [each.external_id or each.old_external_id for each in given], 0
            ),
            "n_bytes": _integers([each.n_bytes for each in given], -1),
            "python_id": _integers([each.python_id for each in given], -1),
            "python_parent_id": _integers([-1 if id is None else id for id in parents], -1),
            "sequence": _integers([each.sequence for each in given], -1),
            "key": np.array(self._keys(events), np.int32),
            "ts_ns": ts_ns,
            "dur_ns": np.maximum(dur_ns, 0),
            "event_id": event_id,
            "shape_id": shape_id,
            "signature_id": signature_id,
            "geometry_id": geometry_id,
            "flags": flags,
        }
        if without_start:
            columns = {name: column[kept] for name, column in columns.items()}
        self._builder.report.n_complete += len(columns["key"])
        self._builder.blocks.append(EventBlock(**columns))

    def _skip_time(self, text: bytes) -> None:
        missing = not text or text == b"null"
        reason = "event without a time stamp" if missing else "time stamp that is no number"
        self._builder.report.skipped[reason] += 1

    def _take_others(
        self, others: list[tuple[Event, int]], first_id: int, raw: Sequence[bytes] | None
    ) -> None:
        report = self._builder.report
        ts_ns, without = nanosecond_column([event.ts for event, _ in others])
        untimed = set(without)
        for row, (event, event_id) in enumerate(others):
            phase = event.ph
            if phase == "M":
                self._name(event)
            elif not isinstance(phase, str) or not phase:
                if not _is_empty(event):
                    report.skipped["event without a phase"] += 1
            elif phase in "BEbneiIC":
                if row in untimed:
                    self._skip_time(bytes(event.ts))
                else:
                    text = raw[event_id - first_id] if phase == "C" and raw is not None else None
                    self._take_timed(event, int(ts_ns[row]), event_id, text)
            else:
                known = phase in _COUNTED_PHASES
                report.other_phases[phase if known else f"unknown phase {phase[:8]}"] += 1

    def _take_timed(self, event: Event, at: int, event_id: int, raw: bytes | None) -> None:
        phase = event.ph
        if phase in "BE":
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

    def _take_flows(self, flows: Sequence[Event]) -> None:
        """Add the ends of arrows; what an arrow passes on its way is counted and not drawn."""
        ts_ns, without = nanosecond_column([event.ts for event in flows])
        kept = np.fromiter((event.ph != "t" for event in flows), bool, len(flows))
        for row in without:
            self._skip_time(bytes(flows[row].ts))
            kept[row] = False
        self._builder.report.n_flows += len(flows) - len(without)
        ids = [
            flow_id if type(flow_id) is int and 0 <= flow_id < _INT64_LIMIT else self._flow(flow_id)
            for flow_id in (event.id for event in flows)
        ]
        self._builder.flow_blocks.append(
            FlowBlock(
                np.array(self._keys(flows), np.int32)[kept],
                np.array(ids, np.int64)[kept],
                ts_ns[kept],
                np.fromiter((event.ph == "s" for event in flows), bool, len(flows))[kept],
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
                    whole(given.address, 0),
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
