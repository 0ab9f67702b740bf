"""What a GPU does to a capture, acted out on the host."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.capture.conftest import ROOT, capture, events_of, needs_torch

pytestmark = [pytest.mark.torch, needs_torch]

BREAKS = """
import torch

def build(parameters):
    x = torch.ones(2, 2)

    def breaks():
        import tracetui.capture.machine as machine

        def gone():
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

        machine.synchronise = gone  # from here on the device answers nothing in this process
        gone()

    return {"first": lambda: x + x, "breaks": breaks, "last": lambda: 2 * x}
"""
LOST = """
import sys
from pathlib import Path
import torch
from tracetui.capture import export
from tracetui.capture.export import Recording

recording = Recording()
recording.start()
torch.ones(3).cumsum(0)

def gone():
    raise RuntimeError("CUDA error: device-side assert triggered\\nCompile with TORCH_USE_CUDA_DSA")

export.synchronise = gone
recording.stop()
written = recording.write(Path(sys.argv[1]) / "t.json")
print(written.notes)
print(written.path.read_text().count("aten::cumsum"))
"""


def test_a_variant_that_takes_the_device_with_it_costs_only_itself(tmp_path: Path):
    (tmp_path / "mine.py").write_text(BREAKS)
    done = capture(f"{tmp_path}/mine.py", "--runs", "1", "--json", "--out", str(tmp_path / "out"))
    events = events_of(done.stdout)

    assert done.returncode == 0, done.stderr
    assert [each["variant"] for each in events if each["event"] == "finished"] == ["first", "last"]
    (refused,) = (each for each in events if each["event"] == "unavailable")
    assert refused["variant"] == "breaks"
    assert "CUDA error: an illegal memory access was encountered" in refused["reason"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "mine_first.json.gz",
        "mine_last.json.gz",
        "session.json",
    }


def test_a_recording_outlives_a_device_that_broke_under_the_script(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    notes, n_slices = done.stdout.splitlines()

    assert notes == (
        "('the device broke before the end: RuntimeError: CUDA error: device-side assert triggered"
        " Compile with TORCH_USE_CUDA_DSA',)"
    )
    assert int(n_slices) == 1


def test_activities_are_called_as_devices_are(monkeypatch: pytest.MonkeyPatch):
    import torch

    from tracetui.capture.export import _kinds

    def activities(*names: str) -> list[Any]:
        return [SimpleNamespace(name=name) for name in names]

    assert _kinds(activities("CPU", "CUDA")) == {"cpu", "cuda"}
    assert _kinds(activities("CPU", "XPU")) == {"cpu", "xpu"}
    monkeypatch.setattr(torch._C, "_get_privateuse1_backend_name", lambda: "npu")
    assert "npu" in _kinds(activities("CPU", "PrivateUse1"))


def test_weights_of_a_compiled_function_stay_where_a_cuda_graph_finds_them():
    import torch

    from tracetui.capture.workloads.steps import stay

    seen: dict[int, Any] = {}

    def backend(graph: Any, _: Any) -> Any:
        for place, node in enumerate(
            each for each in graph.graph.nodes if each.op == "placeholder"
        ):
            # What CUDA graphs go by: the others are copied at each replay.
            seen[place] = node.meta["tensor_dict"].get("_dynamo_static_input_type")
        return graph

    x, weight = torch.ones(2, 3), torch.ones(3, 2)
    stay(weight)
    torch.compile(lambda x, weight: x @ weight, backend=backend)(x, weight)

    assert seen == {0: None, 1: "unguarded"}


def test_what_amds_library_tells_is_kept_and_what_it_does_not_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
):
    import torch

    from tracetui.capture.machine import _told_state

    def missing() -> int:
        raise ModuleNotFoundError("amdsmi does not seem to be installed")

    module = SimpleNamespace(clock_rate=lambda: 2100, temperature=lambda: 41, power_draw=missing)
    assert _told_state(module) is None
    monkeypatch.setattr(torch.version, "hip", "7.0")
    assert _told_state(module) == {"sm_clock_mhz": "2100", "temperature_c": "41"}
    assert _told_state(SimpleNamespace(clock_rate=missing)) is None
