"""Rows in, checked and sorted trace out: the one place that knows sorting and nesting."""

from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from tracetui.model.arrays import (
    NO_ID,
    Int32s,
    Int64s,
    Numbers,
    UInt8s,
    frozen,
)
from tracetui.model.categories import kind_of_category, number_in, track_of_kind
from tracetui.model.counters import CounterTable, InstantTable, MemoryTable
from tracetui.model.details import ArgumentSource, NoArguments
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.flows import FlowTable
from tracetui.model.load_report import LoadReport
from tracetui.model.slices import SliceFlag, SliceKind, SliceTable
from tracetui.model.sorting import BlockColumns, KeyColumns, nested, sorted_slices
from tracetui.model.strings import StringTable, clean_text
from tracetui.model.trace import Origin, Trace
from tracetui.model.tracks import Track, TrackKind


class EventKey(NamedTuple):
    """What many events share; a block's ``key`` column points into the builder's list of these."""

    category: str
    name: str
    pid: str
    tid: str
    is_async: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class EventBlock:
    """Complete events of one chunk, in columns of one length, in file order.

    Times are nanoseconds as the file counts them (``ts`` times 1000, without the base time).
    """

    key: Int32s
    ts_ns: Int64s
    dur_ns: Numbers
    event_id: Numbers
    correlation: Numbers
    external_id: Numbers
    shape_id: Int32s
    signature_id: Int32s
    geometry_id: Int32s
    n_bytes: Numbers
    python_id: Numbers
    python_parent_id: Numbers
    sequence: Numbers
    flags: UInt8s


@dataclass(frozen=True, slots=True, eq=False)
class FlowBlock:
    """Starts and finishes of arrows, in columns of one length."""

    key: Int32s
    """Into the builder's keys; only category, process and thread matter."""
    flow_id: Numbers
    ts_ns: Int64s
    is_start: np.ndarray[Any, np.dtype[np.bool_]]


class BeginEnd(NamedTuple):
    """A begin or an end."""

    is_begin: bool
    key: int
    ts_ns: int
    event_id: int


class AsyncMark(NamedTuple):
    """A begin or an end of an asynchronous slice."""

    is_begin: bool
    key: int
    async_id: str
    ts_ns: int
    event_id: int


class MemoryRow(NamedTuple):
    """One allocator record."""

    key: int
    ts_ns: int
    n_bytes: int
    total_allocated: int
    total_reserved: int
    device_type: int
    device_index: int
    address: int


class CounterRow(NamedTuple):
    """One sample of one series."""

    series: str
    ts_ns: int
    value: float


class InstantRow(NamedTuple):
    """One named moment."""

    key: int
    ts_ns: int
    event_id: int


@dataclass(slots=True, eq=False)
class ThreadNames:
    """What metadata events say of processes and threads; the last word wins."""

    process_name: dict[str, str] = field(default_factory=dict)
    process_labels: dict[str, str] = field(default_factory=dict)
    process_sort: dict[str, int] = field(default_factory=dict)
    thread_name: dict[tuple[str, str], str] = field(default_factory=dict)
    thread_sort: dict[tuple[str, str], int] = field(default_factory=dict)


_SLICE_COLUMNS = tuple(column.name for column in fields(EventBlock))


def event_block(rows: Sequence[dict[str, int]]) -> EventBlock:
    """Return a block from rows of column names to numbers; a missing column is "none"."""
    default = {
        "correlation": 0,
        "external_id": 0,
        "flags": 0,
    }
    types = {
        "key": np.int32,
        "shape_id": np.int32,
        "signature_id": np.int32,
        "geometry_id": np.int32,
        "flags": np.uint8,
    }
    return EventBlock(
        **{
            name: np.array(
                [row.get(name, default.get(name, -1)) for row in rows], types.get(name, np.int64)
            )
            for name in _SLICE_COLUMNS
        }
    )


