"""From a file's category to what a slice is; the one place that knows the producers' words."""

import re
from typing import Final

from tracetui.model.slices import SliceKind
from tracetui.model.tracks import TrackKind

_KIND_OF_CATEGORY: Final = {
    "cpu_op": SliceKind.OPERATOR,
    "operator": SliceKind.OPERATOR,
    "user_annotation": SliceKind.ANNOTATION,
    "python_function": SliceKind.PYTHON,
    "python": SliceKind.PYTHON,
    "runtime": SliceKind.RUNTIME,
    "driver": SliceKind.RUNTIME,
    "kernel": SliceKind.KERNEL,
    "gpu_memcpy": SliceKind.MEMCPY,
    "memcpy": SliceKind.MEMCPY,
    "gpu_memset": SliceKind.MEMSET,
    "memset": SliceKind.MEMSET,
    "gpu_user_annotation": SliceKind.DEVICE_ANNOTATION,
    "cuda_sync": SliceKind.SYNC,
    "overhead": SliceKind.OVERHEAD,
    "trace": SliceKind.PROFILER,
}

_TRACK_OF_KIND: Final = {
    SliceKind.OPERATOR: TrackKind.HOST,
    SliceKind.ANNOTATION: TrackKind.HOST,
    SliceKind.RUNTIME: TrackKind.HOST,
    SliceKind.PYTHON: TrackKind.PYTHON,
    SliceKind.KERNEL: TrackKind.DEVICE,
    SliceKind.MEMCPY: TrackKind.DEVICE,
    SliceKind.MEMSET: TrackKind.DEVICE,
    SliceKind.DEVICE_ANNOTATION: TrackKind.DEVICE_ANNOTATION,
    SliceKind.SYNC: TrackKind.SYNC,
    SliceKind.OVERHEAD: TrackKind.OVERHEAD,
    SliceKind.PROFILER: TrackKind.PROFILER,
    SliceKind.ASYNC: TrackKind.ASYNC,
    SliceKind.OTHER: TrackKind.OTHER,
}

_NUMBER: Final = re.compile(r"-?\d+")
_MAX_DIGITS: Final = 20
_NO_STREAM: Final = (2**32 - 1, 2**64 - 1)


def kind_of_category(category: str) -> SliceKind:
    """Return what a complete event of this category is; the process never decides."""
    word = category.lower()
    kind = _KIND_OF_CATEGORY.get(word)
    if kind is not None:
        return kind
    if word.endswith(("_runtime", "_driver")):
        return SliceKind.RUNTIME
    return SliceKind.OTHER


def track_of_kind(kind: SliceKind) -> TrackKind:
    """Return which kind of track slices of ``kind`` lie on."""
    return _TRACK_OF_KIND[kind]


def number_in(text: str) -> int:
    """Return the first whole number of a process or thread id, or -1; "stream 7" gives 7.

    A number too long for 64 bits numbers nothing.
    """
    match = _NUMBER.search(text)
    number = int(match.group()) if match and len(match.group()) <= _MAX_DIGITS else -1
    return -1 if number < 0 or number >= 2**63 or number in _NO_STREAM else number
