"""Order, filter and names of a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.presentation.table import (
    Column,
    Table,
    cell_width,
    fewer_parts,
    laid_out,
    n_fitting,
    shortened,
    told_apart,
    wrapped,
)


def small_table() -> Table:
    names, calls = ["b", "a", "c", "d"], np.array([1, 5, 1, 3])
    return Table(
        (
            Column("calls", lambda row: str(calls[row]), calls),
            Column("name", names.__getitem__, np.array(names), is_number=False),
        )
    )


def test_numbers_start_from_the_largest_and_equal_rows_keep_their_order() -> None:
    table = small_table()
    assert [table.cells(place) for place in range(4)] == [
        ["5", "a"],
        ["3", "d"],
        ["1", "b"],
        ["1", "c"],
    ]
    table.invert()
    assert table.order.tolist() == [0, 2, 3, 1]


def test_names_start_from_the_first_letter_and_columns_go_round() -> None:
    table = small_table()
    table.sort_by(3)
    assert table.order.tolist() == [1, 0, 2, 3]


def test_a_filter_hides_rows_and_keeps_the_order() -> None:
    table = small_table()
    table.keep(np.array([True, False, True, True]))
    assert table.order.tolist() == [3, 0, 2]
    assert (table.place_of(1), table.place_of(2)) == (-1, 2)
    table.keep(None)
    assert len(table) == 4


def test_cells_are_written_for_the_rows_asked_for_alone() -> None:
    written: list[int] = []

    def cell(row: int) -> str:
        written.append(row)
        return str(row)

    table = Table((Column("n", cell, np.arange(100_000)),))
    assert table.cells(0) == ["99999"]
    assert written == [99_999]


def test_names_are_shortened_in_the_middle_by_cells() -> None:
    assert shortened("abcdefgh", 5) == "ab…gh"
    assert shortened("abc", 3) == "abc"
    assert shortened("abc", 1) == "…"
    assert shortened("abc", 0) == ""
    assert cell_width(shortened("漢字漢字漢字", 7)) <= 7


def test_different_names_that_shorten_alike_are_numbered() -> None:
    assert told_apart(["abcdXXefgh", "abcdYYefgh", "abcdXXefgh"], 7) == [
        "ab…gh#1",
        "ab…gh#2",
        "ab…gh#1",
    ]
    assert told_apart(["one", "two"], 7) == ["one", "two"]


def test_lines_wrap_at_spaces_or_anywhere_and_lose_nothing() -> None:
    assert wrapped("short", 10) == ["short"]
    assert wrapped("a name of some words", 12) == ["a name of", "  some words"]
    assert wrapped("abcdefghijklmnopqrst", 10) == ["abcdefghij", "  klmnopqr", "  st"]
    assert "".join(line.strip() for line in wrapped("漢字" * 9, 10)) == "漢字" * 9
    assert all(cell_width(line) <= 10 for line in wrapped("漢字" * 9, 10))
    assert wrapped("anything", 0) == ["anything"]


@given(st.text(alphabet="ab 漢c", max_size=60), st.integers(2, 30))
def test_wrapping_keeps_every_letter_and_the_width(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_width(line) <= width for line in lines)


def test_columns_leave_the_name_its_room() -> None:
    # Of 60 cells the name keeps a third.
    assert n_fitting([10, 10, 10, 10, 10], 60) == 4
    assert n_fitting([10, 10], 20) == 0
    assert laid_out("a long name of a row", ["1", "22"], [4, 5], 24) == "a long … a row    1   22"
    assert laid_out("long name", ["1"], [4], 12, lead="  ▾ ") == "  ▾ l…e    1"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (50, "1 of 8 V100 used · torch.profiler · 3 steps · 2 s"),
        (48, "1 of 8 V100 used · 3 steps · 2 s"),
        (30, "1 of 8 V100 used · 2 s"),
        (21, "1 of 8 …00 used · 2 s"),
        (16, "2 s"),
    ],
)
def test_of_several_parts_those_in_the_middle_go_first(width, expected):
    assert fewer_parts("1 of 8 V100 used · torch.profiler · 3 steps · 2 s", width) == expected
    assert fewer_parts("alone", width) == "alone"


@given(st.text(alphabet="ab·幅 ", max_size=30), st.integers(0, 40))
def test_fewer_parts_fit(text, width):
    assert cell_width(fewer_parts(text, width)) <= max(width, 0)


def test_a_table_is_sorted_like_another_by_the_column_of_the_same_title() -> None:
    other, table = small_table(), small_table()
    other.sort_by(1)
    other.invert()
    table.columns = table.columns[::-1]
    table.sort_like(other)
    assert (table.sort_column, table.is_inverted) == (0, True)

    table.columns = table.columns[1:]
    table.sort_by(0)
    table.sort_like(other)
    assert (table.sort_column, table.is_inverted) == (0, False)
    assert table.order.tolist() == [1, 3, 0, 2]
