"""The slices that a name in an expectation means."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from tracetui.diagnosis.expressions import ExpectationError, near, shown
from tracetui.model.arrays import Bools, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.model.tracks import TrackKind

_HOST_KINDS: Final = (
    SliceKind.ANNOTATION,
    SliceKind.OPERATOR,
    SliceKind.RUNTIME,
    SliceKind.PYTHON,
    SliceKind.OTHER,
)
_DEVICE_KINDS: Final = (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)


@dataclass(frozen=True, slots=True, eq=False)
class NamedSlices:
    """All slices of one kind whose name fits, ascending."""

    kind: SliceKind
    slice_ids: Int64s

    @property
    def is_device_work(self) -> bool:
        """Return whether these run on a device."""
        return self.kind in _DEVICE_KINDS


def named_slices(trace: Trace, name: str) -> NamedSlices | None:
    """Return the slices that a name means, or ``None`` if there is none.

    An annotation comes before an operator, a runtime call, a Python frame and device work of the
    same name; ``*`` and ``?`` stand for any letters and one letter where no slice is named so.
    """
    name_ids = [name_id for name_id, text in enumerate(trace.names) if text == name]
    if not name_ids and any(letter in name for letter in "*?["):
        name_ids = [i for i, text in enumerate(trace.names) if fnmatchcase(text, name)]
    if not name_ids:
        return None
    slices = trace.slices
    is_named = np.isin(slices.name_id, name_ids)
    for kind in (*_HOST_KINDS, *_DEVICE_KINDS):
        rows = np.flatnonzero(is_named & (slices.kind == kind))
        if kind == SliceKind.ANNOTATION:
            rows = rows[_is_host(trace, rows)]
        if len(rows):
            return NamedSlices(kind, rows)
    return None


def required_slices(trace: Trace, name: str) -> NamedSlices:
    """Return the slices that a name means.

    Raises:
        ExpectationError: If the trace has none; the message lists names that come near.
    """
    found = named_slices(trace, name)
    if found is None:
        raise ExpectationError(
            f"{trace.origin.path}: no slice is named {shown(name)!r}"
            f"{near(name, known_names(trace))}"
        )
    return found


def known_names(trace: Trace) -> tuple[str, ...]:
    """Return the names of annotations, operators, calls and device work, in this order."""
    slices = trace.slices
    kinds = (*_HOST_KINDS[:3], *_DEVICE_KINDS)
    ids = [np.unique(slices.name_id[slices.kind == kind]).tolist() for kind in kinds]
    return tuple(dict.fromkeys(trace.names[name_id] for own in ids for name_id in own))


def _is_host(trace: Trace, rows: Int64s) -> Bools:
    of_track = np.array([track.kind == TrackKind.HOST for track in trace.tracks], bool)
    return of_track[trace.slices.track_id[rows]]
