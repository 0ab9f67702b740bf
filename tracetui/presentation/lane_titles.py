"""What the rows of the timeline are called."""

import re
from typing import Final

import numpy as np

from tracetui.model.tracks import Track, TrackKind
from tracetui.presentation.hues import HUE_NAMES
from tracetui.presentation.lanes import Lane
from tracetui.presentation.table import cell_width, shortened

_PREFIXES: Final = {
    TrackKind.PYTHON: "py ",
    TrackKind.SYNC: "sync ",
    TrackKind.DEVICE_ANNOTATION: "steps ",
    TrackKind.OVERHEAD: "overhead ",
    TrackKind.PROFILER: "profiler ",
}
_REMARK: Final = re.compile(r"\s*\([^()]*\)$")
_THREAD: Final = "thread "
_WIDE: Final = 1_000


def lane_title(track: Track, lane: Lane, n_levels: int, width: int = _WIDE) -> str:
    """Return the title of one row of a track.

    Where there is no room for all of it, what tells it from others stays: the number of a thread
    or stream.

    Args:
        track: The track.
        lane: The row: a level of its nesting, or the track folded into one.
        n_levels: How many levels the track has.
        width: How many cells there are.
    """
    if lane.level and not lane.is_union:
        hue = int(np.bincount(lane.hues).argmax()) if len(lane.hues) else 0
        return f"  {HUE_NAMES[hue]}"
    mark = "▸" if lane.is_union else "▾" if n_levels > 1 else " "
    forms = [f"{mark}{form}" for form in _forms(track)]
    fitting = (form for form in forms if cell_width(form) <= width)
    return next(fitting, shortened(forms[-1], width))


def _forms(track: Track) -> list[str]:
    """Return ways to write a title, the longest first."""
    prefix, title = _PREFIXES.get(track.kind, ""), track.title
    whole = f"{prefix}{title}"
    if track.kind in (TrackKind.OVERHEAD, TrackKind.PROFILER):
        return [whole, prefix.rstrip()]
    if track.device >= 0:
        short = title.replace("stream ", "s")
        return [whole, f"{prefix}{short}", f"{prefix}{short.removeprefix('GPU ')}"]
    bare = _REMARK.sub("", title)
    if track.tid in bare:
        return [whole, f"{prefix}{bare}", f"{prefix}{bare.removeprefix(_THREAD)}"]
    bare = _REMARK.sub("", bare)
    numbered = f"{prefix}{bare} ({track.tid})"
    return [whole, numbered, f"{prefix}{bare}"] if bare.startswith(_THREAD) else [whole, numbered]
