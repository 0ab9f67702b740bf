"""The roofline by keyboard and mouse, on a small file with known rates."""

import json

import pytest

from tests.ui.driver import Driver, running
from tracetui.ui.views.roofline import RooflineView


def _view(driver: Driver) -> RooflineView:
    assert isinstance(driver.view, RooflineView)
    return driver.view


async def _open(driver: Driver) -> RooflineView:
    await driver.press("8")
    await driver.settle()
    return _view(driver)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (160, 50)])
async def test_plot_and_table_share_every_size(costed_file, size):
    async with running(costed_file, size=size) as driver:
        view = await _open(driver)

        assert "Bound by compute 55.9 %, memory 44.1 %" in driver.screen_text
        assert "◉" in driver.screen_text
        assert "65.2 %" in driver.screen_text
        assert view.rows.size.height >= 5


async def test_the_cursor_selects_the_slice_for_all_views(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        view = await _open(driver)
        await driver.press("j")

        assert driver.selected_name == "aten::add"
        selected = next(line for line in view.plot.lines if line.selected >= 0)
        assert "add" in selected.text


async def test_a_selection_made_elsewhere_moves_the_cursor(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("4")
        await driver.settle()
        await driver.press("j")
        assert driver.selected_name == "vectorized_elementwise_kernel"
        view = await _open(driver)

        assert view.rows.cursor == 0 or "aten::add" in view.rows.text_of(view.rows.cursor)


async def test_enter_leads_to_the_timeline(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("enter")
        await driver.settle()

        assert driver.view_name == "timeline"
        assert driver.selected_name == "aten::mm"


async def test_by_class_and_back(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        view = await _open(driver)
        await driver.press("c")
        await driver.settle()
        classes = [view.rows.text_of(row).split()[0] for row in range(view.rows.n_rows)]
        await driver.press("c")
        await driver.settle()

        assert classes == ["gemm", "pointwise"]
        assert view.rows.text_of(0).startswith("aten::mm")


async def test_the_plot_goes_and_comes(costed_file):
    async with running(costed_file, size=(100, 30)) as driver:
        view = await _open(driver)
        await driver.press("p")
        without = view.plot.display
        await driver.press("p")

        assert not without
        assert view.plot.display


async def test_rows_are_sorted_and_turned_round(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        view = await _open(driver)
        await driver.press("i")

        assert view.rows.text_of(0).startswith("aten::add")
        await driver.press("i", "s")
        assert "roof▾" in driver.screen_text


async def test_a_click_on_a_point_goes_to_its_row(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        view = await _open(driver)
        lines = view.plot.lines
        row = next(
            y
            for y, line in enumerate(lines)
            if any(x for x, _ in line.marks) and "add" in line.text
        )
        column = lines[row].marks[0][0]
        await driver.pilot.click(view.plot, offset=(column, row))
        await driver.settle()

        assert view.rows.text_of(view.rows.cursor).startswith("aten::add")
        assert driver.selected_name == "aten::add"


async def test_it_copies_as_text(costed_file):
    async with running(costed_file, size=(100, 30)) as driver:
        text = (await _open(driver)).copied_text()

        assert text.startswith("Bound by")
        assert "◉" in text
        assert "aten::add" in text


async def test_without_shapes_it_says_which_flag_brings_them(gpu_file):
    async with running(gpu_file, size=(80, 24)) as driver:
        view = await _open(driver)

        assert "record_shapes=True" in driver.screen_text
        assert not view.plot.display


async def test_without_types_no_empty_plot_takes_room_from_the_table(costed_file):
    # Recordings of before 2021 hold shapes and no types: bytes, and so intensities, are unknown.
    document = json.loads(costed_file.read_text())
    for each in document["traceEvents"]:
        each["args"].pop("Input type", None)
    costed_file.write_text(json.dumps(document))
    async with running(costed_file, size=(80, 24)) as driver:
        view = await _open(driver)

        assert view.n_rows() > 0
        assert not view.plot.display


async def test_an_empty_trace_has_a_sentence(tmp_path):
    path = tmp_path / "empty.json"
    path.write_text('{"traceEvents": []}')
    async with running(path, size=(80, 24)) as driver:
        await _open(driver)

        assert "No roofline: there are no operators" in driver.screen_text


async def test_columns_are_chosen(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("S", "space", "enter")
        await driver.settle()

        assert "time▾" not in driver.screen_text


async def test_roofs_are_given_by_hand_and_taken_back(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("P", *"bf16=406.9e12,bw=1e13", "enter")
        await driver.settle()
        given = driver.screen_text
        await driver.press("P", *["backspace"] * 30, "enter")
        await driver.settle()

        assert "50.0 %" in given
        assert "65.2 %" in driver.screen_text


async def test_roofs_that_cannot_be_read_are_explained_and_change_nothing(costed_file):
    async with running(costed_file, size=(120, 40)) as driver:
        await _open(driver)
        await driver.press("P", *"fast", "enter")
        await driver.settle()

        assert "65.2 %" in driver.screen_text
        assert "KEY=RATE" in driver.text_of("footer")
