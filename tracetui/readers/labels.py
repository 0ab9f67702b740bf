"""What an event is, by its phase, category, name and thread: found out once for many events."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np

from tracetui.model.arrays import Int64s
from tracetui.model.builder import EventKey, TraceBuilder
from tracetui.model.categories import kind_of_category
from tracetui.readers.decode import Event, layout_of

NO_NAME: Final = "(no name)"


class Role(IntEnum):
    """What becomes of an event."""

    SLICE = 0
    ARROW_START = 1
    ARROW_END = 2
    ARROW_STEP = 3
    OTHER = 4


_ROLES: Final = {
    "X": Role.SLICE,
    "s": Role.ARROW_START,
    "f": Role.ARROW_END,
    "t": Role.ARROW_STEP,
}
_ROLE_BITS: Final = 3
_LAYOUT_BITS: Final = 2


def line_id(value: object) -> str:
    """Return a process or thread id as text; 4100, 4100.0 and "4100" are one."""
    if type(value) is str:
        return value.strip()
    if type(value) is int:
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def event_key(
    category: object, name: object, pid: object, tid: object, *, is_async: bool = False
) -> EventKey:
    """Return what an event shares with others, whatever the file wrote there."""
    return EventKey(
        category if isinstance(category, str) else "",
        name if isinstance(name, str) and name else NO_NAME,
        line_id(pid),
        line_id(tid),
        is_async,
    )


class Labels(dict[tuple[Any, ...], int]):
    """A number for each phase, category, name, process and thread; new ones are made on the way.

    It holds a key of the builder, the layout of the arguments and the role. What is no slice and no
    arrow has role alone.
    """

    def __init__(self, builder: TraceBuilder) -> None:
        """Begin with none; keys come from ``builder``."""
        self._builder = builder

    def __missing__(self, described: tuple[Any, ...]) -> int:
        label = self[described] = self._new(described)
        return label

    def _new(self, described: tuple[Any, ...]) -> int:
        phase, category, name, pid, tid = described
        role = _ROLES.get(phase, Role.OTHER) if isinstance(phase, str) else Role.OTHER
        if role is Role.OTHER:
            return int(role)
        key = event_key(category, name, pid, tid)
        layout = layout_of(kind_of_category(key.category))
        return (self._builder.key(key) << _LAYOUT_BITS | layout) << _ROLE_BITS | role

    def column(self, events: Sequence[Event]) -> Int64s:
        """Return the labels of events."""
        try:
            labels = [self[e.ph, e.cat, e.name, e.pid, e.tid] for e in events]
        except TypeError:  # a list or an object where a text belongs
            labels = [self._new((e.ph, e.cat, e.name, e.pid, e.tid)) for e in events]
        return np.fromiter(labels, np.int64, len(labels))


def roles(labels: Int64s) -> Int64s:
    """Return what becomes of each."""
    return labels & ((1 << _ROLE_BITS) - 1)


def layouts(labels: Int64s) -> Int64s:
    """Return each one's layout, as a place in ``LAYOUTS``."""
    return labels >> _ROLE_BITS & ((1 << _LAYOUT_BITS) - 1)


def keys(labels: Int64s) -> Int64s:
    """Return each one's key of the builder."""
    return labels >> (_ROLE_BITS + _LAYOUT_BITS)
