"""From decoded events to the builder's columns, a chunk at a time."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from tracetui.model.arrays import Int32s, Int64s
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
from tracetui.readers.pytorch import whole_number
from tracetui.readers.times import MISSING_NS, times_ns

NO_NAME: Final = "(no name)"
NO_TIME: Final = "no time stamp"
NO_PHASE: Final = "no phase"
_EMPTY: Final = msgspec.Raw(b"")
_NULL: Final = b"null"
_MEMORY_NAME: Final = "[memory]"
_INT64: Final = 1 << 63
_FIRST_TEXT_ID: Final = 1 << 60
_ESCAPED: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_BROKEN_PATH: Final = re.compile(r"(?:^|[^A-Za-z])[A-Za-z]:[\t\n\r\b\f]|^[A-Za-z]:\\.*[\t\n\r\b\f]")


class Arguments(msgspec.Struct, gc=False):
    """The arguments that become columns; types are open because producers differ."""

    correlation: Any = 0
    external_id: Any = msgspec.field(default=0, name="External id")
    old_external_id: Any = msgspec.field(default=0, name="external id")
    shape: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input Dims")
    old_shape: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input dims")
    n_bytes: Any = msgspec.field(default=-1, name="bytes")
    grid: msgspec.Raw = _EMPTY
    block: msgspec.Raw = _EMPTY
    registers: Any = msgspec.field(default=None, name="registers per thread")
    shared_bytes: Any = msgspec.field(default=None, name="shared memory")
    occupancy: Any = msgspec.field(default=None, name="est. achieved occupancy %")
    old_occupancy: Any = msgspec.field(default=None, name="theoretical occupancy %")
    blocks_per_sm: Any = msgspec.field(default=None, name="blocks per SM")
    warps_per_sm: Any = msgspec.field(default=None, name="warps per SM")
    python_id: Any = msgspec.field(default=-1, name="Python id")
    python_parent_id: Any = msgspec.field(default=-1, name="Python parent id")
    sequence: Any = msgspec.field(default=-1, name="Sequence number")
    memory_bytes: Any = msgspec.field(default=0, name="Bytes")
    total_allocated: Any = msgspec.field(default=-1, name="Total Allocated")
    total_reserved: Any = msgspec.field(default=-1, name="Total Reserved")
    device_type: Any = msgspec.field(default=0, name="Device Type")
    device_index: Any = msgspec.field(default=-1, name="Device Id")
    name: Any = None
    labels: Any = None
    sort_index: Any = None


class Event(msgspec.Struct, gc=False):
    """One event as the fast path decodes it."""

    ph: Any = None
    cat: Any = None
    name: Any = None
    pid: Any = None
    tid: Any = None
    ts: msgspec.Raw = _EMPTY
    dur: msgspec.Raw = _EMPTY
    id: Any = None
    args: Arguments | None = None


class _LooseEvent(msgspec.Struct):
    ph: Any = None
    cat: Any = None
    name: Any = None
    pid: Any = None
    tid: Any = None
    ts: msgspec.Raw = _EMPTY
    dur: msgspec.Raw = _EMPTY
    id: Any = None


_NO_ARGUMENTS: Final = Arguments()
_event: Final = msgspec.json.Decoder(Event)
_loose_event: Final = msgspec.json.Decoder(_LooseEvent)
_any: Final = msgspec.json.Decoder()


def decode_event(text: bytes) -> Event | None:
    """Return one event even where its arguments are no object; ``None`` where it is no event."""
    try:
        return _event.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        loose = _loose_event.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return Event(
        loose.ph, loose.cat, loose.name, loose.pid, loose.tid, loose.ts, loose.dur, loose.id
    )


class _Keys(dict[tuple[Any, ...], int]):
    """The builder's key of each (category, name, process, thread) as they stand in the file."""

    def __init__(self, builder: TraceBuilder, *, is_async: bool = False) -> None:
        super().__init__()
        self._builder = builder
        self._is_async = is_async
        self.broken_paths: set[int] = set()

    def __missing__(self, values: tuple[Any, ...]) -> int:
        category, name, pid, tid = values
        text = NO_NAME if name is None else str(name)
        is_broken = _BROKEN_PATH.search(text) is not None
        if is_broken:
            text = "".join(_ESCAPED.get(character, character) for character in text)
        key = self._builder.key(
            EventKey(_text(category), text, _text(pid), _text(tid), self._is_async)
        )
        if is_broken:
            self.broken_paths.add(key)
        self[values] = key
        return key

    def of(self, event: Event) -> int:
        """Return the key of one event."""
        try:
            return self[event.cat, event.name, event.pid, event.tid]
        except TypeError:
            return self[tuple(map(_text, (event.cat, event.name, event.pid, event.tid)))]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


