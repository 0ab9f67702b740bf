"""The report for people."""

from tests.literal import annotation, trace_of
from tests.unit.reports.test_json_report import one_launch
from tracetui.reports.markdown_report import escaped, markdown_report
from tracetui.reports.report import TraceReport


def _section(text: str, title: str) -> list[str]:
    return text.partition(f"## {title}\n\n")[2].partition("\n\n")[0].splitlines()


def test_table_has_a_heading_a_rule_and_aligned_rows():
    lines = _section(markdown_report(TraceReport(one_launch())), "Operators")

    assert lines[0].split("|")[1:4] == [" name     ", " calls ", "   total "]
    assert lines[1].startswith("|----------|------:|")
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "aten::mm",
        "1",
        "5.00 µs",
        "4.00 µs",
        "3.50 µs",
        "3.50 µs",
        "1",
    ]
    assert len({len(line) for line in lines}) == 1


def test_not_measured_is_a_dash_and_empty_tables_are_left_out():
    text = markdown_report(TraceReport(trace_of(("aten::mm", 0, 5))))

    assert "–" in _section(text, "Operators")[2]
    assert "## Kernels" not in text
    assert "record with `record_shapes=True`" in text


def test_names_are_shown_letter_for_letter():
    assert escaped("a|b") == r"a\|b"
    assert escaped("[x](y) <b> `c` *d*") == r"\[x\](y) \<b> \`c\` \*d\*"
    assert escaped("snake_case") == "snake_case"
    assert escaped("_x_") == r"\_x\_"
    assert escaped("# no heading") == r"\# no heading"


def test_hostile_name_makes_no_new_column():
    lines = _section(markdown_report(TraceReport(trace_of(("a|b", 0, 5)))), "Operators")

    assert lines[2].startswith(r"| a\|b ")


def test_findings_say_what_to_try():
    trace = trace_of(
        annotation("ProfilerStep#1", 0, 90_000),
        annotation("ProfilerStep#2", 90_000, 30_000),
        annotation("ProfilerStep#3", 120_000, 30_000),
    )

    (line,) = _section(markdown_report(TraceReport(trace)), "Worth a look")
    assert line == (
        "- **The first step, #1, took 90.00 µs where the others take 30.00 µs** (cold-step, low)."
        " Try: Leave it out of every mean; give the profiler's schedule one more warmup step."
    )
    assert "Worth a look" not in markdown_report(TraceReport(one_launch()))


def test_limit_cuts_each_table():
    trace = trace_of(("a", 0, 30), ("b", 40, 20), ("c", 70, 10))

    assert len(_section(markdown_report(TraceReport(trace), 1), "Operators")) == 3


def test_empty_trace_has_a_report():
    assert "Nothing to show" in markdown_report(TraceReport(trace_of()))
