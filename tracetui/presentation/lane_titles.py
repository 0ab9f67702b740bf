"""What the rows of the timeline are called."""

from typing import Final

import numpy as np

from tracetui.model.tracks import Track, TrackKind
from tracetui.presentation.timeline import HUE_NAMES, Lane

_PREFIXES: Final = {
    TrackKind.PYTHON: "py ",
    TrackKind.SYNC: "sync ",
    TrackKind.DEVICE_ANNOTATION: "steps ",
    TrackKind.OVERHEAD: "overhead ",
    TrackKind.PROFILER: "profiler ",
}


def lane_title(track: Track, lane: Lane, n_levels: int) -> str:
    """Return the title of one row of a track.

    Args:
        track: The track.
        lane: The row: a level of its nesting, or the track folded into one.
        n_levels: How many levels the track has.
    """
    if lane.level and not lane.is_union:
        hue = int(np.bincount(lane.hues).argmax()) if len(lane.hues) else 0
        return f"  {HUE_NAMES[hue]}"
    mark = "▸" if lane.is_union else "▾" if n_levels > 1 else " "
    return f"{mark}{_PREFIXES.get(track.kind, '')}{track.title}"
