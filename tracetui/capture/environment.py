"""What the process needs before torch starts, and what must not leave the machine."""

import os
from typing import Any, Final

_BEFORE_TORCH: Final = {
    # Without it the kernels of Inductor's C++ backend leave no event: a hole in the compiled graph.
    "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1",
    # Kineto writes a line of its own for each start and stop of the profiler.
    "KINETO_LOG_LEVEL": "6",
}
_PRIVATE: Final = ("host_name", "traceName", "trace_id")


def prepare_environment() -> None:
    """Set what torch reads when it is imported; what the user has set already stands."""
    for name, value in _BEFORE_TORCH.items():
        os.environ.setdefault(name, value)


def without_machine(document: dict[str, Any]) -> dict[str, Any]:
    """Return a trace document without the members that name the machine or its folders."""
    return {name: value for name, value in document.items() if name not in _PRIVATE}
