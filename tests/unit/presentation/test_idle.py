"""A gap in words and in cells."""

import pytest

from tests.literal import Row, kernel, launch, trace_of
from tracetui.analysis.artefacts import ArtefactKind, artefacts
from tracetui.model.arrays import NO_ID
from tracetui.presentation.cells import lane_cells
from tracetui.presentation.hues import HUE_NAMES
from tracetui.presentation.idle import (
    artefact_spans,
    gap_at,
    gap_details,
    gap_lines,
    idle_spans,
    next_gap,
    with_hatching,
    with_idle,
)
from tracetui.presentation.lanes import lane_index
from tracetui.presentation.painting import PaintMode, paint
from tracetui.presentation.viewport import Viewport

_PLAIN = PaintMode()


@pytest.fixture
def waiting():
    """Work at 0 to 10 and 60 to 80 us; the call for the second begins at 50 and takes 5."""
    return trace_of(
        ("aten::scaled_dot_product_attention", 0, 70_000),
        launch(0, 0, 1),
        launch(50_000, 5_000, 2),
        Row("model.py(7): forward", 0, 90_000, "python_function"),
        kernel("gemm", 0, 10_000, 1),
        kernel("flash", 60_000, 20_000, 2),
    )


def drawn(trace, mode=_PLAIN, width=16, end_ns=80_000):
    lane = next(lane for lane in lane_index(trace).lanes if trace.tracks[lane.track_id].device == 0)
    view = Viewport.whole(end_ns)
    cells = lane_cells(lane, view, width)
    painted = paint(trace, lane, cells, mode)
    return with_idle(painted, cells, idle_spans(trace)[0], view, mode)


def test_a_gap_says_how_long_why_and_who(waiting):
    assert gap_lines(waiting, 0, gap_at(waiting, 0, 30_000)) == (
        (
            "gap 50.00 µs · host wait 40.00 µs + launch 5.00 µs + between kernels 5.00 µs"
            " · queue 1→0 · 5.00 µs if launched in time"
        ),
        "held by aten::scaled_dot_product_attention itself in model.py(7): forward · then flash",
    )


def test_a_call_that_held_a_gap_is_named_with_its_operator():
    trace = trace_of(
        ("aten::item", 5_000, 60_000),
        Row("cudaStreamSynchronize", 6_000, 50_000, "cuda_runtime"),
        launch(70_000, 1_000, 2),
        kernel("a", 0, 10_000),
        kernel("b", 72_000, 10, 2),
    )

    why, who = gap_lines(trace, 0, 0)

    assert why.startswith("gap 62.00 µs · sync 46.00 µs + host wait 14.00 µs")
    assert who == "held by cudaStreamSynchronize under aten::item · then b"


def test_queued_work_and_unknown_work_are_held_by_nothing():
    queued = trace_of(
        launch(0, 10, 1), launch(20, 10, 2), kernel("a", 50, 50, 1), kernel("b", 110, 10, 2)
    )
    unknown = trace_of(kernel("a", 0, 10), kernel("b", 50_000, 10))

    assert gap_lines(queued, 0, 0) == (
        "gap 10 ns · between kernels · queue 2→1",
        "the work was queued: the device's own time · then b",
    )
    assert gap_lines(unknown, 0, 0) == (
        "gap 49.99 µs · other",
        "held by nothing that was recorded · then b",
    )


def test_the_details_of_a_gap_are_all_of_it(waiting):
    assert gap_details(waiting, 0, 0) == [
        "idle time of device 0",
        "from       10.00 µs",
        "length     50.00 µs",
        "  host wait        40.00 µs",
        "  launch           5.00 µs",
        "  between kernels  5.00 µs",
        "queue      1 at most since it was last empty, 0 at the start",
        "before     gemm",
        "after      flash",
        "launch     cudaLaunchKernel",
        "held by    aten::scaled_dot_product_attention",
        "in         model.py(7): forward",
        "launched in time it would be 5.00 µs long",
    ]


