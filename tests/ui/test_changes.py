"""Only what differs of a line is sent."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.ui.widgets.changes import changed_cells, changed_regions, changed_spans

_RED, _PLAIN = Style(color="red"), Style()


def _line(*runs: tuple[str, Style]) -> Strip:
    return Strip([Segment(text, style) for text, style in runs])


def test_equal_lines_have_no_change_however_they_are_cut_into_segments() -> None:
    assert changed_cells(_line(("abcd", _PLAIN)), _line(("ab", _PLAIN), ("cd", _PLAIN))) is None
    assert changed_cells(_line(), _line()) is None


def test_a_changed_letter_or_style_is_found_from_both_ends() -> None:
    old = _line(("abc", _PLAIN), ("defg", _RED))
    assert changed_cells(old, _line(("abX", _PLAIN), ("defg", _RED))) == (2, 3)
    assert changed_cells(old, _line(("ab", _PLAIN), ("cde", _RED), ("fg", _RED))) == (2, 3)
    assert changed_cells(old, _line(("abc", _PLAIN), ("dXXg", _RED))) == (4, 6)


def test_a_shorter_line_clears_what_was_there() -> None:
    assert changed_cells(_line(("abcdef", _PLAIN)), _line(("abc", _PLAIN))) == (3, 6)


def test_wide_letters_count_two_cells() -> None:
    assert changed_cells(_line(("漢字x", _PLAIN)), _line(("漢字y", _PLAIN))) == (4, 5)


def test_what_is_far_apart_is_sent_apart() -> None:
    old = _line((f"a{'-' * 20}漢{'-' * 5}bc", _PLAIN))
    assert changed_spans(old, _line((f"A{'-' * 20}字{'-' * 5}bX", _PLAIN))) == [(0, 1), (21, 30)]
    assert changed_spans(old, old) == []


@given(st.data())
def test_putting_the_spans_over_the_old_line_gives_the_new_one(data: st.DataObject) -> None:
    letters = st.text("ab漢", min_size=1, max_size=3)
    pairs = data.draw(st.lists(st.tuples(letters, letters), max_size=4))
    gap = "-" * data.draw(st.sampled_from((0, 5, 18)))
    texts = [gap.join(pair[side] for pair in pairs) for side in (0, 1)]
    width = max(Strip([Segment(text)]).cell_length for text in texts)
    before, after = (Strip([Segment(text)]).adjust_cell_length(width) for text in texts)
    place, parts = 0, []
    for start, end in changed_spans(before, after):
        assert place <= start < end <= width
        parts += [before.crop(place, start).text, after.crop(start, end).text]
        place = end
    assert "".join([*parts, before.crop(place, width).text]) == after.text


def test_a_picture_differs_line_by_line() -> None:
    old = [_line(("one", _PLAIN)), _line(("two", _PLAIN))]
    new = [_line(("one", _PLAIN)), _line(("twX", _PLAIN)), _line(("new", _PLAIN))]
    regions = [(each.x, each.y, each.width) for each in changed_regions(old, new)]
    assert regions == [(2, 1, 1), (0, 2, 3)]


@given(st.text("ab漢", max_size=12), st.text("ab漢", max_size=12))
def test_putting_the_change_over_the_old_line_gives_the_new_one(old: str, new: str) -> None:
    width = max(Strip([Segment(text)]).cell_length for text in (old, new))
    before = Strip([Segment(old)]).adjust_cell_length(width)
    after = Strip([Segment(new)]).adjust_cell_length(width)
    cells = changed_cells(before, after)
    if cells is None:
        assert before.text == after.text
    else:
        start, end = cells
        parts = (before.crop(0, start), after.crop(start, end), before.crop(end, width))
        assert "".join(part.text for part in parts) == after.text
