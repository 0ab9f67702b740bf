"""Stored pictures of the views; each says what to look at."""

import json
from pathlib import Path

import pytest

from tests.ui.driver import Driver
from tracetui.ui.app import TraceTuiApp

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"


def _picture(snap_compare, path: Path, key: str, size: tuple[int, int]) -> bool:
    app = TraceTuiApp([str(path)])
    app.animation_level = "none"

    async def settled(pilot) -> None:
        driver = Driver(pilot, app)
        await driver.settle()
        await driver.press(key)
        await driver.settle()

    return bool(snap_compare(app, terminal_size=size, run_before=settled))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize(
    "key", ["1", "2", "3", "4"], ids=["overview", "timeline", "ops", "kernels"]
)
def test_view_of_a_small_gpu_trace(snap_compare, gpu_file, key, size):
    """Right-aligned numbers, one accent, the answer in the first line, keys in the last."""
    assert _picture(snap_compare, gpu_file, key, size)


@pytest.mark.parametrize("key", ["1", "3"], ids=["overview", "ops"])
def test_view_of_a_cpu_sample(snap_compare, key):
    """No device: dashes, not zeros, and the first line says so."""
    assert _picture(snap_compare, SAMPLES / "mlp_eager.json.gz", key, (120, 40))


def test_overview_of_an_empty_trace(snap_compare, tmp_path):
    """A sentence instead of empty tables."""
    path = tmp_path / "empty.json"
    path.write_text('{"traceEvents": []}')
    assert _picture(snap_compare, path, "1", (80, 24))


def test_overview_of_a_damaged_trace(snap_compare, tmp_path):
    """What was skipped is counted, and the file is called truncated."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9}
    path = tmp_path / "damaged.json"
    path.write_text('{"traceEvents": [' + json.dumps(event) + ', {"ph": "X", "na')
    assert _picture(snap_compare, path, "1", (80, 24))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_roofline_of_a_product_and_an_addition(snap_compare, costed_file, size):
    """Two roofs with their names, a point on each slope, the selected one ringed and named."""
    assert _picture(snap_compare, costed_file, "8", size)
