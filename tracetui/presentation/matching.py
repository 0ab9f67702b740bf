"""Which slices of the timeline pass the filter: found once, then cut into cells like lanes."""

from dataclasses import dataclass

import numpy as np

from tracetui.format import count
from tracetui.model.arrays import NO_ID, Bools
from tracetui.model.trace import Trace
from tracetui.presentation.hues import slice_hues
from tracetui.presentation.lanes import Lane, LaneIndex, folded_lane, lane_part
from tracetui.presentation.query import parse_query


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """What a filter keeps of a trace, lane by lane."""

    filter_text: str
    is_kept: Bools
    """Whether each slice passes."""
    n_kept: int
    lanes: tuple[Lane, ...]
    """What passes of each lane of the index."""
    folded: dict[int, Lane]
    """What passes of each track when folded into one row."""
    index: LaneIndex

    @property
    def text(self) -> str:
        """Return how many slices pass."""
        n_all = len(self.is_kept)
        return f"{count(self.n_kept)} of {count(n_all)} slice{'' if n_all == 1 else 's'} match"

    def of(self, lane: Lane) -> Lane:
        """Return what passes of a lane."""
        if lane.is_union:
            return self.folded[lane.track_id]
        return self.lanes[int(self.index.lane_of[lane.slice_ids[0]])]

    def neighbour(self, lane: Lane, slice_id: int, at_ns: int, direction: int) -> int:
        """Return the nearest slice of a lane that passes, before or after another one.

        Args:
            lane: Where to look.
            slice_id: The slice to start from; ``NO_ID``, or one of another lane, starts from
                ``at_ns``.
            at_ns: Where the cursor is.
            direction: 1 for the next, -1 for the previous.

        Returns:
            The slice; ``NO_ID`` where none passes on that side.
        """
        kept = self.of(lane)
        is_from_slice = slice_id != NO_ID and lane.row_of(slice_id) != NO_ID
        places = kept.slice_ids if is_from_slice else kept.spans.starts
        start = slice_id if is_from_slice else at_ns
        # From a slice to the one before or after it; from a moment the one that begins there counts.
        is_after = (direction > 0) == is_from_slice
        row = int(np.searchsorted(places, start, side="right" if is_after else "left"))
        row -= direction < 0
        return int(kept.slice_ids[row]) if 0 <= row < len(kept.slice_ids) else NO_ID

    def reason(self, lane: Lane, direction: int) -> str:
        """Return why there is no such neighbour."""
        if not len(self.of(lane).slice_ids):
            return "nothing in this lane passes the filter; j k go to others"
        side = "after" if direction > 0 else "before"
        return f"nothing further {side} this in the lane passes the filter"


def matches(trace: Trace, index: LaneIndex, filter_text: str) -> Matches:
    """Return what a filter keeps; slow on a large trace, so not on the screen's thread.

    Raises:
        UsageError: If the filter cannot be understood.
    """
    is_kept = parse_query(filter_text).slice_mask(trace)
    lanes = tuple(lane_part(lane, is_kept[lane.slice_ids]) for lane in index.lanes)
    hues = slice_hues(trace)
    folded = {}
    for track_id in (each for each, lane in index.folded.items() if lane.is_union):
        low, high = np.searchsorted(trace.slices.track_id, (track_id, track_id + 1)).tolist()
        kept = low + np.flatnonzero(is_kept[low:high]).astype(np.int32)
        folded[track_id] = folded_lane(track_id, kept, trace, hues)
    return Matches(filter_text, is_kept, int(is_kept.sum()), lanes, folded, index)
