"""Which slice of a thread is the innermost at each moment: a thread's own time as a line."""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s, frozen
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

_SOURCE: Final = re.compile(r".+\(\d+\): ")


@dataclass(frozen=True, slots=True, eq=False)
class Innermost:
    """Tracks of one kind, each as touching pieces without a hole; columns of one length.

    The pieces of a track start at its first slice and end with its last.
    """

    start_ns: Int64s
    end_ns: Int64s
    slice_id: Int32s
    """The innermost open slice, or ``NO_ID`` where none is."""
    first: Int64s
    """Where each track's pieces start; one longer than the trace has tracks."""

    def track(self, track_id: int) -> tuple[int, int]:
        """Return the first piece of a track and the one after its last."""
        return int(self.first[track_id]), int(self.first[track_id + 1])

    def at(self, track_id: int, time_ns: int) -> int:
        """Return the piece of a track that holds a moment, or ``NO_ID`` outside of them."""
        first, after = self.track(track_id)
        row = first + int(np.searchsorted(self.start_ns[first:after], time_ns, side="right")) - 1
        return row if row >= first and time_ns < self.end_ns[row] else NO_ID

    def longest(self, track_id: Int64s, start_ns: Int64s, end_ns: Int64s) -> Int64s:
        """Return for each window which slice is the innermost for longest, or ``NO_ID``.

        Args:
            track_id: The track of each window, or ``NO_ID`` for none.
            start_ns: Start of each window.
            end_ns: End of each window.
        """
        found = np.full(len(start_ns), NO_ID, np.int64)
        window, piece = self.met(track_id, start_ns, end_ns)
        if not len(window):
            return found
        shared_ns = np.minimum(self.end_ns[piece], end_ns[window]) - np.maximum(
            self.start_ns[piece], start_ns[window]
        )
        slice_id = self.slice_id[piece].astype(np.int64)
        order = np.lexsort((slice_id, window))
        window, slice_id, shared_ns = window[order], slice_id[order], shared_ns[order]
        opens = np.flatnonzero(
            np.concatenate(([True], (window[1:] != window[:-1]) | (slice_id[1:] != slice_id[:-1])))
        )
        total_ns = np.add.reduceat(shared_ns, opens)
        window, slice_id = window[opens], slice_id[opens]
        # Of several assignments to one window the last stays, which is the longest.
        rank = np.lexsort((-slice_id, total_ns, window))
        found[window[rank]] = slice_id[rank]
        return found

    def met(self, track_id: Int64s, start_ns: Int64s, end_ns: Int64s) -> tuple[Int64s, Int64s]:
        """Return each pair of a window and a piece of its track that share time, as two columns."""
        low, high = np.zeros(len(start_ns), np.int64), np.zeros(len(start_ns), np.int64)
        for track in np.unique(track_id[track_id >= 0]).tolist():
            first, after = self.track(track)
            own = np.flatnonzero(track_id == track)
            ends, starts = self.end_ns[first:after], self.start_ns[first:after]
            low[own] = first + np.searchsorted(ends, start_ns[own], side="right")
            high[own] = first + np.searchsorted(starts, end_ns[own], side="left")
        n_pieces = np.maximum(high - low, 0)
        window = np.repeat(np.arange(len(start_ns)), n_pieces)
        before = np.cumsum(n_pieces) - n_pieces
        return window, np.arange(int(n_pieces.sum())) - before[window] + low[window]


@once_per_trace
def innermost_host(trace: Trace) -> Innermost:
    """Return the innermost operator, annotation or runtime call of each thread."""
    return _innermost(trace, TrackKind.HOST)


@once_per_trace
def innermost_frames(trace: Trace) -> Innermost:
    """Return the innermost Python frame of each thread."""
    return _innermost(trace, TrackKind.PYTHON)


@once_per_trace
def frame_tracks(trace: Trace) -> Int64s:
    """Return for each track the track of the same thread's Python frames, or ``NO_ID``."""
    of_thread = {
        (track.pid, track.tid): track_id
        for track_id, track in enumerate(trace.tracks)
        if track.kind == TrackKind.PYTHON
    }
    found = [of_thread.get((track.pid, track.tid), NO_ID) for track in trace.tracks]
    return frozen(np.array(found, np.int64))


