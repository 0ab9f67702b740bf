"""Idle time on the timeline: what a gap says of itself, and its causes as cells of a lane."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.artefacts import ArtefactKind, artefacts
from tracetui.analysis.idle import NO_DEPTH, IdleGaps, idle_gaps
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.format import TimeUnit, count, duration
from tracetui.model.arrays import NO_ID, Bools
from tracetui.model.intervals import union
from tracetui.model.prefix import PrefixSums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.bound import CAUSE_NAMES
from tracetui.presentation.cells import CellShape, LaneCells
from tracetui.presentation.hues import FIRST_HUE_CODE, HUE_NAMES
from tracetui.presentation.painting import PaintedLane, PaintMode, displayed_name
from tracetui.presentation.viewport import Viewport

_GLYPHS: Final = {
    GapCause.ARTEFACT: ("▒", "%", "profiler"),
    GapCause.SYNC: ("~", "~", "waiting"),
    GapCause.LAUNCH: ("-", "-", "runtime"),
    GapCause.HOST_WAIT: ("·", ".", "operator"),
}
"""How a cell of each cause is drawn, also in ASCII, and in whose hue; other causes stay blank."""


@dataclass(frozen=True, slots=True, eq=False)
class IdleSpans:
    """A device's idle time by cause, ready to be cut into cells."""

    by_cause: tuple[tuple[GapCause, PrefixSums], ...]


@once_per_trace
def idle_spans(trace: Trace) -> dict[int, IdleSpans]:
    """Return the idle time of each device by cause."""
    found = {}
    for use in utilization(trace):
        pieces = gaps(trace, use.device)
        found[use.device] = IdleSpans(
            tuple(
                (cause, PrefixSums.of(pieces.start_ns[own], pieces.end_ns[own]))
                for cause in GapCause
                if bool((own := pieces.cause == cause).any())
            )
        )
    return found


@once_per_trace
def artefact_spans(trace: Trace) -> PrefixSums:
    """Return when the profiler itself shaped the recording: what shares leave out."""
    found = artefacts(trace)
    # While the host waits for the end, the device works off what was launched: that counts.
    is_left_out = found.kind != ArtefactKind.FINAL_SYNC
    spans = union(found.start_ns[is_left_out], found.end_ns[is_left_out])
    return PrefixSums.of(spans.starts, spans.ends)


def with_hatching(text: str, hatched: PrefixSums, viewport: Viewport, mode: PaintMode) -> str:
    """Return the ruler with what shares leave out hatched, wherever it has no letter."""
    share_ns = hatched.covered(viewport.edges(len(text)))
    wide = share_ns * 2 >= np.diff(viewport.edges(len(text)))
    glyph = "%" if mode.ascii_only else "░"
    letters = list(text)
    for column in np.flatnonzero(wide).tolist():
        before, after = text[max(column - 1, 0) : column], text[column + 1 : column + 2]
        # The one space between a number and its unit belongs to the label.
        if letters[column] == " " and not (before.strip() and after.strip()):
            letters[column] = glyph
    return "".join(letters)


def with_idle(
    painted: PaintedLane, cells: LaneCells, spans: IdleSpans, viewport: Viewport, mode: PaintMode
) -> PaintedLane:
    """Return a lane of device work with the cause of idle time in its empty cells.

    A cell is marked where nothing touches it and the whole device is idle for at least half of it.
    """
    empty: Bools = cells.shape == CellShape.BLANK
    if not bool(empty.any()) or not spans.by_cause:
        return painted
    edges = viewport.edges(len(cells.shape))
    shares = np.stack([sums.covered(edges) for _, sums in spans.by_cause])
    is_idle = empty & (shares.sum(axis=0) * 2 >= cells.width_ns)
    most = shares.argmax(axis=0)
    letters, ink = list(painted.text), painted.ink.copy()
    for place, (cause, _) in enumerate(spans.by_cause):
        if cause not in _GLYPHS:
            continue
        glyph, plain, hue = _GLYPHS[cause]
        own = is_idle & (most == place)
        ink[own] = FIRST_HUE_CODE + 2 * HUE_NAMES.index(hue)
        for column in np.flatnonzero(own).tolist():
            letters[column] = plain if mode.ascii_only else glyph
    return PaintedLane("".join(letters), ink, painted.paper, painted.is_inverse)


def gap_at(trace: Trace, device: int, at_ns: int) -> int:
    """Return the gap of a device that holds a moment, or ``NO_ID``."""
    found = idle_gaps(trace).get(device)
    return NO_ID if found is None else found.at(at_ns)


