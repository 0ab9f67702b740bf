"""From one slice to the next along the link of operator, launch and kernel."""

from collections.abc import Sequence

import numpy as np

from tracetui.analysis.links import links
from tracetui.analysis.steps import Step
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.presentation.viewport import Viewport


def _earliest(trace: Trace, slice_ids: list[int]) -> int:
    return min(slice_ids, key=lambda each: int(trace.slices.ts_ns[each]), default=NO_ID)


def _next_on_track(trace: Trace, slice_id: int) -> int:
    slices = trace.slices
    following = slice_id + 1
    is_same = following < len(slices) and slices.track_id[following] == slices.track_id[slice_id]
    return following if is_same else NO_ID


def follow(trace: Trace, slice_id: int) -> int:
    """Return where the link leads: operator, its launch, the kernel, the stream's next kernel.

    ``NO_ID`` where it ends.
    """
    if not 0 <= slice_id < len(trace.slices):
        return NO_ID
    linked = links(trace)
    kind = int(trace.slices.kind[slice_id])
    if trace.slices.is_device_work()[slice_id]:
        return _next_on_track(trace, slice_id)
    if kind == SliceKind.RUNTIME:
        return _earliest(trace, [int(each) for each in linked.launched_by(slice_id)])
    if kind in (SliceKind.OPERATOR, SliceKind.ANNOTATION):
        first = _earliest(trace, [int(each) for each in linked.device_slices_of(slice_id)])
        if first == NO_ID:
            return NO_ID
        launch = int(linked.launch_id[first])
        return first if launch == NO_ID else launch
    return NO_ID


def follow_back(trace: Trace, slice_id: int) -> int:
    """Return where the link comes from: kernel, its launch, the operator, what encloses it."""
    if not 0 <= slice_id < len(trace.slices):
        return NO_ID
    linked = links(trace)
    if trace.slices.is_device_work()[slice_id]:
        launch = int(linked.launch_id[slice_id])
        return int(linked.owner_id[slice_id]) if launch == NO_ID else launch
    if int(trace.slices.kind[slice_id]) == SliceKind.RUNTIME:
        operator = int(linked.operator_id[slice_id])
        if operator != NO_ID:
            return operator
    return int(trace.slices.parent_id[slice_id])


def found_slices(trace: Trace, pattern: str) -> Int64s:
    """Return the slices whose name contains ``pattern``; none for an empty one.

    Case counts only where the pattern has a capital letter.
    """
    is_exact = pattern != pattern.lower()
    names = [
        name_id
        for name_id, name in enumerate(trace.names)
        if pattern and pattern in (name if is_exact else name.lower())
    ]
    found: Int64s = np.flatnonzero(np.isin(trace.slices.name_id, names))
    return found


def find_slice(trace: Trace, pattern: str, start: int, *, forward: bool = True) -> int:
    """Return the next slice in time whose name contains ``pattern``, or ``NO_ID``.

    Case counts only where the pattern has a capital letter; the search wraps around.
    """
    matches = found_slices(trace, pattern)
    if not pattern or not len(matches):
        return NO_ID
    order = matches[np.lexsort((matches, trace.slices.ts_ns[matches]))]
    times = trace.slices.ts_ns[order]
    if not 0 <= start < len(trace.slices):
        return int(order[0] if forward else order[-1])
    start_ns = int(trace.slices.ts_ns[start])
    is_after = (times > start_ns) | ((times == start_ns) & (order > start))
    is_before = (times < start_ns) | ((times == start_ns) & (order < start))
    if forward:
        after = np.flatnonzero(is_after)
        return int(order[after[0]] if len(after) else order[0])
    before = np.flatnonzero(is_before)
    return int(order[before[-1]] if len(before) else order[-1])


def next_step(found: Sequence[Step], viewport: Viewport, at_ns: int, direction: int) -> Step:
    """Return the step to show next: the neighbour of the one in sight, else the next from here.

    Args:
        found: The steps, at least one, in time order.
        viewport: What is in sight.
        at_ns: Where the cursor is, which counts where no step fills the middle of the view.
        direction: 1 for the next, -1 for the previous.
    """
    middle_ns = (viewport.start_ns + viewport.end_ns) // 2
    inside = [i for i, step in enumerate(found) if step.start_ns <= middle_ns < step.end_ns]
    if inside and not viewport.is_whole:
        return found[min(max(inside[0] + direction, 0), len(found) - 1)]
    if direction > 0:
        return next((step for step in found if step.start_ns >= at_ns), found[-1])
    earlier = [step for step in found if step.end_ns <= at_ns]
    return earlier[-1] if earlier else found[0]