class Columns:
    """Adds chunks of events to a builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._keys = _Keys(builder)
        self._async_keys = _Keys(builder, is_async=True)
        self._shapes: dict[bytes, int] = {}
        self._compact_shapes: dict[str, int] = {}
        self._geometries: dict[tuple[Any, ...], int] = {}
        self._text_ids: dict[str, int] = {}

    def add(
        self, events: Sequence[Event], first_id: int, raw_of: Callable[[int], bytes | None]
    ) -> None:
        """Add the events of one chunk; ``raw_of`` gives one event's own text by its position."""
        complete = [event for event in events if event.ph == "X"]
        if len(complete) == len(events):
            self._add_complete(complete, np.arange(first_id, first_id + len(events)))
            return
        places = [place for place, event in enumerate(events) if event.ph == "X"]
        self._add_complete(complete, np.array(places, np.int64) + first_id)
        rest = [(place, event) for place, event in enumerate(events) if event.ph != "X"]
        self._add_flows([event for _, event in rest if event.ph in ("s", "f")])
        for place, event in rest:
            if event.ph not in ("s", "f"):
                self._add_other(event, first_id + place, place, raw_of)

    def _add_complete(self, events: list[Event], event_id: Int64s) -> None:
        report = self._builder.report
        ts_ns = times_ns([event.ts for event in events])
        known = ts_ns != MISSING_NS
        if not known.all():
            report.skipped[NO_TIME] += int(np.count_nonzero(~known))
            events = [event for event, is_known in zip(events, known, strict=True) if is_known]
            ts_ns, event_id = ts_ns[known], event_id[known]
        if not events:
            return
        durations = [event.dur for event in events]
        dur_ns = times_ns(durations)
        flags = np.zeros(len(events), np.uint8)
        flags[dur_ns == MISSING_NS] = SliceFlag.NO_DURATION
        flags[(dur_ns < 0) & (dur_ns != MISSING_NS)] = SliceFlag.NEGATIVE_DURATION
        key = self._keys_of(events)
        arguments = [event.args or _NO_ARGUMENTS for event in events]
        external_id = _whole([item.external_id for item in arguments], 0)
        if not external_id.any():
            external_id = _whole([item.old_external_id for item in arguments], 0)
        self._builder.blocks.append(
            EventBlock(
                key=key,
                ts_ns=ts_ns,
                dur_ns=np.maximum(dur_ns, 0),
                event_id=event_id,
                correlation=_whole([item.correlation for item in arguments], 0),
                external_id=external_id,
                shape_id=self._shape_ids(arguments),
                geometry_id=self._geometry_ids(arguments),
                n_bytes=_whole([item.n_bytes for item in arguments], -1),
                python_id=_whole([item.python_id for item in arguments], -1),
                python_parent_id=_whole([item.python_parent_id for item in arguments], -1),
                sequence=_whole([item.sequence for item in arguments], -1),
                flags=flags,
            )
        )
        report.n_complete += len(events)

    def _keys_of(self, events: list[Event]) -> Int32s:
        keys = self._keys
        try:
            found = [keys[event.cat, event.name, event.pid, event.tid] for event in events]
        except TypeError:
            found = [keys.of(event) for event in events]
        key = np.array(found, np.int32)
        if keys.broken_paths:
            n_broken = int(np.count_nonzero(np.isin(key, list(keys.broken_paths))))
            if n_broken:
                self._builder.report.repaired["single backslashes in a string"] += n_broken
        return key

    def _shape_ids(self, arguments: list[Arguments]) -> Int32s:
        ids = np.full(len(arguments), -1, np.int32)
        for place, item in enumerate(arguments):
            raw = item.shape if item.shape is not _EMPTY else item.old_shape
            if raw is _EMPTY:
                continue
            text = bytes(raw)
            shape_id = self._shapes.get(text)
            if shape_id is None:
                compact = msgspec.json.format(text, indent=-1).decode("utf-8", "replace")
                shape_id = self._compact_shapes.get(compact)
                if shape_id is None:
                    shape_id = self._compact_shapes[compact] = len(self._builder.shapes)
                    self._builder.shapes.append(compact)
                self._shapes[text] = shape_id
            ids[place] = shape_id
        return ids

    def _geometry_ids(self, arguments: list[Arguments]) -> Int32s:
        ids = np.full(len(arguments), -1, np.int32)
        for place, item in enumerate(arguments):
            if item.grid is _EMPTY and item.block is _EMPTY:
                continue
            raw = (
                bytes(item.grid),
                bytes(item.block),
                _scalar(item.registers),
                _scalar(item.shared_bytes),
                _scalar(item.old_occupancy if item.occupancy is None else item.occupancy),
                _scalar(item.blocks_per_sm),
                _scalar(item.warps_per_sm),
            )
            geometry_id = self._geometries.get(raw)
            if geometry_id is None:
                geometry_id = self._geometries[raw] = len(self._builder.geometries)
                self._builder.geometries.append(_geometry(raw))
            ids[place] = geometry_id
        return ids

    def _add_flows(self, events: list[Event]) -> None:
        if not events:
            return
        report = self._builder.report
        ts_ns = times_ns([event.ts for event in events])
        known = ts_ns != MISSING_NS
        if not known.all():
            report.skipped[NO_TIME] += int(np.count_nonzero(~known))
            events = [event for event, is_known in zip(events, known, strict=True) if is_known]
            ts_ns = ts_ns[known]
        report.n_flows += len(events)
        self._builder.flow_blocks.append(
            FlowBlock(
                key=np.array([self._keys.of(event) for event in events], np.int32),
                flow_id=np.array([self._flow_id(event.id) for event in events], np.int64),
                ts_ns=ts_ns,
                is_start=np.array([event.ph == "s" for event in events], bool),
            )
        )

    def _flow_id(self, value: Any) -> int:
        if type(value) is int and -_FIRST_TEXT_ID < value < _FIRST_TEXT_ID:
            return value
        text = str(value)
        if text.isascii() and text.isdigit() and len(text) <= 17:
            return int(text)
        return _FIRST_TEXT_ID + self._text_ids.setdefault(text, len(self._text_ids))

    def _add_other(
        self, event: Event, event_id: int, place: int, raw_of: Callable[[int], bytes | None]
    ) -> None:
        builder = self._builder
        phase = event.ph
        if not isinstance(phase, str) or not phase:
            builder.report.skipped[NO_PHASE] += 1
            return
        if phase == "M":
            self._add_metadata(event)
            return
        if phase not in "BEbneiICt" or len(phase) > 1:
            builder.report.other_phases[phase] += 1
            return
        ts_ns = int(times_ns([event.ts])[0])
        if ts_ns == MISSING_NS:
            builder.report.skipped[NO_TIME] += 1
            return
        if phase in "BE":
            is_begin = phase == "B"
            # An end may go without a name, which is not the same as a wrong one.
            key = self._keys.of(event)
            builder.begin_ends.append(BeginEnd(is_begin, key, ts_ns, event_id))
        elif phase in "be":
            key = self._async_keys.of(event)
            builder.async_marks.append(
                AsyncMark(phase == "b", key, _text(event.id), ts_ns, event_id)
            )
        elif phase == "C":
            self._add_counter(event, ts_ns, raw_of(place))
        elif phase == "t":
            builder.report.n_flows += 1
        elif event.name == _MEMORY_NAME and event.args is not None:
            self._add_memory(event, event.args, ts_ns)
        else:
            builder.instants.append(InstantRow(self._keys.of(event), ts_ns, event_id))

    def _add_memory(self, event: Event, values: Arguments, ts_ns: int) -> None:
        self._builder.memory.append(
            MemoryRow(
                self._keys.of(event),
                ts_ns,
                _number(values.memory_bytes, 0),
                _number(values.total_allocated, -1),
                _number(values.total_reserved, -1),
                _small(_number(values.device_type, 0)),
                _small(_number(values.device_index, -1)),
            )
        )

    def _add_counter(self, event: Event, ts_ns: int, raw: bytes | None) -> None:
        values = _any.decode(raw).get("args") if raw else None
        if not isinstance(values, dict):
            return
        name = NO_NAME if event.name is None else str(event.name)
        for series, value in values.items():
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                continue
            if np.isfinite(number):
                self._builder.counters.append(CounterRow(f"{name}: {series}", ts_ns, number))

    def _add_metadata(self, event: Event) -> None:
        names, values = self._builder.thread_names, event.args
        if values is None:
            return
        pid, tid = _text(event.pid), _text(event.tid)
        if event.name == "process_name":
            names.process_name[pid] = _text(values.name)
        elif event.name == "process_labels":
            names.process_labels[pid] = _text(values.labels)
        elif event.name == "thread_name":
            names.thread_name[pid, tid] = _text(values.name)
        elif event.name == "process_sort_index":
            names.process_sort[pid] = _number(values.sort_index, 0)
        elif event.name == "thread_sort_index":
            names.thread_sort[pid, tid] = _number(values.sort_index, 0)


