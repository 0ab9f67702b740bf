"""The parent's side, against children that are a few lines of Python and no torch."""

import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from tracetui.capture import client
from tracetui.capture.client import CaptureProcess, Event, checked, machine_report
from tracetui.capture.spec import CaptureSpec
from tracetui.errors import CaptureError, UsageError

HEAD = """
import json, os, signal, sys, time
def tell(event, **members): print(json.dumps({"event": event, **members}), flush=True)
def where(variant): return {"variant": variant, "point": {}, "swept": {}}
def stage(variant, stage): tell("stage", stage=stage, **where(variant))
def finished(variant): tell("finished", path=f"/x/mlp_{variant}.json.gz", **where(variant))
resumption = json.loads(sys.argv[2]) if len(sys.argv) > 2 else None
tell("started")
"""


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Return a function that makes a capture whose child is the code given."""

    def made(code: str, patience_s: float = 20) -> CaptureProcess:
        monkeypatch.setattr(
            client,
            "child_command",
            lambda module, *arguments, python: [sys.executable, "-c", HEAD + code, *arguments],
        )
        return CaptureProcess(CaptureSpec("mlp", str(tmp_path / "out")), patience_s=patience_s)

    return made


def _kinds(events: list[Event]) -> list[str]:
    return [event["event"] for event in events]


def test_events_come_through_and_noise_does_not(process):
    events = list(process("print('noise'); finished('eager'); tell('done', traces=1)").events())

    assert _kinds(events) == ["started", "finished", "done"]
    assert events[-1]["traces"] == 1


def test_folder_is_kept_while_the_child_runs_and_free_afterwards(process, tmp_path: Path):
    events = process("tell('done')").events()

    next(events)
    with pytest.raises(CaptureError, match="another capture is writing there"):
        next(process("tell('done')").events())
    assert _kinds(list(events)) == ["done"]
    assert _kinds(list(process("tell('done')").events())) == ["started", "done"]
    assert list((tmp_path / "out").iterdir()) == []


def test_killed_child_costs_its_variant_and_another_goes_on(process):
    code = """
if not resumption["finished"]:
    finished("eager"); stage("compiled", "compiling"); os.kill(os.getpid(), signal.SIGKILL)
assert resumption["finished"] == ["mlp_eager"], resumption
((variant, point, why),) = resumption["against"]
tell("unavailable", reason=why, **where(variant))
finished("packed"); tell("done", traces=1)
"""
    events = list(process(code).events())

    assert _kinds(events) == [
        "started",
        "finished",
        "stage",
        "note",
        "started",
        "unavailable",
        "finished",
        "done",
    ]
    reason = events[5]["reason"]
    assert reason == (
        "the process ended while compiling: killed (SIGKILL), as the system does when memory runs out"
    )
    assert events[3]["note"] == f"{reason}; going on without it"
    assert events[-1]["traces"] == 2


def test_child_that_dies_before_any_variant_is_one_reason(process):
    events = list(process("print('cannot load libcudart', file=sys.stderr); sys.exit(3)").events())

    assert events[-1] == {
        "event": "failed",
        "reason": "exit status 3: cannot load libcudart",
        "traces": 0,
    }


def test_crash_is_told_by_its_signal(process):
    code = """
if not resumption["against"]:
    stage("fused", "recording"); os.kill(os.getpid(), signal.SIGSEGV)
tell("done")
"""
    events = list(process(code).events())

    assert events[2]["note"].startswith("the process ended while recording: ended by SIGSEGV")


def test_child_that_hangs_is_given_up(process):
    code = """
if not resumption["against"]:
    stage("flex", "compiling"); time.sleep(60)
tell("done")
"""
    events = list(process(code, patience_s=1.5).events())

    assert "it hung: nothing was heard of it for 2 s" in events[2]["note"]
    assert events[-1]["event"] == "done"


def test_line_cut_off_by_a_kill_is_not_an_event(process):
    code = 'sys.stdout.write(\'{"event": "fin\'); sys.stdout.flush(); os.kill(os.getpid(), 9)'

    assert _kinds(list(process(code).events())) == ["started", "failed"]


STOPPABLE = """
stage("eager", "timing")
try:
    time.sleep(60)
except KeyboardInterrupt:
    tell("failed", reason="interrupted", traces=0); sys.exit(130)
