"""What belongs to a slice along the link of operator, launch and device work, in few words."""

from typing import Final

from tracetui.analysis.links import Links
from tracetui.format import TimeUnit, count, duration
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

MAX_LINKED: Final = 256
"""An operator may own more kernels than are worth marking."""


def linked_ids(trace: Trace, links: Links, slice_id: int) -> list[int]:
    """Return what a slice launched, or was launched by; none for ``NO_ID``."""
    if slice_id == NO_ID:
        return []
    slices = trace.slices
    if bool(slices.is_device_work()[slice_id]):
        found = (links.launch_id[slice_id], links.owner_id[slice_id])
        return [int(each) for each in found if each != NO_ID]
    is_call = int(slices.kind[slice_id]) == SliceKind.RUNTIME
    ids = links.launched_by(slice_id) if is_call else links.device_slices_of(slice_id)
    return [int(each) for each in ids[:MAX_LINKED]]


def link_texts(
    trace: Trace, links: Links, slice_id: int, unit: TimeUnit = TimeUnit.AUTO
) -> list[str]:
    """Return who launched a piece of device work and how long it was queued, or what is below."""
    if slice_id == NO_ID:
        return []
    slices = trace.slices
    if not bool(slices.is_device_work()[slice_id]):
        n_owned = int(links.n_device_total[slice_id])
        if not n_owned:
            return []
        owned_ns = int(links.device_total_ns[slice_id])
        return [f"device work below: {count(n_owned)}, {duration(owned_ns, unit)}"]
    launch, owner = int(links.launch_id[slice_id]), int(links.owner_id[slice_id])
    if launch == NO_ID:
        return [f"launched by {trace.name_of(owner)}"] if owner != NO_ID else []
    texts = [
        f"launched by {trace.name_of(owner if owner != NO_ID else launch)}",
        f"launch {duration(int(slices.dur_ns[launch]), unit)}",
    ]
    queued_ns = int(slices.ts_ns[slice_id] - slices.ts_ns[launch] - slices.dur_ns[launch])
    if queued_ns >= 0:
        texts.append(f"queued {duration(queued_ns, unit)}")
    return texts
