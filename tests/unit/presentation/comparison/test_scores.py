"""The scoreboard's lines."""

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tracetui.compare.scoreboard import scoreboard
from tracetui.presentation.comparison.scores import BEST, Awaited, ScoreTable, bare_name
from tracetui.presentation.table import cell_width

N_STEPS = 3


@pytest.fixture
def table():
    traces = [steps_of(*[ops] * N_STEPS) for ops in (mlp(), compiled_mlp(), mlp(400_000))]
    return ScoreTable(scoreboard(traces), ("eager", "compiled", "slow"))


def test_fastest_stands_first_and_the_sentence_names_it(table):
    assert [table.row_at(place) for place in range(3)] == [1, 0, 2]
    # 2 x 190 + 89 + 170 = 639 µs against 2 x 400 + 93 + 92 + 170 = 1155 µs.
    assert table.summary == (
        "compiled is fastest on the device: 639.00 µs per step, 1.81x as fast as slow"
    )


def test_a_trace_without_a_device_is_called_no_faster_than_one_with():
    on_host = steps_of(*[[op("aten::mm")]] * N_STEPS)
    found = ScoreTable(scoreboard([on_host, steps_of(*[mlp()] * N_STEPS)]), ("cpu", "gpu"))

    assert found.summary.startswith("Some traces have device work, some not: cpu takes its host")
    assert "fast" not in found.summary


def test_best_cells_are_marked(table):
    line = table.line(0, 120)

    assert f"{BEST} 639.00 µs" in line
    assert f"{BEST} 4" in line
    assert f"{BEST} 735.00 µs" not in table.line(1, 120)


def test_baseline_is_marked(table):
    assert table.line(1, 120).startswith("[ ]A eager")


def test_two_are_picked_and_the_oldest_gives_way(table):
    table.toggle(0)
    table.toggle(1)
    assert table.picked == [1, 0]
    assert table.pair(2) == (0, 1)

    table.toggle(2)
    assert table.picked == [0, 2]
    table.toggle(2)
    assert table.picked == [0]


def test_without_picks_a_row_is_compared_with_the_baseline(table):
    assert table.pair(2) == (0, 2)
    assert table.pair(1) is None


@pytest.mark.parametrize("width", [20, 40, 76, 200])
def test_lines_fit_the_window(table, width):
    assert cell_width(table.header(width)) <= width
    assert all(cell_width(table.line(place, width)) <= width for place in range(len(table)))


def test_details_tell_every_figure(table):
    text = "\n".join(table.details(0))

    assert "device   639.00 µs" in text
    assert "timed    –" in text


def test_sentences_name_files_without_what_all_traces_end_in():
    assert bare_name("eager.json.gz") == "eager"
    assert bare_name("host_1.pt.trace.json") == "host_1"
    assert bare_name(".json") == ".json"


def test_variants_without_a_trace_follow_the_traces_and_are_never_picked(table):
    table.awaited = (
        Awaited("mlp_liger", "running: compiling", is_coming=True),
        Awaited("mlp_fused", "cannot run: no Triton", is_coming=False),
    )

    assert (len(table), table.n_lines) == (3, 5)
    assert table.line(3, 100).split() == ["mlp_liger", "running:", "compiling"]
    assert table.line(4, 100).split(maxsplit=1) == ["mlp_fused", "cannot run: no Triton"]
    assert table.summary.endswith("as fast as slow · 1 to come")
    table.toggle(4)
    assert table.picked == []
    assert table.row_at(3) is None
    assert table.pair(3) is None
    assert "cannot run: no Triton" in table.details(4)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_of_variants_without_a_trace_fit_the_window(table, width):
    table.awaited = (Awaited("m" * 60, "cannot run: " + "why " * 40, is_coming=False),)

    assert cell_width(table.line(3, width)) <= width
