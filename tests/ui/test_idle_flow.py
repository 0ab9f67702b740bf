"""Idle time in the interface: from gap to gap, and to what held it."""

from tests.ui.driver import running


async def test_i_goes_from_gap_to_gap_and_e_to_what_held_it(gpu_file):
    async with running(gpu_file, size=(100, 30)) as driver:
        await driver.press("2")
        await driver.settle()
        await driver.press("i")
        # From 80 to 120 us: 30 until the call at 110, 5 in it, 5 after it.
        assert "gap 40.00 µs · host wait 30.00 µs + " in driver.screen_text
        assert "held by " in driver.screen_text
        await driver.press("i")
        await driver.press("e")
        assert driver.selected_name in ("aten::addmm", "aten::relu")


async def test_without_device_work_there_is_no_gap_to_go_to(cpu_file):
    async with running(cpu_file) as driver:
        await driver.press("2")
        await driver.settle()
        await driver.press("i", "e")
        assert driver.view_name == "timeline"
