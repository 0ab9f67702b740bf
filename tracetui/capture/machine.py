"""The device that is used, and what is noted of the machine. Imports torch."""

import contextlib
import gc
import os
from typing import Any, Final

import torch

from tracetui.capture.device import synchronise
from tracetui.capture.environment import (
    commit,
    driver_state,
    noted_variables,
    processor_name,
    versions,
)
from tracetui.capture.reasons import reason
from tracetui.errors import CaptureError

_TOLD: Final = {
    "clock_rate": "sm_clock_mhz",
    "temperature": "temperature_c",
    "power_draw": "power_w",
}
"""What torch asks AMD's library, and how it is called here."""


class DeviceLostError(Exception):
    """The device answers this process no more, as after an illegal access to its memory."""


class Machine:
    """The device that is used, and what is noted of it. Imports torch."""

    def __init__(self, asked: str) -> None:
        self.device = self._device(asked)
        self.kind: str = self.device.type
        if self.kind != "cpu":
            self._set_current()

    @staticmethod
    def _device(asked: str) -> Any:
        accelerator = getattr(torch, "accelerator", None)
        if asked == "auto":
            if accelerator is not None and accelerator.is_available():
                return accelerator.current_accelerator()
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.device(asked)
            torch.empty(1, device=device)
        except Exception as error:
            raise CaptureError(f"--device {asked}: {reason(error)}") from error
        return device

    def _set_current(self) -> None:
        module = torch.get_device_module(self.device)
        if self.device.index is not None and hasattr(module, "set_device"):
            module.set_device(self.device.index)

    def members(self) -> dict[str, Any]:
        """Return what is kept of the machine with each trace."""
        host = {
            "name": processor_name(),
            "threads": torch.get_num_threads(),
            "processors": os.cpu_count(),
        }
        device: dict[str, Any] = {"kind": self.kind, "name": host["name"], "count": 1}
        if self.kind != "cpu":
            device |= self._device_members()
        return {
            "device": device,
            "host": host,
            "versions": versions(),
            "torch_git": getattr(torch.version, "git_version", None),
            "cuda": torch.version.cuda,
            "hip": getattr(torch.version, "hip", None),
            "environment": noted_variables(),
            "repository": commit(),
        }

    def _device_members(self) -> dict[str, Any]:
        module = torch.get_device_module(self.device)
        found: dict[str, Any] = {"name": None, "count": None}
        if hasattr(module, "get_device_name"):
            found["name"] = module.get_device_name(self.device)
        if hasattr(module, "device_count"):
            found["count"] = module.device_count()
        if self.kind == "cuda":
            properties = module.get_device_properties(self.device)
            # By its own id: CUDA_VISIBLE_DEVICES numbers devices anew, the driver does not.
            unique = getattr(properties, "uuid", None)
            found["state"] = driver_state(f"GPU-{unique}" if unique else "0") or _told_state(module)
        return found

    def check(self, why: str) -> None:
        """See that the device still answers after something went wrong.

        Raises:
            DeviceLostError: It does not; ``why`` is what went wrong.
        """
        try:
            synchronise()
        except Exception as error:
            raise DeviceLostError(why) from error

    def release(self) -> None:
        """Give back the device memory that nothing uses any more."""
        gc.collect()
        if self.kind != "cpu":
            module = torch.get_device_module(self.device)
            if hasattr(module, "empty_cache"):
                module.empty_cache()


def _told_state(module: Any) -> dict[str, str] | None:
    """Return clock, temperature and power of an AMD device where its library is installed."""
    if getattr(torch.version, "hip", None) is None:
        return None
    found = {}
    for name, shown in _TOLD.items():
        # The library may be missing, and not every device tells everything.
        with contextlib.suppress(Exception):
            found[shown] = str(getattr(module, name)())
    return found or None