def _number(value: Any, default: int) -> int:
    number = whole_number(value)
    return default if number is None or not -_INT64 <= number < _INT64 else number


def _small(value: int) -> int:
    return value if -(1 << 31) <= value < 1 << 31 else -1


def _whole(values: list[Any], default: int) -> Int64s:
    """Return a column of whole numbers; what is none becomes ``default``."""
    try:
        column = np.array(values)
    except (ValueError, OverflowError):
        column = np.empty(0, object)
    if column.dtype == np.int64 and column.ndim == 1:
        return column
    return np.array([_number(value, default) for value in values], np.int64)


def _scalar(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else None


def _side(raw: bytes) -> tuple[int, ...] | None:
    if not raw:
        return None
    values = _any.decode(raw)
    if not isinstance(values, list):
        return None
    numbers = [whole_number(value) for value in values]
    return None if None in numbers else tuple(number for number in numbers if number is not None)


def _real(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def _geometry(raw: tuple[Any, ...]) -> Geometry:
    grid, block, registers, shared, occupancy, blocks, warps = raw
    percent = _real(occupancy)
    return Geometry(
        grid=_side(grid),
        block=_side(block),
        registers=whole_number(registers),
        shared_bytes=whole_number(shared),
        occupancy_ratio=None if percent is None else percent / 100,
        blocks_per_sm=_real(blocks),
        warps_per_sm=_real(warps),
    )
