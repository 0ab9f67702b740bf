"""Stored pictures of the views; each says what to look at."""

import json
from pathlib import Path

import pytest

from tests.ui.driver import Driver
from tracetui.ui.app import TraceTuiApp

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"


def _picture(
    snap_compare, path: Path | list[Path], keys: str | list[str], size: tuple[int, int]
) -> bool:
    paths = path if isinstance(path, list) else [path]
    app = TraceTuiApp([str(each) for each in paths])
    app.animation_level = "none"

    async def settled(pilot) -> None:
        driver = Driver(pilot, app)
        await driver.settle()
        for key in keys:
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


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("keys", [["9", "j"], ["9", "v"]], ids=["operators", "blocks"])
def test_memory_of_a_linear_layer(snap_compare, memory_file, keys, size):
    """The peak over its column, the amounts right-aligned, and below what the row held."""
    assert _picture(snap_compare, memory_file, keys, size)


def test_memory_that_was_not_recorded(snap_compare, cpu_file):
    """One sentence with the flag; no empty chart, no empty table."""
    assert _picture(snap_compare, cpu_file, "9", (80, 24))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_why_attention_is_slower_written_out(snap_compare, size):
    """One sentence with the verdict, then bars that add up to the difference."""
    pair = [SAMPLES / "attention_naive.json.gz", SAMPLES / "attention_sdpa.json.gz"]
    assert _picture(snap_compare, pair, ["5"], size)


def test_two_timelines_under_one_cursor(snap_compare):
    """Both start in the same cell; what differs is marked, the selected piece above all."""
    pair = [SAMPLES / "attention_naive.json.gz", SAMPLES / "attention_sdpa.json.gz"]
    keys = ["5", "v", "v", "right_curly_bracket"]
    assert _picture(snap_compare, pair, keys, (100, 30))


def test_scoreboard_of_four_variants(snap_compare):
    """The fastest first, the best of each column marked, the baseline with an A."""
    names = ("attention_naive", "attention_naive_inplace", "attention_sdpa", "attention_sdpa_math")
    paths = [SAMPLES / f"{name}.json.gz" for name in names]
    assert _picture(snap_compare, paths, ["6"], (100, 30))


def test_findings_of_written_out_attention(snap_compare):
    """What is wrong with its gain, and the exact change to try."""
    assert _picture(snap_compare, SAMPLES / "attention_naive.json.gz", ["7"], (120, 40))
