"""Events of one chunk into columns: the typed fast path.

What is done for every event is done by functions of C over whole columns of a chunk; loops are for
what is rare.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, repeat
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np

from tracetui.model.arrays import NO_ID, Bools, Int64s, Numbers, compact, narrowed
from tracetui.model.builder import EventBlock, FlowBlock, TraceBuilder
from tracetui.model.slices import SliceFlag
from tracetui.readers.decode import LAYOUTS, Arguments, Event, Kept, arguments
from tracetui.readers.interning import Interner
from tracetui.readers.labels import Labels, Role, keys, layouts, roles
from tracetui.readers.numbers import nanosecond_column
from tracetui.readers.pytorch import whole
from tracetui.readers.rare import needs_time, take_rare

_DEFAULTS: Final = {
    "correlation": 0,
    "external_id": 0,
    "n_bytes": -1,
    "python_id": -1,
    "python_parent_id": -1,
    "sequence": -1,
    "shape_id": NO_ID,
    "signature_id": NO_ID,
    "geometry_id": NO_ID,
}
"""What a slice has whose arguments say nothing."""

_Given: TypeAlias = list[tuple[Int64s, dict[str, tuple[Any, ...]]]]
"""Rows among the slices and the fields of their arguments, for each layout."""


def _integers(values: Sequence[Any], default: int) -> Int64s:
    """Return numbers of any spelling as a column; ``default`` where one is none."""
    try:
        return np.fromiter(values, np.int64, len(values))
    except TypeError:  # most often a null, which is looked for only now: that costs as much again
        values = [default if value is None else value for value in values]
    except (ValueError, OverflowError):
        pass
    try:
        return np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(whole, values, repeat(default)), np.int64, len(values))


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
        self._labels = Labels(builder)
        self._interner = Interner(builder)

    def take(
        self, events: Sequence[Event], first_id: int, texts: Callable[[], Sequence[bytes]]
    ) -> None:
        """Add the events, or none of them.

        Args:
            events: As decoded.
            first_id: The first one's number; the others count on from there.
            texts: Gives the text of each; called where there are counters among them.

        Raises:
            msgspec.DecodeError: If the arguments of one are no object, or not JSON.
            UnicodeDecodeError: If a text in them is not UTF-8.
        """
        event_id = np.arange(first_id, first_id + len(events))
        if self._kept is not None:
            # Those that are left out are counted: nothing may fail from here on.
            arguments([event.args for event in events])
            events, event_id = self._kept(events, event_id)
        labels = self._labels.column(events)
        role = roles(labels)
        is_slice, is_other = role == Role.SLICE, role == Role.OTHER
        is_arrow = ~(is_slice | is_other)
        slices, others = _chosen(events, is_slice), _chosen(events, is_other)
        given = _given(layouts(labels[is_slice]), [event.args for event in slices])
        other_arguments = arguments([event.args for event in others])
        self._builder.report.n_events += len(events)
        if slices:
            self._take_slices(slices, keys(labels[is_slice]), event_id[is_slice], given)
        if is_arrow.any():
            self._take_arrows(_chosen(events, is_arrow), keys(labels[is_arrow]), role[is_arrow])
        if others:
            other_ids = event_id[is_other].tolist()
            has_counters = any(event.ph == "C" for event in others)
            raw = texts() if has_counters else None
            self._take_others(
                others,
                other_arguments,
                other_ids,
                None if raw is None else [raw[at - first_id] for at in other_ids],
            )

    def _take_slices(
        self, events: Sequence[Event], key: Int64s, event_id: Int64s, given: _Given
    ) -> None:
        n = len(events)
        ts_ns, without_start = nanosecond_column([event.ts for event in events])
        dur_ns, without_length = nanosecond_column([event.dur for event in events])
        flags = np.zeros(n, np.uint8)
        flags[without_length] = SliceFlag.NO_DURATION
        flags[dur_ns < 0] = SliceFlag.NEGATIVE_DURATION
        columns: dict[str, Any] = {
            "key": key.astype(np.int32),
            "ts_ns": ts_ns,
            "dur_ns": np.maximum(dur_ns, 0),
            "event_id": event_id,
            "flags": flags,
            **self._argument_columns(given, n),
        }
        if without_start:
            self._skip_times(events[row].ts for row in without_start)
            has_start = np.ones(n, bool)
            has_start[without_start] = False
            columns = {name: column[has_start] for name, column in columns.items()}
        for name in ("dur_ns", "event_id"):
            columns[name] = narrowed(columns[name])
        columns["flags"] = compact(columns["flags"])
        self._builder.report.n_complete += len(columns["key"])
        self._builder.blocks.append(EventBlock(**columns))

    def _argument_columns(self, given: _Given, n: int) -> dict[str, Numbers]:
        """Return the columns that arguments fill; what stands nowhere in them takes no room."""
        pieces: dict[str, list[tuple[Int64s, Any]]] = {name: [] for name in _DEFAULTS}
        for rows, fields in given:
            for name, column in self._numbers(fields).items():
                pieces[name].append((rows, column))
        columns: dict[str, Numbers] = {}
        for name, default in _DEFAULTS.items():
            if len(pieces[name]) == 1 and len(pieces[name][0][0]) == n:
                column = pieces[name][0][1]
            else:
                column = np.full(n if pieces[name] else 1, default, np.int64)
                for rows, values in pieces[name]:
                    column[rows] = values
            column = compact(narrowed(column))
            columns[name] = column if len(column) == n else np.broadcast_to(column[0], (n,))
        return columns

    def _numbers(self, fields: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        """Return what the arguments of one layout say, as columns."""
        external_id: Sequence[Any] = fields["external_id"]
        if any(fields["old_external_id"]):
            external_id = [
                new or old for new, old in zip(external_id, fields["old_external_id"], strict=True)
            ]
        numbers: dict[str, Any] = {"external_id": _integers(external_id, 0)}
        for name in ("correlation", "n_bytes", "python_id", "python_parent_id", "sequence"):
            if name in fields:
                numbers[name] = _integers(fields[name], _DEFAULTS[name])
        has_inputs = self._interner.inputs(fields) if "dims" in fields else None
        if has_inputs is not None:
            numbers["shape_id"], numbers["signature_id"] = has_inputs
        geometry_id = self._interner.geometries(fields) if "grid" in fields else None
        if geometry_id is not None:
            numbers["geometry_id"] = geometry_id
        return numbers

    def _skip_times(self, texts: Iterable[msgspec.Raw]) -> None:
        for text in map(bytes, texts):
            missing = not text or text == b"null"
            reason = "event without a time stamp" if missing else "time stamp that is no number"
            self._builder.report.skipped[reason] += 1

    def _take_arrows(self, events: Sequence[Event], key: Int64s, role: Int64s) -> None:
        """Add the ends of arrows; what an arrow passes on its way is counted and not drawn."""
        ts_ns, without = nanosecond_column([event.ts for event in events])
        is_end = role != Role.ARROW_STEP
        is_end[without] = False
        self._skip_times(events[row].ts for row in without)
        self._builder.report.n_flows += len(events) - len(without)
        self._builder.flow_blocks.append(
            FlowBlock(
                key[is_end].astype(np.int32),
                narrowed(self._arrow_ids([event.id for event in events])[is_end]),
                ts_ns[is_end],
                role[is_end] == Role.ARROW_START,
            )
        )

    def _arrow_ids(self, ids: Sequence[Any]) -> Int64s:
        try:
            numbers = np.fromiter(ids, np.int64, len(ids))
        except (TypeError, ValueError, OverflowError):
            numbers = np.full(len(ids), -1)
        for row in np.flatnonzero(numbers < 0).tolist():
            number = whole(ids[row], -1)
            numbers[row] = number if number >= 0 else self._builder.flow_name(str(ids[row]))
        return numbers

    def _take_others(
        self,
        events: Sequence[Event],
        given: Sequence[Arguments],
        event_ids: Sequence[int],
        raw: Sequence[bytes] | None,
    ) -> None:
        ts_ns, without = nanosecond_column([event.ts for event in events])
        untimed = set(without)
        for row, (event, event_id, at_ns) in enumerate(
            zip(events, event_ids, ts_ns.tolist(), strict=True)
        ):
            if row in untimed and needs_time(event.ph):
                self._skip_times((event.ts,))
            else:
                text = None if raw is None else raw[row]
                take_rare(self._builder, event, given[row], at_ns, event_id, text)


def _chosen(values: Sequence[Any], chosen: Bools) -> Sequence[Any]:
    """Return the values of some rows."""
    return values if chosen.all() else list(compress(values, chosen.tolist()))


def _given(layout: Int64s, args: Sequence[msgspec.Raw]) -> _Given:
    """Return the fields of the slices' arguments, read layout by layout."""
    return [
        (np.flatnonzero(layout == number), LAYOUTS[number].columns(_chosen(args, layout == number)))
        for number in np.unique(layout).tolist()
    ]
