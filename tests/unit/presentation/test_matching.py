"""What a filter keeps of the timeline: by hand, and against a loop over every slice."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.literal import Row, kernel, trace_of
from tracetui.analysis.work_class import WorkClass
from tracetui.errors import UsageError
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.cells import CellShape, LaneCells, lane_cells
from tracetui.presentation.hues import (
    DIM_CODE,
    FIRST_HUE_CODE,
    INK_CODE,
    NO_COLOUR_CODE,
    SELECTED_CODE,
)
from tracetui.presentation.lanes import Lane, lane_index
from tracetui.presentation.matching import Matches, matches
from tracetui.presentation.painting import PaintMode, paint
from tracetui.presentation.time_range import cell_text
from tracetui.presentation.viewport import Viewport

PLAIN = PaintMode()
GEMM = "ampere_sgemm_128x64_tn"
TRITON = "triton_poi_0"
OF_GEMM = FIRST_HUE_CODE + 2 * WorkClass.GEMM
OF_TRITON = FIRST_HUE_CODE + 2 * WorkClass.TRITON


def filtered(trace: Trace, text: str) -> tuple[Lane, Matches]:
    index = lane_index(trace)
    return index.lanes[0], matches(trace, index, text)


def drawn(trace: Trace, text: str, end_ns: int, width: int) -> tuple[Lane, LaneCells]:
    lane, found = filtered(trace, text)
    return lane, lane_cells(lane, Viewport(0, end_ns, end_ns), width, found.of(lane))


def test_what_does_not_match_is_a_dim_line_and_what_does_is_a_block() -> None:
    # Cells of 100 ns: two of the product, two of the other kernel, one empty.
    trace = trace_of(kernel(GEMM, 0, 200), kernel(TRITON, 200, 200), kernel(GEMM, 440, 9))
    lane, cells = drawn(trace, "name:triton", 500, 5)
    assert cells.is_dim.tolist() == [True, True, False, False, True]
    painted = paint(trace, lane, cells, PLAIN)
    assert painted.text == "──  ┄"
    assert painted.ink[:2].tolist() == [OF_GEMM + DIM_CODE] * 2
    assert painted.paper[:2].tolist() == [NO_COLOUR_CODE] * 2
    assert painted.ink[2:4].tolist() == [INK_CODE] * 2
    assert painted.paper[2:4].tolist() == [OF_TRITON + 1] * 2


def test_the_colour_of_a_crowded_cell_is_that_of_what_matches() -> None:
    # The product takes 60 of the cell's 100 ns, the other kernel 10.
    trace = trace_of(kernel(GEMM, 0, 60), kernel(TRITON, 70, 10), kernel("last", 399, 1))
    _, plain = drawn(trace, "", 400, 4)
    _, cells = drawn(trace, "name:triton", 400, 4)
    assert plain.hue[0] == WorkClass.GEMM
    assert cells.hue[0] == WorkClass.TRITON
    assert (cells.eighths[0], cells.is_dim[0]) == (plain.eighths[0], False)


@pytest.mark.parametrize(
    ("text", "inverse", "code"),
    [("name:triton", True, OF_TRITON + 1), ("name:gemm", False, OF_GEMM)],
)
def test_of_two_slices_that_meet_the_matching_one_alone_is_a_block(text, inverse, code) -> None:
    # They meet in the middle of the second cell, which begins at 80 ns.
    trace = trace_of(kernel(GEMM, 0, 120), kernel(TRITON, 120, 200))
    lane, cells = drawn(trace, text, 320, 4)
    assert cells.shape[1] == CellShape.SPLIT
    painted = paint(trace, lane, cells, PLAIN)
    assert painted.text[1] == "▌"
    assert painted.is_inverse[1] == inverse
    assert (painted.ink[1], painted.paper[1]) == (code, NO_COLOUR_CODE)


def test_of_two_slices_that_meet_and_do_not_match_a_line_goes_on() -> None:
    trace = trace_of(kernel(GEMM, 0, 120), kernel(TRITON, 120, 200))
    lane, cells = drawn(trace, "name:nothing", 320, 4)
    painted = paint(trace, lane, cells, PLAIN)
    assert painted.text == "──╶─", "the second one's first whole cell shows where it begins"
    assert painted.paper.tolist() == [NO_COLOUR_CODE] * 4


def test_edges_of_what_does_not_match_are_half_lines() -> None:
    trace = trace_of(kernel("first", 0, 1), kernel(GEMM, 120, 250), kernel("last", 799, 1))
    lane, cells = drawn(trace, "name:nothing", 800, 10)
    assert paint(trace, lane, cells, PLAIN).text == "╴╶──╴    ╶"


def test_names_of_what_does_not_match_stay() -> None:
    trace = trace_of(("aten::mm", 0, 600), ("aten::add", 600, 600))
    lane, cells = drawn(trace, "name:add", 1200, 24)
    assert paint(trace, lane, cells, PLAIN).text == "aten::mm────aten::add   "
    assert paint(trace, lane, cells, PaintMode(colourless=True)).text == "aten::mm────o:aten::add "
    assert paint(trace, lane, cells, PaintMode(ascii_only=True)).text == "aten::mm::::o:aten::add-"


def test_the_selected_slice_is_marked_though_it_does_not_match() -> None:
    trace = trace_of(kernel(GEMM, 0, 300), kernel(TRITON, 300, 300))
    lane, cells = drawn(trace, "name:triton", 600, 6)
    painted = paint(trace, lane, cells, PLAIN, ((0, SELECTED_CODE),))
    assert painted.ink[:3].tolist() == [SELECTED_CODE] * 3
    assert SELECTED_CODE not in painted.ink[3:].tolist()


def test_a_matching_slice_without_duration_is_not_dim() -> None:
    trace = trace_of(kernel(GEMM, 0, 100), kernel(TRITON, 250, 0), kernel(GEMM, 399, 1))
    _, cells = drawn(trace, "name:triton", 400, 4)
    assert cells.is_dim.tolist() == [True, False, False, True]
    assert cells.hue[2] == WorkClass.TRITON


def test_a_folded_track_is_bright_where_a_matching_slice_lies_however_deep() -> None:
    trace = trace_of(("a", 0, 400), ("b", 100, 100), ("c", 500, 100))
    index = lane_index(trace)
    folded = index.folded[0]
    found = matches(trace, index, "name:b")
    cells = lane_cells(folded, Viewport(0, 600, 600), 6, found.of(folded))
    assert cells.is_dim.tolist() == [True, False, True, True, False, True]


def test_it_is_said_how_many_match() -> None:
    trace = trace_of(kernel(GEMM, 0, 10), kernel(TRITON, 20, 30), kernel(TRITON, 150, 50))
    lane, found = filtered(trace, "name:triton")
    assert found.text == "2 of 3 slices match"
    kept = found.of(lane)
    assert (
        cell_text(trace, lane, 0, 100, kept) == "2 kernels here, 40.0 % busy, 1 match, 30.0 % busy"
    )
    assert cell_text(trace, lane, 0, 15, kept).endswith(", none matches")


def test_neighbours_are_those_that_match() -> None:
    names = (GEMM, TRITON, GEMM, TRITON, GEMM)
    trace = trace_of(*(kernel(name, 100 * i, 50) for i, name in enumerate(names)))
    lane, found = filtered(trace, "name:triton")
    assert found.neighbour(lane, 1, 0, 1) == 3
    assert found.neighbour(lane, 3, 0, -1) == 1
    assert found.neighbour(lane, 2, 0, 1) == 3
    assert found.neighbour(lane, 2, 0, -1) == 1
    assert found.neighbour(lane, 3, 0, 1) == NO_ID
    assert found.neighbour(lane, 1, 0, -1) == NO_ID
    assert found.neighbour(lane, NO_ID, 100, 1) == 1, "one that begins at the cursor counts"
    assert found.neighbour(lane, NO_ID, 300, -1) == 3
    assert found.neighbour(lane, NO_ID, 120, 1) == 3
    assert found.reason(lane, 1) == "nothing further after this in the lane passes the filter"
    assert "nothing in this lane" in filtered(trace, "name:nothing")[1].reason(lane, -1)


def test_a_filter_that_is_none_raises() -> None:
    trace = trace_of(("a", 0, 10))
    with pytest.raises(UsageError):
        matches(trace, lane_index(trace), "dur>banana")


KERNELS = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 90), st.sampled_from([GEMM, TRITON, "x"])),
    min_size=1,
    max_size=40,
)


@given(
    KERNELS,
    st.sampled_from(["name:triton", "-name:triton", "dur>0.03us", "name:nothing", "cat:kernel"]),
    st.integers(0, 900),
    st.integers(1_000, 4_000),
    st.integers(1, 120),
)
@settings(max_examples=80, deadline=None)
def test_cells_agree_with_a_loop_over_every_slice(rows, text, start, span, width) -> None:
    trace = trace_of(*(kernel(name, ts, dur) for ts, dur, name in rows))
    viewport = Viewport(start, start + span, start + span)
    edges = viewport.edges(width).tolist()
    index = lane_index(trace)
    found = matches(trace, index, text)
    kept = [passes(trace, slice_id, text) for slice_id in range(len(trace.slices))]
    assert found.is_kept.tolist() == kept
    for lane in index.lanes:
        cells = lane_cells(lane, viewport, width, found.of(lane))
        without = lane_cells(lane, viewport, width)
        assert (cells.shape == without.shape).all()
        assert (cells.eighths == without.eighths).all()
        spans = list(
            zip(
                lane.spans.starts.tolist(),
                lane.spans.ends.tolist(),
                lane.hues.tolist(),
                [kept[each] for each in lane.slice_ids.tolist()],
                strict=True,
            )
        )
        for column in range(width):
            low, high = edges[column], edges[column + 1]
            here = [each for each in spans if each[0] < high and max(each[1], each[0] + 1) > low]
            matching = [each for each in here if each[3]]
            if cells.shape[column] == CellShape.SPLIT:
                assert cells.is_dim[column] == (not here[0][3])
                assert cells.is_right_dim[column] == (not here[1][3])
            else:
                assert cells.is_dim[column] == bool(here and not matching)
            if not matching:
                assert cells.hue[column] == without.hue[column]
                continue
            busy: dict[int, int] = {}
            for begin, end, hue, _ in matching:
                busy[hue] = busy.get(hue, 0) + min(end, high) - max(begin, low)
            assert busy[int(cells.hue[column])] == max(busy.values())


def passes(trace: Trace, slice_id: int, text: str) -> bool:
    """Judge one slice by what the filter means."""
    name, dur_ns = trace.name_of(slice_id), int(trace.slices.dur_ns[slice_id])
    return {
        "name:triton": "triton" in name,
        "-name:triton": "triton" not in name,
        "dur>0.03us": dur_ns > 30,
        "name:nothing": False,
        "cat:kernel": True,
    }[text]


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 60), st.sampled_from("ab")),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 60),
)
@settings(max_examples=60, deadline=None)
def test_a_folded_track_agrees_with_a_loop_over_every_slice(rows, width) -> None:
    trace = trace_of(*(Row(name, ts, dur) for ts, dur, name in rows))
    index = lane_index(trace)
    folded, found = index.folded[0], matches(trace, index, "name:b")
    viewport = Viewport.whole(index.total_ns)
    edges = viewport.edges(width).tolist()
    cells = lane_cells(folded, viewport, width, found.of(folded))
    slices = trace.slices
    spans = [
        (start, end, trace.name_of(row) == "b")
        for row, (start, end) in enumerate(
            zip(slices.ts_ns.tolist(), slices.end_ns.tolist(), strict=True)
        )
    ]
    for column in range(width):
        low, high = edges[column], edges[column + 1]
        busy = [min(end, high) - max(start, low) > 0 for start, end, is_b in spans if is_b]
        if any(busy):
            assert not cells.is_dim[column]
        elif cells.is_dim[column]:
            assert cells.count[column] > 0


def test_a_frame_with_a_filter_costs_the_same_in_a_long_trace() -> None:
    """Ten times the slices must not cost ten times as much to draw; generous for busy machines."""
    seconds = []
    for n in (5_000, 50_000):
        trace = trace_of(*(kernel((GEMM, TRITON)[i % 2], i * 10, 7) for i in range(n)))
        lane, found = filtered(trace, "name:triton")
        kept, viewport = found.of(lane), Viewport.whole(n * 10)

        def timed(lane: Lane = lane, kept: Lane = kept, viewport: Viewport = viewport) -> float:
            begin = time.process_time()
            for _ in range(5):
                lane_cells(lane, viewport, 200, kept)
            return time.process_time() - begin

        seconds.append(min(timed() for _ in range(5)))
        assert np.count_nonzero(lane_cells(lane, viewport, 200, kept).is_dim) == 0
    assert seconds[1] < 5 * seconds[0] + 0.01
