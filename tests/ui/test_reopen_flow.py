"""A file or a pair that is opened again looks as it was left."""

from pathlib import Path

from tests.ui.driver import Driver, running
from tracetui.presentation.operators import OperatorTable, Shape
from tracetui.ui.views.compare import CompareView
from tracetui.ui.views.kernels import KernelsView
from tracetui.ui.views.operators import OperatorsView

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
NAIVE = SAMPLES / "attention_naive.json.gz"
SDPA = SAMPLES / "attention_sdpa.json.gz"
SIZE = (120, 40)


async def operators(driver: Driver) -> OperatorsView:
    await driver.press("3")
    await driver.settle()
    return driver.main.query_one(OperatorsView)


async def test_order_and_columns_and_a_flat_table_come_back():
    async with running(NAIVE, size=SIZE) as driver:
        view = await operators(driver)
        await driver.press("F", "B")
        await driver.settle()
        await driver.press("s", "s", "i", "S")
        await driver.wait_for("Columns")
        await driver.press("down", "space", "enter")
        await driver.settle()
        titles, first = view.titles(view.rows.line_width), view.rows.text_of(0)

    async with running(NAIVE, size=SIZE) as driver:
        view = await operators(driver)
        assert view.shape is Shape.NAMES
        assert isinstance(view._content, OperatorTable)
        assert view._content.by_shape
        assert view.titles(view.rows.line_width) == titles
        assert "▴" in titles
        assert view.rows.text_of(0) == first
        await driver.press("F")
        await driver.settle()
        assert not isinstance(view._content, OperatorTable)


async def test_a_view_that_was_never_looked_at_keeps_what_was_kept_of_it(gpu_file: Path):
    async with running(gpu_file, size=SIZE) as driver:
        await driver.press("4")
        await driver.settle()
        await driver.press("s", "x")
        await driver.settle()
        titles = driver.main.query_one(KernelsView).titles(100)

    async with running(gpu_file, size=SIZE) as driver:
        await driver.settle()

    async with running(gpu_file, size=SIZE) as driver:
        await driver.press("4")
        await driver.settle()
        assert driver.main.query_one(KernelsView).titles(100) == titles


async def test_a_pair_without_notes_opens_on_the_page_that_was_left(tmp_path: Path):
    async with running(NAIVE, SDPA, size=SIZE) as driver:
        await driver.settle()
        view = driver.main.query_one(CompareView)
        await driver.press("V", "space", "exclamation_mark")
        await driver.settle()
        lines = [view.rows.text_of(row) for row in range(view.rows.n_rows)]
        assert lines[0].startswith("▸")

    async with running(NAIVE, SDPA, size=SIZE) as driver:
        await driver.settle()
        view = driver.main.query_one(CompareView)
        assert [view.rows.text_of(row) for row in range(view.rows.n_rows)] == lines

    async with running(SDPA, NAIVE, size=SIZE) as driver:
        await driver.settle()
        assert "slower without the profiler" in driver.screen_text
    assert not [*SAMPLES.glob("*--*.tracetui")]