@once_per_trace
def _says_source(trace: Trace) -> Bools:
    """Return which names are those of frames with file and line, as in ``loop.py(3): run``."""
    return frozen(np.array([bool(_SOURCE.match(name)) for name in trace.names], bool))


def with_source(trace: Trace, frame_id: Int64s) -> Int64s:
    """Return of each Python frame the nearest one, itself or above it, that says file and line.

    A function written in C, such as ``<built-in function linear>``, says neither; its caller does.

    Args:
        trace: Whose frames they are.
        frame_id: Frames, or ``NO_ID``.

    Returns:
        Frames, shape ``(len(frame_id),)``; where none above says it, what was given.
    """
    says, slices = _says_source(trace), trace.slices
    found = frame_id.copy()
    bare = np.flatnonzero(found >= 0)
    while len(bare):
        bare = bare[~says[slices.name_id[found[bare]]]]
        found[bare] = slices.parent_id[found[bare]]
        bare = bare[found[bare] >= 0]
    return np.where(found >= 0, found, frame_id)


def _innermost(trace: Trace, kind: TrackKind) -> Innermost:
    slices, n_tracks = trace.slices, len(trace.tracks)
    of_kind = np.array([track.kind == kind for track in trace.tracks], bool)
    rows = np.flatnonzero(of_kind[slices.track_id]) if len(slices) else np.empty(0, np.int64)
    track, ts_ns, end_ns = slices.track_id[rows], slices.ts_ns[rows], slices.end_ns[rows]
    moment_track = np.concatenate((track, track))
    moment = np.concatenate((ts_ns, end_ns))
    order = np.lexsort((moment, moment_track))
    moment_track, moment = moment_track[order], moment[order]
    is_new = np.ones(len(moment), bool)
    is_new[1:] = (moment[1:] != moment[:-1]) | (moment_track[1:] != moment_track[:-1])
    moment_track, moment = moment_track[is_new], moment[is_new]
    # A piece lies between two neighbouring moments of one track.
    starts = np.flatnonzero(moment_track[1:] == moment_track[:-1])
    start, end, piece_track = moment[starts], moment[starts + 1], moment_track[starts]
    held = rows[_last_started(track, ts_ns, piece_track, start)] if len(rows) else starts
    _climb_to_open(slices.parent_id, slices.end_ns, held, start)
    joined = _differs(held, piece_track)
    first_piece = np.flatnonzero(joined)
    last_piece = np.concatenate((first_piece[1:] - 1, [len(start) - 1]))[: len(first_piece)]
    return Innermost(
        start_ns=frozen(start[first_piece]),
        end_ns=frozen(end[last_piece]),
        slice_id=frozen(held[first_piece].astype(np.int32)),
        first=frozen(np.searchsorted(piece_track[first_piece], np.arange(n_tracks + 1))),
    )


def _last_started(track: Int32s, ts_ns: Int64s, of_track: Int32s, time_ns: Int64s) -> Int64s:
    """Return the last row of each piece's track that starts no later than the piece."""
    place = np.empty(len(time_ns), np.int64)
    for each in np.unique(of_track).tolist():
        first, after = np.searchsorted(track, (each, each + 1))
        low, high = np.searchsorted(of_track, (each, each + 1))
        place[low:high] = (
            first - 1 + np.searchsorted(ts_ns[first:after], time_ns[low:high], side="right")
        )
    return place


def _climb_to_open(parent_id: Int32s, end_ns: Int64s, held: Int64s, time_ns: Int64s) -> None:
    """Replace each slice that has ended by the nearest one above it that has not."""
    closed = np.flatnonzero(end_ns[held] <= time_ns) if len(held) else held
    while len(closed):
        held[closed] = parent_id[held[closed]]
        closed = closed[held[closed] >= 0]
        closed = closed[end_ns[held[closed]] <= time_ns[closed]]


def _differs(held: Int64s, track: Int32s) -> Bools:
    """Return which pieces are not a continuation of the piece before."""
    differs = np.ones(len(held), bool)
    differs[1:] = (held[1:] != held[:-1]) | (track[1:] != track[:-1])
    return differs
