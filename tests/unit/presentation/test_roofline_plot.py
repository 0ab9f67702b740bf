"""The roofline drawn as cells, read back from the cells."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.device_table import DevicePeaks
from tracetui.analysis.roofline import Roofline, RooflinePoint
from tracetui.analysis.work_class import WorkClass
from tracetui.presentation.roofline_plot import (
    GLYPHS,
    OTHER_GLYPH,
    SELECTED_GLYPH,
    Roof,
    Scale,
    glyph_of,
    plot_lines,
    plottable,
    roofs_of,
    scale_over,
)

PEAKS = DevicePeaks("a device", {"bf16": 1e12}, {"fp32": 1e11}, 1e11, "by hand")


def point(label: str, flop: int, n_bytes: int, time_ns: int, **changes: object) -> RooflinePoint:
    """Return a product in bf16."""
    made = RooflinePoint(
        label=label, shapes="[[8,8]]", slice_id=0, calls=1, time_ns=time_ns, flop=flop,
        n_bytes=n_bytes, precision="bf16", is_matrix=True, work_class=WorkClass.GEMM,
        roof_flop_per_s=1e12, roof_ratio=0.5, compute_ratio=0.5, memory_ratio=0.1, bound="compute",
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def roofline_of(*points: RooflinePoint, peaks: DevicePeaks | None = PEAKS) -> Roofline:
    """Return the points under the roofs."""
    total = sum(each.time_ns for each in points)
    return Roofline("a device", peaks, points, has_device=True, costed_ns=total, total_ns=total)


# 1e9 FLOP in 2 ms are 5e11 a second; 1e6 in 10 us are 1e11.
BIG = point("aten::mm", 10**9, 10**7, 2_000_000)
SMALL = point("aten::bmm", 10**6, 10**6, 10_000)


def test_every_line_is_as_wide_as_the_plot_and_there_are_as_many_as_it_is_high():
    lines = plot_lines(roofline_of(BIG, SMALL), 60, 12)

    assert len(lines) == 12
    assert {len(line.text) for line in lines} == {60}


def test_more_rate_is_higher_and_more_intensity_further_right():
    lines = plot_lines(roofline_of(BIG, SMALL), 60, 12)
    text = [line.text for line in lines]
    big = next((row, line.index("●")) for row, line in enumerate(text) if "●" in line)
    small = next((row, line.index("·")) for row, line in enumerate(text) if "·" in line)

    assert big[0] < small[0]
    assert big[1] > small[1]
    assert lines[big[0]].marks == ((big[1], WorkClass.GEMM),)


def test_points_are_named_and_the_selected_one_is_marked():
    lines = plot_lines(roofline_of(BIG, SMALL), 60, 12, 1)
    selected = next(line for line in lines if line.selected >= 0)

    assert selected.text[selected.selected] == SELECTED_GLYPH
    assert "bmm" in selected.text
    assert any(" mm" in line.text for line in lines)


def test_the_roof_is_a_slope_that_becomes_flat_at_the_ridge():
    roof = Roof("bf16", 1e12, 1e11)

    assert roof.ridge == 10
    assert roof.attainable(1) == 1e11
    assert roof.attainable(1000) == 1e12
    lines = [line.text for line in plot_lines(roofline_of(BIG, SMALL), 80, 14)]
    highest = [
        next((row for row, line in enumerate(lines[:-1]) if "⠀" < line[column] <= "⣿"), None)
        for column in range(7, 80)
    ]
    drawn = [row for row in highest if row is not None]
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[-1] == drawn[-5] < drawn[0]
    assert any("bf16 1.00 TFLOP/s" in line for line in lines)


def test_without_roofs_there_are_points_alone():
    lines = plot_lines(roofline_of(BIG, SMALL, peaks=None), 60, 12)

    assert not any("⠀" < cell <= "⣿" for line in lines for cell in line.text)
    assert any("●" in line.text for line in lines)


def test_plain_letters_where_the_terminal_has_no_others():
    lines = plot_lines(roofline_of(BIG, SMALL), 60, 12, 0, ascii_only=True)

    assert all(line.text.isascii() for line in lines)
    assert any("@" in line.text for line in lines)


@pytest.mark.parametrize(("width", "height"), [(10, 12), (60, 3), (0, 0)])
def test_too_little_room_draws_nothing(width: int, height: int):
    assert plot_lines(roofline_of(BIG), width, height) == []


def test_copies_have_no_place_on_the_plot():
    copy = point("aten::copy_", 0, 10**6, 1000)

    assert plottable(roofline_of(copy, BIG)) == [1]
    assert plot_lines(roofline_of(copy), 60, 12) == []


def test_the_roofs_are_those_that_points_are_held_against():
    vector = point("aten::add", 10, 10, 10, precision="fp32", is_matrix=False, roof_flop_per_s=1e11)

    titles = [(roof.title, roof.flop_per_s) for roof in roofs_of(roofline_of(BIG, vector))]

    assert titles == [("bf16", 1e12), ("fp32 vector", 1e11)]


def test_a_point_grows_with_its_share_of_the_time():
    shares = [(30, GLYPHS[2]), (10, GLYPHS[1]), (1, GLYPHS[0])]

    assert [glyph_of(point("a", 1, 1, ns), 100, ascii_only=False) for ns, _ in shares] == [
        glyph for _, glyph in shares
    ]


@given(st.lists(st.floats(1e-3, 1e18), min_size=1, max_size=5), st.integers(1, 200))
def test_an_axis_holds_its_values_in_order(values: list[float], n: int):
    axis = scale_over(values)

    assert axis.high - axis.low >= 2 - 1e-9
    places = [axis.place(value, n) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place < n for place in places)


def test_a_place_gives_its_value_back():
    axis = Scale(0, 3)

    assert [axis.place(axis.value(part, 30), 30) for part in range(30)] == list(range(30))


@given(
    st.lists(
        st.tuples(st.integers(0, 10**15), st.integers(0, 10**12), st.integers(0, 10**10)),
        max_size=6,
    ),
    st.integers(0, 130),
    st.integers(0, 30),
)
def test_any_points_fit(amounts: list[tuple[int, int, int]], width: int, height: int):
    line = roofline_of(*(point(f"op{i}", *each) for i, each in enumerate(amounts)))

    lines = plot_lines(line, width, height, 0)

    assert len(lines) in (0, height)
    assert all(len(each.text) == width for each in lines)


def test_the_baselines_points_are_drawn_hollow_with_dots_to_where_they_are_now():
    before = roofline_of(replace(BIG, time_ns=200_000_000))
    after = roofline_of(BIG)

    text = [each.text for each in plot_lines(after, 80, 20, baseline=before)]
    column = next(line.index(OTHER_GLYPH) for line in text if OTHER_GLYPH in line)
    rows = [row for row, line in enumerate(text) if line[column] in ("⠂", OTHER_GLYPH)]
    # A hundred times faster at the same intensity: straight above, with dots on the way.
    assert len(rows) >= 3
    assert any("●" in line for line in text[: rows[0]])
    assert not any(OTHER_GLYPH in each.text for each in plot_lines(after, 80, 20))


def test_other_work_and_what_stayed_in_place_draw_nothing_of_the_baseline():
    line = roofline_of(BIG)

    for baseline in (line, roofline_of(SMALL), roofline_of(replace(BIG, shapes="[[9,9]]"))):
        assert not any(OTHER_GLYPH in e.text for e in plot_lines(line, 80, 20, baseline=baseline))
