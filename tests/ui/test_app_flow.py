"""The shell: views, selection, search, links, jumps, marks, copying, loading and leaving."""

import asyncio
import json
import os
import signal
import threading
from functools import partialmethod

import pytest
from textual.binding import Binding
from textual.color import Color
from textual.widgets import OptionList

from tests.ui.conftest import event
from tests.ui.driver import Driver, running
from tracetui.errors import TraceFormatError
from tracetui.presentation.browse import StateStore
from tracetui.readers import read_trace
from tracetui.readers.base import Progress
from tracetui.reports.export import export_files
from tracetui.ui.app import THEMES, TraceTuiApp, run_app
from tracetui.ui.ascii_filter import plain_text
from tracetui.ui.messages import RangeChosen, SliceSelected, ViewRequested, WindowChanged
from tracetui.ui.screens import main as main_module
from tracetui.ui.screens.help import HelpScreen
from tracetui.ui.screens.main import MainScreen
from tracetui.ui.screens.prompt import ChoiceScreen, PromptScreen
from tracetui.ui.views import VIEWS
from tracetui.ui.views.base import View
from tracetui.ui.views.timeline import TimelineView
from tracetui.ui.widgets.too_small import TooSmall

_BLACK = Color(0, 0, 0)


def _slice(driver: Driver, name: str) -> int:
    trace = driver.workspace.trace
    return next(each for each in range(len(trace.slices)) if trace.name_of(each) == name)


def _n_lanes(driver: Driver) -> int:
    return len(driver.main.query_one(TimelineView).rows)


def _is_covered(driver: Driver) -> bool:
    return bool(driver.main.query_one(TooSmall).display)


async def _select(driver: Driver, name: str) -> None:
    driver.view.post_message(SliceSelected(_slice(driver, name)))
    await driver.pilot.pause()


async def test_a_file_opens_on_its_overview_with_the_answer_first(gpu_file):
    async with running(gpu_file) as driver:
        assert driver.view_name == "overview"
        assert "gpu.json" in driver.text_of("header")
        assert driver.overview[0].startswith("Overhead-bound: the device is idle 33.3 %")


async def test_the_digits_switch_views_and_every_view_has_the_same_workspace(gpu_file):
    async with running(gpu_file) as driver:
        await _select(driver, "aten::relu")
        for view in reversed(VIEWS):
            await driver.press(view.key)
            assert driver.view_name == view.name_id
            assert driver.view.display
            assert driver.view.workspace is driver.workspace


async def test_tabs_are_short_where_the_long_titles_do_not_all_fit(cpu_file):
    for width, first, last in ((80, "1 Over", "9 Mem"), (120, "1 Overview", "9 Memory")):
        async with running(cpu_file, size=(width, 24)) as driver:
            tabs = driver.screen_text.splitlines()[1].strip()
            assert tabs.startswith(f"{first}  2 ")
            assert tabs.endswith(f"  {last}")
    # 105 cells of long titles, one before them and one after.
    for width, last in ((106, "9 Mem"), (107, "9 Memory")):
        async with running(cpu_file, size=(width, 24)) as driver:
            assert driver.screen_text.splitlines()[1].strip().endswith(f"  {last}")


async def test_what_a_view_posts_becomes_the_next_workspace(gpu_file):
    async with running(gpu_file) as driver:
        await _select(driver, "aten::relu")
        assert driver.selected_name == "aten::relu"
        driver.view.post_message(WindowChanged((1_000, 2_000)))
        driver.view.post_message(RangeChosen((20_000, 80_000)))
        await driver.pilot.pause()
        assert driver.workspace.window == (1_000, 2_000)
        assert "range 60.00 µs at 20.00 µs" in driver.text_of("header")
        await driver.press("escape")
        assert driver.workspace.chosen_range is None


async def test_enter_on_an_overview_line_leads_to_its_slice_and_back(gpu_file):
    async with running(gpu_file) as driver:
        driver.view.post_message(ViewRequested("kernels", _slice(driver, "gemm_kernel")))
        await driver.pilot.pause()
        assert (driver.view_name, driver.selected_name) == ("kernels", "gemm_kernel")
        await driver.press("less_than_sign")
        assert (driver.view_name, driver.selected_name) == ("overview", "")
        await driver.press("greater_than_sign")
        assert (driver.view_name, driver.selected_name) == ("kernels", "gemm_kernel")


