"""The lines of a check, safe and whole."""

from tests.literal import Row, kernel, trace_of
from tracetui.diagnosis.expectations import outcomes, parsed_expectation
from tracetui.reports.check_report import text_outcomes


def lines(trace, *texts):
    found = outcomes([parsed_expectation(text) for text in texts], trace)
    return text_outcomes(found, trace).splitlines()


def test_each_line_says_what_was_found_and_where():
    trace = trace_of(
        ("aten::mm", 0, 10), kernel("gelu", 5_000, 10), kernel("gemm", 1_000, 10, stream=9)
    )

    assert lines(trace, "kernels == 2", "busy_ratio > 50 %") == [
        "met      kernels == 2 · found 2 · 2 slices, first at 1.000 us: gemm",
        "NOT MET  busy_ratio > 50 % · found 0.004988 · 2 slices, first at 1.000 us: gemm",
    ]


def test_names_from_a_file_cannot_steer_the_terminal():
    trace = trace_of(Row("evil\x1b[31m\n[bold]name", 0, 10))

    (line,) = lines(trace, 'calls("evil*") == 1')

    assert line.isprintable()
    assert "[bold]name" in line