class TraceBuilder:
    """Collects rows in any order; ``build`` may be called again and again while a file loads.

    Every list is public: a reader appends to it and never takes away.
    """

    def __init__(self) -> None:
        self.keys: list[EventKey] = []
        self.blocks: list[EventBlock] = []
        self.flow_blocks: list[FlowBlock] = []
        self.begin_ends: list[BeginEnd] = []
        self.async_marks: list[AsyncMark] = []
        self.instants: list[InstantRow] = []
        self.memory: list[MemoryRow] = []
        self.counters: list[CounterRow] = []
        self.shapes: list[str] = []
        self.signatures: list[str] = []
        self.geometries: list[Geometry] = []
        self.flow_names: list[str] = []
        self.thread_names = ThreadNames()
        self.devices: tuple[DeviceSpec, ...] = ()
        self.metadata: dict[str, Any] = {}
        self.base_ns = 0
        self.report = LoadReport()
        self.details: ArgumentSource = NoArguments()
        self._key_ids: dict[EventKey, int] = {}
        self._shape_ids: dict[str, int] = {}
        self._signature_ids: dict[str, int] = {}
        self._geometry_ids: dict[Geometry, int] = {}
        self._flow_ids: dict[str, int] = {}

    def key(self, key: EventKey) -> int:
        """Return the number of ``key``, giving it one if it is new."""
        key_id = self._key_ids.get(key)
        if key_id is None:
            key_id = self._key_ids[key] = len(self.keys)
            self.keys.append(key)
        return key_id

    def shape(self, text: str) -> int:
        """Return the number of a call's input shapes, giving it one if they are new."""
        shape_id = self._shape_ids.get(text)
        if shape_id is None:
            shape_id = self._shape_ids[text] = len(self.shapes)
            self.shapes.append(text)
        return shape_id

    def signature(self, text: str) -> int:
        """Return the number of all that is said of a call's inputs, giving it one if it is new."""
        signature_id = self._signature_ids.get(text)
        if signature_id is None:
            signature_id = self._signature_ids[text] = len(self.signatures)
            self.signatures.append(text)
        return signature_id

    def geometry(self, geometry: Geometry) -> int:
        """Return the number of a launch's geometry, giving it one if it is new."""
        geometry_id = self._geometry_ids.get(geometry)
        if geometry_id is None:
            geometry_id = self._geometry_ids[geometry] = len(self.geometries)
            self.geometries.append(geometry)
        return geometry_id

    def flow_name(self, text: str) -> int:
        """Return the id, below -1, that stands for a flow whose id in the file is no number."""
        flow_id = self._flow_ids.get(text)
        if flow_id is None:
            flow_id = self._flow_ids[text] = -2 - len(self.flow_names)
            self.flow_names.append(text)
        return flow_id

    def copy(self) -> "TraceBuilder":
        """Return a builder of the same rows and numbers, to which more can be added."""
        twin = TraceBuilder()
        for name, value in vars(self).items():
            is_shared = name in ("devices", "base_ns", "details")
            is_flat = isinstance(value, (list, dict))
            setattr(twin, name, value if is_shared else copy(value) if is_flat else deepcopy(value))
        return twin

    def build(self, origin: Origin, *, is_last: bool = False) -> Trace:
        """Return the trace of all rows so far; nothing that was returned before changes.

        Args:
            origin: Where they come from.
            is_last: Whether the builder's events may be let go on the way, which halves the memory.
        """
        report = deepcopy(self.report)
        columns = self._joined_columns(report, is_last=is_last)
        interned = _Interned(self.keys)
        tracks, track_of_key = _tracks(self.keys, columns.used_keys(), self.thread_names)
        start_ns = columns.start_ns(interned.kind == SliceKind.PROFILER)
        of_key = KeyColumns(track_of_key, interned.name_id, interned.category_id, interned.kind)
        slices = nested(sorted_slices(columns, of_key, start_ns), tracks)
        _count_flags(slices, report)
        names = list(interned.names)
        counters = self._counter_table(names, start_ns)
        trace_names = StringTable(tuple(names))
        return Trace(
            slices=slices,
            tracks=tracks,
            names=trace_names,
            categories=StringTable(tuple(interned.categories)),
            shapes=StringTable(tuple(self.shapes)),
            signatures=StringTable(tuple(self.signatures)),
            geometries=tuple(self.geometries),
            flows=_flow_table(self.flow_blocks, self.keys, slices, tracks, interned, start_ns),
            counters=counters,
            instants=self._instant_table(interned, start_ns),
            memory=self._memory_table(tracks, start_ns),
            devices=self.devices,
            metadata=dict(self.metadata),
            origin=origin,
            origin_ns=self.base_ns + start_ns,
            report=report,
            details=self.details,
        )

    def _joined_columns(self, report: LoadReport, *, is_last: bool) -> BlockColumns:
        blocks = list(self.blocks)
        last_ns = max((int((b.ts_ns + b.dur_ns).max()) for b in blocks if len(b.ts_ns)), default=0)
        blocks.append(event_block(self._paired(report, last_ns)))
        if is_last:
            self.blocks.clear()
        return BlockColumns(_SLICE_COLUMNS, blocks)

    def _paired(self, report: LoadReport, last_ns: int) -> list[dict[str, int]]:
        """Return the slices that begin and end marks make."""
        rows = _pair_begin_ends(self.begin_ends, self.keys, report)
        last_ns = max(
            [last_ns]
            + [mark.ts_ns for mark in self.begin_ends]
            + [mark.ts_ns for mark in self.async_marks]
        )
        rows += _pair_asyncs(self.async_marks, self.keys, report)
        for row in rows:
            if row["dur_ns"] < 0:
                row["dur_ns"] = last_ns - row["ts_ns"]
        return rows

    def _counter_table(self, names: list[str], start_ns: int) -> CounterTable:
        series: dict[str, int] = {}
        rows = self.counters
        for row in rows:
            if row.series not in series:
                series[row.series] = len(names)
                names.append(clean_text(row.series))
        return CounterTable(
            frozen(np.array([row.ts_ns - start_ns for row in rows], np.int64)),
            frozen(np.array([series[row.series] for row in rows], np.int32)),
            frozen(np.array([row.value for row in rows], np.float64)),
        )

    def _instant_table(self, interned: "_Interned", start_ns: int) -> InstantTable:
        rows = self.instants
        return InstantTable(
            frozen(np.array([row.ts_ns - start_ns for row in rows], np.int64)),
            frozen(interned.name_id[np.array([row.key for row in rows], np.int64)]),
            frozen(np.array([row.event_id for row in rows], np.int64)),
        )

    def _memory_table(self, tracks: Sequence[Track], start_ns: int) -> MemoryTable:
        rows = sorted(self.memory, key=lambda row: row.ts_ns)
        columns = np.array(rows, np.int64).reshape(len(rows), len(MemoryRow._fields))
        of_thread = {
            (track.pid, track.tid): track_id
            for track_id, track in enumerate(tracks)
            if track.kind == TrackKind.HOST
        }
        track_of_key = np.array(
            [of_thread.get((key.pid, key.tid), NO_ID) for key in self.keys], np.int32
        )
        return MemoryTable(
            frozen(columns[:, 1] - start_ns),
            frozen(columns[:, 2].copy()),
            frozen(columns[:, 3].copy()),
            frozen(columns[:, 4].copy()),
            frozen(columns[:, 5].astype(np.int32)),
            frozen(columns[:, 6].astype(np.int32)),
            frozen(track_of_key[columns[:, 0]]),
            frozen(columns[:, 7].copy()),
        )


