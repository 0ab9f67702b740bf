"""Time by ``nn.Module``: from the frames that torch writes for module calls, or from annotations.

torch writes the frames with stacks alone; ``tracetui run --modules`` writes annotations of the same
names without them. Where a recording has both, the frames count.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.links import links, nearest
from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.operators import NameStats, stats_by_name
from tracetui.model.arrays import NO_ID, Int32s, frozen, group_sums
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

MODULE_PREFIX: Final = "nn.Module: "
"""How the name of a module's frame starts; the class and a number follow."""


@dataclass(frozen=True, slots=True, eq=False)
class ModuleCalls:
    """The innermost module call around each slice."""

    module_id: Int32s
    """One for each slice: the call of a module that it belongs to, or ``NO_ID``."""
    kind: SliceKind
    """What the calls are: Python frames or annotations."""


@once_per_trace
def module_calls(trace: Trace) -> ModuleCalls:
    """Return the innermost module call around each host slice and each device slice."""
    slices, link = trace.slices, links(trace)
    prefixed = np.array([name.startswith(MODULE_PREFIX) for name in trace.names], bool)
    named = prefixed[slices.name_id] if len(slices) else np.zeros(0, bool)
    framed = bool((named & (slices.kind == SliceKind.PYTHON)).any())
    kind = SliceKind.PYTHON if framed else SliceKind.ANNOTATION
    module_id = nearest(slices.parent_id, named & (slices.kind == kind))
    if framed:
        in_frame = slices.kind[link.anchor_id] == SliceKind.PYTHON
        module_id[link.anchored_id[in_frame]] = module_id[link.anchor_id[in_frame]]
    else:
        device = np.flatnonzero(slices.is_device_work())
        launch, owner = link.launch_id[device], link.owner_id[device]
        source = np.where(launch >= 0, launch, owner)
        module_id[device] = np.where(source >= 0, module_id[source], NO_ID)
    return ModuleCalls(frozen(module_id.astype(np.int32)), kind)


@once_per_trace
def module_stats(trace: Trace) -> NameStats | None:
    """Return the modules by name, ``None`` where the trace has no calls of modules.

    A module's self time is its own less the calls of modules below it, so that operators and
    plain Python count for the module that runs them.
    """
    slices, link = trace.slices, links(trace)
    calls = module_calls(trace)
    module_id = calls.module_id
    n = len(slices)
    rows = np.flatnonzero((module_id == np.arange(n)) & (slices.kind == calls.kind))
    if not len(rows):
        return None
    parent = slices.parent_id[rows]
    outer = np.where(parent >= 0, module_id[parent], NO_ID)
    inner = rows[outer >= 0]
    outer = outer[outer >= 0]

    dur_ns, end_ns = slices.dur_ns, slices.end_ns
    clipped_ns = np.minimum(end_ns[inner], end_ns[outer]) - slices.ts_ns[inner]
    below_ns = group_sums(outer, np.maximum(clipped_ns, 0), n)
    self_ns = np.maximum(dur_ns - below_ns, 0)
    device_self_ns = link.device_total_ns - group_sums(outer, link.device_total_ns[inner], n)
    device = (link.device_total_ns, device_self_ns, link.n_device_total.astype(np.int64))
    return stats_by_name(trace, rows, self_ns, device)
