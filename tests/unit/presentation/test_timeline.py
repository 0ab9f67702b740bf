"""The timeline's arithmetic: cells by hand, and against a loop over every slice."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.work_class import WorkClass
from tracetui.format import TimeUnit
from tracetui.model.trace import Trace
from tracetui.presentation.cells import CellShape, busy_eighths, lane_cells
from tracetui.presentation.hues import (
    FIRST_HUE_CODE,
    HUE_LETTERS,
    HUE_NAMES,
    INK_CODE,
    SELECTED_CODE,
)
from tracetui.presentation.lanes import Lane, lane_index, pack
from tracetui.presentation.painting import PaintMode, label_text, minimap_text, paint
from tracetui.presentation.time_range import cell_text, range_stats, range_text
from tracetui.presentation.viewport import (
    Viewport,
    hit_columns,
    parse_time,
    ruler_text,
    ruler_ticks,
    tick_step_ns,
)

PLAIN = PaintMode()
GEMM = "ampere_sgemm_128x64_tn"


def view(start_ns: int, end_ns: int, total_ns: int | None = None) -> Viewport:
    return Viewport(start_ns, end_ns, total_ns or end_ns)


def device_lane(*kernels: tuple[str, int, int]) -> tuple[Trace, Lane]:
    trace = trace_of(*(kernel(name, start, length) for name, start, length in kernels))
    return trace, lane_index(trace).lanes[0]


# Lanes


def test_every_depth_has_its_lane() -> None:
    trace = trace_of(("a", 0, 100), ("b", 10, 40), ("c", 60, 40), ("d", 20, 10))
    lanes = lane_index(trace).lanes
    names = [[trace.name_of(int(each)) for each in lane.slice_ids] for lane in lanes]
    assert names == [["a"], ["b", "c"], ["d"]]


def test_a_crossing_slice_takes_the_next_free_lane() -> None:
    # b starts in a and ends after it; c fits after a again.
    starts, ends = np.array([0, 5, 12]), np.array([10, 15, 20])
    assert pack(starts, ends, np.array([0, 0, 0], np.int32)).tolist() == [0, 1, 0]


def test_rounding_by_a_nanosecond_does_not_open_a_lane() -> None:
    starts, ends = np.array([0, 9]), np.array([10, 20])
    assert pack(starts, ends, np.array([0, 0], np.int32)).tolist() == [0, 0]


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 60), st.sampled_from("12")),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=60, deadline=None)
def test_lanes_hold_every_slice_once_and_none_overlap(rows) -> None:
    trace = trace_of(*(Row("n", ts, dur, "cpu_op", "1", tid) for ts, dur, tid in rows))
    index = lane_index(trace)
    held = sorted(int(each) for lane in index.lanes for each in lane.slice_ids)
    assert held == list(range(len(rows)))
    for number, lane in enumerate(index.lanes):
        assert (lane.spans.starts[1:] >= lane.spans.ends[:-1]).all()
        assert (np.abs(lane.spans.starts - trace.slices.ts_ns[lane.slice_ids]) <= 1).all()
        assert (index.lane_of[lane.slice_ids] == number).all()
        assert [lane.row_of(int(each)) for each in lane.slice_ids] == list(
            range(len(lane.slice_ids))
        )


def test_a_folded_track_is_the_union_of_its_lanes() -> None:
    trace = trace_of(("a", 0, 100), ("b", 10, 40), ("c", 150, 50))
    folded = lane_index(trace).folded[0]
    assert folded.is_union
    assert folded.spans.starts.tolist() == [0, 150]
    assert folded.spans.total_ns == 150


# Cells


def test_a_cell_is_as_high_as_it_is_busy() -> None:
    # Ten cells of 100 ns; the first has three kernels of 10 ns: 30 % are 2.4 eighths.
    _, lane = device_lane((GEMM, 0, 10), (GEMM, 20, 10), (GEMM, 40, 10), (GEMM, 999, 1))
    cells = lane_cells(lane, view(0, 1000), 10)
    assert cells.shape[0] == CellShape.HEIGHT
    assert cells.eighths[0] == 2
    assert cells.covered_ns.tolist() == [30, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert cells.count.tolist() == [3, 0, 0, 0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("covered", "expected"),
    [(0, 0), (1, 1), (124, 1), (500, 4), (990, 7), (999, 7), (1000, 8)],
)
def test_something_is_never_blank_and_less_than_all_never_full(covered, expected) -> None:
    one = np.array([1 if covered else 0])
    assert busy_eighths(np.array([covered]), np.array([1000]), one).tolist() == [expected]


def test_a_slice_without_duration_is_seen() -> None:
    _, lane = device_lane((GEMM, 0, 0), (GEMM, 900, 100))
    cells = lane_cells(lane, view(0, 1000), 10)
    assert cells.covered_ns[0] == 0
    assert (cells.count[0], cells.shape[0], cells.eighths[0]) == (1, CellShape.HEIGHT, 1)


def test_edges_are_exact_to_an_eighth() -> None:
    # Cells of 80 ns. The slice starts 20 ns into cell 1: two eighths of it are empty; it ends
    # 30 ns into cell 4: three eighths are filled.
    trace = trace_of(kernel("first", 0, 1), kernel(GEMM, 100, 250), kernel("last", 799, 1))
    lane = lane_index(trace).lanes[0]
    cells = lane_cells(lane, view(0, 800), 10)
    assert cells.shape[1:5].tolist() == [
        CellShape.RIGHT, CellShape.FULL, CellShape.FULL, CellShape.LEFT,
    ]  # fmt: skip
    painted = paint(trace, lane, cells, PLAIN)
    assert painted.text[1] == "▎"
    assert painted.is_inverse[1]
    assert painted.text[4] == "▍"
    assert not painted.is_inverse[4]


def test_two_slices_that_meet_share_a_cell_in_their_own_colours() -> None:
    trace = trace_of(kernel(GEMM, 0, 120), kernel("triton_poi_0", 120, 200))
    lane = lane_index(trace).lanes[0]
    cells = lane_cells(lane, view(0, 320), 4)
    assert cells.shape.tolist() == [CellShape.FULL, CellShape.SPLIT, CellShape.FULL, CellShape.FULL]
    painted = paint(trace, lane, cells, PLAIN)
    assert painted.text[1] == "▌"
    assert painted.ink[1] == FIRST_HUE_CODE + 2 * WorkClass.GEMM
    assert painted.paper[1] == FIRST_HUE_CODE + 2 * WorkClass.TRITON + 1


def test_a_gap_between_two_slices_reads_as_a_gap() -> None:
    _, lane = device_lane((GEMM, 0, 100), (GEMM, 130, 190))
    cells = lane_cells(lane, view(0, 320), 4)
    assert cells.shape[1] == CellShape.HEIGHT
    assert cells.eighths[1] == 5, "50 of 80 ns are busy"


def test_the_dominant_class_gives_the_colour() -> None:
    _, lane = device_lane((GEMM, 0, 30), ("triton_poi_0", 40, 50), ("x", 400, 1))
    assert lane_cells(lane, view(0, 401), 4).hue[0] == WorkClass.TRITON


@given(
    st.lists(
        st.tuples(st.integers(0, 500), st.integers(0, 90), st.sampled_from([GEMM, "triton_a"])),
        min_size=1,
        max_size=40,
    ),
    st.integers(0, 900),
    st.integers(1_000, 4_000),
    st.integers(1, 120),
)
@settings(max_examples=80, deadline=None)
def test_cells_agree_with_a_loop_over_every_slice(rows, start, span, width) -> None:
    trace = trace_of(*(kernel(name, ts, dur) for ts, dur, name in rows))
    viewport = view(start, start + span)
    edges = viewport.edges(width).tolist()
    seen: set[int] = set()
    for lane in lane_index(trace).lanes:
        cells = lane_cells(lane, viewport, width)
        spans = list(zip(lane.spans.starts.tolist(), lane.spans.ends.tolist(), strict=True))
        for column in range(width):
            low, high = edges[column], edges[column + 1]
            assert cells.covered_ns[column] == sum(
                max(min(end, high) - max(begin, low), 0) for begin, end in spans
            )
            touching = [r for r, (s, e) in enumerate(spans) if s < high and max(e, s + 1) > low]
            assert cells.count[column] == len(touching)
            assert (cells.shape[column] == CellShape.BLANK) == (not touching)
            if touching:
                assert cells.first[column] == touching[0]
                assert cells.eighths[column] >= 1
            seen.update(int(lane.slice_ids[row]) for row in touching)
        inside = [max(min(e, edges[-1]) - max(s, edges[0]), 0) for s, e in spans]
        assert int(cells.covered_ns.sum()) == sum(inside)
    slices = trace.slices
    reach_ns = np.maximum(slices.end_ns, slices.ts_ns + 1)
    begun = slices.ts_ns < edges[-1]
    visible = set(np.flatnonzero(begun & (reach_ns > start)).tolist())
    # Slices that overlap by a nanosecond share a lane; the later one then begins that much later.
    almost_visible = set(np.flatnonzero(begun & (reach_ns + 1 > start)).tolist())
    assert visible <= seen <= almost_visible


def test_labels_fill_runs_of_six_cells() -> None:
    trace = trace_of(kernel(GEMM, 0, 600), kernel("triton_poi_0", 700, 300))
    lane = lane_index(trace).lanes[0]
    painted = paint(trace, lane, lane_cells(lane, view(0, 1000), 10), PLAIN)
    assert len(painted.text) == 10
    assert painted.text[:6].rstrip() == "am…tn"
    assert painted.text[7:].strip() == "", "three cells are too few for a name"
    assert painted.paper[7] == FIRST_HUE_CODE + 2 * WorkClass.TRITON + 1
    assert painted.ink[7] == INK_CODE


@pytest.mark.parametrize(
    ("name", "width", "expected"),
    [
        ("aten::addmm", 11, "aten::addmm"),
        ("aten::addmm", 10, "addmm"),
        ("aten::_native_multi_head_attention", 7, "_nativ…"),
        ("aten::_native_multi_head_attention", 15, "_native…tention"),
        ("Self-Attention", 5, "Self…"),
        ("アテンション", 5, "????…"),
    ],
)
def test_labels_keep_what_tells(name, width, expected) -> None:
    assert label_text(trace_of((name, 0, 10)), 0, width) == expected


def test_the_selected_slice_is_marked_though_narrower_than_a_cell() -> None:
    trace, lane = device_lane((GEMM, 0, 10), (GEMM, 20, 10), (GEMM, 40, 10), (GEMM, 900, 100))
    cells = lane_cells(lane, view(0, 1000), 10)
    painted = paint(trace, lane, cells, PLAIN, ((1, SELECTED_CODE),))
    assert painted.text[0] == "┃"
    assert painted.ink[0] == SELECTED_CODE
    assert SELECTED_CODE not in painted.ink[1:]


def test_a_wide_selected_slice_is_marked_all_along() -> None:
    trace, lane = device_lane((GEMM, 0, 600), (GEMM, 600, 400))
    cells = lane_cells(lane, view(0, 1000), 10)
    painted = paint(trace, lane, cells, PLAIN, ((0, SELECTED_CODE),))
    assert painted.paper.tolist()[:6] == [SELECTED_CODE] * 6
    assert SELECTED_CODE not in painted.paper[6:]


def test_letters_stand_for_classes_in_ascii() -> None:
    trace, lane = device_lane((GEMM, 0, 300), ("triton_poi_0", 500, 20), (GEMM, 999, 1))
    painted = paint(trace, lane, lane_cells(lane, view(0, 1000), 10), PaintMode(ascii_only=True))
    assert painted.text == "GGG  t   .", "three full, a fifth, a hundredth"
    assert not painted.paper.any()


def test_ascii_labels_are_ascii() -> None:
    trace, lane = device_lane(("mémcpy_größe_long_name", 0, 1000), (GEMM, 1000, 100))
    painted = paint(trace, lane, lane_cells(lane, view(0, 1000), 12), PaintMode(ascii_only=True))
    assert painted.text.isascii()
    assert painted.text.startswith("O:")


def test_runs_begin_with_a_letter_without_colours() -> None:
    trace, lane = device_lane((GEMM, 0, 300), ("triton_poi_0", 300, 700))
    painted = paint(trace, lane, lane_cells(lane, view(0, 1000), 10), PaintMode(colourless=True))
    assert painted.text.startswith("G  T:")


def test_every_hue_has_a_letter_of_its_own() -> None:
    assert len(HUE_LETTERS) == len(HUE_NAMES) == len(set(HUE_LETTERS))


def test_wide_letters_do_not_shift_the_lane() -> None:
    trace, lane = device_lane(("核心计算内核", 0, 1000))
    assert len(paint(trace, lane, lane_cells(lane, view(0, 1000), 12), PLAIN).text) == 12


# The viewport


def test_zoom_keeps_the_time_under_the_cursor() -> None:
    whole = Viewport.whole(100_000)
    near = whole.zoomed(2, 25_000, inwards=True)
    assert (near.start_ns, near.end_ns) == (12_500, 62_500)
    assert near.zoomed(2, 25_000, inwards=False) == whole


@given(
    st.integers(1_000, 10**12), st.lists(st.sampled_from("wsWSadADfc"), max_size=30), st.integers(0)
)
def test_the_viewport_never_leaves_the_recording(total, keys, at) -> None:
    viewport = Viewport.whole(total)
    at %= total
    for key in keys:
        if key in "wsWS":
            factor = 4 if key.isupper() else 2
            viewport = viewport.zoomed(factor, at, inwards=key in "wW")
        elif key in "adAD":
            viewport = viewport.panned({"a": -1, "d": 1, "A": -8, "D": 8}[key])
        elif key == "f":
            viewport = viewport.fitted(at, at + 10)
        else:
            viewport = viewport.centred(at)
        assert 0 <= viewport.start_ns < viewport.end_ns <= total
        assert viewport.span_ns >= 1_000


@given(st.integers(0, 10**9), st.integers(1_000, 10**9), st.integers(1, 300), st.data())
def test_a_column_is_the_cell_whose_bounds_hold_the_time(start, span, width, data) -> None:
    viewport = view(start, start + span)
    at = data.draw(st.integers(start, start + span - 1))
    edges = viewport.edges(width)
    column = viewport.column(at, width)
    assert edges[column] <= at < edges[column + 1]


def test_an_empty_trace_has_a_viewport() -> None:
    trace = trace_of()
    index = lane_index(trace)
    assert index.lanes == ()
    assert Viewport.whole(index.total_ns).span_ns == 1_000
    assert minimap_text(index, Viewport.whole(0), 8, ascii_only=False) == " " * 8


# Ruler, minimap, times


@pytest.mark.parametrize(
    ("span", "width", "step"), [(1_000_000, 80, 200_000), (1_000, 80, 200), (10**9, 160, 10**8)]
)
def test_ticks_are_one_two_or_five(span, width, step) -> None:
    assert tick_step_ns(span, width) == step


def test_the_ruler_names_its_ticks() -> None:
    assert ruler_ticks(view(1_000_000, 2_000_000), 80) == [
        (0, "1 ms"),
        (16, "1.2 ms"),
        (32, "1.4 ms"),
        (48, "1.6 ms"),
        (64, "1.8 ms"),
    ]
    assert len(ruler_text(view(1_000_000, 2_000_000), 80)) == 80


def test_the_minimap_brackets_what_is_visible() -> None:
    trace = trace_of(kernel(GEMM, 0, 5_000), kernel(GEMM, 9_999, 1))
    text = minimap_text(lane_index(trace), view(2_000, 4_000, 10_000), 10, ascii_only=False)
    assert text == "██[]█    ▁"


def test_a_ruler_without_room_for_a_tick_is_blank():
    # Five cells of 1 us: ticks would be 5 us apart, and none is between 1 ns and 1.001 us.
    assert ruler_text(view(1, 1_001), 5) == " " * 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.2ms", 1_200_000), ("340 us", 340_000), ("2s", 2 * 10**9), ("7", 7_000_000), ("5ns", 5),
     (".5µs", 500), ("", None), ("1e3", None), ("-1ms", None), ("ms", None)],
)  # fmt: skip
def test_times_are_read_as_typed(text, expected) -> None:
    assert parse_time(text) == expected


# Text under the lanes


def test_a_cell_says_what_it_holds() -> None:
    trace, lane = device_lane((GEMM, 0, 10), (GEMM, 20, 10), (GEMM, 900, 100))
    assert cell_text(trace, lane, 0, 100) == "2 kernels here, 20.0 % busy"
    assert cell_text(trace, lane, 900, 1000) == "1 kernel here, 100.0 % busy"


def test_a_range_counts_by_class() -> None:
    # Two streams: 0-100 gemm and 50-150 triton. In 0-120 one of them works for all of it.
    trace = trace_of(kernel(GEMM, 0, 100, stream=7), kernel("triton_poi_0", 50, 100, stream=8))
    stats = range_stats(trace, lane_index(trace), 0, 120)
    assert stats.busy_ns == 120
    assert stats.sum_ns == 170
    assert stats.by_class == (("gemm", 100, 1), ("triton", 70, 1))
    assert "busy 120 ns (100.0 %)" in range_text(trace, lane_index(trace), 0, 120)


def test_a_range_of_nested_calls_counts_no_nanosecond_twice() -> None:
    # The step encloses all; mm lies in linear: 100 ns of operators in all, of which 60 in 40-100.
    trace = trace_of(
        annotation("ProfilerStep#1", 0, 300), ("linear", 0, 100), ("mm", 20, 60), launch(150, 20, 1)
    )
    stats = range_stats(trace, lane_index(trace), 40, 160)
    assert stats.by_class == (("operator", 60, 2), ("runtime", 10, 1))
    assert stats.sum_ns == stats.busy_ns == 70


def test_search_hits_mark_every_cell_they_touch() -> None:
    view = Viewport.whole(10_000)
    starts, ends = np.array([0, 2_500, 9_999, 20_000]), np.array([10, 4_500, 9_999, 20_010])
    assert hit_columns(view, 10, starts, ends) == [0, 2, 3, 4, 9]
    near = view.between(3_000, 4_000)
    assert hit_columns(near, 4, starts, ends) == [0, 1, 2, 3]
    assert hit_columns(near, 0, starts, ends) == []
    assert hit_columns(near, 4, np.array([3_250]), np.array([3_500])) == [1]


def test_a_range_without_a_device_counts_the_host() -> None:
    trace = trace_of(("a", 0, 100), ("b", 10, 40), launch(200, 50, 1), annotation("s", 300, 10))
    stats = range_stats(trace, lane_index(trace), 0, 400)
    assert stats.busy_ns == 150
    assert stats.by_class == (("operator", 100, 2), ("runtime", 50, 1))


def test_a_frame_costs_the_same_in_a_long_trace() -> None:
    """Ten times the slices must not cost ten times as much to draw; generous for busy machines."""
    seconds = []
    for n in (20_000, 200_000):
        rows = np.arange(n, dtype=np.int64)
        lane = big_lane(rows * 10, rows * 10 + 7)
        viewport = Viewport.whole(n * 10)
        best = min(timed(lane, viewport) for _ in range(5))
        seconds.append(best)
    assert seconds[1] < 5 * seconds[0] + 0.002


def big_lane(starts, ends) -> Lane:
    from tracetui.model.prefix import BlockMaxima, PrefixSums

    ids = np.arange(len(starts), dtype=np.int32)
    hues = np.zeros(len(starts), np.int8)
    spans = PrefixSums.of(starts, ends)
    return Lane(0, 0, ids, spans, BlockMaxima.of(ends - starts), hues, ())


def timed(lane: Lane, viewport: Viewport) -> float:
    begin = time.perf_counter()
    lane_cells(lane, viewport, 200)
    return time.perf_counter() - begin


def test_a_label_without_room_before_the_next_tick_leaves_its_tick() -> None:
    viewport = view(1_000_000_000, 1_000_100_000, 2_000_000_000)
    text = ruler_text(viewport, 40, unit=TimeUnit.NANOSECONDS)
    assert text.startswith("╷1,000,000,000 ns"), "17 letters before the tick at 20"
    assert ruler_text(viewport, 30, unit=TimeUnit.NANOSECONDS).startswith("╷")
    assert ruler_text(view(0, 1_000), 0) == ""


@given(
    st.integers(0, 10**10), st.integers(1_000, 10**9), st.integers(0, 80), st.sampled_from(TimeUnit)
)
def test_the_ruler_is_as_wide_as_it_should_be(start, span, width, unit) -> None:
    assert len(ruler_text(view(start, start + span), width, unit=unit)) == width
