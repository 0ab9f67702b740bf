"""Numbers as text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.format import (
    TimeUnit,
    count,
    duration,
    metric,
    microseconds,
    middle_ellipsis,
    percent,
    size,
    time_cell,
    titled,
    with_unit,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (-1_500, "-1.50 µs"),
        (1_234_567, "1.235 ms"),
        (2_000_000_000, "2.000 s"),
    ],
)
def test_duration_has_the_unit_that_reads_best(ns, text):
    assert duration(ns) == text


@pytest.mark.parametrize(
    ("ns", "unit", "text"),
    [
        (1_234_567, TimeUnit.NANOSECONDS, "1,234,567"),
        (1_234_567, TimeUnit.MICROSECONDS, "1,234.57"),
        (1_234_567, TimeUnit.MILLISECONDS, "1.2346"),
        (1_234_567, TimeUnit.SECONDS, "0.001235"),
        (-1_234_567, TimeUnit.MILLISECONDS, "-1.2346"),
        (0, TimeUnit.SECONDS, "0"),
        # What is too short for the decimals gets more of them: it is not nothing.
        (3, TimeUnit.MICROSECONDS, "0.003"),
        (40, TimeUnit.MILLISECONDS, "0.00004"),
        (1, TimeUnit.SECONDS, "0.000000001"),
    ],
)
def test_one_unit_for_all_times(ns, unit, text):
    assert time_cell(ns, unit) == text
    assert duration(ns, unit) == f"{text} {unit.value}"
    assert duration(None, unit) == "–"


def test_units_go_round_and_title_their_columns():
    units, unit = [], TimeUnit.AUTO
    for _ in TimeUnit:
        units.append(unit.value)
        unit = unit.following
    assert units == ["", "ns", "µs", "ms", "s"]
    assert unit is TimeUnit.AUTO
    assert titled("sum", TimeUnit.AUTO) == "sum"
    assert titled("sum", TimeUnit.MICROSECONDS) == "sum µs"


@pytest.mark.parametrize(
    ("text", "unit", "rewritten"),
    [
        ("up to 1.234 ms in 3 gaps", TimeUnit.MICROSECONDS, "up to 1,234 µs in 3 gaps"),
        ("(12.35 µs) of 2.000 s.", TimeUnit.MILLISECONDS, "(0.01235 ms) of 2,000 ms."),
        ("−800.00 µs, 0 ns", TimeUnit.SECONDS, "−0.0008 s, 0 s"),
        ("-1.500 s", TimeUnit.NANOSECONDS, "-1,500,000,000 ns"),
        ("as it was: 1.234 ms", TimeUnit.AUTO, "as it was: 1.234 ms"),
        # No times of ours: other decimals, other words, a part of a longer number.
        ("sleep 3 s, 12.3 ms, 4.50 msg, 1,234.00 µs", TimeUnit.NANOSECONDS,
         "sleep 3 s, 12.3 ms, 4.50 msg, 1,234.00 µs"),
    ],
)  # fmt: skip
def test_times_in_a_sentence_are_written_in_another_unit(text, unit, rewritten):
    assert with_unit(text, unit) == rewritten


@given(st.integers(-(10**12), 10**12), st.sampled_from(TimeUnit))
def test_a_time_in_a_sentence_keeps_its_digits(ns, unit):
    # What is written is off by no more than the rounding of the sentence itself, half a last digit.
    (number, name) = with_unit(duration(ns), unit).split(" ")
    written_ns = Decimal(number.replace(",", "")) * TimeUnit(name).scale_ns
    last_ns = {"ns": 0, "µs": 5, "ms": 500, "s": 500_000}[duration(ns).split(" ")[1]]
    assert abs(written_ns - ns) <= last_ns


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"),
        (0, "0.000"),
        (1, "0.001"),
        (12_345, "12.345"),
        (-12_345, "-12.345"),
        (-1, "-0.001"),
        # A float has no such digit left at this size.
        (1_776_903_421_062_898_023, "1776903421062898.023"),
    ],
)
def test_microseconds_are_exact(ns, text):
    assert microseconds(ns) == text


def test_count_groups_thousands():
    assert [count(None), count(0), count(1_234_567)] == ["–", "0", "1,234,567"]


def test_percent_has_one_decimal():
    assert [percent(None), percent(0.0), percent(0.9894)] == ["–", "0.0 %", "98.9 %"]


def test_size_is_binary():
    assert [size(None), size(1023), size(1536), size(3 << 20), size(5 << 30)] == [
        "–",
        "1023 B",
        "1.5 KiB",
        "3.0 MiB",
        "5.0 GiB",
    ]


def test_ellipsis_keeps_both_ends():
    assert middle_ellipsis("abcdefghij", 10) == "abcdefghij"
    assert middle_ellipsis("abcdefghij", 5) == "ab…ij"
    assert middle_ellipsis("abcdefghij", 4) == "ab…j"
    assert middle_ellipsis("abcdefghij", 1) == "…"
    assert middle_ellipsis("abcdefghij", 0) == ""


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "–"),
        (0, "0 FLOP/s"),
        (0.25, "0.25 FLOP/s"),
        (999, "999 FLOP/s"),
        (999.6, "1.00 kFLOP/s"),
        (1_234, "1.23 kFLOP/s"),
        (98.76e9, "98.8 GFLOP/s"),
        (203e12, "203 TFLOP/s"),
        (9.996e12, "10.0 TFLOP/s"),
        (1.9789e15, "1.98 PFLOP/s"),
    ],
)
def test_metric_has_three_digits_and_a_decimal_prefix(amount, text):
    assert metric(amount, "FLOP/s") == text


def test_a_time_in_a_column_ends_where_it_ended():
    line = "gemm        12.35 µs      −1.234 ms  a"
    assert with_unit(line, TimeUnit.MILLISECONDS) == "gemm      0.01235 ms      −1.234 ms  a"
    assert with_unit(line, TimeUnit.MICROSECONDS) == "gemm        12.35 µs      −1,234 µs  a"
    assert with_unit("a  12.35 µs", TimeUnit.NANOSECONDS) == "a 12,350 ns"
