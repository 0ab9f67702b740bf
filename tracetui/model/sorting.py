"""Blocks of events into one table, sorted and nested: track by track, so that little is held twice."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from tracetui.model.arrays import (
    NO_ID,
    Int8s,
    Int32s,
    Int64s,
    compact,
    frozen,
    is_alike,
    joined,
    narrowed,
)
from tracetui.model.nesting import TOLERANCE_NS, depths, nest
from tracetui.model.slices import SliceFlag, SliceKind, SliceTable
from tracetui.model.tracks import Track, TrackKind

_IMPOSSIBLE_NS: Final = 10_000_000
"""A kernel that overruns the next start on its stream by this much cannot have run that long."""
_ROWS_AT_ONCE: Final = 1 << 19
"""From how many rows on a run of tracks is nested by itself."""
_NESTING_TRACKS: Final = (
    TrackKind.HOST,
    TrackKind.PYTHON,
    TrackKind.OTHER,
    TrackKind.DEVICE_ANNOTATION,
    TrackKind.OVERHEAD,
    TrackKind.PROFILER,
)
_ID_COLUMNS: Final = ("shape_id", "signature_id", "geometry_id")
_NUMBER_COLUMNS: Final = (
    "correlation",
    "external_id",
    "n_bytes",
    "python_id",
    "python_parent_id",
    "sequence",
)


class BlockColumns:
    """Columns of many blocks, each joined when it is asked for, and then let go."""

    def __init__(self, names: Sequence[str], blocks: Iterable[Any]) -> None:
        """Take the columns of these names."""
        self._pieces = {name: [getattr(block, name) for block in blocks] for name in names}

    def used_keys(self) -> list[int]:
        """Return each key that an event has."""
        used = [np.unique(piece) for piece in self._pieces["key"]]
        return np.unique(np.concatenate(used)).tolist() if used else []

    def start_ns(self, is_passed_over: Any) -> int:
        """Return when the first event begins, those of some keys passed over if there are others."""
        first, first_of_all = [], []
        for key, ts_ns in zip(self._pieces["key"], self._pieces["ts_ns"], strict=True):
            counts = ~is_passed_over[key]
            if counts.any():
                first.append(int(ts_ns[counts].min()))
            if len(ts_ns):
                first_of_all.append(int(ts_ns.min()))
        return min(first or first_of_all, default=0)

    def pop(self, name: str) -> Any:
        """Return one column, for the only time."""
        return joined(self._pieces.pop(name))

    def pop_sorted(self, name: str, order: Int64s) -> Any:
        """Return one column in an order, for the only time."""
        column = self.pop(name)
        return column if is_alike(column) else column[order]


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumns:
    """What is known of an event by its key; one row for each key."""

    track_id: Int32s
    name_id: Int32s
    category_id: Int32s
    kind: Int8s


def sorted_slices(columns: BlockColumns, of_key: KeyColumns, start_ns: int) -> SliceTable:
    """Return the slices by track, start, end (the later first) and order in the file; unnested."""
    key, ts_ns = columns.pop("key"), columns.pop("ts_ns")
    ts_ns = ts_ns - start_ns if is_alike(ts_ns) else np.subtract(ts_ns, start_ns, out=ts_ns)
    dur_ns, event_id = columns.pop("dur_ns"), columns.pop("event_id")
    order = _order(of_key.track_id[key], ts_ns, dur_ns, event_id)
    ts_ns = frozen(ts_ns[order])
    dur_ns = frozen(dur_ns[order].astype(np.int64, copy=False))
    event_id = compact(narrowed(event_id[order]))
    key = key[order]
    narrow: dict[str, Any] = {
        name: compact(columns.pop_sorted(name, order)) for name in _ID_COLUMNS
    }
    for name in _NUMBER_COLUMNS:
        narrow[name] = compact(narrowed(columns.pop_sorted(name, order)))
    none = np.broadcast_to(np.int32(NO_ID), order.shape)
    return SliceTable(
        ts_ns=ts_ns,
        dur_ns=dur_ns,
        track_id=frozen(of_key.track_id[key]),
        name_id=frozen(of_key.name_id[key]),
        category_id=compact(of_key.category_id[key]),
        kind=frozen(of_key.kind[key]),
        parent_id=none,
        depth=none,
        event_id=event_id,
        flags=columns.pop("flags")[order],
        **narrow,
    )


def _order(track_id: Int32s, ts_ns: Int64s, dur_ns: Any, event_id: Any) -> Int64s:
    """Return the rows in the order of the table."""
    few = track_id.astype(np.int16) if len(track_id) and track_id.max() < 2**15 else track_id
    order: Int64s = np.argsort(few, kind="stable")
    by_track = track_id[order]
    borders = np.flatnonzero(by_track[1:] != by_track[:-1]) + 1
    for low, high in zip([0, *borders.tolist()], [*borders.tolist(), len(order)], strict=True):
        rows = order[low:high]
        starts = ts_ns[rows]
        order[low:high] = rows[np.lexsort((event_id[rows], -(starts + dur_ns[rows]), starts))]
    return order


def nested(slices: SliceTable, tracks: Sequence[Track]) -> SliceTable:
    """Return the slices with parents, depths and flags; device work stays flat."""
    parent_id = np.full(len(slices), NO_ID, np.int32)
    crosses = np.zeros(len(slices), bool)
    for low, high in _runs(slices.track_id, tracks):
        ts_ns = slices.ts_ns[low:high]
        inner = nest(slices.track_id[low:high], ts_ns, ts_ns + slices.dur_ns[low:high])
        parent_id[low:high] = np.where(inner.parent_id >= 0, inner.parent_id + low, NO_ID)
        crosses[low:high] = inner.crosses
    flags = slices.flags
    _adopt_python_parents(slices, parent_id, crosses)
    flags[crosses] |= np.uint8(SliceFlag.CROSSES)
    flags[_impossible(slices)] |= np.uint8(SliceFlag.IMPOSSIBLE)
    flags[_before_launch(slices)] |= np.uint8(SliceFlag.BEFORE_LAUNCH)
    values = {column.name: getattr(slices, column.name) for column in fields(slices)}
    values |= {
        "parent_id": frozen(parent_id),
        "depth": frozen(depths(parent_id)),
        "flags": compact(flags),
    }
    return SliceTable(**values)


def _runs(track_id: Int32s, tracks: Sequence[Track]) -> Iterator[tuple[int, int]]:
    """Yield the rows of tracks whose slices nest, of many small neighbours together."""
    first_row = np.searchsorted(track_id, np.arange(len(tracks) + 1)).tolist()
    low = 0
    for number, track in enumerate(tracks):
        here, after = first_row[number], first_row[number + 1]
        if track.kind not in _NESTING_TRACKS:
            if here > low:
                yield low, here
            low = after
        elif after - low >= _ROWS_AT_ONCE:
            yield low, after
            low = after
    if first_row[-1] > low:
        yield low, first_row[-1]


def _adopt_python_parents(slices: SliceTable, parent_id: Int32s, crosses: Any) -> None:
    """Set the parents that Python frames name themselves, where the file has them.

    A frame that outlives its named parent counts as crossing.
    """
    frames = np.flatnonzero((slices.kind == SliceKind.PYTHON) & (slices.python_id >= 0))
    if not len(frames):
        return
    order = frames[np.argsort(slices.python_id[frames], kind="stable")]
    ids = slices.python_id[order]
    wanted = slices.python_parent_id[frames]
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    named = order[place]
    # A parent starts no later and stands earlier in the table, which also rules out circles.
    fits = (
        (wanted >= 0)
        & (ids[place] == wanted)
        & (named < frames)
        & (slices.track_id[named] == slices.track_id[frames])
    )
    parent_id[frames[fits]] = named[fits]
    crosses[frames[fits]] = False
    outlives = slices.end_ns[frames[fits]] > slices.end_ns[named[fits]] + TOLERANCE_NS
    crosses[frames[fits][outlives]] = True


def _impossible(slices: SliceTable) -> Any:
    """Return which kernels wholly contain the next on their stream and overrun it by far."""
    rows = np.flatnonzero(slices.is_device_work())
    impossible = np.zeros(len(slices), bool)
    if len(rows) > 1:
        here, after = rows[:-1], rows[1:]
        end_ns = slices.end_ns
        impossible[here] = (
            (slices.track_id[here] == slices.track_id[after])
            & (end_ns[here] >= end_ns[after])
            & (end_ns[here] - slices.ts_ns[after] > _IMPOSSIBLE_NS)
        )
    return impossible


def _before_launch(slices: SliceTable) -> Int64s:
    """Return the device work that starts before its launch.

    A number that several calls have tells nothing: recordings of several processes repeat them.
    """
    calls = np.flatnonzero((slices.kind == SliceKind.RUNTIME) & (slices.correlation != 0))
    device = np.flatnonzero(slices.is_device_work() & (slices.correlation != 0))
    numbers, first, n_calls = np.unique(
        slices.correlation[calls], return_index=True, return_counts=True
    )
    if not len(numbers) or not len(device):
        return np.empty(0, np.int64)
    place = np.minimum(np.searchsorted(numbers, slices.correlation[device]), len(numbers) - 1)
    is_known = (numbers[place] == slices.correlation[device]) & (n_calls[place] == 1)
    early = slices.ts_ns[device] < slices.ts_ns[calls[first[place]]]
    found: Int64s = device[is_known & early]
    return found
