"""Keys of the comparison and of the scoreboard, on the bundled samples."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.ui.driver import Driver, running
from tracetui.reports.export import comparison_files
from tracetui.ui.views.compare import CompareView
from tracetui.ui.views.scoreboard import ScoreboardView

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
NAIVE = SAMPLES / "attention_naive.json.gz"
SDPA = SAMPLES / "attention_sdpa.json.gz"
EAGER = SAMPLES / "mlp_eager.json.gz"


def copies_in(folder: Path, *paths: Path) -> list[Path]:
    """Return copies whose folder may be written to."""
    return [Path(shutil.copy(path, folder)) for path in paths]


async def compare_view(driver: Driver) -> CompareView:
    await driver.press("5")
    await driver.settle()
    return driver.main.query_one(CompareView)


async def test_one_trace_alone_says_what_comparing_takes():
    async with running(NAIVE) as driver:
        await compare_view(driver)
        assert "comparing takes two" in driver.screen_text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_two_traces_open_on_the_answer(size):
    async with running(NAIVE, SDPA, size=size) as driver:
        await driver.settle()
        assert driver.view_name == "compare"
        assert "A attention_naive.json.gz   B attention_sdpa.json.gz" in driver.screen_text
        assert "B is" in driver.screen_text
        assert "faster without the profiler" in driver.screen_text


async def test_pages_follow_one_another_and_keep_the_match_under_the_cursor():
    async with running(NAIVE, SDPA, size=(120, 40)) as driver:
        view = await compare_view(driver)
        await driver.press("right_curly_bracket")
        on_why = view.rows.text_of(view.rows.cursor)
        assert on_why.split()[0] == "fused"

        await driver.press("v")
        assert view.rows.text_of(view.rows.cursor).startswith("fused")
        await driver.press("v", "v")
        assert "operator" in driver.screen_text
        await driver.press("v")
        assert "faster without the profiler" in driver.screen_text


async def test_swapping_turns_the_answer_round():
    async with running(NAIVE, SDPA, size=(120, 40)) as driver:
        await compare_view(driver)
        await driver.press("X")
        await driver.settle()
        assert "A attention_sdpa.json.gz   B attention_naive.json.gz" in driver.screen_text
        assert "slower without the profiler" in driver.screen_text


async def test_enter_on_a_difference_leads_to_its_slice():
    async with running(NAIVE, SDPA, size=(120, 40)) as driver:
        await compare_view(driver)
        await driver.press("right_curly_bracket", "enter")
        await driver.settle()
        assert driver.view_name == "timeline"
        assert driver.document.name == NAIVE.name
        assert driver.selected_name == "aten::bmm"


async def test_scope_is_chosen_by_name_and_by_what_it_is_counted_in():
    async with running(NAIVE, SDPA, size=(120, 40)) as driver:
        await compare_view(driver)
        assert "per step" in driver.screen_text
        await driver.press("percent_sign")
        await driver.settle()
        assert "within attn_fwd · per call" in driver.screen_text

        await driver.press("i")
        await driver.wait_for("Compare within")
        await driver.press("down", "enter")
        await driver.settle()
        assert "within attn_fwd" in driver.screen_text


async def test_only_differences_hide_what_is_the_same():
    async with running(EAGER, SAMPLES / "mlp_compiled.json.gz", size=(120, 40)) as driver:
        view = await compare_view(driver)
        await driver.press("v", "exclamation_mark")
        with_all = view.rows.n_rows
        await driver.press("exclamation_mark")
        assert view.rows.n_rows >= with_all


async def test_another_candidate_is_chosen_from_the_open_traces():
    async with running(NAIVE, SDPA, EAGER, size=(120, 40)) as driver:
        await compare_view(driver)
        await driver.press("c")
        await driver.wait_for("Compare attention_naive.json.gz with")
        await driver.press("down", "enter")
        await driver.settle()
        assert "B mlp_eager.json.gz" in driver.screen_text


async def test_scoreboard_lists_all_and_leads_to_a_pair(tmp_path: Path):
    copies = copies_in(tmp_path, NAIVE, SDPA, EAGER)
    async with running(*copies, size=(120, 40)) as driver:
        await driver.press("6")
        await driver.settle()
        board = driver.main.query_one(ScoreboardView)
        assert board.rows.n_rows == 3

        rows = [board.rows.text_of(row) for row in range(3)]
        eager = next(row for row, text in enumerate(rows) if "mlp_eager" in text)
        await driver.press(*["down"] * eager, "b")
        await driver.settle()
        assert board.rows.text_of(eager).startswith("[ ]A")

        sdpa = next(row for row, text in enumerate(rows) if "sdpa" in text)
        await driver.press("g", *["down"] * sdpa, "enter")
        await driver.settle()
        assert driver.view_name == "compare"
        assert "A mlp_eager.json.gz   B attention_sdpa.json.gz" in driver.screen_text


async def test_names_and_baseline_stay_with_the_folder(tmp_path: Path):
    pair = copies_in(tmp_path, NAIVE, SDPA)
    async with running(*pair, size=(120, 40)) as driver:
        await driver.press("6")
        await driver.settle()
        await driver.press("e", "ctrl+u", *"fused", "enter")
        await driver.settle()
        await driver.press("b")
        await driver.settle()
        assert "[ ]A fused" in driver.screen_text
    async with running(*pair, size=(120, 40)) as driver:
        await compare_view(driver)
        assert "A fused   B attention_naive.json.gz" in driver.screen_text


async def test_copied_comparison_holds_the_answer():
    async with running(NAIVE, SDPA, size=(120, 40)) as driver:
        view = await compare_view(driver)
        assert "faster without the profiler" in view.copied_text()


async def test_a_note_is_kept_beside_the_traces_and_the_place_with_it(tmp_path: Path):
    pair = copies_in(tmp_path, NAIVE, SDPA)
    async with running(*pair, size=(120, 40)) as driver:
        await compare_view(driver)
        await driver.press("v", "v", "right_curly_bracket", "e")
        await driver.wait_for("note")
        await driver.press(*"scores")
        await driver.press("enter")
        await driver.settle()
        assert "attention_naive--attention_sdpa.tracetui" in driver.text_of("footer")
        assert "✎ scores" in driver.screen_text
    assert (tmp_path / "attention_naive--attention_sdpa.tracetui").exists()

    async with running(*pair, size=(120, 40)) as driver:
        view = await compare_view(driver)
        assert view.key_scope == "side by side"
        assert "✎ scores" in driver.screen_text
        assert "hl←→ piece" in driver.text_of("footer")


@pytest.mark.parametrize("keys", [(), ("v",), ("V",)])
async def test_leaving_from_a_page_of_lines_keeps_the_place(tmp_path: Path, keys):
    pair = [tmp_path / path.name for path in (NAIVE, SDPA)]
    for copy, path in zip(pair, (NAIVE, SDPA), strict=True):
        copy.write_bytes(path.read_bytes())
    async with running(*pair, size=(80, 24)) as driver:
        await compare_view(driver)
        await driver.press(*keys, "right_curly_bracket", "e")
        await driver.wait_for("note")
        await driver.press(*"why", "enter")
        await driver.settle()
    session = json.loads((tmp_path / "attention_naive--attention_sdpa.tracetui").read_text())
    assert session["page"] == {(): 0, ("v",): 1, ("V",): 3}[keys]
    assert session["match"] in session["notes"]


async def test_the_mark_of_a_note_hides_no_figure(tmp_path: Path):
    pair = [tmp_path / path.name for path in (NAIVE, SDPA)]
    for copy, path in zip(pair, (NAIVE, SDPA), strict=True):
        copy.write_bytes(path.read_bytes())
    async with running(*pair, size=(80, 24)) as driver:
        view = await compare_view(driver)
        await driver.press("right_curly_bracket")
        before = view.rows.text_of(view.rows.cursor)
        figure = before.split()[1]
        assert figure.startswith("−")
        await driver.press("e")
        await driver.wait_for("note")
        await driver.press(*"why", "enter")
        await driver.settle()
        for _ in range(4):
            noted = [view.rows.text_of(row) for row in range(view.rows.n_rows)]
            marked = [text for text in noted if text.endswith("✎")]
            assert marked or view.twins
            for text in marked:
                assert not re.search("…[0-9]", text)
            await driver.press("v")


async def test_walking_the_differences_says_which_of_how_many():
    async with running(NAIVE, SDPA, size=(80, 24)) as driver:
        view = await compare_view(driver)
        assert view.comparison is not None
        n = len(view.comparison.differences)
        for number in range(n):
            await driver.press("right_curly_bracket")
            assert f"difference {number + 1} of {n}:" in driver.text_of("footer")
        await driver.press("right_curly_bracket")
        assert f"difference 1 of {n}:" in driver.text_of("footer")


async def test_a_trace_against_itself_has_no_difference_to_walk_to(tmp_path: Path):
    same = tmp_path / "same.json.gz"
    same.write_bytes(NAIVE.read_bytes())
    async with running(NAIVE, same, size=(80, 24)) as driver:
        await compare_view(driver)
        await driver.press("right_curly_bracket")
        assert "no piece of work differs" in driver.text_of("footer")


async def test_nothing_is_written_where_there_is_no_note(tmp_path: Path):
    pair = copies_in(tmp_path, NAIVE, SDPA)
    async with running(*pair, size=(120, 40)) as driver:
        await compare_view(driver)
        await driver.press("v", "X")
        await driver.settle()
    assert not list(tmp_path.glob("*.tracetui"))


async def test_the_comparison_is_exported_with_its_notes(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with running(NAIVE, SDPA, size=(120, 40)) as driver:
        driver.app.export_comparison = comparison_files
        await compare_view(driver)
        await driver.press("E")
        await driver.settle()
        assert "written to" in driver.text_of("footer")
    text = (tmp_path / "tracetui-attention_naive-compare.md").read_text()
    assert "faster without the profiler" in text
    content = json.loads((tmp_path / "tracetui-attention_naive-compare.json").read_text())
    assert content["pairs"][0]["unprofiled_us"]["verdict"] == "faster"


def recording_of_one_kernel(path: Path, kernel: str) -> Path:
    """Write a step with one matrix product, three times."""
    events: list[dict[str, object]] = []
    for step in range(3):
        at = 1_000 * step
        args = {"correlation": step + 1}
        events += [
            {"cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 900},
            {"cat": "cpu_op", "name": "aten::mm", "ts": at + 10, "dur": 50},
            {
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "ts": at + 20,
                "dur": 5,
                "args": args,
            },
            {"cat": "kernel", "name": kernel, "ts": at + 30, "dur": 100, "pid": 0, "args": args},
        ]
    whole = [{"ph": "X", "pid": 1, "tid": 1, **event} for event in events]
    path.write_text(json.dumps({"traceEvents": whole}))
    return path


async def test_words_that_differ_are_lit_without_colour(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    paths = [
        recording_of_one_kernel(tmp_path / f"{side}.json", f"ampere_bf16_gemm_bf16_{tile}_tn")
        for side, tile in (("a", "128x128"), ("b", "[red]64x64["))
    ]
    async with running(*paths, size=(120, 40)) as driver:
        view = await compare_view(driver)
        await driver.press("v")
        await driver.settle()

        segments = [
            each for each in view.rows.render_line(0) if each.style and each.style.underline
        ]
        assert [each.text for each in segments] == ["128x128", "red", "64x64"]
        assert all(each.style and each.style.bold for each in segments)
        pane = [
            each for y in range(view.details.size.height) for each in view.details.render_line(y)
        ]
        underlined = [each.text for each in pane if each.style and each.style.underline]
        assert underlined == ["128x128", "red", "64x64"]
        assert "gemm_bf16_[red]64x64[_tn" in view.copied_row()


async def test_the_last_line_is_the_last_line_on_a_wider_screen():
    async with running(NAIVE, SDPA, size=(44, 30)) as driver:
        view = await compare_view(driver)
        await driver.press("G")
        for width in (200, 44, 120):
            await driver.pilot.resize_terminal(width, 40)
            await driver.settle()
            view.show_details()
        assert driver.view is view