def test_gaps_are_found_by_time_and_by_width():
    trace = trace_of(
        kernel("a", 0, 100), kernel("b", 110, 90), kernel("c", 300, 100), kernel("d", 405, 5)
    )

    assert [gap_at(trace, 0, at) for at in (99, 100, 109, 110, 250, 402)] == [
        NO_ID,
        0,
        0,
        NO_ID,
        1,
        2,
    ]
    assert gap_at(trace, 7, 100) == NO_ID
    assert next_gap(trace, 0, 0, 1, 1) == 0
    assert next_gap(trace, 0, 0, 1, 50) == 1
    assert next_gap(trace, 0, 250, 1, 1) == 2
    assert next_gap(trace, 0, 250, -1, 1) == 0
    assert next_gap(trace, 0, 250, 1, 50) == NO_ID
    assert next_gap(trace, 7, 0, 1, 1) == NO_ID


def test_empty_cells_show_the_cause_of_most_of_them(waiting):
    # 5 us a cell: 2 of work, 8 of host wait, 1 of launch, 1 between kernels, 4 of work.
    painted = drawn(waiting)

    assert painted.text[2:12] == "········- "
    hues = [(ink - 4) // 2 for ink in painted.ink[[2, 10]].tolist()]
    assert [HUE_NAMES[hue] for hue in hues] == ["operator", "runtime"]
    assert drawn(waiting, PaintMode(ascii_only=True)).text[2:12] == "........- "


def test_profiler_and_synchronising_have_glyphs_of_their_own():
    trace = trace_of(
        kernel("a", 0, 10_000),
        Row("cudaStreamSynchronize", 10_000, 20_000, "cuda_runtime"),
        Row("Activity Buffer Request", 30_000, 40_000, "overhead", "-1", "0"),
        kernel("b", 70_000, 10_000),
    )

    assert drawn(trace).text[2:14] == "~~~~▒▒▒▒▒▒▒▒"
    assert drawn(trace, PaintMode(ascii_only=True)).text[2:14] == "~~~~%%%%%%%%"


def test_a_stream_beside_a_busy_one_is_not_marked():
    trace = trace_of(
        launch(0, 0, 1), launch(50_000, 5_000, 2), kernel("a", 0, 10_000, 1),
        kernel("b", 60_000, 20_000, 2), kernel("other", 0, 80_000, stream=9),
    )  # fmt: skip

    assert drawn(trace).text[2:12] == " " * 10


def test_the_last_synchronise_call_counts_and_is_not_hatched():
    trace = trace_of(
        launch(0, 1_000, 1),
        kernel("gemm", 1_000, 70_000, 1),
        launch(2_000, 70_000, 2, name="cudaDeviceSynchronize"),
    )

    assert [each.name for each in map(ArtefactKind, artefacts(trace).kind)] == ["FINAL_SYNC"]
    assert len(artefact_spans(trace)) == 0


def test_what_shares_leave_out_is_hatched_in_the_ruler():
    trace = trace_of(
        kernel("a", 0, 10_000),
        Row("Activity Buffer Request", 30_000, 40_000, "overhead", "-1", "0"),
        kernel("b", 70_000, 10_000),
    )
    spans, view = artefact_spans(trace), Viewport.whole(80_000)

    assert with_hatching("|0ms    |40ms   ", spans, view, _PLAIN) == "|0ms  ░░|40ms░  "
    assert with_hatching("|0 ms   |40 ms  ", spans, view, _PLAIN) == "|0 ms ░░|40 ms  "
    plain = PaintMode(ascii_only=True)
    assert with_hatching("|0ms    |40ms   ", spans, view, plain) == "|0ms  %%|40ms%  "
    assert len(artefact_spans(trace_of(kernel("a", 0, 10)))) == 0


def test_a_busy_lane_stays_as_it_is():
    trace = trace_of(kernel("a", 0, 80_000))
    assert "·" not in drawn(trace).text
