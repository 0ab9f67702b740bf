"""The capture screen, against a child of a few lines that writes traces and no torch; once for real."""

import gzip
import json
import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.ui.conftest import event
from tests.ui.driver import Driver, running
from tracetui.capture import client
from tracetui.presentation.capture_choice import ChoiceStore
from tracetui.ui.app import TraceTuiApp
from tracetui.ui.screens.capture import CaptureScreen
from tracetui.ui.screens.help import HelpScreen
from tracetui.ui.screens.main import MainScreen
from tracetui.ui.screens.prompt import ChoiceScreen, PromptScreen
from tracetui.ui.screens.start import StartScreen
from tracetui.ui.widgets.line_list import LineList

CHILD = """
import json, shutil, signal, sys, time
from pathlib import Path
def tell(event, **members): print(json.dumps({"event": event, **members}), flush=True)
here = Path(__file__).parent
if sys.argv[1] == "--machine":
    if (here / "no-torch").exists():
        tell("failed", reason="/x/python cannot import torch (ModuleNotFoundError: No module named 'torch')")
        sys.exit(2)
    tell("machine", python="/x/python", device="cpu", packages=[], versions={"torch": "9.9"})
    sys.exit(0)
spec = json.loads(sys.argv[1])
(here / "spec.json").write_text(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)
variants = spec["variants"] or ["eager", "addmm", "compiled"]
tell("started", variants=variants)
n = 0
try:
    for number, variant in enumerate(variants):
        where = {"variant": variant, "point": {}, "swept": {}}
        tell("stage", stage="compiling", left_s=20.0, **where)
        while not (here / f"go-{variant}").exists():
            time.sleep(0.01)
        if variant == "compiled":
            tell("unavailable", reason="InductorError: no C++ compiler", **where)
            continue
        equality = {"is_equal": True, "norm_relative_error": 1e-7, "reference": "eager in fp64"}
        tell("prepared", equality=equality, first_run_ns=5_000_000, **where)
        tell("stage", stage="timing", repeat=0, round=1, left_s=3.0, **where)
        path = Path(spec["out"]) / f"matmul_add_{variant}.json.gz"
        shutil.copy(here / f"trace{number}.json.gz", path)
        n += 1
        tell("finished", repeat=0, path=str(path), bytes=9, median_ns=1_500_000 + number,
             p10_ns=1_400_000, p90_ns=1_600_000, equality=equality, left_s=1.0, **where)
    tell("done", session="s", traces=n)
except KeyboardInterrupt:
    tell("failed", reason="interrupted", traces=n)
"""
NAMES = ("eager", "addmm", "compiled")


def _trace(host_us: int) -> bytes:
    """Return a trace of three calls that take as long as they are told."""
    events = []
    for number in range(3):
        ts = number * 1_000
        events.append(event("matmul_add_fwd", "user_annotation", ts, host_us))
        events.append(event("aten::mm", "cpu_op", ts + 1, host_us - 2))
    document = {"schemaVersion": 1, "traceEvents": events}
    return gzip.compress(json.dumps(document).encode())


