"""Times are exact, whatever their spelling."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.readers.numbers import nanosecond_column, nanoseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1712345678901234.567", 1712345678901234567),
        (b"1712345678901234", 1712345678901234000),
        (b"1e1", 10_000),
        (b"1.5E-3", 2),
        (b"0.0005", 0),
        (b"0.0015", 2),
        (b"0.0025", 2),
        (b'"12.25"', 12_250),
        (b"-1", -1000),
        (b"-0.001", -1),
        (b"7.1", 7100),
        (b"7.12", 7120),
        (b"1712345678901234.5", 1712345678901234500),
        (b"12345678.901", 12_345_678_901),
        (b"99999999", 99_999_999_000),
        (b"4611686018427387.904", 2**62),
        (b"0", 0),
    ],
)
def test_text_becomes_whole_nanoseconds(text: bytes, expected: int) -> None:
    assert nanoseconds(text) == expected
    column, bad = nanosecond_column([text, b"1.000"])
    assert (column.tolist(), bad) == ([expected, 1000], [])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"NaN",
        b"inf",
        b'"x"',
        b"1e400",
        b"9" * 40,
        b"{}",
        b"1e999999999",
        b"1,5",
        b"1:.000",
        b"./23.456",
        b"9999999999999999.999",
        b"9999999999999999",
        b"4611686018427387.905",
    ],
)
def test_what_is_no_time_is_told_apart(text: bytes) -> None:
    assert nanoseconds(text) is None
    column, bad = nanosecond_column([b"1", text])
    assert (column.tolist(), bad) == ([1000, 0], [1])


@given(st.lists(st.integers(-(10**15), 10**18), max_size=30), st.integers(0, 3))
def test_column_equals_a_decimal_reference(values: list[int], n_decimals: int) -> None:
    numbers = [(Decimal(value) / 1000).quantize(Decimal(1).scaleb(-n_decimals)) for value in values]
    column, bad = nanosecond_column([str(number).encode() for number in numbers])
    assert column.tolist() == [int(number * 1000) for number in numbers]
    assert not bad


@given(
    st.lists(
        st.one_of(
            st.from_regex(rb"[0-9]{1,17}(\.[0-9]{3})?", fullmatch=True),
            st.from_regex(rb"[/-:.]{1,20}", fullmatch=True),
            st.binary(max_size=22),
        ),
        max_size=20,
    )
)
def test_column_judges_each_text_as_if_it_were_alone(texts: list[bytes]) -> None:
    expected = [nanoseconds(text) for text in texts]
    column, bad = nanosecond_column(texts)
    assert column.tolist() == [value or 0 for value in expected]
    assert bad == [row for row, value in enumerate(expected) if value is None]
