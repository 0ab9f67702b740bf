"""Which hue each slice has on the timeline, and the codes that cells are drawn in."""

from typing import Final

import numpy as np

from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.model.arrays import Int8s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_FIRST_HOST_HUE: Final = len(WorkClass)
HUE_NAMES: Final = (
    *(work.name.lower() for work in WorkClass),
    "operator",
    "annotation",
    "runtime",
    "python",
    "waiting",
    "profiler",
    "host",
)
"""What each hue stands for: the classes of device work, then the kinds of the rest."""
HUE_LETTERS: Final = "GANPRTCXOoacyw%h"
"""One letter for each hue, for terminals without colours."""
HUE_OF_KIND: Final = {
    SliceKind.OPERATOR: _FIRST_HOST_HUE,
    SliceKind.ANNOTATION: _FIRST_HOST_HUE + 1,
    SliceKind.DEVICE_ANNOTATION: _FIRST_HOST_HUE + 1,
    SliceKind.RUNTIME: _FIRST_HOST_HUE + 2,
    SliceKind.PYTHON: _FIRST_HOST_HUE + 3,
    SliceKind.SYNC: _FIRST_HOST_HUE + 4,
    SliceKind.OVERHEAD: _FIRST_HOST_HUE + 5,
    SliceKind.PROFILER: _FIRST_HOST_HUE + 5,
    SliceKind.ASYNC: _FIRST_HOST_HUE + 6,
    SliceKind.OTHER: _FIRST_HOST_HUE + 6,
}

NO_COLOUR_CODE: Final = 0
SELECTED_CODE: Final = 1
LINKED_CODE: Final = 2
INK_CODE: Final = 3
"""Text upon a coloured run."""
FIRST_HUE_CODE: Final = 4
"""A hue's codes are ``FIRST_HUE_CODE + 2 * hue`` and, for every other slice, the one after it."""
DIM_CODE: Final = FIRST_HUE_CODE + 2 * len(HUE_NAMES)
"""Added to a hue's code for slices that a filter does not keep."""


def slice_hues(trace: Trace) -> Int8s:
    """Return the hue of each slice: its class of device work, else its kind."""
    table = np.full(len(SliceKind), HUE_OF_KIND[SliceKind.OTHER], np.int8)
    for kind, hue in HUE_OF_KIND.items():
        table[kind] = hue
    hues: Int8s = table[trace.slices.kind]
    device = trace.slices.is_device_work()
    hues[device] = slice_classes(trace)[device]
    return hues
