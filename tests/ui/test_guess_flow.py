"""Guess first: the answers are hidden, the guess is judged, and the surprise is shown."""

from textual.widgets import Input

from tests.ui.driver import running
from tracetui.ui.screens.guess import GuessScreen


async def test_the_form_hides_the_answers_and_leads_to_the_surprise(
    gpu_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    async with running(gpu_file) as driver:
        await driver.press("ctrl+g")
        await driver.settle()
        assert isinstance(driver.app.screen, GuessScreen)
        assert "Overhead-bound" not in driver.screen_text
        assert "what will this trace show?" in driver.screen_text

        await driver.press("3", "tab", "0", "enter")
        await driver.settle()
        # Two kernels ran and nothing was copied.
        assert "kernels: you said 3, there are 2" in driver.screen_text
        assert "copies: 0" in driver.screen_text
        assert "1 of 2 right" in driver.screen_text

        await driver.press("ctrl+s")
        assert (tmp_path / "tracetui-expect.txt").read_text().splitlines() == [
            "# what the trace shows",
            "device_slices == 2  # guessed 3",
            "copies == 0",
        ]
        await driver.press("enter")
        await driver.settle()
        assert driver.view_name == "timeline"
        assert driver.selected_name == "gemm_kernel"


async def test_esc_skips_and_nothing_guessed_is_said(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("ctrl+g")
        await driver.settle()
        await driver.press("enter")
        assert "nothing guessed yet" in driver.screen_text
        await driver.press("m", "enter")
        await driver.settle()
        assert "a number, or a range" in driver.screen_text
        await driver.press("ctrl+s")
        assert "guess first" in driver.screen_text
        await driver.press("escape")
        assert driver.view_name == "overview"
        assert driver.overview[0].startswith("Overhead-bound")


async def test_names_are_completed(cpu_file):
    async with running(cpu_file, size=(80, 24)) as driver:
        await driver.press("ctrl+g")
        await driver.settle()
        await driver.press(*"aten", "colon", "colon", "l")
        await driver.pilot.pause(0.1)
        await driver.press("right", "enter")
        await driver.settle()
        assert driver.app.screen.query(Input).first().value == "aten::linear"
        assert "hottest operator: aten::linear" in driver.screen_text
        await driver.press("enter")
        assert driver.view_name == "overview"


async def test_t_counts_the_profilers_doing_in_shares(gpu_file, tmp_path):
    async with running(gpu_file) as driver:
        await driver.press("t")
        await driver.settle()
        assert driver.workspace.with_artefacts
        assert "shares count the profiler's own doing" in driver.text_of("footer")
        await driver.press("t")
        assert not driver.workspace.with_artefacts