class _Interned:
    """The keys' names and categories as tables, and each key's ids."""

    def __init__(self, keys: Sequence[EventKey]) -> None:
        names: dict[str, int] = {}
        categories: dict[str, int] = {}
        n = len(keys)
        self.name_id: Int32s = np.zeros(n, np.int32)
        self.category_id: Int32s = np.zeros(n, np.int32)
        self.kind = np.zeros(n, np.int8)
        for row, key in enumerate(list(keys)):
            # Cleaned first: what looks the same is the same name.
            self.name_id[row] = names.setdefault(clean_text(key.name), len(names))
            self.category_id[row] = categories.setdefault(key.category, len(categories))
            self.kind[row] = _kind_of_key(key)
        self.names = list(names)
        self.categories = [clean_text(category) for category in categories]
        self.category_of = categories


def _kind_of_key(key: EventKey) -> SliceKind:
    return SliceKind.ASYNC if key.is_async else kind_of_category(key.category)


def _pair_begin_ends(
    marks: Sequence[BeginEnd], keys: Sequence[EventKey], report: LoadReport
) -> list[dict[str, int]]:
    """Pair each end with the innermost open begin of its thread; -1 marks one never closed."""
    rows: list[dict[str, int]] = []
    open_marks: dict[tuple[str, str], list[BeginEnd]] = {}
    # At one moment an end comes before the next begin, unless the file has them the other way
    # round for a slice without length: file order decides there.
    for mark in sorted(marks, key=lambda mark: (mark.ts_ns, mark.event_id)):
        key = keys[mark.key]
        stack = open_marks.setdefault((key.pid, key.tid), [])
        if mark.is_begin:
            stack.append(mark)
            continue
        if not stack:
            report.skipped["end without a begin"] += 1
            continue
        begin = stack.pop()
        name = keys[begin.key].name
        differs = key.name not in ("", "(no name)", name)
        rows.append(
            {
                "key": begin.key,
                "ts_ns": begin.ts_ns,
                "dur_ns": mark.ts_ns - begin.ts_ns,
                "event_id": begin.event_id,
                "flags": SliceFlag.NAME_DIFFERS if differs else 0,
            }
        )
    rows += [_unfinished(mark) for stack in open_marks.values() for mark in stack]
    return rows


