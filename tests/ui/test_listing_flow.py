"""Keys of the operator tree and of the kernel table, on a small file with known sums."""

import json
from pathlib import Path

import pytest

from tests.ui.conftest import event
from tests.ui.driver import Driver, running
from tracetui.ui.messages import RangeChosen
from tracetui.ui.views.kernels import KernelsView
from tracetui.ui.views.operators import OperatorsView


def _file(folder: Path, *events: dict[str, object]) -> Path:
    path = folder / "small.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.fixture
def loop_file(tmp_path: Path) -> Path:
    """Three equal calls of 20 us with a child in one step, and a fourth without."""
    calls = [
        each
        for at in (0, 20, 60)
        for each in (event("aten::linear", "cpu_op", at, 20), event("aten::mm", "cpu_op", at, 10))
    ]
    lone = event("aten::linear", "cpu_op", 40, 20)
    return _file(tmp_path, event("step", "user_annotation", 0, 100), *calls, lone)


@pytest.fixture
def shapes_file(tmp_path: Path) -> Path:
    """Two calls of one shape and one of another."""
    shapes = ([[4, 8], [8, 2]], [[4, 4], [4, 4]], [[4, 8], [8, 2]])
    calls = [event("aten::mm", "cpu_op", 20 * i, 10) for i in range(3)]
    for call, shape in zip(calls, shapes, strict=True):
        call["args"] = {"Input Dims": shape}
    return _file(tmp_path, *calls)


