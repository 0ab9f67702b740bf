"""The ways to leave a process at once, past everything that waits for its end."""

import functools
import os
from collections.abc import Callable
from typing import Any


def watch_exits(leaving: Callable[[str | None], None]) -> None:
    """Call back before the process ends at once, or with the program that it is about to become.

    Every function of ``os`` that leaves does so through one of these three.
    """

    def wrap(name: str, target: Callable[..., str | None]) -> None:
        original = getattr(os, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            leaving(target(*args, **kwargs))
            return original(*args, **kwargs)

        setattr(os, name, wrapped)

    def program(path: Any, *_: Any, **__: Any) -> str:
        return str(path) if isinstance(path, int) else os.fsdecode(path)

    wrap("_exit", lambda *_, **__: None)
    wrap("execv", program)
    wrap("execve", program)