def next_gap(trace: Trace, device: int, at_ns: int, direction: int, least_ns: int) -> int:
    """Return the next or previous gap of a device that is no shorter than this, or ``NO_ID``."""
    found = idle_gaps(trace).get(device)
    if found is None:
        return NO_ID
    rows = np.flatnonzero(found.dur_ns >= least_ns)
    beyond = found.start_ns[rows] > at_ns if direction > 0 else found.end_ns[rows] <= at_ns
    rows = rows[beyond]
    if not len(rows):
        return NO_ID
    return int(rows[0] if direction > 0 else rows[-1])


def gap_lines(
    trace: Trace, device: int, gap: int, unit: TimeUnit = TimeUnit.AUTO
) -> tuple[str, str]:
    """Return a gap in two lines: how long and why, and who held it."""
    found = idle_gaps(trace)[device]
    return _measure_text(found, gap, unit), _holder_text(trace, found, gap)


def _measure_text(found: IdleGaps, gap: int, unit: TimeUnit) -> str:
    dur_ns = int(found.dur_ns[gap])
    by_cause = found.cause_ns[gap]
    causes = [GapCause(cause) for cause in np.argsort(-by_cause, kind="stable") if by_cause[cause]]
    if len(causes) == 1:
        why = CAUSE_NAMES[causes[0]]
    else:
        why = " + ".join(
            f"{CAUSE_NAMES[cause]} {duration(int(by_cause[cause]), unit)}" for cause in causes
        )
    parts = [f"gap {duration(dur_ns, unit)}", why]
    depth = int(found.depth_before[gap])
    if depth != NO_DEPTH:
        drained_from = int(found.drained_from[gap])
        parts.append(f"queue {count(drained_from)}→{count(depth)}")
    hidden_ns = int(found.hidden_launch_ns[gap])
    if hidden_ns < dur_ns:
        rest = duration(hidden_ns, unit) if hidden_ns else "none"
        parts.append(f"{rest} if launched in time")
    return " · ".join(parts)


def _holder_text(trace: Trace, found: IdleGaps, gap: int) -> str:
    holder, frame = int(found.holder_id[gap]), int(found.source_id[gap])
    following = displayed_name(trace, int(found.next_slice_id[gap]))
    cause = GapCause(int(found.cause[gap]))
    if holder != NO_ID:
        text = f"held by {trace.name_of(holder)}"
        parent = int(trace.slices.parent_id[holder])
        if int(trace.slices.kind[holder]) == SliceKind.RUNTIME and parent != NO_ID:
            text += f" under {trace.name_of(parent)}"
        elif cause == GapCause.HOST_WAIT:
            text += " itself"
    elif bool(found.is_queued[gap]):
        text = "the work was queued: the device's own time"
    elif cause == GapCause.HOST_WAIT:
        text = "held by nothing that was recorded on the thread that launched"
    else:
        text = "held by nothing that was recorded"
    if frame != NO_ID:
        text += f" in {trace.name_of(frame)}"
    return f"{text} · then {following}"


def _callee(found: IdleGaps, gap: int) -> int:
    """Return the innermost frame, if it is another than the one with file and line."""
    frame = int(found.frame_id[gap])
    return NO_ID if frame == int(found.source_id[gap]) else frame


def gap_details(trace: Trace, device: int, gap: int, unit: TimeUnit = TimeUnit.AUTO) -> list[str]:
    """Return everything about a gap, a line each."""
    found = idle_gaps(trace)[device]
    lines = [
        f"idle time of device {device}",
        f"from       {duration(int(found.start_ns[gap]), unit)}",
        f"length     {duration(int(found.dur_ns[gap]), unit)}",
    ]
    by_cause = found.cause_ns[gap]
    lines += [
        f"  {CAUSE_NAMES[GapCause(cause)]:<16} {duration(int(by_cause[cause]), unit)}"
        for cause in np.argsort(-by_cause, kind="stable").tolist()
        if by_cause[cause]
    ]
    if found.depth_before[gap] != NO_DEPTH:
        lines.append(
            f"queue      {count(int(found.drained_from[gap]))} at most since it was last empty,"
            f" {count(int(found.depth_before[gap]))} at the start"
        )
    for title, slice_id in (
        ("before", int(found.previous_slice_id[gap])),
        ("after", int(found.next_slice_id[gap])),
        ("launch", int(found.launch_id[gap])),
        ("held by", int(found.holder_id[gap])),
        ("in", int(found.source_id[gap])),
        ("calling", _callee(found, gap)),
    ):
        if slice_id != NO_ID:
            lines.append(f"{title:<10} {displayed_name(trace, slice_id)}")
    hidden_ns = int(found.hidden_launch_ns[gap])
    rest = f"it would be {duration(hidden_ns, unit)} long" if hidden_ns else "there would be none"
    lines.append(f"launched in time {rest}")
    return lines
