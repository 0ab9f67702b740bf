"""Details: at the right from 110 columns, below where there is height, else asked for."""

import pytest

from tests.ui.driver import Driver, running
from tracetui.ui.views.detailed import DetailedView


def _view(driver: Driver) -> DetailedView:
    view = driver.view
    assert isinstance(view, DetailedView)
    return view


async def _open(driver: Driver, key: str) -> None:
    await driver.press(key)
    await driver.settle()


@pytest.mark.parametrize("key", ["2", "3", "4"])
@pytest.mark.parametrize(
    ("size", "place"),
    [
        ((110, 24), "-right"), ((200, 50), "-right"), ((109, 30), "-below"), ((80, 28), "-below"),
        ((80, 24), "-away"), ((109, 24), "-away"),
    ],
)  # fmt: skip
async def test_the_size_says_where_the_details_are(gpu_file, key, size, place):
    async with running(gpu_file, size=size) as driver:
        await _open(driver, key)
        assert _view(driver).place == place
        pane, main = _view(driver).details, _view(driver).main_widget()
        assert pane.display == (place != "-away")
        if place == "-right":
            assert pane.region.x >= main.region.right
        elif place == "-below":
            assert pane.region.y >= main.region.bottom


@pytest.mark.parametrize("key", ["2", "3", "4"])
async def test_at_80x24_enter_shows_the_details_and_escape_puts_them_away(gpu_file, key):
    async with running(gpu_file, size=(80, 24)) as driver:
        await _open(driver, key)
        await driver.press("j", "enter")
        shown = _view(driver).place
        name = driver.view_name
        await driver.press("escape")
        assert (shown, name) == ("-asked", {"2": "timeline", "3": "operators", "4": "kernels"}[key])
        assert _view(driver).place == "-away"


async def test_where_the_details_are_shown_enter_leads_on(gpu_file):
    async with running(gpu_file, size=(80, 24)) as driver:
        await _open(driver, "4")
        await driver.press("enter", "enter")
        await driver.settle()
        assert (driver.view_name, driver.selected_name) == ("timeline", "gemm_kernel")


async def test_the_details_follow_the_cursor(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await _open(driver, "4")
        first = _view(driver).details.texts
        await driver.press("j")
        second = _view(driver).details.texts
        await driver.wait_for("launched by aten::relu")
        assert (first[0], second[0]) == ("gemm_kernel", "relu_kernel")
        await _open(driver, "2")
        assert _view(driver).details.texts[0] == "relu_kernel"
        assert "queued    5.00 µs" in _view(driver).details.texts
        await _open(driver, "4")
        await driver.press("k")
        await _open(driver, "2")
        assert _view(driver).details.texts[0] == "gemm_kernel"


async def test_tab_goes_to_the_details_to_scroll_and_back(gpu_file):
    async with running(gpu_file, size=(110, 12)) as driver:
        await _open(driver, "4")
        assert "more lines, tab goes there" in driver.screen_text
        await driver.press("tab")
        assert _view(driver).details.has_focus
        cursor = driver.view.rows.cursor  # type: ignore[attr-defined]
        await driver.press("G")
        end = driver.screen_text
        await driver.press("k", "pageup", "pagedown", "g")
        top = driver.screen_text
        assert "correlation: 1" in end
        assert "correlation: 1" not in top
        assert driver.view.rows.cursor == cursor  # type: ignore[attr-defined]
        await driver.press("escape")
        assert _view(driver).main_widget().has_focus


async def test_enter_in_the_timeline_goes_to_the_details(gpu_file):
    async with running(gpu_file, size=(120, 30)) as driver:
        await _open(driver, "2")
        await driver.press("l", "enter")
        assert _view(driver).details.has_focus
        await driver.press("tab")
        assert _view(driver).main_widget().has_focus


async def test_a_very_long_name_comes_after_what_is_said_of_it(gpu_file):
    text = gpu_file.read_text().replace("gemm_kernel", "gemm<" + "int, " * 100 + ">")
    gpu_file.write_text(text)
    async with running(gpu_file, size=(120, 40)) as driver:
        await _open(driver, "2")
        await driver.press("l")
        lines = [line[80:] for line in driver.screen_text.splitlines()]
        start = next(at for at, line in enumerate(lines) if "start" in line)
        assert start <= 6
        assert any("int, int, int" in line for line in lines[start:])


@pytest.mark.parametrize("view", ["2", "3", "4", "7", "8"])
async def test_tab_shows_details_that_are_away_and_goes_there_and_back(gpu_file, view):
    async with running(gpu_file, size=(80, 20)) as driver:
        await driver.press(view)
        await driver.settle()
        shown = driver.view
        assert isinstance(shown, DetailedView)
        assert shown.place == "-away"
        await driver.press("tab")
        assert shown.place == "-asked"
        assert shown.details.has_focus
        await driver.press("tab")
        assert shown.main_widget().has_focus
        await driver.press("shift+tab")
        assert shown.details.has_focus
        await driver.press("escape")
        assert shown.main_widget().has_focus


async def test_tab_says_so_where_there_are_no_details(gpu_file):
    async with running(gpu_file, size=(80, 20)) as driver:
        await driver.press("tab")
        assert "no details here" in driver.text_of("footer")
