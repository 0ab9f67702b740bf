"""Ways through the whole product, by keyboard alone, in the real program in a real terminal."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.make_trace import write_trace
from tests.ui.terminal import PATIENCE_S, Terminal

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
SIZES = pytest.mark.parametrize(
    ("columns", "lines"), [(80, 24), (200, 50)], ids=["80x24", "200x50"]
)
BIG_BYTES = 100_000_000
ESC = "\x1b"
CTRL_G = "\x07"
CTRL_S = "\x13"
TRAIN = """
import torch

torch.manual_seed(0)
mask = torch.ones(512, 512, dtype=torch.bool).triu(1)
weight = torch.nn.Parameter(torch.randn(512, 64))
optimizer = torch.optim.SGD([weight], lr=1e-3)
for step in range(4):
    with torch.no_grad():
        scores = (weight @ weight.T).expand(8, 512, 512).contiguous()
        attention = scores.masked_fill(mask, -1e9).softmax(-1)
    (attention @ weight).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; state and cache are below it too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packed file of 100 MB: reading it takes a few seconds."""
    plain = tmp_path_factory.mktemp("big") / "plain.json"
    write_trace(plain, BIG_BYTES)
    packed = plain.with_name("big.json.gz")
    with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    plain.unlink()
    return packed


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where a script ran with a copy that nobody needs, and then without."""
    folder = tmp_path_factory.mktemp("runs")
    scripts = {"train": TRAIN, "fixed": TRAIN.replace("masked_fill(", "masked_fill_(")}
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
        done = program("run", f"{name}.py", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert f"open it: tracetui traces/{name}.json.gz" in done.stderr
    return folder


def program(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program without a terminal."""
    command = [sys.executable, "-m", "tracetui", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, cwd=cwd, env=env
    )


def copies(terminal: Terminal) -> list[bytes]:
    """Return what was sent to the clipboard, by the bytes that the terminal saw."""
    return re.findall(rb"\x1b\]52;[^;]*;([A-Za-z0-9+/=]+)[\x07\x1b]", bytes(terminal.raw))


def longest_operator(sample: str) -> str:
    """Return the operator or annotation with the longest self time, as torch itself counted it."""
    oracle = SAMPLES / sample.replace(".json.gz", ".oracle.json")
    operators = json.loads(oracle.read_bytes())["key_averages"]
    longest = max(operators, key=lambda row: float(row["self_us"]))
    return str(longest["name"])


def copied_row(terminal: Terminal) -> dict[str, str]:
    """Copy the row under the cursor and return its values by title."""
    n_before = len(copies(terminal))
    terminal.press("y")
    terminal.wait_for("y again: only this row")
    terminal.press("y")
    while len(copies(terminal)) < n_before + 2:
        assert terminal.read(PATIENCE_S), "nothing was copied"
    lines = base64.b64decode(copies(terminal)[-1]).decode().splitlines()
    titles, row = (line.split("\t") for line in lines)
    return dict(zip(titles, row, strict=True))


def enter_timeline(terminal: Terminal) -> None:
    """Go from a row to the timeline; where its details have no room, ``enter`` shows these first."""
    terminal.press("\r")
    if "cell = " not in terminal.text:
        terminal.press("\r")
    terminal.wait_for("cell = ")


def leave(terminal: Terminal) -> None:
    """Quit, and see that all went well."""
    terminal.press("q", 0.1)
    assert terminal.wait_end() == 0


@pytest.mark.slow
@SIZES
def test_first_way_from_nothing_to_the_longest_operator_and_back(home, columns, lines):
    with Terminal([], columns=columns, lines=lines) as terminal:
        terminal.wait_for(r"(?s)Below this folder\s+none.*Samples.*PyTorch profiler")
        terminal.press("\r")
        name = re.search(r"tracetui  (\S+\.json\.gz)", terminal.wait_for("Top operators"))
        assert name is not None
        # No sample has kernels: the longest operator stands for the longest kernel.
        terminal.press("4")
        terminal.wait_for("No kernels in this file")
        terminal.press("3")
        terminal.press("F")
        terminal.wait_for("CPU self▾")
        row = copied_row(terminal)
        longest = row["operator"]
        assert longest == longest_operator(name[1])
        enter_timeline(terminal)
        # A long name is shortened in its middle.
        terminal.wait_for(rf"  {re.escape(longest[:12])}\S*{re.escape(longest[-12:])}")
        terminal.press("3")
        assert copied_row(terminal) == row
        leave(terminal)

    with Terminal([], columns=columns, lines=lines) as terminal:
        terminal.wait_for("(?s)Recent.*PyTorch profiler.*Below this folder")
        terminal.press("\r")
        terminal.wait_for(re.escape(name[1]))
        terminal.wait_for("host slices in")
        row = copied_row(terminal)
        assert row["operator"].strip("▾▸ ") == longest
        leave(terminal)


@pytest.mark.slow
@SIZES
def test_second_way_a_big_file_is_used_while_it_loads(home, big_file, columns, lines):
    with Terminal([str(big_file)], columns=columns, lines=lines) as terminal:
        terminal.wait_for("reading big.json.gz")
        terminal.press("4", 0.05)
        terminal.wait_for("(?s)reading big.json.gz: .*So far: .*sgemm")
        terminal.press(ESC, 0.05)
        terminal.wait_for("stopped: what was read until then is shown")
        terminal.wait_for("part of the file")
        terminal.wait_for(r"(?s)\A(?!.*So far)")

        longest = copied_row(terminal)["kernel"]
        assert longest.startswith("ampere_sgemm_128x")
        enter_timeline(terminal)
        terminal.wait_for(longest)
        terminal.press("[")
        terminal.wait_for(r"cudaLaunchKernel\b")
        terminal.press("[")
        terminal.wait_for(r"aten::addmm\b")
        leave(terminal)


@pytest.mark.slow
@pytest.mark.torch
@SIZES
def test_third_way_capture_the_scoreboard_a_pair_and_why(home, columns, lines):
    wanted = ("--variants", "naive,naive-inplace,sdpa", "--set", "seq=64", "--runs", "6")
    arguments = ["capture", "attention", *wanted, "--repeats", "1", "--device", "cpu"]
    with Terminal(arguments, columns=columns, lines=lines) as terminal:
        terminal.wait_for("is fastest", patience_s=90)
        board = terminal.wait_for(r"(?s)\[ \].*\[ \].*\[ \]")
        assert all(name in board for name in ("sdpa", "lace.json.gz", "attention_naive"))
        terminal.press(" ")
        terminal.press("j")
        terminal.press(" ")
        terminal.wait_for(r"(?s)\[x\].*\[x\]")
        terminal.press("\r")
        terminal.wait_for("Why +Pieces of work")
        terminal.wait_for("without the profiler")
        terminal.press("}")
        terminal.wait_for("difference 1 of ")
        enter_timeline(terminal)
        terminal.press("5")
        terminal.wait_for("Why +Pieces of work")
        terminal.press("v")
        terminal.press("v")
        terminal.wait_for("aligned at the start")
        # The selected piece is named below both sides' lanes.
        terminal.wait_for(r"(?s)A attention_.*thread.*B attention_.*thread.*A [\d.]+ .s   B")
        terminal.press("E")
        terminal.wait_for("written to tracetui-.*-compare.md and .json")
        leave(terminal)
    (exported,) = home.glob("tracetui-*-compare.md")
    assert "without the profiler" in exported.read_text()


@pytest.mark.slow
@pytest.mark.torch
@SIZES
def test_fourth_way_a_copy_is_found_and_gone_in_the_next_run(home, two_runs, columns, lines):
    before, after = (str(two_runs / "traces" / f"{name}.json.gz") for name in ("train", "fixed"))
    with Terminal([before], columns=columns, lines=lines) as terminal:
        terminal.wait_for("Worth a look")
        terminal.press("7")
        terminal.wait_for("masked_fill copies its whole input first")
        terminal.wait_for("Try: Call masked_fill_ in place")
        enter_timeline(terminal)
        terminal.wait_for("aten::clone")
        leave(terminal)
    with Terminal([after], columns=columns, lines=lines) as terminal:
        terminal.wait_for("Top operators")
        terminal.press(CTRL_G)
        terminal.wait_for("(?s)Before you look.*hottest operator")
        terminal.press("aten::mm")
        terminal.press("\r")
        terminal.wait_for("[✓✗] hottest operator")
        terminal.press(CTRL_S)
        terminal.wait_for("written to tracetui-expect.txt")
        terminal.press(ESC)
        terminal.press("7")
        terminal.wait_for(r"[1-9]\d+ rules looked")
        assert "copies its whole input" not in terminal.text
        leave(terminal)
    assert (home / "tracetui-expect.txt").exists()
    with Terminal([before, after], columns=columns, lines=lines) as terminal:
        terminal.wait_for("v V")
        # Whatever the clock said of the rest, the copy is one of the differences.
        terminal.press("}")
        said = terminal.wait_for(r"difference 1 of \d")
        n_differences = int(re.findall(r"difference 1 of (\d+)", said)[0])
        for number in range(2, n_differences + 1):
            terminal.press("}")
            said += terminal.wait_for(rf"difference {number} of {n_differences}")
        assert "copy_ is gone" in said
        leave(terminal)
    compared = program("compare", before, after, "--json")
    assert compared.returncode == 0, compared.stderr
    matches = json.loads(compared.stdout)["pairs"][0]["matches"]
    gone = [each for each in matches if each["kind"] == "only-baseline"]
    assert [each["baseline"] for each in gone] == [["aten::copy_"]]


@pytest.mark.slow
@SIZES
def test_fifth_way_a_gate_fails_and_the_reason_is_noted(home, columns, lines):
    names = ("attention_sdpa", "attention_naive")
    pair = [str(shutil.copy(SAMPLES / f"{name}.json.gz", home)) for name in names]
    done = program("compare", *pair, "--fail-if", "unprofiled_us > +5%")
    assert done.returncode == 1
    assert "broke" in done.stderr
    assert "slower without the profiler" in done.stdout
    with Terminal(pair, columns=columns, lines=lines) as terminal:
        terminal.wait_for("slower without the profiler")
        terminal.press("v")
        terminal.press("v")
        terminal.wait_for("aligned at the start")
        for _ in range(3):
            terminal.press("}")
            terminal.wait_for(r"difference \d of \d: ")
        terminal.press("e")
        terminal.wait_for("note")
        terminal.press("written out by hand\r")
        terminal.wait_for("kept in attention_sdpa--attention_naive.tracetui")
        piece = _selected_piece(terminal)
        leave(terminal)
    assert (home / "attention_sdpa--attention_naive.tracetui").exists()
    with Terminal(pair, columns=columns, lines=lines) as terminal:
        terminal.wait_for("aligned at the start")
        terminal.wait_for("hl←→ piece")
        assert _selected_piece(terminal) == piece
        terminal.press("v")
        terminal.wait_for("✎")
        leave(terminal)


def _selected_piece(terminal: Terminal) -> str:
    """Return the line below two timelines that names the selected piece of work."""
    found = re.search(r"(fused|split|other|A only|B only): .*→ \S+", terminal.text)
    assert found is not None, terminal.text
    return found[0]