def _unfinished(mark: BeginEnd | AsyncMark) -> dict[str, int]:
    return {
        "key": mark.key,
        "ts_ns": mark.ts_ns,
        "dur_ns": -1,
        "event_id": mark.event_id,
        "flags": SliceFlag.UNFINISHED,
    }


def _pair_asyncs(
    marks: Sequence[AsyncMark], keys: Sequence[EventKey], report: LoadReport
) -> list[dict[str, int]]:
    """Pair asynchronous marks by process, category, id and name, the latest begin first."""
    rows: list[dict[str, int]] = []
    open_marks: dict[tuple[str, str, str, str], list[AsyncMark]] = {}
    for mark in sorted(marks, key=lambda mark: (mark.ts_ns, mark.event_id)):
        key = keys[mark.key]
        stack = open_marks.setdefault((key.pid, key.category, mark.async_id, key.name), [])
        if mark.is_begin:
            stack.append(mark)
        elif stack:
            begin = stack.pop()
            rows.append(
                {
                    "key": begin.key,
                    "ts_ns": begin.ts_ns,
                    "dur_ns": mark.ts_ns - begin.ts_ns,
                    "event_id": begin.event_id,
                }
            )
        else:
            report.skipped["end without a begin"] += 1
    rows += [_unfinished(mark) for stack in open_marks.values() for mark in stack]
    return rows


def _tracks(
    keys: Sequence[EventKey], used: Iterable[int], names: ThreadNames
) -> tuple[tuple[Track, ...], Int32s]:
    """Return the tracks in screen order and each key's track."""
    of_line: dict[tuple[TrackKind, str, str], list[int]] = {}
    for key_id in used:
        key = keys[key_id]
        kind = track_of_kind(_kind_of_key(key))
        of_line.setdefault((kind, key.pid, key.tid), []).append(key_id)
    made = [
        (_track(kind, pid, tid, names), key_ids) for (kind, pid, tid), key_ids in of_line.items()
    ]
    made.sort(key=lambda pair: _track_order(pair[0]))
    track_of_key = np.full(len(keys), NO_ID, np.int32)
    for track_id, (_, key_ids) in enumerate(made):
        track_of_key[key_ids] = track_id
    return tuple(track for track, _ in made), track_of_key


def _track(kind: TrackKind, pid: str, tid: str, names: ThreadNames) -> Track:
    on_device = kind in (TrackKind.DEVICE, TrackKind.DEVICE_ANNOTATION, TrackKind.SYNC)
    return Track(
        kind=kind,
        pid=clean_text(pid),
        tid=clean_text(tid),
        process_name=clean_text(names.process_name.get(pid, "")),
        thread_name=clean_text(names.thread_name.get((pid, tid), "")),
        device=number_in(pid) if on_device else NO_ID,
        stream=number_in(tid) if on_device else NO_ID,
        sort_index=(names.process_sort.get(pid, 0), names.thread_sort.get((pid, tid), 0)),
    )


def _track_order(track: Track) -> tuple[Any, ...]:
    """Order: host threads with all their lines together, then devices, then the profiler's own."""
    if track.kind <= TrackKind.ASYNC:
        return (0, *track.sort_index, track.pid, number_in(track.tid), track.tid, track.kind)
    if track.kind <= TrackKind.SYNC:
        return (1, track.device, track.pid, track.stream, track.tid, track.kind, 0)
    return (2, *track.sort_index, track.pid, 0, track.tid, track.kind)


