"""What a recording lacks, what that switches off, and how to have it next time."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.steps import steps
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_LAUNCH_WORDS: Final = ("LaunchKernel", "GraphLaunch", "LaunchCooperativeKernel")


@dataclass(frozen=True, slots=True)
class MissingInput:
    """Something the recording lacks."""

    what: str
    disables: tuple[str, ...]
    flag: str
    """What to give the profiler to have it."""


def _has_kind(trace: Trace, *kinds: SliceKind) -> bool:
    return bool(np.isin(trace.slices.kind, np.array(kinds, dtype=np.int8)).any())


def n_launches(trace: Trace) -> int:
    """Return how many calls launch a kernel or a graph."""
    names = [
        name_id
        for name_id, name in enumerate(trace.names)
        if any(word in name for word in _LAUNCH_WORDS)
    ]
    is_runtime = trace.slices.kind == SliceKind.RUNTIME
    return int((np.isin(trace.slices.name_id, names) & is_runtime).sum())


def missing_inputs(trace: Trace) -> tuple[MissingInput, ...]:
    """Return what the recording lacks, what that switches off and the profiler flag to have it."""
    missing = []
    has_operators = _has_kind(trace, SliceKind.OPERATOR)
    if not has_operators:
        missing.append(
            MissingInput("operators", ("operator table", "call tree"), "ProfilerActivity.CPU")
        )
    if not bool(trace.slices.is_device_work().any()):
        missing.append(
            MissingInput(
                "device activity",
                ("kernels", "device time", "utilization"),
                "ProfilerActivity.CUDA",
            )
        )
    if has_operators and not bool((trace.slices.shape_id >= 0).any()):
        missing.append(
            MissingInput("input shapes", ("grouping by shape", "FLOP"), "record_shapes=True")
        )
    if not _has_kind(trace, SliceKind.PYTHON):
        missing.append(MissingInput("stacks", ("Python frames",), "with_stack=True"))
    if not len(trace.memory):
        missing.append(
            MissingInput("memory", ("memory by operator", "peak memory"), "profile_memory=True")
        )
    if not steps(trace):
        missing.append(
            MissingInput("steps", ("times per step",), "schedule=… and prof.step() in the loop")
        )
    return tuple(missing)