"""


def test_stop_asks_the_child_which_keeps_what_is_complete(process):
    capture = process(STOPPABLE)
    told = []
    for event in capture.events():
        told.append(event)
        if event["event"] == "stage":
            capture.stop()

    assert told[-1] == {"event": "failed", "reason": "interrupted", "traces": 0}


def test_second_stop_kills(process):
    capture = process(
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nstage('eager', 'timing'); time.sleep(60)"
    )
    told = []
    for event in capture.events():
        told.append(event)
        if event["event"] == "stage":
            capture.stop()
            threading.Timer(0.2, capture.stop).start()

    assert told[-1] == {"event": "failed", "reason": "interrupted", "traces": 0}


def test_leaving_the_events_ends_the_child(process):
    events = process(
        "stage('eager', 'timing'); tell('pid', pid=os.getpid()); time.sleep(60)"
    ).events()
    pid = next(event["pid"] for event in events if event["event"] == "pid")
    events.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_ctrl_c_on_the_terminal_reaches_us_alone(process):
    code = "tell('group', is_own=os.getpgid(0) == os.getpid()); tell('done')"
    events = list(process(code).events())

    assert events[1]["is_own"] is True


def test_machine_is_what_the_child_tells(monkeypatch: pytest.MonkeyPatch):
    told = {
        "event": "machine",
        "python": "/py",
        "device": "cuda",
        "packages": ["triton"],
        "versions": {"torch": "3"},
    }
    monkeypatch.setattr(
        client, "child_command",
        lambda module, *arguments, python: [sys.executable, "-c", f"print({json.dumps(told)!r})"],
    )  # fmt: skip

    report = machine_report()
    assert report.device == "cuda"
    assert report.obstacle("mlp", "fused") is None
    assert report.obstacle("mlp", "liger") == "liger_kernel is not installed in /py"
    assert report.obstacle("mlp", "eager") is None


def test_python_without_torch_says_what_to_do(tmp_path: Path):
    # An environment of its own has no torch, nor tracetui.
    import venv

    venv.EnvBuilder(with_pip=False).create(tmp_path / "bare")

    with pytest.raises(
        CaptureError, match=r"cannot import torch .*No module named 'torch'.*--python"
    ):
        machine_report(str(tmp_path / "bare"))


def test_python_that_is_no_program_is_one_line(tmp_path: Path):
    broken = tmp_path / "python"
    broken.write_text("#!/nowhere/python\n")
    broken.chmod(0o755)

    with pytest.raises(CaptureError, match="no such file"):
        machine_report(str(broken))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (CaptureSpec("mpl", "o"), "no workload 'mpl'.*matmul-add, linear, mlp"),
        (CaptureSpec("mlp", "o", ("fast",)), "mlp has no variant 'fast'.*eager, compiled"),
        (CaptureSpec("mlp", "o", settings=(("size", (1,)),)), "mlp has no parameter 'size'.*batch"),
        (CaptureSpec("mlp", "o", settings=(("seq", (0,)),)), "seq=0: a whole number from 1"),
        (CaptureSpec("mlp", "o", settings=(("seq", ("x",)),)), "seq=x: a whole number"),
        (CaptureSpec("mlp", "o", settings=(("dtype", ("int8",)),)), "dtype=int8: one of fp32"),
        (CaptureSpec("attention", "o", settings=(("causal", (1,)),)), "causal=1: true or false"),
        (CaptureSpec("missing.py:build", "o"), "missing.py: no such file"),
    ],
)
def test_request_that_names_what_is_not_there_is_refused(spec: CaptureSpec, message: str):
    with pytest.raises(UsageError, match=message):
        checked(spec)


def test_request_gets_whole_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")

    assert checked(CaptureSpec("mine.py", "o")).workload == f"{tmp_path}/mine.py:build"
    assert checked(CaptureSpec("mine.py:make", "o")).workload == f"{tmp_path}/mine.py:make"
    assert checked(CaptureSpec("matmul_add", "o")) == CaptureSpec("matmul-add", str(tmp_path / "o"))


def test_signals_are_named_as_the_system_names_them():
    assert client._death(-signal.SIGTERM, []) == "ended by SIGTERM"
    assert client._death(1, []) == "exit status 1: and said nothing"
