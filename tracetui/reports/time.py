"""A time on its way out of a report, and the row it stands in."""

from typing import Any

from tracetui.format import microseconds

Row = dict[str, Any]
"""One row: text, numbers, ``Time``, ``None`` where nothing was measured."""


class Time:
    """A time on its way out: integer nanoseconds, written as microseconds."""

    __slots__ = ("ns",)

    def __init__(self, ns: int) -> None:
        self.ns = ns

    def __str__(self) -> str:
        return microseconds(self.ns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and other.ns == self.ns

    def __hash__(self) -> int:
        return hash(self.ns)

    def __repr__(self) -> str:
        return f"Time({self.ns})"
