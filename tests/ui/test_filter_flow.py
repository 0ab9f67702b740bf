"""The filter on the timeline: what it dims, and where the keys go."""

from tests.ui.driver import running


async def test_a_filter_dims_what_does_not_match_and_slices_keep_to_what_does(gpu_file):
    async with running(gpu_file, size=(110, 30)) as driver:
        await driver.press("2")
        await driver.settle()
        plain = driver.screen_text
        await driver.press("ampersand", *"-name:gemm", "enter")
        await driver.settle()
        assert "5 of 6 slices match" in driver.screen_text
        assert "gemm_kernel─" in driver.screen_text, "what does not match is a line with its name"
        assert "gemm_kernel─" not in plain
        await driver.press("backslash")
        await driver.settle()
        assert driver.screen_text == plain
        await driver.press("ampersand", *"cat:runtime", "enter")
        await driver.settle()
        await driver.press("ampersand", *["backspace"] * 20, *"dur>banana", "enter")
        await driver.settle()
        assert "dur>banana is not a duration" in driver.screen_text


async def test_the_next_slice_is_the_next_that_passes_the_filter(gpu_file):
    async with running(gpu_file, size=(110, 30)) as driver:
        await driver.press("2")
        await driver.settle()
        await driver.press("ampersand", *"name:relu", "enter")
        await driver.settle()
        await driver.press("l")
        assert driver.selected_name == "relu_kernel"
        await driver.press("l")
        assert driver.selected_name == "relu_kernel"
        assert "nothing further after this in the lane passes the filter" in driver.screen_text
        await driver.press("ampersand", *["backspace"] * 20, *"cat:runtime", "enter")
        await driver.settle()
        await driver.press("l")
        assert "nothing in this lane passes the filter" in driver.screen_text
