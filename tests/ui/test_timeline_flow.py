"""The timeline by its keys, on small traces drawn by hand."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.literal import annotation, kernel, launch, trace_of
from tracetui.model.trace import Trace
from tracetui.presentation.hues import FIRST_HUE_CODE, INK_CODE, LINKED_CODE, SELECTED_CODE
from tracetui.ui.messages import RangeChosen, SliceSelected, WindowChanged
from tracetui.ui.state import Workspace
from tracetui.ui.views.timeline import TimelineView
from tracetui.ui.widgets.palette import cell_style, class_letter, class_style

GEMM = "ampere_sgemm_128x64_tn"
MS = 1_000_000


class OneView(App[None]):
    """Answers the view's messages as the main screen does."""

    def __init__(self, trace: Trace, *, ascii_only: bool = False, colourless: bool = False) -> None:
        super().__init__()
        self.ascii_only = ascii_only
        self.is_colourless = colourless
        self.trace = trace
        self.posted: list[object] = []

    def compose(self) -> ComposeResult:
        yield TimelineView()

    @property
    def view(self) -> TimelineView:
        return self.query_one(TimelineView)

    @property
    def workspace(self) -> Workspace:
        workspace = self.view.workspace
        assert workspace is not None
        return workspace

    def on_mount(self) -> None:
        self.view.workspace = Workspace(self.trace)
        self.view.focus_main()

    def on_slice_selected(self, message: SliceSelected) -> None:
        self.posted.append(message)
        self.view.workspace = self.workspace.with_selection(message.slice_id)

    def on_window_changed(self, message: WindowChanged) -> None:
        self.posted.append(message)
        self.view.workspace = replace(self.workspace, window=message.window)

    def on_range_chosen(self, message: RangeChosen) -> None:
        self.posted.append(message)
        self.view.workspace = replace(self.workspace, chosen_range=message.chosen_range)

    @property
    def screen_text(self) -> str:
        return self.view.copied_text()

    @property
    def selected(self) -> str:
        selection = self.view.selection
        return self.trace.name_of(selection) if selection >= 0 else ""


@asynccontextmanager
async def running(
    trace: Trace,
    size: tuple[int, int] = (100, 30),
    *,
    ascii_only: bool = False,
    colourless: bool = False,
) -> AsyncIterator[tuple[OneView, Pilot[None]]]:
    app = OneView(trace, ascii_only=ascii_only, colourless=colourless)
    async with app.run_test(size=size) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        yield app, pilot


@pytest.fixture
def gpu_trace() -> Trace:
    """One step with two operators, each with a launch and a kernel."""
    return trace_of(
        annotation("ProfilerStep#1", 0, 10 * MS),
        ("aten::mm", MS, 2 * MS),
        launch(1_500_000, 100_000, 1),
        kernel(GEMM, 2 * MS, 3 * MS, 1),
        ("aten::relu", 4 * MS, MS),
        launch(4_200_000, 100_000, 2),
        kernel("relu_kernel", 6 * MS, MS, 2),
        annotation("ProfilerStep#2", 10 * MS, 10 * MS),
        ("aten::mm", 11 * MS, MS),
        launch(11_200_000, 100_000, 3),
        kernel(GEMM, 12 * MS, 3 * MS, 3),
    )


async def test_lanes_minimap_and_ruler_stand_on_the_screen(gpu_trace):
    async with running(gpu_trace) as (app, _):
        text = app.screen_text
        assert "GPU 0 stream 7" in text
        assert "amper…4_tn" in text
        assert "whole trace" in text
        assert "╷5 ms" in text
        assert "(20.000 ms)" in text


async def test_the_device_stands_first(gpu_trace):
    async with running(gpu_trace) as (app, _):
        assert "GPU 0" in app.view.rows[0].title


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 5), (5, 3), (1, 1), (200, 60)])
async def test_every_size_can_be_drawn(gpu_trace, size):
    async with running(gpu_trace, size) as (app, pilot):
        await pilot.press("l", "j", "w", "d", "v", "f")
        await pilot.resize_terminal(3, 2)
        await pilot.pause()
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert app.is_running


async def test_an_empty_trace_says_so(gpu_trace):
    async with running(trace_of()) as (app, pilot):
        await pilot.press(*"wsadhljkfvrpxXzg")
        assert app.is_running
        assert "no slices in this trace" in app.screen_text