_FLAG_REASONS = {
    SliceFlag.BEFORE_LAUNCH: "device work that starts before its launch (clock skew)",
    SliceFlag.CROSSES: "overlaps another slice without nesting",
    SliceFlag.NO_DURATION: "complete event without a duration",
    SliceFlag.NEGATIVE_DURATION: "negative duration",
    SliceFlag.UNFINISHED: "begin without an end",
    SliceFlag.IMPOSSIBLE: "device work that ends long after the next one on its stream starts",
    SliceFlag.NAME_DIFFERS: "end named differently from its begin",
}


def _count_flags(slices: SliceTable, report: LoadReport) -> None:
    for flag, reason in _FLAG_REASONS.items():
        n_flagged = int(np.count_nonzero(slices.flags & np.uint8(flag)))
        if n_flagged:
            report.flagged[reason] = n_flagged


def _flow_table(
    blocks: Sequence[FlowBlock],
    keys: Sequence[EventKey],
    slices: SliceTable,
    tracks: Sequence[Track],
    interned: _Interned,
    start_ns: int,
) -> FlowTable:
    """Return the arrows whose start and finish both lie in a slice; identity is (category, id)."""
    none = frozen(np.empty(0, np.int32))
    if not blocks:
        return FlowTable(none, none, none)
    key = np.concatenate([block.key for block in blocks])
    flow_id = np.concatenate([block.flow_id for block in blocks])
    ts_ns = np.concatenate([block.ts_ns for block in blocks]) - start_ns
    is_start = np.concatenate([block.is_start for block in blocks])
    bound = _slices_at(key, ts_ns, keys, slices, tracks)
    category = interned.category_id[key]
    known = bound >= 0
    starts = np.flatnonzero(is_start & known)
    finishes = np.flatnonzero(~is_start & known)
    if not len(starts) or not len(finishes):
        return FlowTable(none, none, none)
    # One integer for (category, id): ids are made dense first, so that the product cannot overflow.
    _, dense = np.unique(flow_id, return_inverse=True)
    identity = category.astype(np.int64) * (int(dense.max()) + 1) + dense
    starts = starts[np.argsort(identity[starts], kind="stable")]
    sorted_ids = identity[starts]
    place = np.searchsorted(sorted_ids, identity[finishes])
    found = (place < len(sorted_ids)) & (
        sorted_ids[np.minimum(place, len(sorted_ids) - 1)] == identity[finishes]
    )
    finishes, place = finishes[found], place[found]
    return FlowTable(
        frozen(category[finishes]),
        frozen(bound[starts[place]].astype(np.int32)),
        frozen(bound[finishes].astype(np.int32)),
    )


def _slices_at(
    key: Int32s,
    ts_ns: Int64s,
    keys: Sequence[EventKey],
    slices: SliceTable,
    tracks: Sequence[Track],
) -> Int64s:
    """Return the innermost slice of the flow's thread that is open at its time, or ``NO_ID``."""
    bound = np.full(len(key), NO_ID, np.int64)
    lines: dict[tuple[str, str], list[int]] = {}
    for track_id, track in enumerate(tracks):
        if track.kind in (TrackKind.HOST, TrackKind.DEVICE, TrackKind.OTHER):
            lines.setdefault((track.pid, track.tid), []).append(track_id)
    first_row = np.searchsorted(slices.track_id, np.arange(len(tracks) + 1))
    line_keys: dict[tuple[str, str], list[int]] = {}
    for key_id in np.unique(key).tolist():
        line = (clean_text(keys[key_id].pid), clean_text(keys[key_id].tid))
        line_keys.setdefault(line, []).append(key_id)
    end_ns = slices.end_ns
    for line, key_ids in line_keys.items():
        here = np.flatnonzero(np.isin(key, key_ids))
        for track_id in lines.get(line, ()):
            low, high = int(first_row[track_id]), int(first_row[track_id + 1])
            row = low + np.searchsorted(slices.ts_ns[low:high], ts_ns[here], side="right") - 1
            row = np.where(row < low, NO_ID, row)
            rows = np.flatnonzero(row >= 0)
            while len(rows):
                closed = end_ns[row[rows]] < ts_ns[here[rows]]
                rows = rows[closed]
                row[rows] = slices.parent_id[row[rows]]
                rows = rows[row[rows] >= 0]
            found = (row >= 0) & (bound[here] == NO_ID)
            bound[here[found]] = row[found]
    return bound
