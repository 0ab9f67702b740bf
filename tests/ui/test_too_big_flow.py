"""A file that will not fit into memory: asked about before anything is read."""

import json
from pathlib import Path

import pytest

from tests.ui.conftest import event
from tests.ui.driver import running
from tracetui.readers import chrome, shortage
from tracetui.ui.screens.prompt import ChoiceScreen
from tracetui.ui.screens.start import StartScreen
from tracetui.units import BYTES_PER_MIB


@pytest.fixture
def big_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five steps of 100 us with an operator and a kernel each, where hardly any memory is free."""
    monkeypatch.setattr(shortage, "available_bytes", lambda: BYTES_PER_MIB)
    events = [
        each
        for step in range(5)
        for each in (
            event(f"ProfilerStep#{step}", "user_annotation", step * 100, 100),
            event("aten::mm", "cpu_op", step * 100 + 10, 20),
            event("gemm_kernel", "kernel", step * 100 + 40, 30),
        )
    ]
    path = tmp_path / "big.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.mark.parametrize(
    ("keys", "n_slices", "note"),
    [
        (["enter"], 9, "the first 3 steps"),
        (["down", "enter"], 5, "device rows only"),
        (["down", "down", "enter"], 15, ""),
    ],
)
async def test_chosen_part_is_read_and_named(
    big_file: Path, keys: list[str], n_slices: int, note: str
) -> None:
    async with running(big_file) as driver:
        assert isinstance(driver.app.screen, ChoiceScreen)
        assert driver.document.workspace is None
        assert "1.0 MiB are free" in driver.screen_text
        await driver.press(*keys)
        await driver.settle()
        assert len(driver.workspace.trace.slices) == n_slices
        assert ("part of the file" in driver.screen_text) == bool(note)
        assert any("read in part" in line and note in line for line in driver.overview) == bool(
            note
        )


async def test_first_events_are_offered_where_some_fit(
    big_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shortage.memory_need(7)
    monkeypatch.setattr(shortage, "available_bytes", lambda: free)
    async with running(big_file) as driver:
        await driver.press("enter")
        await driver.settle()
        assert len(driver.workspace.trace.slices) == 7


@pytest.mark.parametrize("keys", [["escape"], ["down", "down", "down", "enter"]])
async def test_nothing_is_read_where_nothing_is_chosen(big_file: Path, keys: list[str]) -> None:
    async with running(big_file) as driver:
        await driver.press(*keys)
        await driver.settle()
        assert isinstance(driver.app.screen, StartScreen)
        await driver.wait_for("not read, it is too big")


async def test_nothing_breaks_while_the_steps_are_sought(
    big_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several chunks, each published: while steps are sought nothing has been kept yet.
    monkeypatch.setattr(chrome, "_PUBLISH_S", 0.0)
    record = json.loads(big_file.read_text())
    record["traceEvents"] += [event(f"aten::op_{n}", "cpu_op", 600 + n, 1) for n in range(40_000)]
    big_file.write_text(json.dumps(record))
    async with running(big_file) as driver:
        await driver.press("enter")
        await driver.settle()
        assert len(driver.workspace.trace.slices) == 9
        assert not driver.document.is_loading
