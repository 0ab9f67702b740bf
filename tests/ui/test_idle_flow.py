"""Idle time in the interface: from gap to gap, and to what held it."""

import json

from tests.ui.conftest import event
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


async def test_t_counts_what_the_profiler_did(tmp_path):
    events = [
        event("a", "kernel", 0, 30),
        event("Activity Buffer Request", "overhead", 30, 60),
        event("b", "kernel", 90, 10),
    ]
    path = tmp_path / "profiled.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    async with running(path) as driver:
        assert driver.overview[0].startswith("Compute-bound: the device is busy 100.0 %")
        await driver.press("t")
        await driver.settle()
        assert driver.overview[0].startswith("Not kept busy: the device is idle 60.0 %")
        await driver.press("t")
        await driver.settle()
        assert driver.overview[0].startswith("Compute-bound")


async def test_what_shares_leave_out_is_hatched_in_the_timelines_ruler(tmp_path):
    events = [
        event("a", "kernel", 0, 30),
        event("Activity Buffer Request", "overhead", 30, 60),
        event("b", "kernel", 90, 10),
    ]
    path = tmp_path / "profiled.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    async with running(path) as driver:
        await driver.press("2")
        await driver.settle()
        assert "░░░" in driver.screen_text
        assert "▒▒▒" in driver.screen_text
        await driver.press("t")
        await driver.settle()
        assert "░░░" not in driver.screen_text
