"""Two timelines over one stretch: what is visible, how the sides lie, what is marked."""

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, steps_of
from tracetui.compare.comparison import comparison
from tracetui.presentation.comparison.timelines import Alignment, TwinTimelines
from tracetui.presentation.hues import LINKED_CODE, SELECTED_CODE

N_STEPS = 3


@pytest.fixture
def twins():
    compared = comparison(steps_of(*[mlp()] * N_STEPS), steps_of(*[compiled_mlp()] * N_STEPS))
    return TwinTimelines.of(compared)


def fused_match(twins):
    return twins.compared.differences[0]


def start_of(twins, side, match):
    assert twins.match == match
    units = twins._units()[side]
    return int(twins.sides[side].trace.slices.ts_ns[units[0].slice_id])


def test_at_first_both_sides_are_seen_whole_from_their_own_start(twins):
    for side, own in enumerate(twins.sides):
        view = twins.viewport(side)
        assert view.start_ns < own.span.start_ns
        assert view.end_ns > own.span.end_ns
    spans = {twins.viewport(side).span_ns for side in (0, 1)}
    assert len(spans) == 1


def test_device_lanes_stand_before_those_of_the_host(twins):
    titles = [title for _, title in twins.sides[0].lanes]

    assert titles[0] == "stream 7"
    assert "thread 1" in titles


def test_locked_sides_zoom_and_pan_together(twins):
    twins.zoom(2, 0.5, inwards=True)
    twins.pan(1)

    assert twins.ruler(0) == twins.ruler(1)


def test_zooming_keeps_the_place_it_zooms_at(twins):
    view = twins.viewport(0)
    middle = (view.start_ns + view.end_ns) // 2
    twins.zoom(4, 0.5, inwards=True)
    view = twins.viewport(0)

    assert abs((view.start_ns + view.end_ns) // 2 - middle) <= 2


def test_unlocked_only_the_active_side_moves_and_locking_brings_it_back(twins):
    twins.toggle_lock()
    twins.choose_side(1)
    before = twins.viewport(0)
    twins.pan(3)

    assert twins.viewport(0) == before
    assert twins.ruler(0) != twins.ruler(1)
    twins.toggle_lock()
    assert twins.ruler(0) == twins.ruler(1)


def test_aligned_at_a_piece_both_sides_show_it_in_the_same_cell(twins):
    twins.select(fused_match(twins))
    twins.change_alignment()

    assert twins.alignment is Alignment.MATCH
    match = twins.match
    columns = [twins.viewport(side).column(start_of(twins, side, match), 100) for side in (0, 1)]
    assert abs(columns[0] - columns[1]) <= 1


def test_stretched_sides_fill_the_same_width(twins):
    twins.alignment = Alignment.STRETCH
    twins.fit()

    for side, own in enumerate(twins.sides):
        view = twins.viewport(side)
        assert view.column(own.span.start_ns, 1000) == pytest.approx(30, abs=3)
        assert view.column(own.span.end_ns, 1000) == pytest.approx(970, abs=3)


def test_differences_are_marked_and_the_selected_piece_above_all(twins):
    lane = twins.sides[0].lanes[0][0]
    codes = [code for _, code in twins.marks(0, lane)]
    # gelu and mul became one kernel: two rows of the baseline differ.
    assert codes == [LINKED_CODE, LINKED_CODE]

    twins.select(fused_match(twins))
    codes = [code for _, code in twins.marks(0, lane)]
    assert codes[-2:] == [SELECTED_CODE, SELECTED_CODE]


def test_stepping_goes_through_all_pieces_around_the_end(twins):
    n = len(twins.compared.matches)
    seen = []
    for _ in range(n + 1):
        twins.step(1)
        seen.append(twins.match)

    assert seen == [*range(n), 0]
    twins.step(-1)
    assert twins.match == n - 1


def test_selecting_brings_a_piece_in_sight(twins):
    twins.zoom(2, 0.0, inwards=True)
    twins.zoom(2, 0.0, inwards=True)
    last = len(twins.compared.matches) - 1
    twins.select(last)

    view = twins.viewport(0)
    assert view.start_ns <= start_of(twins, 0, last) <= view.end_ns


def test_fitting_a_piece_shows_it_with_as_much_around_it(twins):
    twins.select(fused_match(twins))
    twins.fit_match()

    # gelu and mul take 185 µs together: three times that is visible.
    assert twins.viewport(0).span_ns == 3 * 185_000


def test_lines_of_text_fit_the_window(twins):
    twins.select(fused_match(twins))
    for width in (10, 40, 120):
        texts = (twins.header(width), twins.side_title(0, "name", width), *twins.status(width))
        assert all(len(text) <= width for text in texts)
