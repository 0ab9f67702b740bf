"""Keys of the findings, on a file with two of them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ui.conftest import event
from tests.ui.driver import Driver, running
from tracetui.ui.views.findings import FindingsView


@pytest.fixture
def trouble_file(tmp_path: Path) -> Path:
    """Four steps, the first cold; each copies under masked_fill."""
    events, start = [], 0
    for number, wall in enumerate((4000, 1000, 1000, 1000)):
        events += [
            event(f"ProfilerStep#{number}", "user_annotation", start, wall),
            event("aten::bmm", "cpu_op", start, 500),
            event("aten::masked_fill", "cpu_op", start + 500, 400),
            event("aten::clone", "cpu_op", start + 510, 200),
            event("aten::masked_fill_", "cpu_op", start + 720, 150),
        ]
        start += wall
    path = tmp_path / "trouble.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


async def _open_findings(driver: Driver) -> FindingsView:
    driver.main.action_view("findings")
    await driver.settle()
    return driver.main.query_one(FindingsView)


async def test_findings_are_listed_and_enter_leads_to_the_evidence(trouble_file):
    async with running(trouble_file, size=(120, 40)) as driver:
        view = await _open_findings(driver)
        assert "masked_fill copies its whole input first" in view.rows.text_of(0)
        assert "Try: Call masked_fill_" in driver.screen_text

        await driver.press("enter")
        assert driver.view_name == "timeline"
        assert driver.selected_name == "aten::clone"


async def test_at_80x24_what_to_try_stands_below_the_list(trouble_file):
    async with running(trouble_file, size=(80, 24)) as driver:
        await _open_findings(driver)
        assert "Try: Call masked_fill_" in driver.screen_text

        await driver.press("enter")
        assert driver.view_name == "timeline"


async def test_at_80x18_enter_shows_the_details_first(trouble_file):
    async with running(trouble_file, size=(80, 18)) as driver:
        await _open_findings(driver)
        assert "Try: Call masked_fill_" not in driver.screen_text
        await driver.press("enter")
        assert driver.view_name == "findings"
        assert "Try: Call masked_fill_" in driver.screen_text

        await driver.press("enter")
        assert driver.view_name == "timeline"


async def test_space_supposes_a_finding_mended_and_takes_it_back(trouble_file):
    async with running(trouble_file, size=(120, 40)) as driver:
        view = await _open_findings(driver)
        await driver.press("space")
        await driver.settle()
        assert "With 1 mended: 800.00 µs instead of 1.000 ms a step" in driver.screen_text
        assert view.rows.text_of(0).startswith("[x]")

        await driver.press("space")
        assert "2 findings" in driver.screen_text


async def test_a_rule_that_could_not_judge_leads_nowhere(trouble_file):
    async with running(trouble_file, size=(120, 40)) as driver:
        view = await _open_findings(driver)
        await driver.press("G", "enter")
        assert driver.view_name == "findings"
        assert view.slice_of(view.rows.cursor) == -1


async def test_braces_go_from_finding_to_finding_wherever_one_is(trouble_file):
    async with running(trouble_file) as driver:
        await driver.press("}")
        await driver.settle()
        assert (driver.view_name, driver.selected_name) == ("timeline", "aten::clone")
        assert "1 of 2: aten::masked_fill copies" in driver.text_of("footer")

        await driver.press("}")
        await driver.settle()
        assert driver.selected_name == "ProfilerStep#0"

        await driver.press("}")
        await driver.settle()
        assert driver.selected_name == "aten::clone"

        await driver.press("{")
        await driver.settle()
        assert driver.selected_name == "ProfilerStep#0"


async def test_braces_say_when_there_is_nothing(cpu_file):
    async with running(cpu_file) as driver:
        await driver.press("{")
        await driver.settle()
        assert "no rule found anything" in driver.text_of("footer")


async def test_the_overview_leads_to_the_evidence_and_to_all_findings(trouble_file):
    async with running(trouble_file, size=(100, 40)) as driver:
        rows = driver.overview
        row = next(row for row, text in enumerate(rows) if "masked_fill copies" in text)
        heading = next(row for row, text in enumerate(rows) if text.startswith("Worth a look"))
        assert heading < row

        await driver.press(*["j"] * (row - rows[:row].count("")), "enter")
        assert driver.selected_name == "aten::clone"


async def test_while_a_file_is_read_no_rule_looks(trouble_file):
    async with running(trouble_file, size=(100, 30)) as driver:
        view = await _open_findings(driver)
        loading = replace(driver.workspace, is_loading=True)
        view.workspace = loading
        await driver.settle()
        assert "no rule has looked; they wait for the whole file" in driver.screen_text
        assert view.n_rows() == 0

        view.workspace = replace(loading, is_loading=False)
        await driver.settle()
        assert "2 findings" in driver.screen_text
