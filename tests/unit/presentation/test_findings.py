"""What the list of findings says, on a trace with two of them."""

import pytest

from tests.healthy import healthy_trace
from tests.literal import Row, annotation, trace_of
from tracetui.diagnosis.rules import RULES
from tracetui.presentation.findings import FindingList, verdict, worth_a_look
from tracetui.presentation.table import cell_width

_STEP = 1_000_000


def _trace():
    """Four steps of 1 ms but for a first of 4; in each of them a copy of 0.2 ms under masked_fill."""
    rows: list[Row | tuple[str, int, int]] = []
    start = 0
    for number, wall in enumerate((4 * _STEP, _STEP, _STEP, _STEP)):
        rows += [
            annotation(f"ProfilerStep#{number}", start, wall),
            ("aten::bmm", start, 500_000),
            ("aten::masked_fill", start + 500_000, 400_000),
            ("aten::clone", start + 510_000, 200_000),
            ("aten::masked_fill_", start + 720_000, 150_000),
        ]
        start += wall
    return trace_of(*rows)


def test_each_finding_is_a_row_with_its_severity_and_what_a_step_saves():
    shown = FindingList.of(_trace())

    assert shown.header(80) == "if  severity a step saves  finding"
    assert shown.line(0, 200) == (
        "[ ] high        200.00 µs  aten::masked_fill copies its whole input first: 4 copies took"
        " 800.00 µs, 11.4 % of the recording"
    )
    assert shown.line(1, 200).startswith("[ ] low                 –  The first step, #0, took")


def test_what_keeps_rules_from_judging_is_one_row_for_each_flag():
    shown = FindingList.of(_trace())
    rows = [shown.line(row, 120) for row in range(2, len(shown))]

    assert rows[0] == "Could not judge:"
    assert "no device activity; record with ProfilerActivity.CUDA" in rows[1]
    assert sum("device activity" in row for row in rows) == 1
    assert shown.slice_at(2) == shown.slice_at(3) == -1
    assert "overhead-bound: " in "\n".join(shown.details(3))
    assert shown.details(2) == ["These rules lack something that a recording can hold."]


def test_details_have_the_change_the_gain_and_the_evidence():
    shown = FindingList.of(_trace())

    assert shown.details(0)[:7] == [
        "hidden-copy, high",
        f"{shown.result.found[0].summary}.",
        f"Try: {shown.result.found[0].change}.",
        "Saves: up to 800.00 µs in the recording, 200.00 µs a step",
        "That is: all of the copies: in place there are none",
        "Evidence: 4 slices; the first, at 510.00 µs, is aten::clone",
        "Looked for: an out-of-place operator that first copies its whole input",
    ]
    assert "Saves: not estimated" in shown.details(1)
    assert shown.trace.name_of(shown.slice_at(0)) == "aten::clone"


def test_picking_tells_what_a_step_would_take():
    shown = FindingList.of(_trace())
    assert shown.summary.startswith("2 findings: ")

    shown.toggle(0)
    assert shown.line(0, 80).startswith("[x] high")
    assert shown.summary == "Adding up …"
    # Three steps of 1 ms, the cold one left out; 0.2 ms of each is copied.
    assert shown.supposition() == (
        "With 1 mended: 800.00 µs instead of 1.000 ms a step (1.25x), then mostly aten::bmm,"
        " 500.00 µs"
    )
    shown.toggle(0)
    shown.toggle(3)
    assert shown.summary.startswith("2 findings: ")
    shown.toggle(1)
    assert shown.supposition() == "With 1 mended: what they save cannot be estimated"


def test_a_healthy_trace_says_that_nothing_was_found():
    shown = FindingList.of(healthy_trace())

    assert shown.summary.startswith("Nothing found: ")
    assert shown.header(80) == ""
    assert not worth_a_look(healthy_trace(), 3)


def test_the_overview_gets_the_gravest_with_their_evidence():
    trace = _trace()
    (first,) = worth_a_look(trace, 1)

    assert first.gain == "−200.00 µs"
    assert trace.name_of(first.slice_id) == "aten::clone"
    assert verdict(trace).startswith("2 findings: ")


@pytest.mark.parametrize("width", [1, 10, 40, 80, 200])
def test_rows_fit_their_width(width):
    shown = FindingList.of(_trace())

    assert all(cell_width(shown.line(row, width)) <= width for row in range(len(shown)))
    assert cell_width(shown.header(width)) <= width


def test_an_empty_trace_has_no_finding_and_no_fault():
    shown = FindingList.of(trace_of())

    n_silent = len(shown.result.abstained)
    assert shown.summary == (
        f"Nothing found: {len(RULES) - n_silent} rules looked, {n_silent} could not judge"
    )
    assert shown.slice_at(0) == -1
