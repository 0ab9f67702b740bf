"""Two timelines under one cursor: the same stretch of both sides, aligned where the user wants."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import numpy as np

from tracetui.compare.comparison import Comparison
from tracetui.compare.kinds import MatchKind
from tracetui.compare.scope import Range
from tracetui.compare.sentence import named, signed
from tracetui.compare.units import Unit, Work
from tracetui.format import duration
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind
from tracetui.presentation.comparison.words import kind_word
from tracetui.presentation.hues import LINKED_CODE, SELECTED_CODE
from tracetui.presentation.lanes import Lane, LaneIndex, lane_index
from tracetui.presentation.table import cut_off
from tracetui.presentation.viewport import Viewport

_MOST_MARKS: Final = 200
"""Differences that are marked in one lane; further ones are too narrow to tell apart."""
_MARGIN: Final = 32
"""A fitted range leaves one part in so many free on each side."""
_MIN_SPAN_NS: Final = 16


class Alignment(Enum):
    """Where the two sides lie upon one another."""

    START = "aligned at the start"
    MATCH = "aligned at the selected piece"
    STRETCH = "stretched to equal length"

    @property
    def following(self) -> "Alignment":
        """Return the next one, around the end."""
        ways = list(Alignment)
        return ways[(ways.index(self) + 1) % len(ways)]


@dataclass(frozen=True, slots=True, eq=False)
class SideLanes:
    """One side: its lanes, and where the compared stretch lies."""

    trace: Trace
    index: LaneIndex
    lanes: tuple[tuple[Lane, str], ...]
    """With their titles; the device's first."""
    span: Range

    @property
    def span_ns(self) -> int:
        """Return the length of the compared stretch, at least 1."""
        return max(self.span.end_ns - self.span.start_ns, 1)


