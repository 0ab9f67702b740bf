"""Every test of the interface has its own state folder and small files to open."""

import json
from pathlib import Path
from typing import Any, Final

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


A100: Final = {
    "id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108,
    "warpSize": 32, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 167936,
}  # fmt: skip
GEMM: Final = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


def _operator(name: str, ts: float, shapes: list[list[int]]) -> dict[str, Any]:
    row = event(name, "cpu_op", ts, 20)
    row["args"] = {"Input Dims": shapes, "Input type": ["c10::BFloat16"] * len(shapes)}
    return row


@pytest.fixture
def costed_file(tmp_path: Path) -> Path:
    """A product of 38.65 GFLOP in 190 us, and an addition of 64 MiB each way in 150."""
    events = [
        _operator("aten::mm", 0, [[8192, 768], [768, 3072]]),
        event("cudaLaunchKernel", "cuda_runtime", 5, 2, correlation=1),
        event(GEMM, "kernel", 30, 190, correlation=1),
        _operator("aten::add", 30, [[8192, 4096], [8192, 4096]]),
        event("cudaLaunchKernel", "cuda_runtime", 35, 2, correlation=2),
        event("vectorized_elementwise_kernel", "kernel", 230, 150, correlation=2),
    ]
    path = tmp_path / "costed.json"
    document = {"schemaVersion": 1, "deviceProperties": [A100], "traceEvents": events}
    path.write_text(json.dumps(document))
    return path


def _allocation(
    ts: float, n_bytes: int, total: int, address: int, *, device: int
) -> dict[str, Any]:
    """Return an allocator record of the host (-1) or of a device, which has 8 MiB reserved."""
    is_host = device < 0
    return {
        "ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": 10,
        "ts": ts,
        "args": {
            "Bytes": n_bytes, "Total Allocated": total, "Addr": address, "Device Id": device,
            "Device Type": 0 if is_host else 1, "Total Reserved": 0 if is_host else 8 << 20,
        },
    }  # fmt: skip


@pytest.fixture
def memory_file(tmp_path: Path) -> Path:
    """A linear layer of two operators, 2 MiB there before; at the peak of 6 MiB it holds four."""
    mib = 1 << 20
    events = [
        event("ProfilerStep#3", "user_annotation", 0, 200),
        event("aten::linear", "cpu_op", 10, 90),
        _operator("aten::transpose_copy", 12, [[512, 1024]]),
        _operator("aten::addmm", 40, [[1024], [512, 1024], [1024, 1024]]),
        event("aten::empty", "cpu_op", 42, 4),
        event("aten::relu", "cpu_op", 120, 30),
        _allocation(15, mib, 3 * mib, 0x1000, device=0),
        _allocation(20, 4096, 4096, 0x77, device=-1),
        _allocation(44, 3 * mib, 6 * mib, 0x2000, device=0),
        _allocation(90, -mib, 5 * mib, 0x1000, device=0),
        _allocation(130, mib // 2, 5 * mib + mib // 2, 0x1000, device=0),
        _allocation(160, -3 * mib, 2 * mib + mib // 2, 0x2000, device=0),
    ]
    path = tmp_path / "memory.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path
