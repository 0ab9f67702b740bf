"""Every test of the interface has its own state folder and small files to open."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TMUX", raising=False)
    return folder


def event(name: str, category: str, ts: float, dur: float, **args: int) -> dict[str, object]:
    """Return one complete event; device categories lie on stream 7 of device 0."""
    is_device = category in ("kernel", "gpu_memcpy")
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": 0 if is_device else 10,
        "tid": 7 if is_device else 10,
        "ts": ts,
        "dur": dur,
        "args": {"device": 0, "stream": 7, **args} if is_device else args,
    }


@pytest.fixture
def gpu_file(tmp_path: Path) -> Path:
    """Kernels at 20-80 and 120-140 us: idle for 40, of which 30 before and 5 inside a launch."""
    events = [
        event("aten::addmm", "cpu_op", 0, 100, **{"External id": 1}),
        event("cudaLaunchKernel", "cuda_runtime", 10, 5, correlation=1),
        event("gemm_kernel", "kernel", 20, 60, correlation=1),
        event("aten::relu", "cpu_op", 100, 50, **{"External id": 2}),
        event("cudaLaunchKernel", "cuda_runtime", 110, 5, correlation=2),
        event("relu_kernel", "kernel", 120, 20, correlation=2),
    ]
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.fixture
def cpu_file(tmp_path: Path) -> Path:
    """Two operators on the host."""
    events = [
        event("aten::linear", "cpu_op", 0, 100),
        event("aten::mm", "cpu_op", 10, 40),
    ]
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path