async def test_one_slice(gpu_trace):
    async with running(trace_of(("aten::mm", 0, 500))) as (app, pilot):
        await pilot.press("l", "f", "w", "W", "s", "S", "h", "full_stop", "comma")
        assert app.selected == "aten::mm"


async def test_h_and_l_walk_along_the_lane_and_j_and_k_between_lanes(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("l")
        assert app.selected == GEMM
        await pilot.press("l")
        assert app.selected == "relu_kernel"
        await pilot.press("h", "h")
        assert app.selected == GEMM
        await pilot.press("j")
        assert app.selected == "ProfilerStep#1"
        await pilot.press("j")
        assert app.selected == "aten::mm"
        await pilot.press("k", "k")
        assert app.selected == GEMM


async def test_the_same_name_is_followed_over_time(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("l", "full_stop")
        assert app.selected == GEMM
        assert int(gpu_trace.slices.ts_ns[app.view.selection]) == 12 * MS
        await pilot.press("full_stop")
        assert int(gpu_trace.slices.ts_ns[app.view.selection]) == 12 * MS
        await pilot.press("comma")
        assert int(gpu_trace.slices.ts_ns[app.view.selection]) == 2 * MS


async def test_zoom_pan_fit_and_whole(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("l", "w")
        # The cursor is on the kernel at 2 ms, a tenth of the way: it stays there.
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (MS, 11 * MS)
        assert app.workspace.window == (MS, 11 * MS)
        await pilot.press("D")
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (10 * MS, 20 * MS)
        await pilot.press("f")
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (1_625_000, 5_375_000)
        await pilot.press("0")
        assert app.view.viewport.is_whole
        assert app.workspace.window is None


async def test_many_keys_at_once_lose_nothing(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        for key in "wwwwdd":
            app.simulate_key(key)
        await pilot.pause()
        await pilot.pause()
        assert app.view.viewport.span_ns == 20 * MS // 16
        assert app.workspace.window == (app.view.viewport.start_ns, app.view.viewport.end_ns)


async def test_the_workspace_can_take_the_view_elsewhere(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("w", "w")
        app.view.workspace = replace(app.workspace, window=(3 * MS, 5 * MS))
        await pilot.pause()
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (3 * MS, 5 * MS)
        last = next(i for i in range(len(gpu_trace.slices)) if gpu_trace.slices.ts_ns[i] == 12 * MS)
        app.view.workspace = app.workspace.with_selection(last)
        await pilot.pause()
        assert app.selected == GEMM
        assert app.view.viewport.start_ns <= 12 * MS < app.view.viewport.end_ns


async def test_a_range_gives_its_statistics(gpu_trace):
    async with running(gpu_trace, (120, 30)) as (app, pilot):
        await pilot.press("l", "v", "l", "v")
        # From the first kernel's start to the second's end: 5 ms with 3 + 1 ms of work.
        assert app.workspace.chosen_range == (2 * MS, 7 * MS)
        assert "device busy 4.000 ms (80.0 %)" in app.screen_text
        await pilot.press("r")
        assert app.workspace.chosen_range == (6 * MS, 7 * MS)
        app.view.workspace = replace(app.workspace, chosen_range=None)
        await pilot.pause()
        assert "device busy" not in app.screen_text


async def test_the_status_tells_what_is_selected_and_who_launched_it(gpu_trace):
    async with running(gpu_trace, (120, 30)) as (app, pilot):
        await pilot.press("l")
        assert f"3.000 ms  GPU 0 stream 7  at 2.000 ms  {GEMM}" in app.screen_text
        # The launch call ends at 1.6 ms, the kernel starts at 2.0 ms.
        await pilot.resize_terminal(109, 30)
        await pilot.pause()
        assert "launched by aten::mm · launch 100.00 µs · queued 400.00 µs" in app.screen_text
        # A cell is 20 ms / 87 = 229.9 us: the kernel begins in cell 8, 1.839-2.069 ms.
        assert "1 kernel here, 30.0 % busy" in app.screen_text


async def test_pin_fold_hide_and_show(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        n_rows = len(app.view.rows)
        assert n_rows == 4, "the stream, and step, operator and launch of the thread"
        await pilot.press("j", "minus")
        assert len(app.view.rows) == 2
        await pilot.press("equals_sign")
        assert len(app.view.rows) == n_rows
        await pilot.press("j", "p")
        assert [row.lane.level for row in app.view.rows if row.is_pinned] == [1]
        assert app.view.rows[0].lane.level == 1
        await pilot.press("p")
        assert [row.lane.level for row in app.view.rows if row.is_pinned] == []
        await pilot.press("x")
        assert len(app.view.rows) == n_rows - 1
        await pilot.press("X")
        assert len(app.view.rows) == n_rows


async def test_all_lanes_may_be_hidden(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("x", "x", "x", "x", "x")
        assert "all lanes hidden" in app.screen_text
        await pilot.press("l", "j", "w", "X")
        assert "GPU 0" in app.screen_text


async def test_steps_are_visited_in_turn(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("z")
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (0, 10 * MS)
        await pilot.press("z")
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (10 * MS, 20 * MS)
        assert app.selected == "ProfilerStep#2"
        await pilot.press("Z")
        assert (app.view.viewport.start_ns, app.view.viewport.end_ns) == (0, 10 * MS)


async def test_g_goes_to_a_time(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("W")
        await pilot.press("g", *"12.5ms", "enter")
        view = app.view.viewport
        assert (view.start_ns + view.end_ns) // 2 == 12_500_000
        await pilot.press("g", "x", "escape", "l")
        assert app.selected == GEMM


async def test_search_selects_the_next_match(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        assert app.view.search("relu_k")
        await pilot.pause()
        assert app.selected == "relu_kernel"
        assert not app.view.search("no such name")


async def test_a_click_selects(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        lanes = app.view.lanes
        # 22 columns of titles; 78 for 20 ms: column 25 of them is at 6.4 ms.
        await pilot.click(lanes, offset=(22 + 25, 3))
        assert app.selected == "relu_kernel"


async def test_ascii_only_draws_ascii(gpu_trace):
    async with running(gpu_trace, ascii_only=True) as (app, pilot):
        await pilot.press("l", "w", "v", "d", "v")
        assert app.screen_text.isascii()
        assert "G:" in app.screen_text


async def test_the_legend_names_what_occurs(gpu_trace):
    async with running(gpu_trace) as (app, _):
        assert "■ gemm" in app.screen_text
        assert "■ runtime" in app.screen_text
        assert "attention" not in app.screen_text


async def test_letters_stand_for_colours(gpu_trace):
    async with running(gpu_trace, colourless=True) as (app, pilot):
        await pilot.press("l")
        assert "G:" in app.screen_text


async def test_nothing_moves_while_the_terminal_is_behind(gpu_trace, monkeypatch):
    async with running(gpu_trace) as (app, pilot):
        backlog = [1]
        monkeypatch.setattr(type(app.view.lanes), "_backlog", lambda _: backlog[0])
        await pilot.press("l", "w", "d")
        assert app.view.lanes._is_waiting
        backlog[0] = 0
        await pilot.pause(0.1)
        assert not app.view.lanes._is_waiting


async def test_strips_are_kept_but_not_for_ever(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        for _ in range(40):
            await pilot.press("w", "d", "s", "a")
        assert len(app.view.lanes._strips) <= 512


def test_every_class_has_a_style_and_a_letter():
    assert len({class_style(work).color for work in range(9)}) == 9
    assert len({class_letter(work) for work in range(9)}) == 9


def test_marks_are_seen_without_colours():
    plain = cell_style(INK_CODE, FIRST_HUE_CODE, is_inverse=False, colourless=True)
    selected = cell_style(SELECTED_CODE, SELECTED_CODE, is_inverse=False, colourless=True)
    linked = cell_style(INK_CODE, LINKED_CODE, is_inverse=False, colourless=True)
    assert len({plain, selected, linked}) == 3


async def test_a_range_that_would_be_empty_is_not_made(gpu_trace):
    async with running(gpu_trace) as (app, pilot):
        await pilot.press("v", "v")
        await pilot.pause()
        assert app.workspace.chosen_range is None
        assert "range: v at its end" in app.screen_text
        await pilot.press("l", "v")
        await pilot.pause()
        assert app.workspace.chosen_range is not None
