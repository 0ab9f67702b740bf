"""Numbers as text."""

import pytest

from tracetui.format import count, duration, metric, microseconds, middle_ellipsis, percent, size


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
