"""Order, filter and names of a table."""

import numpy as np

from tracetui.presentation.table import Column, Table, cell_width, shortened, told_apart


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
