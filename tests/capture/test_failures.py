"""What stands in the way of a capture: each is one clear line, and nothing finished is lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.conftest import ROOT, capture, events_of, needs_torch
from tracetui.errors import CaptureError
from tracetui.readers import read_trace

pytestmark = [pytest.mark.torch, needs_torch]

SLOW = """
import time
import torch

def build(parameters):
    x = torch.ones(2, 2)

    def slow():
        time.sleep(0.2)
        return x + x

    return {"first": lambda: x + x, "second": slow}
"""
FULL_DISK = """
import resource
import torch

def build(parameters):
    x = torch.ones(2, 2)
    calls = []

    def second():
        calls.append(1)
        if len(calls) > 12:  # while it is recorded; files end after 2000 bytes from here on
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        return x + x

    return {"first": lambda: x + x, "second": second}
"""


def test_missing_compiler_is_torch_reason_and_the_rest_runs(tmp_path: Path):
    done = capture(
        "mlp", "--variants", "eager,compiled", "--set", "dim=8", "--set", "hidden=8",
        "--runs", "1", "--json", "--device", "cpu", "--out", str(tmp_path / "traces"),
        CXX="/nowhere/g++", TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "cache"),
    )  # fmt: skip
    events = {event["event"]: event for event in events_of(done.stdout)}

    assert done.returncode == 0
    assert events["finished"]["variant"] == "eager"
    assert events["unavailable"]["variant"] == "compiled"
    assert "InvalidCxxCompiler: No working C++ compiler found" in events["unavailable"]["reason"]


def test_full_disk_keeps_what_was_finished(tmp_path: Path):
    (tmp_path / "full.py").write_text(FULL_DISK)
    done = capture(f"{tmp_path}/full.py", "--runs", "1", "--out", str(tmp_path / "traces"))

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "torch wrote 2,000 bytes and no end of the trace" in line or "file too large" in line
    assert line.endswith("1 trace is complete")
    assert {path.name for path in (tmp_path / "traces").iterdir()} == {
        "full_first.json.gz",
        "session.json",
    }
    session = json.loads((tmp_path / "traces" / "session.json").read_text())
    assert [row["variant"] for row in session["traces"]] == ["first"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_ctrl_c_keeps_what_is_complete(tmp_path: Path):
    (tmp_path / "slow.py").write_text(SLOW)
    out = tmp_path / "traces"
    with subprocess.Popen(
        [
            sys.executable, "-m", "tracetui", "capture", f"{tmp_path}/slow.py", "--runs", "5",
            "--json", "--out", str(out),
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "finished":
                process.send_signal(signal.SIGINT)
                break
        rest, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert json.loads(rest.splitlines()[-1])["reason"] == "interrupted"
    assert errors == "tracetui: interrupted; 1 trace is complete\n"
    assert {path.name for path in out.iterdir()} == {"slow_first.json.gz", "session.json"}
    assert len(read_trace(out / "slow_first.json.gz", use_cache=False).slices) > 0


def test_impossible_device_is_torch_reason():
    pytest.importorskip("torch")
    from tracetui.capture.machine import Machine

    with pytest.raises(CaptureError, match=r"^--device no-such-device: RuntimeError: ") as caught:
        Machine("no-such-device")
    assert len(str(caught.value).splitlines()) == 1


def test_dry_run_says_what_would_run_and_writes_nothing(tmp_path: Path):
    done = capture(
        "mlp", "--dry-run", "--json", "--set", "seq=4,8", "--repeats", "2", "--device", "cpu",
        "--out", str(tmp_path / "traces"),
    )  # fmt: skip
    plan = json.loads(done.stdout)
    files = [each["file"] for each in plan["traces"]]

    assert done.returncode == 0
    assert not (tmp_path / "traces").exists()
    assert plan["device"] == "cpu"
    assert [point["seq"] for point in plan["points"]] == [4, 8]
    assert "mlp_eager_seq4_r1.json.gz" in files
    assert len(files) == len(set(files)) == 4 * len({each["variant"] for each in plan["traces"]})
    for each in plan["unavailable"]:
        assert "is not installed" in each["reason"]


def test_repeats_and_sweeps_give_a_trace_each(tmp_path: Path):
    out = tmp_path / "traces"
    done = capture(
        "linear", "--variants", "eager", "--set", "batch=4,8", "--repeats", "2", "--runs", "1",
        "--backward", "--steps", "4", "--device", "cpu", "--out", str(out),
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5
    assert {path.name for path in out.glob("*.json.gz")} == {
        f"linear_eager_batch{batch}_r{repeat}.json.gz" for batch in (4, 8) for repeat in (1, 2)
    }
    trace = read_trace(out / "linear_eager_batch8_r2.json.gz", use_cache=False)
    names = [trace.names[name_id] for name_id in trace.slices.name_id.tolist()]
    assert names.count("linear_fwd") == names.count("linear_bwd") == 4


def test_nothing_runs_where_nothing_can(tmp_path: Path):
    done = capture("attention", "--variants", "flash-attn", "--out", str(tmp_path / "traces"))

    if done.returncode == 0:
        pytest.skip("flash_attn is installed")
    assert done.returncode == 2
    assert done.stderr == "tracetui: no variant could run; see the reasons above\n"
    assert "ModuleNotFoundError" in done.stdout
    assert os.listdir(tmp_path / "traces") == ["session.json"]  # noqa: PTH208  names alone
