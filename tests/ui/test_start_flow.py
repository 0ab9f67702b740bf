"""The start screen: what is listed, opening it, and saying what went wrong."""

from pathlib import Path

from textual.widgets import OptionList

from tests.ui.driver import Driver, running
from tracetui.presentation.browse import Place, StateStore
from tracetui.ui.screens.main import MainScreen
from tracetui.ui.screens.start import StartScreen, samples_folder


def _rows(driver: Driver) -> list[str]:
    options = driver.app.screen.query_one(OptionList).options
    return [str(option.prompt).strip() for option in options]


async def test_without_a_file_recent_and_near_traces_are_listed(
    gpu_file, cpu_file, state_folder, monkeypatch
):
    monkeypatch.chdir(gpu_file.parent)
    StateStore(Path(state_folder) / "tracetui").remember(str(cpu_file), Place())
    async with running() as driver:
        rows = _rows(driver)
        recent, near = rows.index("Recent"), rows.index("Below this folder")
        assert rows[recent + 1].startswith("cpu.json")
        assert any(row.startswith("gpu.json") for row in rows[near:])
        assert "What it can do" in rows


async def test_the_samples_are_listed_by_name(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    async with running(size=(80, 24)) as driver:
        rows = _rows(driver)
        samples = [row.split()[0] for row in rows if ".json.gz" in row]
        bundled = sorted(each.name for each in samples_folder().glob("*.json.gz"))
        assert "attention_naive_inplace.json.gz" in samples
        assert samples == bundled[: len(samples)]


async def test_enter_opens_the_highlighted_file(gpu_file, monkeypatch):
    monkeypatch.chdir(gpu_file.parent)
    async with running() as driver:
        await driver.press("enter")
        await driver.settle()
        assert "gpu.json" in driver.text_of("header")
        assert driver.view_name == "overview"


async def test_a_folder_lists_size_age_and_producer(gpu_file):
    async with running(directory=str(gpu_file.parent)) as driver:
        row = next(row for row in _rows(driver) if row.startswith("gpu.json"))
        assert row.endswith("PyTorch profiler")
        assert f"{gpu_file.stat().st_size} B" in row
        assert " now " in row


async def test_a_folder_without_traces_says_so(tmp_path):
    (tmp_path / "empty").mkdir()
    async with running(directory=str(tmp_path / "empty")) as driver:
        assert "none" in _rows(driver)


async def test_a_hostile_file_name_is_shown_as_text(gpu_file):
    gpu_file.rename(gpu_file.with_name("[@click=app.quit]x[].json"))
    async with running(directory=str(gpu_file.parent)) as driver:
        assert any(row.startswith("[@click=app.quit]x[].json") for row in _rows(driver))


async def test_escape_stays_and_q_leaves(tmp_path):
    async with running(directory=str(tmp_path)) as driver:
        await driver.press("escape")
        assert isinstance(driver.app.screen, StartScreen)
        await driver.press("q")
        assert driver.app._exit


async def test_o_with_one_trace_open_offers_the_list_and_escape_goes_back(
    gpu_file, cpu_file, monkeypatch
):
    monkeypatch.chdir(gpu_file.parent)
    async with running(gpu_file) as driver:
        await driver.press("o")
        await driver.settle()
        assert isinstance(driver.app.screen, StartScreen)
        await driver.press("escape")
        assert isinstance(driver.app.screen, MainScreen)
        await driver.press("o")
        await driver.settle()
        rows = driver.app.screen.query_one(OptionList)
        rows.highlighted = next(
            i for i, row in enumerate(_rows(driver)) if row.startswith("cpu.json")
        )
        await driver.press("enter")
        await driver.settle()
        assert "cpu.json" in driver.text_of("header")
        await driver.press("o")
        assert "gpu.json" in driver.text_of("header")


async def test_j_and_k_move_the_highlight(gpu_file, cpu_file):
    async with running(directory=str(gpu_file.parent)) as driver:
        rows = driver.app.screen.query_one(OptionList)
        first = rows.highlighted
        await driver.press("j")
        assert rows.highlighted != first
        await driver.press("k")
        assert rows.highlighted == first


async def test_help_lists_the_keys_of_the_list(tmp_path):
    async with running(directory=str(tmp_path), size=(100, 50)) as driver:
        await driver.press("question_mark")
        assert "Open the trace" in driver.screen_text


async def test_a_python_without_torch_is_named_and_how_to_name_another(tmp_path, monkeypatch):
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to("/usr/bin/env")
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    async with running(directory=str(tmp_path), size=(160, 40)) as driver:
        text = driver.screen_text
        assert f"No torch in {folder}/bin/python: recording needs one" in text
        assert "tracetui capture --python /path/to/python" in text


async def test_a_python_with_torch_is_not_worth_a_word(tmp_path, monkeypatch):
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to("/usr/bin/env")
    (folder / "lib" / "python3.12" / "site-packages" / "torch").mkdir(parents=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    async with running(directory=str(tmp_path), size=(160, 40)) as driver:
        assert "No torch" not in driver.screen_text
