"""One unit for every time on the screen, in every view."""

import re

import pytest

from tests.ui.driver import Driver, running

_TIME = re.compile(r"\d (ns|µs|ms|s)\b")


def _units(driver: Driver) -> set[str]:
    """Return the units of all times on the screen."""
    return set(_TIME.findall(driver.screen_text))


@pytest.mark.parametrize("view", ["1", "2", "3", "4", "7", "8"])
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_every_time_on_the_screen_has_the_unit(gpu_file, view, size):
    async with running(gpu_file, size=size) as driver:
        await driver.press(view, "u", "u", "u")
        await driver.settle()
        assert "times in ms" in driver.screen_text
        if view == "2":
            await driver.press("l", "v", "l", "v", "i")
            await driver.settle()
        assert _units(driver) <= {"ms"}


async def test_a_fixed_unit_and_back(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        before = driver.screen_text
        assert _units(driver) == {"µs"}
        await driver.press("u")
        await driver.settle()
        assert "150,000 ns" in driver.text_of("header")
        assert _units(driver) == {"ns"}
        await driver.press(*"uuuu")
        await driver.settle()
        driver.main._fall_silent()
        await driver.pilot.pause()
        assert driver.screen_text == before


@pytest.mark.parametrize(
    "keys", [("5",), ("5", "v"), ("5", "v", "v"), ("5", "v", "v", "v"), ("6",)]
)
async def test_a_comparison_has_the_unit_too(gpu_file, tmp_path, keys):
    other = tmp_path / "other.json"
    other.write_text(gpu_file.read_text().replace('"dur": 60', '"dur": 80'))
    async with running(gpu_file, other, size=(120, 40)) as driver:
        await driver.press(*keys)
        await driver.settle()
        assert "µs" in _units(driver)
        await driver.press("u", "u", "u")
        await driver.settle()
        assert _units(driver) == {"ms"}
