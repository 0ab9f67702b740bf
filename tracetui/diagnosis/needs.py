"""What rules need of a recording, and the profiler flag that brings it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import links
from tracetui.analysis.steps import steps
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a recording holds or lacks."""

    what: str
    flag: str
    """What to give the profiler to have it."""
    is_met: Callable[[Trace], bool]


def _has_device_work(trace: Trace) -> bool:
    return links(trace).has_device


def _has_operators(trace: Trace) -> bool:
    return bool((trace.slices.kind == SliceKind.OPERATOR).any())


def _has_shapes(trace: Trace) -> bool:
    return bool((trace.slices.shape_id != NO_ID).any())


def _has_steps(trace: Trace) -> bool:
    return bool(steps(trace))


def _has_launches(trace: Trace) -> bool:
    return bool((links(trace).launch_id != NO_ID).any())


def _tells_generation(trace: Trace) -> bool:
    if any(device.compute_major is not None for device in trace.devices):
        return True
    kernels = np.unique(trace.slices.name_id[trace.slices.kind == SliceKind.KERNEL]).tolist()
    return any(decode(trace.names[each]).arch is not None for each in kernels)


def _has_concrete_inputs(trace: Trace) -> bool:
    # A signature is the text of four lists: shapes, types, values and strides.
    tried = range(min(len(trace.signatures), _N_TRIED))
    return any(json.loads(trace.signatures[each])[2] for each in tried)


def _has_strides(trace: Trace) -> bool:
    tried = range(min(len(trace.signatures), _N_TRIED))
    return any(json.loads(trace.signatures[each])[3] for each in tried)


def _has_grids(trace: Trace) -> bool:
    return any(device.n_sms for device in trace.devices) and any(
        each.grid is not None for each in trace.geometries
    )


_N_TRIED: Final = 100
"""Signatures looked at: a profiler that writes values writes them for every operator."""

DEVICE_WORK: Final = Need("device activity", "ProfilerActivity.CUDA", _has_device_work)
OPERATORS: Final = Need("operators", "ProfilerActivity.CPU", _has_operators)
SHAPES: Final = Need("input shapes", "record_shapes=True", _has_shapes)
STEPS: Final = Need("steps", "schedule=… and prof.step() in the loop", _has_steps)
CONCRETE_INPUTS: Final = Need(
    "concrete inputs", "record_shapes=True, torch 2.1 or newer", _has_concrete_inputs
)
STRIDES: Final = Need("input strides", "record_shapes=True, torch 2.2 or newer", _has_strides)
GRIDS: Final = Need(
    "launch grids and the device's number of processors", "torch 1.9 or newer", _has_grids
)
LAUNCHES: Final = Need("launch calls of device work", "ProfilerActivity.CPU", _has_launches)
GENERATION: Final = Need(
    "generation of the device, in its properties or kernels' names",
    "torch 1.9 or newer",
    _tells_generation,
)
