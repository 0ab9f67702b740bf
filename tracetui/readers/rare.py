"""Events that are neither complete slices nor arrows, one by one: marks, moments, counters, names."""

from typing import Any, Final

import orjson

from tracetui.model.builder import (
    AsyncMark,
    BeginEnd,
    CounterRow,
    InstantRow,
    MemoryRow,
    TraceBuilder,
)
from tracetui.readers.decode import NO_MEMBERS, Arguments, Event
from tracetui.readers.interning import number
from tracetui.readers.labels import event_key, line_id
from tracetui.readers.pytorch import whole

_TIMED_PHASES: Final = "BEbneiIC"
_COUNTED_PHASES: Final = frozenset("RNDOPSTpFvVc(),=")
"""Legal phases that tracetui has no picture for."""


def take_rare(
    builder: TraceBuilder,
    event: Event,
    arguments: Arguments,
    ts_ns: int,
    event_id: int,
    raw: bytes | None,
) -> None:
    """Add one event.

    Args:
        builder: Takes it.
        event: As decoded.
        arguments: What of its arguments is read.
        ts_ns: When it was; of no meaning for what needs no time.
        event_id: Its number.
        raw: The event's text, where it is a counter.
    """
    phase = event.ph
    if phase == "M":
        _name(builder, event, arguments)
    elif not isinstance(phase, str) or not phase:
        if not _is_empty(event):
            builder.report.skipped["event without a phase"] += 1
    elif phase in "BE":
        builder.begin_ends.append(BeginEnd(phase == "B", _key(builder, event), ts_ns, event_id))
    elif phase in "be":
        key = _key(builder, event, is_async=True)
        builder.async_marks.append(AsyncMark(phase == "b", key, line_id(event.id), ts_ns, event_id))
    elif phase == "C" and raw is not None:
        _count(builder, event, ts_ns, raw)
    elif phase in _TIMED_PHASES:
        _note(builder, event, arguments, ts_ns, event_id)
    else:
        known = phase in _COUNTED_PHASES
        builder.report.other_phases[phase if known else f"unknown phase {phase[:8]}"] += 1


def needs_time(phase: object) -> bool:
    """Return whether an event of this phase is nothing without a time."""
    return isinstance(phase, str) and bool(phase) and phase in _TIMED_PHASES


def _key(builder: TraceBuilder, event: Event, *, is_async: bool = False) -> int:
    return builder.key(event_key(event.cat, event.name, event.pid, event.tid, is_async=is_async))


def _note(
    builder: TraceBuilder, event: Event, arguments: Arguments, ts_ns: int, event_id: int
) -> None:
    key = _key(builder, event)
    if event.name == "[memory]" and arguments.moved is not None:
        builder.memory.append(
            MemoryRow(
                key,
                ts_ns,
                whole(arguments.moved, 0),
                whole(arguments.allocated, -1),
                whole(arguments.reserved, -1),
                whole(arguments.device_type, 0),
                whole(arguments.device_index, -1),
                whole(arguments.address, 0),
            )
        )
    else:
        builder.instants.append(InstantRow(key, ts_ns, event_id))


def _count(builder: TraceBuilder, event: Event, ts_ns: int, raw: bytes) -> None:
    try:
        values: Any = orjson.loads(raw).get("args") or {}
    except orjson.JSONDecodeError:
        return
    for series, value in values.items() if isinstance(values, dict) else ():
        amount = number(value)
        if amount is not None:
            builder.counters.append(CounterRow(f"{event.name}: {series}", ts_ns, amount))


def _name(builder: TraceBuilder, event: Event, arguments: Arguments) -> None:
    names = builder.thread_names
    pid, tid = line_id(event.pid), line_id(event.tid)
    if event.name == "process_name" and arguments.name is not None:
        names.process_name[pid] = str(arguments.name)
    elif event.name == "process_labels" and arguments.labels is not None:
        names.process_labels[pid] = str(arguments.labels)
    elif event.name == "process_sort_index":
        names.process_sort[pid] = whole(arguments.sort_index, 0)
    elif event.name == "thread_name" and arguments.name is not None:
        names.thread_name[pid, tid] = str(arguments.name)
    elif event.name == "thread_sort_index":
        names.thread_sort[pid, tid] = whole(arguments.sort_index, 0)


def _is_empty(event: Event) -> bool:
    """Return whether the record was ``{}``, as some producers end their list."""
    return (
        event.name is None
        and event.cat is None
        and not event.ts
        and bytes(event.args) == bytes(NO_MEMBERS)
    )
