"""Stored pictures of guessing first; each says what to look at."""

import pytest

from tests.ui.driver import Driver
from tracetui.ui.app import TraceTuiApp


def _picture(snap_compare, path, keys: tuple[str, ...], size: tuple[int, int]) -> bool:
    app = TraceTuiApp([str(path)])
    app.animation_level = "none"

    async def settled(pilot) -> None:
        driver = Driver(pilot, app)
        await driver.settle()
        await driver.press("ctrl+g")
        await driver.settle()
        await driver.press(*keys)
        await driver.settle()

    return bool(snap_compare(app, terminal_size=size, run_before=settled))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_the_form(snap_compare, gpu_file, size):
    """One question a line, nothing given away, the keys in the last line."""
    assert _picture(snap_compare, gpu_file, (), size)


def test_the_truth(snap_compare, gpu_file):
    """What was right and what was wrong told apart by a letter, the score below."""
    assert _picture(snap_compare, gpu_file, ("3", "tab", "0", "enter"), (80, 24))