class Child:
    """The child's folder: what it may do next, and what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "child.py").write_text(CHILD)
        for number, host_us in enumerate((200, 100, 50)):
            (folder / f"trace{number}.json.gz").write_bytes(_trace(host_us))

    def go(self, *variants: str) -> None:
        for variant in variants or NAMES:
            (self.folder / f"go-{variant}").touch()

    @property
    def asked(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.folder / "spec.json").read_text())
        return found


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    folder = tmp_path / "child"
    folder.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(
        client,
        "child_command",
        lambda module, *arguments, python: [sys.executable, str(folder / "child.py"), *arguments],
    )
    return Child(folder)


def _capture(driver: Driver) -> CaptureScreen:
    screen = driver.app.screen
    assert isinstance(screen, CaptureScreen)
    return screen


def _cursor_on(driver: Driver, text: str) -> None:
    rows = driver.app.screen.query_one(LineList)
    rows.cursor = next(row for row in range(rows.n_rows) if text in rows.text_of(row))


async def _until(driver: Driver, is_so: Callable[[], bool]) -> None:
    for _ in range(500):
        if is_so():
            return
        await driver.pilot.pause(0.01)
    raise AssertionError(driver.screen_text)


async def _opened_form(driver: Driver) -> None:
    await driver.press("ctrl+r")
    await driver.wait_for("torch 9.9")
    _cursor_on(driver, "Workload")
    await driver.press("enter")
    assert isinstance(driver.app.screen, ChoiceScreen)
    driver.app.screen.query_one(OptionList).highlighted = 0  # matmul-add
    await driver.press("enter")
    await driver.wait_for("a matrix product and an addition")


async def test_from_the_start_screen_to_the_scoreboard_with_the_keyboard_alone(child):
    async with running(size=(80, 24)) as driver:
        assert isinstance(driver.app.screen, StartScreen)
        await _opened_form(driver)
        _cursor_on(driver, "compiled-reduce")
        await driver.press("space", "j", "enter")
        assert "3 variants of matmul-add: 3 traces" in driver.screen_text
        await driver.press("R")
        await driver.wait_for("compiling · about 20 s left")
        assert "0 of 3 traces complete" in driver.screen_text
        child.go("eager")
        await driver.wait_for("1 of 3 traces complete")
        child.go()
        await _until(driver, lambda: isinstance(driver.app.screen, MainScreen))
        await driver.settle()
        assert driver.view_name == "scoreboard"
        await driver.wait_for("matmul_add_addmm")
        assert "matmul_add_eager" in driver.screen_text
        assert "2 traces are complete, 1 could not run" in driver.text_of("footer")
        assert "matmul_add_compiled" in driver.screen_text
        assert "cannot run: InductorError" in driver.screen_text
        assert child.asked["variants"] == ["eager", "compiled", "addmm"]
        await driver.press("space", "j", "space", "enter")
        await driver.settle()
        assert driver.view_name == "compare"


async def test_finished_traces_open_while_the_rest_still_runs_and_esc_stops(child, gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await _opened_form(driver)
        child.go("eager")
        await driver.press("R")
        await driver.wait_for("1 of 5 traces complete")
        await driver.wait_for("1.500 ms")
        await driver.press("6")
        await driver.pilot.pause()
        assert driver.view_name == "scoreboard"
        assert "gpu.json" in driver.text_of("header")
        await driver.wait_for("matmul_add_eager")
        await driver.wait_for("running: compiling")
        assert "waits for its turn" in driver.screen_text
        assert "4 to come" in driver.screen_text
        await driver.press("G", "space", "b", "e")  # what has no trace is neither picked nor named
        assert "[x]" not in driver.screen_text
        await driver.press("ctrl+r")
        await driver.wait_for("compiling")
        assert "stop" in driver.text_of("footer")
        await driver.press("escape")
        await driver.wait_for("Stopped: 1 trace is complete")
        assert not _capture(driver).is_capturing
        await driver.press("escape")
        assert "could not run last time" not in driver.screen_text
        assert "R starts" in driver.screen_text
        await driver.press("escape")
        assert isinstance(driver.app.screen, MainScreen)


async def test_what_could_not_run_is_grey_the_next_time_and_the_choice_is_remembered(
    child, state_folder
):
    child.go()
    async with running() as driver:
        await _opened_form(driver)
        _cursor_on(driver, "size")
        await driver.press("l", "R")
        await _until(driver, lambda: isinstance(driver.app.screen, MainScreen))
        await driver.settle()
        assert child.asked["settings"] == [["size", [1024]]]
    async with running(size=(140, 30)) as driver:
        await driver.press("ctrl+r")
        await driver.wait_for("torch 9.9")
        assert "could not run last time: InductorError: no C++ compiler" in driver.screen_text
        assert "size   1024" in driver.screen_text
    memory = ChoiceStore(Path(state_folder) / "tracetui").memory()
    assert memory.general["workload"] == "matmul-add"


async def test_without_torch_the_start_is_grey_with_the_reason_and_another_python_can_be_named(
    child,
):
    (child.folder / "no-torch").touch()
    async with running(size=(100, 30)) as driver:
        await driver.press("ctrl+r")
        await driver.wait_for("Cannot start: /x/python cannot import torch")
        await driver.press("R")
        assert _capture(driver).is_capturing is False
        (child.folder / "no-torch").unlink()
        _cursor_on(driver, "Python")
        await driver.press("enter")
        assert isinstance(driver.app.screen, PromptScreen)
        await driver.press(*"/y/bin/python", "enter")
        await driver.wait_for("R starts")


async def test_start_screen_greys_the_action_where_there_is_no_torch(child, monkeypatch):
    monkeypatch.setattr("tracetui.ui.screens.start.has_torch", lambda python: False)
    async with running(size=(100, 30)) as driver:
        rows = driver.app.screen.query_one(OptionList)
        action = next(each for each in rows.options if "record a workload" in str(each.prompt))
        assert action.disabled
        assert "No torch in" in driver.screen_text
        assert "Name another: ctrl+r" in driver.screen_text


async def test_start_screen_leads_to_the_capture_with_enter(child, monkeypatch):
    monkeypatch.setattr("tracetui.ui.screens.start.has_torch", lambda python: True)
    async with running(size=(100, 30)) as driver:
        rows = driver.app.screen.query_one(OptionList)
        rows.highlighted = next(
            place
            for place, each in enumerate(rows.options)
            if "record a workload" in str(each.prompt)
        )
        await driver.press("enter")
        assert _capture(driver).key_scope == "capture"
        await driver.press("escape")
        assert isinstance(driver.app.screen, StartScreen)


async def test_a_value_that_means_nothing_is_said_and_asked_for_again(child):
    async with running(size=(80, 24)) as driver:
        await _opened_form(driver)
        _cursor_on(driver, "size")
        await driver.press("enter", "ctrl+u", *"zero", "enter")
        assert isinstance(driver.app.screen, PromptScreen)
        await driver.wait_for("a whole number from 1")
        await driver.press("escape")
        assert isinstance(driver.app.screen, CaptureScreen)
        assert "size   512" in driver.screen_text


async def test_leaving_ends_the_child_and_help_names_the_keys(child):
    async with running(size=(80, 24)) as driver:
        await _opened_form(driver)
        await driver.press("question_mark")
        assert isinstance(driver.app.screen, HelpScreen)
        assert "Start what is chosen" in driver.screen_text
        await driver.press("escape", "R")
        await driver.wait_for("compiling")
        process = _capture(driver)._process
        assert process is not None
        assert process._child is not None
        ended = process._child.process
    assert ended.wait(timeout=10) == -signal.SIGKILL


async def test_help_above_a_capture_does_not_lose_its_first_trace(child):
    async with running(size=(80, 24)) as driver:
        await _opened_form(driver)
        await driver.press("R")
        await driver.wait_for("compiling")
        await driver.press("question_mark")
        child.go()
        live = next(each for each in driver.app.screen_stack if isinstance(each, CaptureScreen))
        await _until(driver, lambda: not live.is_capturing)
        assert isinstance(driver.app.screen, HelpScreen)
        await driver.press("escape")
        assert "Done: 2 traces are complete, 1 could not run" in driver.screen_text
        await driver.press("6")
        await driver.settle()
        assert driver.view_name == "scoreboard"
        await driver.wait_for("matmul_add_addmm")


async def test_capturing_anew_replaces_the_open_trace(child):
    child.go()
    async with running(size=(100, 30)) as driver:
        await _opened_form(driver)
        for _ in range(2):
            await driver.press("R")
            await _until(driver, lambda: isinstance(driver.app.screen, MainScreen))
            await driver.settle()
            await driver.press("ctrl+r")
            await driver.wait_for("Done")
        assert len(driver.main._documents) == 2


async def test_traces_can_be_opened_on_the_scoreboard_at_once(gpu_file, cpu_file):
    app = TraceTuiApp([str(gpu_file), str(cpu_file)], view="scoreboard")
    async with app.run_test(size=(100, 30)) as pilot:
        driver = Driver(pilot, app)
        await driver.settle()
        assert driver.view_name == "scoreboard"
        assert "cpu.json" in driver.screen_text


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
async def test_a_real_capture_fills_the_scoreboard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with running(size=(120, 40)) as driver:
        await driver.press("ctrl+r")
        await _patiently(
            driver, lambda: "R starts" in driver.screen_text and "auto: cpu" in driver.screen_text
        )
        _cursor_on(driver, "Workload")
        await driver.press("h")
        assert "one linear layer" in driver.screen_text
        _cursor_on(driver, "[x] compiled")
        await driver.press("space", "R")
        await _patiently(driver, lambda: isinstance(driver.app.screen, MainScreen))
        await driver.settle()
        assert driver.view_name == "scoreboard"
        await driver.wait_for("linear_eager")
        assert (tmp_path / "traces" / "session.json").exists()


async def _patiently(driver: Driver, is_so: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if is_so():
            return
        await driver.pilot.pause(0.05)
    raise AssertionError(driver.screen_text)