@dataclass(slots=True, eq=False)
class TwinTimelines:
    """Both sides and what of them is visible."""

    compared: Comparison
    sides: tuple[SideLanes, SideLanes]
    match: int = NO_ID
    """The selected match, by its place."""
    alignment: Alignment = Alignment.START
    is_locked: bool = True
    active: int = 0
    """The side that moves alone while the sides are unlocked."""
    _windows: list[tuple[int, int]] = field(default_factory=list)
    """Of each side what is visible, in nanoseconds since the start of its stretch."""

    @classmethod
    def of(cls, compared: Comparison) -> "TwinTimelines":
        """Index both sides; slow on a large trace, so not on the screen's thread."""
        works = (compared.baseline_work, compared.candidate_work)
        first, second = (
            _side_lanes(work, span) for work, span in zip(works, compared.ranges, strict=True)
        )
        twins = cls(compared, (first, second))
        twins.fit()
        return twins

    def viewport(self, side: int) -> Viewport:
        """Return what of a side is visible, in its own recording's time."""
        own = self.sides[side]
        start, end = self._windows[side]
        origin = own.span.start_ns + self._shift_ns(side)
        return Viewport(origin + start, origin + end, max(own.trace.end_ns, 1))

    def ruler(self, side: int) -> Viewport:
        """Return the same counted from the start of the compared stretch."""
        start, end = self._windows[side]
        shift = self._shift_ns(side)
        return Viewport(start + shift, end + shift, max(end + shift, 1))

    def _shift_ns(self, side: int) -> int:
        """Return by how much a side is moved so that the selected pieces start together."""
        if self.alignment is not Alignment.MATCH or self.match == NO_ID or side == 0:
            return 0
        starts = []
        for which, units in enumerate(self._units()):
            if not units:
                return 0
            own = self.sides[which]
            starts.append(int(own.trace.slices.ts_ns[units[0].slice_id]) - own.span.start_ns)
        return starts[1] - starts[0]

    def _units(self) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
        match = self.compared.matches[self.match]
        return match.baseline, match.candidate

    def fit(self) -> None:
        """Show the whole compared stretch of both sides."""
        spans = [side.span_ns for side in self.sides]
        if self.alignment is not Alignment.STRETCH:
            spans = [max(spans)] * 2
        self._windows = [(-span // _MARGIN, span + span // _MARGIN) for span in spans]

    def zoom(self, factor: int, at_ratio: float, *, inwards: bool) -> None:
        """Show less of both sides, or more.

        Args:
            factor: By how much.
            at_ratio: What keeps its place, from 0 at the left to 1 at the right.
            inwards: Whether to show less.
        """
        for side in self._moved():
            start, end = self._windows[side]
            span = end - start
            new = span // factor if inwards else span * factor
            longest = 4 * max(each.span_ns for each in self.sides)
            new = min(max(new, _MIN_SPAN_NS), longest)
            start += int((span - new) * at_ratio)
            self._windows[side] = (start, start + new)

    def pan(self, eighths: int) -> None:
        """Move by so many eighths of what is visible."""
        for side in self._moved():
            start, end = self._windows[side]
            step = (end - start) * eighths // 8
            self._windows[side] = (start + step, end + step)

    def _moved(self) -> tuple[int, ...]:
        return (0, 1) if self.is_locked else (self.active,)

    def toggle_lock(self) -> None:
        """Move both sides together, or each alone; locked again, they lie as they did at first."""
        self.is_locked = not self.is_locked
        if self.is_locked:
            self._windows[1 - self.active] = self._windows[self.active]
            if self.alignment is Alignment.STRETCH:
                self.fit()

    def choose_side(self, side: int) -> None:
        """Let a side move alone while they are unlocked."""
        self.active = side

    def change_alignment(self) -> None:
        """Align in the next way."""
        self.alignment = self.alignment.following
        if self.alignment is Alignment.STRETCH or self._windows[0] != self._windows[1]:
            self.fit()

    def select(self, match: int) -> None:
        """Select a match and bring it in sight."""
        self.match = match
        for side, units in enumerate(self._units()):
            if units:
                self._bring_in_sight(side)

    def _bring_in_sight(self, side: int) -> None:
        units = self._units()[side]
        view, slices = self.viewport(side), self.sides[side].trace.slices
        first, last = units[0].slice_id, units[-1].slice_id
        start, end = int(slices.ts_ns[first]), int(slices.ts_ns[last] + slices.dur_ns[last])
        if start >= view.start_ns and end <= view.end_ns:
            return
        middle = (start + end) // 2 - self.sides[side].span.start_ns - self._shift_ns(side)
        span = self._windows[side][1] - self._windows[side][0]
        for each in (0, 1) if self.is_locked else (side,):
            self._windows[each] = (middle - span // 2, middle - span // 2 + span)

    def step(self, direction: int) -> None:
        """Select the next match, or the one before, in the baseline's order."""
        n = len(self.compared.matches)
        if n:
            last = self.match if self.match != NO_ID or direction > 0 else 0
            self.select((last + direction) % n)

    def fit_match(self) -> None:
        """Zoom to the selected match, with as much around it."""
        if self.match == NO_ID:
            self.fit()
            return
        match = self.compared.matches[self.match]
        longest = max(match.baseline_ns, match.candidate_ns, _MIN_SPAN_NS)
        for side, units in enumerate((match.baseline, match.candidate)):
            if not units:
                continue
            own = self.sides[side]
            at = int(own.trace.slices.ts_ns[units[0].slice_id]) - own.span.start_ns
            at -= self._shift_ns(side)
            window = (at - longest, at + 2 * longest)
            for each in (0, 1) if self.is_locked else (side,):
                self._windows[each] = window
            if self.is_locked:
                return

    def marks(self, side: int, lane: Lane) -> tuple[tuple[int, int], ...]:
        """Return the lane's rows that differ, and those of the selected match, with their colours."""
        view = self.viewport(side)
        slices = self.sides[side].trace.slices
        found = []
        for place in self.compared.differences:
            match = self.compared.matches[place]
            if match.kind is MatchKind.SAME:
                break
            for unit in match.baseline if side == 0 else match.candidate:
                start = int(slices.ts_ns[unit.slice_id])
                if start < view.end_ns and start + unit.dur_ns >= view.start_ns:
                    row = lane.row_of(unit.slice_id)
                    if row != NO_ID:
                        found.append((row, LINKED_CODE))
            if len(found) >= _MOST_MARKS:
                break
        if self.match != NO_ID:
            match = self.compared.matches[self.match]
            units = match.baseline if side == 0 else match.candidate
            rows = [lane.row_of(unit.slice_id) for unit in units]
            found += [(row, SELECTED_CODE) for row in rows if row != NO_ID]
        return tuple(found)

    def header(self, width: int) -> str:
        """Return what is visible and how the sides lie."""
        start, end = self._windows[self.active]
        cell = duration(max((end - start) // max(width, 1), 1))
        lock = "locked" if self.is_locked else f"unlocked, {'AB'[self.active]} moves"
        return cut_off(
            f"{duration(end - start)} · cell = {cell} · {self.alignment.value} · {lock}", width
        )

    def side_title(self, side: int, name: str, width: int) -> str:
        """Return the line above a side's lanes."""
        own = self.sides[side]
        moved = self._shift_ns(side)
        note = f" · moved by {signed(-moved)}" if moved else ""
        mark = "▸" if not self.is_locked and side == self.active else " "
        return cut_off(f"{mark}{'AB'[side]} {name} · {duration(own.span_ns)}{note}", width)

    def status(self, width: int) -> tuple[str, ...]:
        """Return what is known of the selected match."""
        if self.match == NO_ID:
            differ = len(self.compared.differences)
            return (
                cut_off("h l go through the pieces of work, } { through the differences", width),
                cut_off(f"{differ} of {len(self.compared.matches)} matches differ", width),
            )
        match = self.compared.matches[self.match]
        own, new = named(match.baseline) or "nothing", named(match.candidate) or "nothing"
        times = f"A {duration(match.baseline_ns)}   B {duration(match.candidate_ns)}"
        return (
            cut_off(f"{kind_word(match)}: {own if own == new else f'{own} → {new}'}", width),
            cut_off(f"{times}   Δ {signed(match.delta_ns)}   {match.why}", width),
        )


def _side_lanes(work: Work, span: Range) -> SideLanes:
    trace = work.side.trace
    index = lane_index(trace)
    slices = trace.slices
    rows = np.array([unit.slice_id for unit in work.units], np.int64)
    used = (
        {int(track) for track in np.unique(slices.track_id[rows]).tolist()} if len(rows) else set()
    )
    hosts = {
        int(slices.track_id[each])
        for unit in work.units
        for each in (unit.operator_id, unit.launch_id)
        if each != NO_ID
    }
    hosts |= {int(slices.track_id[each]) for each in work.side.call_id[:1].tolist()}
    device = [track for track in used if trace.tracks[track].kind == TrackKind.DEVICE]
    host = [track for track in sorted(used | hosts) if track not in device]
    lanes = []
    for track_id in [*sorted(device), *host]:
        lanes += [(lane, _title(trace, lane)) for lane in index.lanes_of(track_id)]
    return SideLanes(trace, index, tuple(lanes), span)


def _title(trace: Trace, lane: Lane) -> str:
    track = trace.tracks[lane.track_id]
    if track.kind == TrackKind.DEVICE:
        stream = f"stream {track.stream}" if track.stream != NO_ID else "device"
        return stream if lane.level == 0 else ""
    return (track.thread_name or f"thread {track.tid}") if lane.level == 0 else ""
