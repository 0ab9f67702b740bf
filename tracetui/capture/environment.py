"""What the process needs before torch starts, what is noted of the machine, and what is not."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any, Final

_BEFORE_TORCH: Final = {
    # Without it the kernels of Inductor's C++ backend leave no event: a hole in the compiled graph.
    "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1",
    # Kineto writes a line of its own for each start and stop of the profiler.
    "KINETO_LOG_LEVEL": "6",
}
_PRIVATE: Final = ("host_name", "traceName", "trace_id")
_PACKAGES: Final = ("torch", "triton", "numpy", "liger-kernel", "flash-attn", "kernels", "tracetui")
_NOTED: Final = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "HIP_VISIBLE_DEVICES",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE",
    "TORCHINDUCTOR_FREEZING",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCHDYNAMO_DISABLE",
    "TRITON_INTERPRET",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "KINETO_LOG_LEVEL",
)
"""What changes how fast things run; nothing else of the environment leaves the process."""
_DRIVER_FIELDS: Final = {
    "driver_version": "driver",
    "clocks.sm": "sm_clock_mhz",
    "clocks.mem": "memory_clock_mhz",
    "temperature.gpu": "temperature_c",
    "power.draw": "power_w",
    "power.limit": "power_limit_w",
}
_PATIENCE_S: Final = 5


def prepare_environment() -> None:
    """Set what torch reads when it is imported; what the user has set already stands."""
    for name, value in _BEFORE_TORCH.items():
        os.environ.setdefault(name, value)


def without_machine(document: dict[str, Any]) -> dict[str, Any]:
    """Return a trace document without the members that name the machine or its folders."""
    return {name: value for name, value in document.items() if name not in _PRIVATE}


def versions() -> dict[str, str | None]:
    """Return the versions of what takes part; none where it is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def noted_variables() -> dict[str, str]:
    """Return those environment variables that change how fast things run."""
    return {name: os.environ[name] for name in _NOTED if name in os.environ}


def _output(*command: str) -> str | None:
    """Return what a program prints, or none if it is missing, fails or takes too long."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def driver_state(device: str = "0") -> dict[str, str] | None:
    """Return driver, clocks, temperature and power of an NVIDIA device, if its tool tells them.

    Args:
        device: Its number or its unique id, as ``nvidia-smi --id`` takes it.
    """
    fields = ",".join(_DRIVER_FIELDS)
    text = _output(
        "nvidia-smi", f"--id={device}", f"--query-gpu={fields}", "--format=csv,noheader,nounits"
    )
    if not text:
        return None
    values = [value.strip() for value in text.splitlines()[0].split(",")]
    return dict(zip(_DRIVER_FIELDS.values(), values, strict=False))


def processor_name() -> str:
    """Return the name of the host's processor as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> dict[str, Any] | None:
    """Return the commit of the repository that the capture runs in, or none outside of one."""
    found = _output("git", "rev-parse", "HEAD")
    if not found:
        return None
    return {"commit": found, "is_dirty": bool(_output("git", "status", "--porcelain", "-uno"))}