@pytest.fixture
def copy_file(tmp_path: Path) -> Path:
    """A kernel of 60 us and a copy of 20 us."""
    copy = event("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 100, 20, bytes=4096)
    return _file(tmp_path, event("gemm_kernel", "kernel", 20, 60), copy)


@pytest.fixture
def geometry_file(tmp_path: Path) -> Path:
    """A kernel that says how it was launched."""
    kernel = event("gemm_kernel", "kernel", 20, 60)
    kernel["args"] = {
        "device": 0, "stream": 7, "grid": [64, 2, 1], "block": [128, 1, 1],
        "registers per thread": 96, "shared memory": 49152,
    }  # fmt: skip
    return _file(tmp_path, kernel)


def _rows(driver: Driver) -> list[str]:
    view = driver.view
    assert isinstance(view, OperatorsView | KernelsView)
    return [view.rows.text_of(row) for row in range(view.rows.n_rows)]


def _names(driver: Driver) -> list[str]:
    return [row.strip("▾▸ ").split()[0] for row in _rows(driver)]


async def test_the_tree_shows_host_and_device_time(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()

        addmm = next(row for row in _rows(driver) if "aten::addmm" in row)
        assert "100.00 µs" in addmm
        assert "60.00 µs" in addmm
        assert "4 host slices" in driver.screen_text


async def test_left_closes_and_right_opens_a_branch(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()
        await driver.press("g", "h")
        closed = _names(driver)
        await driver.press("l")

        assert closed == ["aten::addmm", "aten::relu", "cudaLaunchKernel"]
        assert _names(driver) == [
            "aten::addmm", "cudaLaunchKernel", "aten::relu", "cudaLaunchKernel",
        ]  # fmt: skip


async def test_all_closes_and_opens(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()
        await driver.press("minus")
        closed = _names(driver)
        await driver.press("equals_sign")

        assert closed == ["aten::addmm", "aten::relu"]
        assert len(_names(driver)) == 4


async def test_what_launches_no_kernel_is_hidden_and_shown(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()
        await driver.press("x")
        hidden = _names(driver)
        await driver.press("x")

        assert hidden == ["aten::addmm", "aten::relu"]
        assert len(_names(driver)) == 4


async def test_the_heaviest_child_and_single_calls(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()
        await driver.press("g", "H")
        heaviest = driver.selected_name
        await driver.press("I")
        await driver.settle()

        assert heaviest == "cudaLaunchKernel"
        assert "by instance" in driver.screen_text


async def test_enter_leads_to_the_timeline_with_the_slice_selected(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()
        await driver.press("j", "enter")
        await driver.settle()

        assert driver.view_name == "timeline"
        assert driver.selected_name == "relu_kernel"


async def test_the_second_copy_is_the_row_under_the_cursor_with_its_titles(gpu_file):
    async with running(gpu_file, size=(80, 24)) as driver:
        await driver.press("4", "y")
        assert "relu_kernel" in driver.app.clipboard
        await driver.press("y")
        titles, row = (line.split("\t") for line in driver.app.clipboard.splitlines())
        assert len(titles) == len(row)
        values = dict(zip(titles, row, strict=True))
        assert values["kernel"] == "gemm_kernel"
        assert values["sum▾"] == "60.00 µs"
        await driver.press("y")
        assert "relu_kernel" in driver.app.clipboard


async def test_the_link_is_followed_from_the_first_row_before_anything_is_selected(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("4")
        assert driver.selected_name == ""
        await driver.press("left_square_bracket")
        assert driver.selected_name == "cudaLaunchKernel"


async def test_kernels_sort_and_invert(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()
        longest_first = _names(driver)
        await driver.press("i")

        assert longest_first == ["gemm_kernel", "relu_kernel"]
        assert _names(driver) == ["relu_kernel", "gemm_kernel"]


async def test_a_filter_keeps_matching_kernels_and_a_bad_one_says_so(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()
        await driver.press("ampersand", *"name:relu", "enter")
        await driver.settle()
        kept = _names(driver)
        await driver.press("ampersand", *"dur>banana", "enter")
        await driver.settle()

        assert kept == ["relu_kernel"]
        assert "\nfilter: " in driver.screen_text


async def test_the_distribution_of_the_kernel_under_the_cursor_is_shown(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()

        assert "launched by aten::addmm" in driver.screen_text
        assert "mean 60.00 µs  median 60.00 µs" in driver.screen_text


async def test_without_a_device_its_columns_are_not_measured(cpu_file):
    async with running(cpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()
        assert "CPU only: no GPU activity in this file" in driver.screen_text
        assert all("–" in row for row in _rows(driver))
        await driver.press("4")
        await driver.settle()
        assert "No kernels in this file" in driver.screen_text


async def test_one_key_leads_from_the_tree_to_the_table_by_name_and_back(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3")
        await driver.settle()
        await driver.press("F")
        await driver.settle()
        flat, text = _rows(driver), driver.screen_text
        await driver.press("F")
        await driver.settle()

        # By device self time: addmm owns 60 us, relu 20 us, the two launches nothing.
        assert [row.split()[:2] for row in flat] == [
            ["aten::addmm", "1"], ["aten::relu", "1"], ["cudaLaunchKernel", "2"],
        ]  # fmt: skip
        assert "4 host slices in 3 rows, by name" in text
        assert "merged by path" in driver.screen_text


async def test_the_flat_table_sorts_by_its_columns_and_inverts(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3", "F")
        await driver.settle()
        for _ in range(8):
            await driver.press("s")
            if "operator▾" in driver.screen_text:
                break
        by_name = _names(driver)
        await driver.press("s")
        by_calls = _names(driver)
        await driver.press("i")

        assert by_name == ["aten::addmm", "aten::relu", "cudaLaunchKernel"]
        assert by_calls == ["cudaLaunchKernel", "aten::addmm", "aten::relu"]
        assert _names(driver) == ["aten::addmm", "aten::relu", "cudaLaunchKernel"]


async def test_siblings_of_the_tree_sort_and_the_cursor_stays_on_its_row(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3", "minus", "g")
        await driver.settle()
        await driver.press("minus", "i")

        assert _names(driver) == ["aten::relu", "aten::addmm"]
        assert driver.view.rows.cursor == 1  # type: ignore[attr-defined]


async def test_a_filter_keeps_matching_rows_of_the_tree_and_of_the_flat_table(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("3", "ampersand", *"name:relu", "enter")
        await driver.settle()
        tree = _names(driver)
        await driver.press("F")
        await driver.settle()
        flat = _names(driver)
        await driver.press("ampersand", *["backspace"] * 20, *"dur>banana", "enter")
        await driver.settle()

        # The kernel relu_kernel passes too: its launch and its operator stand for it.
        assert tree == ["aten::relu", "cudaLaunchKernel"]
        assert flat == ["aten::relu", "cudaLaunchKernel"]
        assert "\nfilter: " in driver.screen_text


async def test_equal_siblings_are_one_row(loop_file):
    async with running(loop_file, size=(120, 40)) as driver:
        await driver.press("3", "M")
        await driver.settle()
        await driver.press("equals_sign")
        merged = _rows(driver)
        await driver.press("M")
        await driver.settle()
        await driver.press("equals_sign")

        assert [" ".join(row.strip("▾▸ ").split()[:2]) for row in merged] == [
            "step 1", "3x aten::linear", "aten::mm 3", "aten::linear 1",
        ]  # fmt: skip
        assert "60.00 µs" in merged[1]
        assert len(_rows(driver)) == 8


async def test_input_shapes_tell_calls_apart(shapes_file):
    async with running(shapes_file, size=(120, 40)) as driver:
        await driver.press("3", "B")
        await driver.settle()
        tree = _rows(driver)
        await driver.press("F")
        await driver.settle()

        assert [row.split()[:3] for row in tree] == [
            ["aten::mm", "[4,8]x[8,2]", "2"], ["aten::mm", "[4,4]x[4,4]", "1"],
        ]  # fmt: skip
        assert len(_rows(driver)) == 2
        assert "input shapes" in driver.screen_text


async def test_copies_stand_among_the_kernels_and_one_key_hides_them(copy_file):
    async with running(copy_file, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()
        listed, text = _rows(driver), driver.screen_text
        await driver.press("x")
        await driver.settle()

        assert "1 kernel, 1 copy, 2 names" in text
        assert [row.split()[0] for row in listed] == ["gemm_kernel", "Memcpy"]
        assert "copy" in listed[1]
        assert _names(driver) == ["gemm_kernel"]


async def test_columns_are_chosen_so_that_the_geometry_has_room_at_80(geometry_file):
    async with running(geometry_file, size=(80, 24)) as driver:
        await driver.press("4")
        await driver.settle()
        before = driver.screen_text
        await driver.press("S")
        assert "Columns, from the left as many as fit" in driver.screen_text
        # Class, share, median, mean, min and max go.
        await driver.press("space", "j", "j", "j")
        for _ in range(5):
            await driver.press("space", "j")
        await driver.press("enter")
        after = driver.screen_text

        assert "grid" not in before
        assert "columns: S" in before
        for title in ("calls", "sum", "regs", "shared B", "grid"):
            assert title in after
        assert "64x2x1" in after
        assert "share " not in after


async def test_the_trees_columns_are_chosen_and_stay_in_the_flat_table(gpu_file):
    async with running(gpu_file, size=(80, 24)) as driver:
        await driver.press("3")
        await driver.settle()
        before = driver.screen_text
        # calls, CPU total and CPU self go.
        await driver.press("S", "space", "j", "space", "j", "space", "enter")
        tree = driver.screen_text
        await driver.press("F")
        await driver.settle()

        assert "columns: S" in before
        assert "GPU self" not in before
        for text in (tree, driver.screen_text):
            assert "GPU self" in text
            assert "kernels" in text
            assert "CPU self" not in text


async def test_times_are_written_in_one_unit_down_the_column(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()
        await driver.press("u")
        nano = _rows(driver)
        await driver.press("u")
        micro, titles = _rows(driver), driver.screen_text
        await driver.press("u")
        milli = _rows(driver)
        await driver.press("u", "u", "3")
        await driver.settle()

        assert " 60,000 " in nano[0]
        assert "sum µs" in titles
        assert " 60.00 " in micro[0]
        assert " 0.0600 " in milli[0]
        assert any("100.00 µs" in row for row in _rows(driver))


async def test_a_range_restricts_both_tables_and_they_say_so(gpu_file):
    async with running(gpu_file, size=(120, 40)) as driver:
        await driver.press("4")
        driver.view.post_message(RangeChosen((70_000, 130_000)))
        await driver.settle()
        kernels, text = _rows(driver), driver.screen_text
        await driver.press("3")
        await driver.settle()
        operators = _rows(driver)

        # gemm runs 20-80 us, relu 120-140: 10 us of each lie in 70-130 us.
        assert "range 60.00 µs at 70.00 µs" in driver.text_of("header")
        assert "in the range: 20.00 µs in sum" in text
        assert [row.split()[0] for row in kernels] == ["gemm_kernel", "relu_kernel"]
        assert all("10.00 µs" in row for row in kernels)
        # addmm is open until 100 us, its launch long over.
        addmm = next(row for row in operators if "aten::addmm" in row)
        assert "30.00 µs" in addmm
        assert "in the range, merged by path" in driver.screen_text
        await driver.press("escape")
        await driver.settle()
        assert "100.00 µs" in next(row for row in _rows(driver) if "aten::addmm" in row)
