"""What rules need of a recording, and the profiler flag that brings it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

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


def _names_devices(trace: Trace) -> bool:
    majors = [device.compute_major for device in trace.devices]
    return bool(np.any([major is not None for major in majors]))


DEVICE_WORK: Final = Need("device activity", "ProfilerActivity.CUDA", _has_device_work)
OPERATORS: Final = Need("operators", "ProfilerActivity.CPU", _has_operators)
SHAPES: Final = Need("input shapes", "record_shapes=True", _has_shapes)
STEPS: Final = Need("steps", "schedule=… and prof.step() in the loop", _has_steps)
LAUNCHES: Final = Need("launch calls of device work", "ProfilerActivity.CPU", _has_launches)
DEVICE_PROPERTIES: Final = Need(
    "the device's properties", "export_chrome_trace of torch 2.0 or newer", _names_devices
)
