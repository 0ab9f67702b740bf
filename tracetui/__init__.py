"""Explore PyTorch profiler traces in the terminal.

For people's own code: ``tracetui.record`` and ``tracetui.step`` record it, ``tracetui.open`` reads
a trace. They are looked up when first used, so that the import costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tracetui.capture.api import record, step
    from tracetui.readers import read_trace as open  # noqa: A004  tracetui.open(path)

__all__ = ["open", "record", "step"]

_HOMES: Final = {
    "open": ("tracetui.readers", "read_trace"),
    "record": ("tracetui.capture.api", "record"),
    "step": ("tracetui.capture.api", "step"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
