"""Keys of the operator tree and of the kernel table, on a small file with known sums."""

from tests.ui.driver import Driver, running
from tracetui.ui.views.kernels import KernelsView
from tracetui.ui.views.operators import OperatorsView


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
        await driver.press("E")

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
        await driver.press("i")
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
        assert "Filter:" in driver.screen_text


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
