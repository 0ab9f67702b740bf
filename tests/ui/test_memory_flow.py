"""The memory view by keyboard, on a small file whose amounts add up."""

import json

import pytest

from tests.ui.driver import Driver, running
from tracetui.ui.views.memory import MemoryView


def _view(driver: Driver) -> MemoryView:
    assert isinstance(driver.view, MemoryView)
    return driver.view


async def _open(driver: Driver) -> MemoryView:
    await driver.press("9")
    await driver.settle()
    return _view(driver)


def _rows(view: MemoryView) -> list[str]:
    return [view.rows.text_of(row) for row in range(view.n_rows())]


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (160, 50)])
async def test_chart_and_table_share_every_size(memory_file, size):
    async with running(memory_file, size=size) as driver:
        view = await _open(driver)

        text = driver.screen_text
        assert "cuda:0 peak 6.0 MiB at 44.00 µs in aten::empty, ProfilerStep#3" in text
        assert "▾ peak 6.0 MiB" in text
        # Linear asked for nothing itself: its addmm did, through aten::empty.
        assert [row.split()[:4] for row in _rows(view)[:3]] == [
            ["aten::addmm", "3.0", "MiB", "50.0"],
            ["(there", "before", "the", "recording)"],
            ["aten::transpose_copy", "1.0", "MiB", "16.7"],
        ]
        assert "8.0 MiB ─" in text


async def test_at_80_columns_every_view_has_its_tab(memory_file):
    async with running(memory_file, size=(80, 24)) as driver:
        await _open(driver)

        tabs = driver.screen_text.splitlines()[1]
        assert tabs.rstrip().endswith("8 Roof  9 Mem")


async def test_a_row_leads_to_the_call_on_the_timeline(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("j", "j", "enter")
        await driver.settle()

        assert driver.view_name == "timeline"
        assert driver.selected_name == "aten::transpose_copy"


async def test_details_that_were_asked_for_leave_no_empty_lines_for_a_chart(memory_file):
    async with running(memory_file, size=(80, 24)) as driver:
        view = await _open(driver)
        shown = view.plot.display
        await driver.press("enter")
        await driver.settle()

        assert shown
        assert "asked for  3.0 MiB in 1 block" in driver.screen_text
        assert not view.plot.display
        await driver.press("enter")
        await driver.settle()
        assert driver.view_name == "timeline"


async def test_the_overview_leads_here_and_to_the_operator_of_the_peak(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        lines = driver.overview
        place = next(row for row, line in enumerate(lines) if line.startswith("Memory"))
        await driver.press(*["j"] * len([line for line in lines[:place] if line]))
        await driver.press("enter")
        await driver.settle()

        assert lines[place].startswith("Memory   cuda:0 peak 6.0 MiB at 44.00 µs in aten::empty")
        assert driver.view_name == "memory"
        assert driver.selected_name == "aten::empty"


async def test_blocks_of_the_peak_lead_to_who_asked(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        view = await _open(driver)
        await driver.press("v")
        await driver.settle()
        rows = _rows(view)
        summary = view.summary()
        await driver.press("enter")
        await driver.settle()

        assert summary.startswith("2 blocks in the cuda:0 peak 6.0 MiB at 44.00 µs")
        assert rows[0].startswith("aten::addmm [1024…024]x[1024,1024] ")
        assert rows[0].split()[-2:] == ["116.00", "µs"]
        assert driver.view_name == "timeline"
        assert driver.selected_name == "aten::addmm"


async def test_pages_and_devices_come_back_round(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        view = await _open(driver)
        first = _rows(view)
        await driver.press("v")
        await driver.settle()
        await driver.press("d")
        await driver.settle()
        host = view.summary()
        await driver.press("v", "d")
        await driver.settle()

        assert host.startswith("1 block in the cpu peak 4.0 KiB at 20.00 µs")
        assert _rows(view) == first


async def test_one_device_has_no_other(memory_file):
    document = json.loads(memory_file.read_text())
    document["traceEvents"] = [
        each for each in document["traceEvents"] if each["args"].get("Device Id") != -1
    ]
    memory_file.write_text(json.dumps(document))
    async with running(memory_file, size=(80, 24)) as driver:
        await _open(driver)
        await driver.press("d")

        assert "cuda:0 is the only device with memory records" in driver.screen_text


async def test_the_chart_goes_and_comes(memory_file):
    async with running(memory_file, size=(100, 30)) as driver:
        view = await _open(driver)
        await driver.press("p")
        without = view.plot.display
        await driver.press("p")

        assert not without
        assert view.plot.display


async def test_rows_are_sorted_turned_round_and_filtered(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        view = await _open(driver)
        await driver.press("i")
        turned = _rows(view)[-1]
        await driver.press("i", "s", "s")
        sorted_by = driver.screen_text
        await driver.press("ampersand", *"name:relu", "enter")
        await driver.settle()

        assert turned.startswith("aten::addmm")
        assert "self▾" in sorted_by
        assert [row.split()[0] for row in _rows(view)] == ["aten::relu"]


async def test_the_chart_follows_the_timeline_and_a_range_has_a_peak_of_its_own(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        view = await _open(driver)
        whole = view.plot.lines[-2].text
        await driver.press("2", "slash", *"relu", "enter")
        await driver.settle()
        await driver.press("f", "r", "9")
        await driver.settle()

        assert whole.split() == ["0", "ns", "100.00", "µs", "200.00", "µs"]
        assert view.plot.lines[-2].text.split() == [
            "120.00", "µs", "135.00", "µs", "150.00", "µs",
        ]  # fmt: skip
        assert "cuda:0 peak of the range 5.5 MiB at 130.00 µs in aten::relu" in driver.screen_text


async def test_it_copies_as_text(memory_file):
    async with running(memory_file, size=(100, 30)) as driver:
        view = await _open(driver)
        lines = view.copied_text().splitlines()

        assert lines[0].startswith("cuda:0 peak 6.0 MiB")
        assert any("▾ peak 6.0 MiB" in line for line in lines)
        assert any(line.startswith("aten::addmm") for line in lines)


async def test_without_records_it_says_which_flag_brings_them(cpu_file):
    async with running(cpu_file, size=(80, 24)) as driver:
        view = await _open(driver)
        await driver.press("d", "v", "s", "i", "enter")
        await driver.settle()

        assert (
            "no memory records in this file; profile_memory=True brings them" in driver.screen_text
        )
        assert not view.plot.display


async def test_without_addresses_the_blocks_are_not_known(memory_file):
    document = json.loads(memory_file.read_text())
    for each in document["traceEvents"]:
        each["args"].pop("Addr", None)
    memory_file.write_text(json.dumps(document))
    async with running(memory_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("v")
        await driver.settle()

        assert "no addresses in this file" in driver.screen_text


async def test_a_filter_that_is_none_is_explained(memory_file):
    async with running(memory_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("ampersand", *"dur>>5", "enter")
        await driver.settle()

        assert "dur>>5" in driver.screen_text
