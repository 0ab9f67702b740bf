"""A workload in the user's own file, and what may be wrong with one."""

import json
from pathlib import Path

import pytest

from tests.capture.conftest import Captured, capture, events_of, needs_torch
from tracetui.capture.spec import CaptureSpec
from tracetui.errors import CaptureError, UsageError

pytestmark = [pytest.mark.torch, needs_torch]

OWN = '''
import torch
from beside import scale

def make(parameters):
    """Softmax by torch and by hand."""
    x = torch.randn(parameters["rows"], 8, generator=torch.Generator().manual_seed(parameters["seed"]))
    x = scale(x.to(parameters["device"]))

    def by_hand():
        e = (x - x.max(-1, keepdim=True).values).exp()
        return e / e.sum(-1, keepdim=True)

    return {
        "reference": lambda: x.double().softmax(-1),
        "torch": lambda: x.softmax(-1),
        "by hand": by_hand,
        "wrong": lambda: {"rows": [x.softmax(0)]},
        "silent": lambda: None,
    }
'''
FAILING = """
import os, signal
import torch

calls = {}
def nth(name):
    calls[name] = calls.get(name, 0) + 1
    return calls[name]

def build(parameters):
    x = torch.ones(4, 4)

    def good():
        return x @ x

    def raises():
        if nth("raises") == 13:  # after 1 compared, 3 warm, 5 timed and 3 warm: the first of the recorded steps
            raise RuntimeError("in the middle of a step")
        return x @ x

    def tires():
        if nth("tires") == 6:  # while it is timed
            raise ValueError("after a while")
        return x @ x

    def dies():
        if nth("dies") == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return x @ x

    def profiles():
        with torch.profiler.profile():
            return x @ x

    return {"good": good, "raises": raises, "tires": tires, "dies": dies, "profiles": profiles, "last": good}
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("own")
    (folder / "my kernel.py").write_text(OWN)
    (folder / "beside.py").write_text("def scale(x):\n    return 3 * x\n")
    done = capture(
        f"{folder}/my kernel.py:make", "--set", "rows=4,16", "--runs", "1", "--json", "--oracle",
        "--out", f"{folder}/traces",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Captured(folder / "traces", done.stdout)


def test_own_variants_run_at_every_point_and_the_reference_is_not_recorded(own: Captured):
    files = {path.name for path in own.folder.glob("*.json.gz")}

    assert files == {
        f"my_kernel_{variant}_rows{rows}.json.gz"
        for variant in ("torch", "by_hand", "wrong")
        for rows in (4, 16)
    }


def test_own_step_is_annotated_by_the_name_of_its_file(own: Captured):
    calls = own.calls("by hand")

    assert calls["my_kernel_step"] == 3
    assert calls["aten::exp"] == 3


def test_own_results_are_compared_with_the_reference(own: Captured):
    equality = {name: event["equality"] for name, event in own.told("finished").items()}

    assert equality["torch"]["is_equal"]
    assert equality["by hand"]["is_equal"]
    assert equality["by hand"]["reference"] == "reference"
    assert not equality["wrong"]["is_equal"]


def test_own_step_without_a_result_says_so(own: Captured):
    reason = own.told("unavailable")["silent"]["reason"]

    assert reason == "ValueError: the step returned no tensor to compare"


def test_parameters_stand_in_the_session(own: Captured):
    rows = {entry["file"]: entry["parameters"] for entry in own.session["traces"]}

    assert rows["my_kernel_torch_rows16.json.gz"] == {"rows": 16}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("failing")
    (folder / "failing.py").write_text(FAILING)
    done = capture(f"{folder}/failing.py", "--runs", "1", "--json", "--out", str(folder / "traces"))
    assert done.returncode == 0, done.stderr
    return Captured(folder / "traces", done.stdout)


def test_variants_that_fail_cost_nothing_but_themselves(failing: Captured):
    assert set(failing.told("finished")) == {"good", "last"}
    assert set(failing.told("unavailable")) == {"raises", "tires", "dies", "profiles"}
    assert {path.name for path in failing.folder.iterdir()} == {
        "failing_good.json.gz",
        "failing_last.json.gz",
        "session.json",
    }


def test_each_failure_has_its_own_reason(failing: Captured):
    reasons = {name: event["reason"] for name, event in failing.told("unavailable").items()}

    assert reasons["raises"] == "RuntimeError: in the middle of a step"
    assert reasons["tires"] == "ValueError: after a while"
    assert "killed (SIGKILL)" in reasons["dies"]
    assert "the process ended while warming up" in reasons["dies"]
    assert "another torch profiler was started inside the recording" in reasons["profiles"]
    assert {row["variant"]: row["reason"] for row in failing.session["unavailable"]} == reasons


def test_traces_of_what_ran_can_be_read(failing: Captured):
    assert failing.calls("good")["aten::mm"] == 3
    assert failing.calls("last")["aten::mm"] == 3


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nothing_of_this_name", "line 1: ModuleNotFoundError: No module named 'nothing"),
        ("def other(p): pass", "has no function 'build'"),
        ("def build(p):\n    return p['rows']", "build: line 2: KeyError: 'rows'"),
        ("def build(p):\n    return [1]", "build returns a mapping of variants' names"),
        ("def build(p):\n    return {'a': 1}", r"look at \['a'\]"),
        ("def build(p):\n    return {'reference': print}", "look at reference"),
    ],
)
def test_file_that_cannot_be_used_is_one_line(tmp_path: Path, code: str, message: str):
    torch = pytest.importorskip("torch")
    from tracetui.capture.programs import program

    path = tmp_path / "mine.py"
    path.write_text(code)

    with pytest.raises(CaptureError, match=message) as caught:
        program(CaptureSpec(f"{path}:build", "out"), {}, torch.device("cpu"))
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_backward_and_unknown_variants_are_not_for_own_workloads(tmp_path: Path):
    torch = pytest.importorskip("torch")
    from tracetui.capture.programs import program

    path = tmp_path / "mine.py"
    path.write_text("def build(p):\n    return {'a': lambda: None}")
    with pytest.raises(UsageError, match="a step of yours runs its own"):
        program(CaptureSpec(f"{path}:build", "out", backward=True), {}, torch.device("cpu"))
    with pytest.raises(UsageError, match=r"no variant 'b' \(it has a\)"):
        program(CaptureSpec(f"{path}:build", "out", ("b",)), {}, torch.device("cpu"))


def test_error_in_the_file_reaches_the_user(tmp_path: Path):
    path = tmp_path / "mine.py"
    path.write_text("import nothing_of_this_name")
    done = capture(str(path), "--out", str(tmp_path / "traces"), "--json")

    assert done.returncode == 2
    assert done.stderr == (
        f"tracetui: {path}: line 1: ModuleNotFoundError: No module named 'nothing_of_this_name'\n"
    )
    assert [event["event"] for event in events_of(done.stdout)] == ["failed"]


def test_a_parameter_that_was_not_given_is_asked_for(tmp_path: Path):
    torch = pytest.importorskip("torch")
    from tracetui.capture.programs import program

    path = tmp_path / "mine.py"
    path.write_text("def build(p):\n    return {'a': lambda: None} if p['rows'] else {}\n")
    spec = CaptureSpec(f"{path}:build", "out")

    with pytest.raises(CaptureError, match=r"line 2: KeyError: 'rows': give it with --set rows=V"):
        program(spec, {}, torch.device("cpu"))
    path.write_text("def build(p):\n    return {}['seed']\n")
    with pytest.raises(CaptureError, match=r"line 2: KeyError: 'seed'$"):
        program(spec, {}, torch.device("cpu"))


def test_a_dry_run_of_an_own_file_does_not_invent_a_variant(tmp_path: Path):
    (tmp_path / "mine.py").write_text("def build(p):\n    return {}\n")
    done = capture(f"{tmp_path}/mine.py", "--dry-run", "--json", "--out", str(tmp_path / "out"))

    (trace,) = json.loads(done.stdout)["traces"]
    assert (trace["variant"], trace["file"]) == ("all", "mine_….json.gz")


COMPARED = """
import os, signal
import torch

def build(parameters):
    x = torch.ones(4, 4)
    runs = []

    def broken():
        raise RuntimeError("never runs")

    def dies():
        runs.append(1)
        if len(runs) > 12:  # while it is recorded, when the one before it is finished
            os.kill(os.getpid(), signal.SIGKILL)
        return x + x

    return {"broken": broken, "good": lambda: x + x, "dies": dies, "wrong": lambda: 3 * x}
"""


def test_after_a_death_the_rest_is_compared_with_what_it_was_compared_with_before(tmp_path: Path):
    (tmp_path / "mine.py").write_text(COMPARED)
    done = capture(f"{tmp_path}/mine.py", "--runs", "1", "--json", "--out", str(tmp_path / "out"))
    made = Captured(tmp_path / "out", done.stdout)

    assert done.returncode == 0, done.stderr
    assert set(made.told("unavailable")) == {"broken", "dies"}
    found = {name: each["equality"] for name, each in made.told("finished").items()}
    assert {each["reference"] for each in found.values()} == {"good"}
    assert found["good"]["is_equal"]
    assert not found["wrong"]["is_equal"]
