"""A slice's arguments, fetched when somebody looks."""

from collections.abc import Mapping
from typing import Any, Protocol


class ArgumentSource(Protocol):
    """Gives back one event of the file as it stood there."""

    def event(self, event_id: int) -> Mapping[str, Any] | None:
        """Return the whole record of one event, or ``None`` if the file is gone or has changed."""
        ...


class NoArguments:
    """The source of a trace that was made in memory."""

    def event(self, event_id: int) -> Mapping[str, Any] | None:
        """Return ``None``: there is no file to look into."""
        del event_id
        return None