async def test_every_overview_row_of_a_name_leads_to_a_slice_of_it(gpu_file):
    async with running(gpu_file) as driver:
        row = next(i for i, text in enumerate(driver.overview) if text.startswith("  aten::addmm"))
        shown = driver.main.query_one("OverviewList")
        shown.cursor = row  # type: ignore[attr-defined]
        await driver.press("enter")
        assert (driver.view_name, driver.selected_name) == ("operators", "aten::addmm")


async def test_the_link_leads_from_operator_to_launch_to_kernel_and_back(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("2")
        await _select(driver, "aten::addmm")
        names = []
        for key in ["right_square_bracket"] * 3 + ["left_square_bracket"] * 2:
            await driver.press(key)
            names.append(driver.selected_name)
        assert names == [
            "cudaLaunchKernel",
            "gemm_kernel",
            "relu_kernel",
            "cudaLaunchKernel",
            "aten::relu",
        ]


async def test_search_goes_to_a_match_and_on_to_the_next(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("2", "slash")
        assert isinstance(driver.app.screen, PromptScreen)
        await driver.press(*"launch", "enter")
        first = driver.workspace.selection
        assert driver.selected_name == "cudaLaunchKernel"
        await driver.press("n")
        assert driver.selected_name == "cudaLaunchKernel"
        assert driver.workspace.selection != first
        await driver.press("N")
        assert driver.workspace.selection == first


async def test_a_search_without_a_match_says_so(cpu_file):
    async with running(cpu_file) as driver:
        await driver.press("2", "slash", *"nosuch", "enter")
        assert "no name contains 'nosuch'" in driver.text_of("footer")


async def test_the_filter_is_shared_shown_and_cleared(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("ampersand", *"gemm", "enter")
        assert driver.workspace.filter_text == "gemm"
        assert "filter gemm" in driver.text_of("header")
        await driver.press("backslash")
        assert driver.workspace.filter_text == ""


async def test_escape_in_a_prompt_changes_nothing(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("ampersand", "x", "escape")
        assert driver.workspace.filter_text == ""
        assert driver.app.is_running


async def test_a_mark_leads_back_to_its_place(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("apostrophe")
        assert "no marks yet" in driver.text_of("footer")
        await driver.press("2")
        await _select(driver, "gemm_kernel")
        await driver.press("m", "1")
        await _select(driver, "aten::relu")
        await driver.press("apostrophe")
        assert isinstance(driver.app.screen, ChoiceScreen)
        await driver.press("enter")
        assert (driver.view_name, driver.selected_name) == ("timeline", "gemm_kernel")


async def test_help_lists_the_keys_that_work_here(cpu_file):
    async with running(cpu_file, size=(100, 60)) as driver:
        await driver.press("question_mark")
        assert isinstance(driver.app.screen, HelpScreen)
        assert "In Overview" in driver.screen_text
        assert "Follow operator, launch, kernel" in driver.screen_text
        await driver.press("escape")
        assert isinstance(driver.app.screen, main_module.MainScreen)


async def test_copy_sends_the_view_as_text(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("y")
        assert driver.app.clipboard.startswith("Overhead-bound")
        assert "aten::addmm" in driver.app.clipboard


async def test_write_makes_a_new_file_and_never_overwrites(gpu_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with running(gpu_file) as driver:
        await driver.press("Y", "Y")
        assert "written to tracetui-gpu-overview-2.txt" in driver.text_of("footer")
    for name in ("tracetui-gpu-overview.txt", "tracetui-gpu-overview-2.txt"):
        assert (tmp_path / name).read_text().startswith("Overhead-bound")


async def test_export_writes_a_report_with_the_view_and_says_where(gpu_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with running(gpu_file, export=export_files, size=(120, 40)) as driver:
        await driver.press("4")
        await driver.settle()
        await driver.press("E")
        await driver.settle()
        said = driver.text_of("footer")
        await driver.press("E")
        await driver.settle()
    assert "written to tracetui-gpu-report.md and .json" in said
    markdown = (tmp_path / "tracetui-gpu-report.md").read_text()
    assert "## Kernels, as it was shown" in markdown
    assert "    2 kernels, 2 names: 80.00 µs in sum" in markdown
    report = json.loads((tmp_path / "tracetui-gpu-report.json").read_text())
    assert [row["calls"] for row in report["kernels"]] == [1, 1]
    assert (tmp_path / "tracetui-gpu-report-2.json").exists()


async def test_export_says_why_it_cannot_write(gpu_file, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    async with running(gpu_file, export=export_files) as driver:
        await driver.press("E")
        await driver.settle()
        assert "No such file or directory" in driver.text_of("footer")


async def test_search_hits_stand_in_the_timelines_ruler_until_escape(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("2")
        await driver.settle()
        await driver.press("slash", *"launch", "enter")
        await driver.settle()
        marked = driver.screen_text
        await driver.press("escape")
        await driver.settle()

        # 78 cells for 150 us: the launches of 10-15 us and 110-115 us touch 5-7 and 57-59. The
        # selection marks cell 5, and the label of 100 us, underlined, takes 57 and 58.
        ruler = marked.splitlines()[5]
        assert "2 hits" in marked
        assert [at - 22 for at, letter in enumerate(ruler) if letter == "•"] == [6, 7, 59]
        assert "•" not in driver.screen_text


async def test_o_switches_between_two_open_traces_and_keeps_each_place(gpu_file, cpu_file):
    async with running(gpu_file, cpu_file) as driver:
        await driver.press("4")
        await _select(driver, "gemm_kernel")
        await driver.press("o")
        assert "cpu.json" in driver.text_of("header")
        assert (driver.view_name, driver.selected_name) == ("overview", "")
        await driver.settle()
        assert driver.overview[0].startswith("CPU only: no GPU activity in this file")
        await driver.press("o")
        assert (driver.view_name, driver.selected_name) == ("kernels", "gemm_kernel")


async def test_o_leads_from_the_last_lane_of_many_to_a_trace_with_fewer(tmp_path, cpu_file):
    threads = [event("aten::mm", "cpu_op", 10 * at, 5) | {"tid": at} for at in range(1, 9)]
    bigger = tmp_path / "bigger.json"
    bigger.write_text(json.dumps({"schemaVersion": 1, "traceEvents": threads}))
    async with running(bigger, cpu_file) as driver:
        await driver.press("2")
        await driver.settle()
        await driver.press(*["j"] * 9)
        assert _n_lanes(driver) == 8
        await driver.press("o", "2")
        await driver.settle()
        assert _n_lanes(driver) == 2
        assert "aten::linear" in driver.screen_text
        await driver.press("o")
        await driver.settle()
        assert _n_lanes(driver) == 8


async def test_the_place_in_a_file_comes_back(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("2")
        await _select(driver, "gemm_kernel")
        driver.view.post_message(WindowChanged((5_000, 90_000)))
        await driver.press("m", "q")
    async with running(gpu_file) as driver:
        assert (driver.view_name, driver.selected_name) == ("timeline", "gemm_kernel")
        assert driver.workspace.window == (5_000, 90_000)
        assert len(driver.document.marks) == 1


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
@pytest.mark.parametrize("before", [(), ("question_mark",), ("2",)])
async def test_the_app_is_left_from_anywhere(cpu_file, key, before):
    async with running(cpu_file) as driver:
        await driver.press(*before, key)
        assert driver.app._exit
        assert driver.app.return_code == 0


async def test_ctrl_c_leaves_a_prompt_and_q_is_a_letter_there(cpu_file):
    async with running(cpu_file) as driver:
        await driver.press("slash", "q")
        assert not driver.app._exit
        await driver.press("ctrl+c")
        assert driver.app._exit


async def test_escape_never_leaves(cpu_file):
    async with running(cpu_file) as driver:
        await driver.press("escape", "escape", "2", "escape")
        assert not driver.app._exit


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_leaves_in_good_order(cpu_file, number):
    async with running(cpu_file) as driver:
        os.kill(os.getpid(), number)
        await driver.pilot.pause(0.05)
        assert driver.app._exit
        assert driver.app.return_code == 128 + number


async def test_themes_go_round_and_no_colour_has_none(gpu_file):
    async with running(gpu_file) as driver:
        seen = [driver.app.theme]
        for _ in THEMES:
            await driver.press("T")
            seen.append(driver.app.theme)
            if driver.app.is_colourless:
                assert driver.app._without_colour in driver.app._filters
            else:
                assert driver.app._without_colour not in driver.app._filters
        assert sorted(seen[1:]) == sorted(THEMES)
        assert seen[0] == seen[-1]


async def test_no_color_is_honoured(cpu_file, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(cpu_file) as driver:
        assert driver.app.is_colourless


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (1, 1), (200, 60)])
async def test_no_size_breaks_a_view(gpu_file, size):
    async with running(gpu_file, size=size) as driver:
        for key in "1234":
            await driver.press(key)
        await driver.pilot.resize_terminal(120, 40)
        await driver.settle()
        assert driver.view_name == "kernels"


@pytest.mark.parametrize("size", [(39, 24), (80, 9), (20, 5), (10, 3), (1, 1)])
async def test_a_terminal_that_is_too_small_says_how_large_it_must_be(gpu_file, size):
    async with running(gpu_file, size=size) as driver:
        assert _is_covered(driver)
        if size[0] >= 20 and size[1] >= 5:
            said = " ".join(driver.screen_text.split())
            assert f"needs at least 40 x 10; this terminal has {size[0]} x {size[1]}" in said
        await driver.press("3", "j", "2", "l", "w", "4")
        await driver.pilot.resize_terminal(80, 24)
        await driver.settle()
        assert not _is_covered(driver)
        assert "gemm_kernel" in driver.screen_text
        await driver.press("j")
        assert driver.selected_name == "relu_kernel", "the focus stayed where it was"


async def test_tables_fill_while_the_file_is_read_and_escape_keeps_what_was_read(
    gpu_file, monkeypatch
):
    whole = read_trace(gpu_file)

    def slow(path, publish, stop, **options):
        publish(whole, Progress(1 << 20, 4 << 20, 1234, 1.0, is_complete=False))
        assert stop.wait(10)
        whole.report.is_stopped = True
        return whole

    monkeypatch.setattr(main_module, "read_trace", slow)
    app = TraceTuiApp([str(gpu_file)])
    async with app.run_test(size=(120, 30)) as pilot:
        driver = Driver(pilot, app)
        await driver.wait_for("1.0 MiB of 4.0 MiB · 1,234 events · about 3 s left")
        await driver.wait_for("aten::addmm")
        assert driver.document.progress is not None
        await driver.press("escape")
        await driver.settle()
        assert not driver.document.is_loading
        assert not driver.main.query_one("#progress").display
        assert driver.app.is_running
        assert "part of the file" in driver.text_of("header")
        assert "stopped: what was read until then is shown" in driver.text_of("footer")


async def test_progress_without_a_newer_trace_moves_the_line_alone(gpu_file, monkeypatch):
    whole = read_trace(gpu_file)

    def slow(path, publish, stop, **options):
        publish(whole, Progress(1 << 20, 4 << 20, 1234, 1.0, is_complete=False))
        publish(None, Progress(2 << 20, 4 << 20, 2345, 2.0, is_complete=False))
        assert stop.wait(10)
        return whole

    monkeypatch.setattr(main_module, "read_trace", slow)
    app = TraceTuiApp([str(gpu_file)])
    async with app.run_test(size=(120, 30)) as pilot:
        driver = Driver(pilot, app)
        await driver.wait_for("2.0 MiB of 4.0 MiB · 2,345 events · about 2 s left")
        await driver.wait_for("aten::addmm")
        assert driver.workspace.trace is whole
        await driver.press("escape")
        await driver.settle()


async def test_a_hidden_view_reckons_when_the_file_is_read_or_it_is_shown(gpu_file, monkeypatch):
    whole = read_trace(gpu_file)

    def slow(path, publish, stop, **options):
        publish(whole, Progress(1 << 20, 4 << 20, 1234, 1.0, is_complete=False))
        assert stop.wait(10)
        return whole

    monkeypatch.setattr(main_module, "read_trace", slow)
    app = TraceTuiApp([str(gpu_file)])
    async with app.run_test(size=(120, 30)) as pilot:
        driver = Driver(pilot, app)
        await driver.wait_for("aten::addmm")
        hidden = [view for view in driver.main.query(View) if view is not driver.view]
        assert hidden
        assert all(view.workspace is None for view in hidden)
        await driver.press("4")
        await driver.wait_for("gemm_kernel")
        assert driver.view.workspace is driver.document.workspace
        await driver.press("1", "escape")
        await driver.settle()
        assert all(view.workspace is not None for view in hidden)


async def test_leaving_while_a_file_is_read_stops_the_reader(gpu_file, monkeypatch):
    whole = read_trace(gpu_file)
    was_stopped = []

    def slow(path, publish, stop, **options):
        was_stopped.append(stop.wait(10))
        return whole

    monkeypatch.setattr(main_module, "read_trace", slow)
    app = TraceTuiApp([str(gpu_file)])
    async with app.run_test() as pilot:
        assert "opening gpu.json" in Driver(pilot, app).screen_text
        await pilot.press("q")
    await asyncio.sleep(0.05)
    assert was_stopped == [True]


async def test_a_selection_survives_a_newer_reading_of_the_file(gpu_file):
    async with running(gpu_file) as driver:
        await _select(driver, "relu_kernel")
        document = driver.document
        driver.main._take(document, read_trace(gpu_file))
        assert driver.selected_name == "relu_kernel"


async def test_an_unreadable_file_is_one_clear_line_on_the_start_screen(tmp_path, monkeypatch):
    def broken(path, publish, stop, **options):
        raise TraceFormatError("notes.json is no trace: it holds no events\x1b[31m")

    monkeypatch.setattr(main_module, "read_trace", broken)
    monkeypatch.chdir(tmp_path)
    async with running(tmp_path / "notes.json") as driver:
        assert driver.text_of("start-error") == (" notes.json is no trace: it holds no events␛[31m")


async def test_one_unreadable_file_of_two_leaves_the_other(gpu_file, tmp_path):
    async with running(gpu_file, tmp_path / "none.json") as driver:
        assert "none.json" in driver.text_of("footer")
        assert "gpu.json" in driver.text_of("header")


async def test_a_file_name_steers_nothing(gpu_file):
    path = gpu_file.rename(gpu_file.with_name("[red]a\x1b]0;x\x07[bar].json"))
    async with running(path) as driver:
        await driver.press("m", "question_mark", "escape")
        assert "[red]a␛]0;x␇[bar].json" in driver.text_of("header")


def test_run_app_gives_the_exit_status(cpu_file, monkeypatch):
    def run(app: TraceTuiApp, **options: object) -> None:
        assert options == {"mouse": False}
        app._return_code = 3

    monkeypatch.setattr(TraceTuiApp, "run", run)
    assert run_app([str(cpu_file)], use_mouse=False) == 3


async def test_ascii_only_draws_nothing_else(gpu_file):
    app = TraceTuiApp([str(gpu_file)], ascii_only=True)
    async with app.run_test(size=(90, 30)) as pilot:
        driver = Driver(pilot, app)
        await driver.settle()
        lines = [
            "".join(segment.text for segment in strip.apply_filter(app._filters[-1], _BLACK))
            for strip in app.screen._compositor.render_strips()
        ]
        assert all(line.isascii() for line in lines)
        assert any("60.00 us" in line for line in lines)


def test_ascii_stand_ins_are_as_wide_as_what_they_stand_for():
    assert plain_text("█▏ 3 µs … 漢 – ▴") == "#| 3 us ~ ?? - ^"


async def test_the_command_palette_offers_what_the_keys_do(gpu_file):
    async with running(gpu_file) as driver:
        commands = {each.title: each for each in driver.app.get_system_commands(driver.main)}
        assert commands["Kernels"].help == "key 4"
        await commands["Kernels"].callback()
        assert driver.view_name == "kernels"
        assert commands["Quit"].help == "key q"


async def test_a_load_that_fails_behind_the_help_still_ends_on_the_start_screen(
    gpu_file, monkeypatch
):
    is_help_open = threading.Event()

    def broken(path, publish, stop, **options):
        is_help_open.wait(10)
        raise TraceFormatError("no events in it")

    monkeypatch.setattr(main_module, "read_trace", broken)
    monkeypatch.chdir(gpu_file.parent)
    app = TraceTuiApp([str(gpu_file)])
    async with app.run_test() as pilot:
        driver = Driver(pilot, app)
        await driver.press("question_mark")
        is_help_open.set()
        await driver.settle()
        assert driver.text_of("start-error") == f" {gpu_file}: no events in it"
        assert len(app.screen_stack) == 2


async def test_what_is_said_in_the_footer_ends_in_an_ellipsis_at_a_cell_border(gpu_file):
    async with running(gpu_file, size=(80, 24)) as driver:
        driver.main._tell("幅" * 60)
        await driver.pilot.pause()
        assert driver.text_of("footer") == f" {'幅' * 38}…"
        driver.main._tell("x" * 78)
        await driver.pilot.pause()
        assert driver.text_of("footer") == f" {'x' * 78}"
        driver.main._tell("x" * 79)
        await driver.pilot.pause()
        assert driver.text_of("footer") == f" {'x' * 77}…"


def test_what_goes_wrong_in_the_interface_is_raised_after_it(monkeypatch, capsys):
    def fail(_app: TraceTuiApp, *_arguments: object) -> None:
        raise ZeroDivisionError("of a view")

    monkeypatch.setattr(TraceTuiApp, "open_paths", fail)
    monkeypatch.setattr(TraceTuiApp, "run", partialmethod(TraceTuiApp.run, headless=True))
    with pytest.raises(ZeroDivisionError, match="of a view"):
        run_app(["a.json"], use_mouse=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("asks", ["slash", "apostrophe", "question_mark", "S", "ctrl+p"])
@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_a_key_that_answers_twice_answers_once(gpu_file, asks, key):
    async with running(gpu_file) as driver:
        await driver.press("4", "m", asks)
        assert driver.app.screen is not driver.main
        if asks == "ctrl+p":
            await driver.pilot.pause(0.3)
            await driver.press("down")
        # All are in the queue before the first is looked at.
        for _ in range(4):
            driver.app.simulate_key(key)
        await driver.settle()
        assert driver.main in driver.app.screen_stack


async def test_keys_that_come_before_the_screen_is_built_do_nothing(gpu_file):
    app = TraceTuiApp([str(gpu_file)])
    async with app.run_test() as pilot:
        driver = Driver(pilot, app)
        bindings = [
            (each.key, each.action) for each in MainScreen.BINDINGS if isinstance(each, Binding)
        ]
        for key in ("Y", "y", "5", "slash", "o", "E", "question_mark"):
            app.pop_screen()
            app.push_screen(early := MainScreen([str(gpu_file)], StateStore(gpu_file.parent)))
            assert not early.is_mounted
            action = next(each[1] for each in bindings if each[0] == key)
            await app.run_action(action, early)
            await driver.settle()
            assert app.screen is early


@pytest.mark.parametrize("opens", ["S", "apostrophe"])
async def test_a_page_is_turned_before_the_rows_of_a_list_are_laid_out(gpu_file, opens):
    async with running(gpu_file) as driver:
        await driver.press("4", "m", opens)
        rows = driver.app.screen.query_one(OptionList)
        for turn in (rows.action_page_down, rows.action_page_up):
            # New rows are laid out when they are drawn next.
            rows.add_option("one more")
            turn()
        assert rows.highlighted is not None


@pytest.mark.parametrize("n_pauses", range(4))
async def test_the_palette_is_left_while_it_searches(gpu_file, n_pauses):
    async with running(gpu_file) as driver:
        for key in ("ctrl+p", "a", "pagedown", "pageup", "escape", "ctrl+p", "b", "escape"):
            driver.app.simulate_key(key)
            for _ in range(n_pauses):
                await asyncio.sleep(0)
        await driver.settle()
        await driver.press("escape")
        assert driver.app.screen is driver.main


@pytest.mark.parametrize("asks", ["apostrophe", "ctrl+p", "S"])
async def test_a_list_on_a_terminal_of_two_columns(gpu_file, asks):
    async with running(gpu_file) as driver:
        await driver.press("4", "m", asks)
        for width in (2, 1, 80):
            await driver.pilot.resize_terminal(width, 30)
            await driver.settle()
        await driver.press("escape")
        assert driver.app.screen is driver.main


async def test_an_answer_from_below_another_screen_takes_none_down(gpu_file):
    async with running(gpu_file) as driver:
        await driver.press("slash", "x")
        prompt = driver.app.screen
        assert isinstance(prompt, PromptScreen)
        n_before = len(driver.app.screen_stack)
        await driver.app.push_screen(HelpScreen("overview", "Overview"))
        prompt.dismiss("x")
        await driver.pilot.pause()
        assert len(driver.app.screen_stack) == n_before + 1
        await driver.press("escape")
        assert len(driver.app.screen_stack) == n_before
        await driver.press("escape")
        assert driver.app.screen is driver.main
