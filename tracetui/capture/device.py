"""The accelerator of a process, asked in ways that change nothing for whoever uses it.

Imports nothing but the standard library and, once it is loaded, torch: it runs in the user's Python.
A process that has started its accelerator cannot be forked any more, and one whose accelerator was
started before a script chose among several devices would use the wrong one: nothing here starts it.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any, Final

_STARTABLE: Final = ("cuda", "xpu", "mtia", "npu")
"""The kinds that tell whether they were started, as modules of torch."""
_CHOOSERS: Final = (
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
)
"""What a driver reads once, when it is started."""


def used_device() -> str:
    """Return the kind of accelerator that this process has started, or ``cpu``."""
    torch = sys.modules.get("torch")
    for kind in _STARTABLE:
        is_started = getattr(getattr(torch, kind, None), "is_initialized", None)
        if is_started is not None and is_started():
            return kind
    return "cpu"


def recorded_device(asked: str) -> str:
    """Return the kind of device to record: for ``auto`` the accelerator there is, else ``cpu``."""
    if asked != "auto":
        return asked
    torch = sys.modules["torch"]
    accelerator = getattr(torch, "accelerator", None)  # since torch 2.6
    if accelerator is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if not accelerator.is_available():
        return "cpu"
    return str(accelerator.current_accelerator().type)


def is_capturing() -> bool:
    """Return whether a CUDA graph is being captured, when the device must neither be waited for nor timed."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return False
    return bool(cuda.is_current_stream_capturing())


def synchronise() -> None:
    """Wait until the accelerator has done all that it was given; one that was not started has nothing."""
    torch = sys.modules["torch"]
    kind = used_device()
    if kind != "cpu":
        getattr(torch, kind).synchronize()
        return
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None or not accelerator.is_available():
        return
    # A kind that does not tell whether it was started, such as mps.
    if accelerator.current_accelerator().type not in _STARTABLE:
        accelerator.synchronize()


def timing_event() -> Any:
    """Return an event that was put on the accelerator's stream, or nothing where there is none."""
    kind = used_device()
    event_type = (
        None if kind == "cpu" else getattr(getattr(sys.modules["torch"], kind), "Event", None)
    )
    if event_type is None:
        return None
    event = event_type(enable_timing=True)
    event.record()
    return event


def chosen_devices() -> Mapping[str, str | None]:
    """Return what the environment says of the devices to use."""
    return {name: os.environ.get(name) for name in _CHOOSERS}
