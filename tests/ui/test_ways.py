"""Ways through the whole product, by keyboard alone, in the real program in a real terminal."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.make_trace import write_trace
from tests.ui.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
SIZES = pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50)])
BIG_BYTES = 40_000_000
DOWN = "\x1b[B"
TRAIN = """
import torch
torch.manual_seed(0)
q = torch.randn(4, 64, 256)
mask = torch.ones(64, 64, dtype=torch.bool).tril()
weight = torch.nn.Parameter(torch.randn(256, 256))
optimizer = torch.optim.SGD([weight], lr=1e-3)
for step in range(8):
    scores = (q @ weight) @ q.transpose(1, 2)
    with torch.no_grad():
        for _ in range(4):
            MASK
    (scores.softmax(-1) @ q).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
OUT_OF_PLACE = "wide = torch.zeros(4, 512, 512).masked_fill(torch.eye(512, dtype=torch.bool), -1.0)"
IN_PLACE = "wide = torch.zeros(4, 512, 512).masked_fill_(torch.eye(512, dtype=torch.bool), -1.0)"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder that is also where state and cache go."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def program(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program without a terminal."""
    command = [sys.executable, "-m", "tracetui", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def copied(terminal: Terminal) -> str:
    """Return what was sent to the clipboard last."""
    sent = re.findall(rb"\x1b\]52;[^;]*;([A-Za-z0-9+/=]+)", bytes(terminal.raw))
    return base64.b64decode(sent[-1]).decode() if sent else ""


@SIZES
def test_first_way_from_nothing_to_the_longest_operator_and_back(home, columns, lines):
    for name in ("mlp_eager", "attention_naive"):
        shutil.copy(SAMPLES / f"{name}.json.gz", home)
    with Terminal([], columns=columns, lines=lines) as terminal:
        terminal.wait_for("Below this folder(.|\n)*mlp_eager")
        # The newest stands first; the cursor is on it.
        terminal.press("\r")
        terminal.wait_for("1 Over")
        terminal.press("3")
        terminal.press("F")
        terminal.wait_for(r"aten::\w+ ")
        terminal.press("s")
        terminal.press("j")
        terminal.press("y")
        text = copied(terminal)
        assert "aten::" in text
        assert "CPU total" in text
        terminal.press("2")
        terminal.wait_for("cell = ")
        terminal.press("3")
        terminal.press("q", 0.1)
        assert terminal.wait_end() == 0
    with Terminal([], columns=columns, lines=lines) as terminal:
        terminal.wait_for(r"Recent\s+\n.*json.gz")
        terminal.press("\r")
        # It opens where it was left: on the operators.
        terminal.wait_for("operator ")
        terminal.press("q", 0.1)


@pytest.mark.slow
@SIZES
def test_second_way_a_big_file_is_used_while_it_loads(home, columns, lines):
    path = home / "big.json"
    write_trace(path, BIG_BYTES)
    with Terminal([str(path)], columns=columns, lines=lines) as terminal:
        terminal.wait_for(r"reading big.json|1 Over")
        terminal.press("4", 0.05)
        terminal.wait_for("sgemm")
        terminal.press("\x1b", 0.2)
        text = terminal.wait_for("1 Over")
        assert "Traceback" not in text
        terminal.press("g")
        terminal.press("\r")
        if "cell = " not in terminal.text:  # where details are away, the first enter shows them
            terminal.press("\r")
        terminal.wait_for("cell = ")
        terminal.press("[")
        terminal.wait_for("cudaLaunchKernel|aten::")
        terminal.press("q", 0.1)
        assert terminal.wait_end() == 0


@pytest.mark.slow
@pytest.mark.torch
def test_third_way_capture_the_scoreboard_a_pair_and_why(home):
    wanted = "naive,naive-inplace,sdpa"
    done = program(
        *("capture", "attention", "--variants", wanted, "--set", "seq=64", "--runs", "6"),
        *("--device", "cpu", "--no-open", "--out", home / "traces"),
    )
    assert done.returncode == 0, done.stderr
    traces = sorted(str(path) for path in (home / "traces").glob("*.json.gz"))
    assert len(traces) == 3
    with Terminal(traces, columns=120, lines=40) as terminal:
        terminal.wait_for("5 Compare")
        terminal.press("6")
        terminal.wait_for("is fastest")
        terminal.press(" ")
        terminal.press(DOWN)
        terminal.press(" ")
        terminal.press("\r")
        terminal.wait_for("Why +Pieces of work")
        terminal.wait_for("without the profiler")
        terminal.press("}")
        terminal.press("v")
        terminal.press("v")
        terminal.wait_for("aligned at the start")
        terminal.press("E", 1.0)
        terminal.wait_for("written to")
        terminal.press("q", 0.1)
    texts = [path.read_text() for path in home.glob("tracetui-*-compare.md")]
    assert len(texts) == 1
    assert "without the profiler" in texts[0]


@pytest.mark.slow
@pytest.mark.torch
def test_fourth_way_a_copy_is_found_in_a_script_and_gone_in_the_next(home):
    for name, line in (("before", OUT_OF_PLACE), ("after", IN_PLACE)):
        (home / f"{name}.py").write_text(TRAIN.replace("MASK", line))
        done = program("run", "--steps", "3", "--timed", "2", "--out", home, home / f"{name}.py")
        assert done.returncode == 0, done.stderr
        assert f"{name}.json.gz" in done.stderr
    found = {
        name: json.loads(program("report", home / f"{name}.json.gz", "--json").stdout)["findings"]
        for name in ("before", "after")
    }
    assert "hidden-copy" in {each["rule"] for each in found["before"]}
    assert "hidden-copy" not in {each["rule"] for each in found["after"]}
    with Terminal([str(home / "before.json.gz")], columns=120, lines=40) as terminal:
        terminal.wait_for("1 Overview")
        terminal.press("7")
        terminal.wait_for("masked_fill copies its whole input first")
        terminal.press("}")
        terminal.wait_for("cell = ")
        terminal.press("\x07")  # ctrl+g
        terminal.wait_for("Before you look")
        terminal.press("\x1b")
        terminal.press("q", 0.1)
    compared = program("compare", home / "before.json.gz", home / "after.json.gz", "--json")
    assert compared.returncode == 0, compared.stderr
    matches = json.loads(compared.stdout)["pairs"][0]["matches"]
    gone = [each for each in matches if each["kind"] == "only-baseline"]
    assert any("aten::copy_" in each["baseline"] for each in gone)


@SIZES
def test_fifth_way_a_gate_fails_and_the_reason_is_noted(home, columns, lines):
    names = ("attention_sdpa", "attention_naive")
    pair = [str(shutil.copy(SAMPLES / f"{name}.json.gz", home)) for name in names]
    done = program("compare", *pair, "--fail-if", "host_us > +5%")
    assert done.returncode == 1
    assert "broke" in done.stderr
    with Terminal(pair, columns=columns, lines=lines) as terminal:
        terminal.wait_for("slower without the profiler")
        terminal.press("v")
        terminal.press("v")
        terminal.wait_for("aligned at the start")
        for _ in range(3):
            terminal.press("}")
        terminal.press("e")
        terminal.wait_for("note")
        terminal.press("written out by hand\r")
        terminal.wait_for("kept in")
        terminal.press("q", 0.1)
        assert terminal.wait_end() == 0
    assert (home / "attention_sdpa--attention_naive.tracetui").exists()
    with Terminal(pair, columns=columns, lines=lines) as terminal:
        terminal.wait_for("aligned at the start")
        terminal.press("\r" if lines < 40 else "")
        terminal.wait_for("written out by hand")
        terminal.press("q", 0.1)
