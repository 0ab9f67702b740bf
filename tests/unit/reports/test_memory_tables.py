"""What a report says of memory, against amounts added up by hand."""

import json

from tests.literal import Row, trace_of, with_memory
from tests.unit.analysis.test_allocations import CPU, GPU, step_of_training
from tracetui.reports.json_report import json_report
from tracetui.reports.markdown_report import markdown_report
from tracetui.reports.memory_tables import block_rows, operator_rows, peak_rows
from tracetui.reports.report import TraceReport
from tracetui.reports.time import Time


def test_the_peak_has_what_ran_and_what_was_there_before():
    assert peak_rows(step_of_training()) == [
        {
            "device": "cuda:0",
            "peak_bytes": 6000,
            "reserved_bytes": 8000,
            "peak_us": Time(30),
            "start_bytes": 5000,
            "before_bytes": 5000,
            "outside_bytes": 0,
            "running": ["forward", "aten::linear", "aten::addmm"],
            "annotation": "forward",
            "step": "ProfilerStep#4",
        }
    ]


def test_operators_are_listed_by_their_part_of_the_peak():
    rows = operator_rows(step_of_training(), 2)
    assert rows == [
        {
            "device": "cuda:0", "name": "aten::addmm", "peak_bytes": 700, "peak_ratio": 700 / 6000,
            "self_bytes": -500, "total_bytes": 100, "allocated_bytes": 700, "blocks": 2,
        },
        {
            "device": "cuda:0", "name": "aten::linear", "peak_bytes": 300, "peak_ratio": 0.05,
            "self_bytes": 0, "total_bytes": 400, "allocated_bytes": 300, "blocks": 1,
        },
    ]  # fmt: skip


def test_blocks_at_the_peak_have_who_asked_and_how_long_they_lived():
    rows = block_rows(step_of_training(), None)
    assert [(row["operator"], row["bytes"], row["lived_us"]) for row in rows] == [
        ("aten::addmm", 600, Time(15)),
        ("aten::linear", 300, None),
        ("aten::addmm", 100, Time(65)),
    ]
    assert rows[0]["allocated_us"] == Time(23)
    assert len(block_rows(step_of_training(), 1)) == 1


def test_without_addresses_nothing_is_said_of_the_peaks_holders():
    trace = with_memory(
        trace_of(Row("a", 0, 5)), (1, 8, 8, 0, *CPU), (2, 4, 12, 0, *CPU), (3, -8, 4, 0, *CPU)
    )
    (row,) = operator_rows(trace, None)
    assert (row["peak_bytes"], row["peak_ratio"], row["allocated_bytes"]) == (None, None, 12)
    assert block_rows(trace, None) == []
    assert peak_rows(trace)[0]["before_bytes"] is None


def test_a_block_of_nobody_has_no_operator():
    trace = with_memory(trace_of(Row("a", 0, 5)), (50, 8, 8, 0, *GPU), addresses=(7,))
    (row,) = block_rows(trace, None)
    assert (row["operator"], row["shapes"], row["peak_ratio"]) == (None, None, 1.0)


def test_json_adds_to_the_peaks_that_it_always_had():
    document = json.loads(json_report(TraceReport(step_of_training())))
    assert document["memory"]["peak_bytes"] == {"cuda:0": 6000}
    assert document["memory"]["peaks"][0]["peak_us"] == 0.030
    assert document["memory_operators"][0]["name"] == "aten::addmm"
    assert document["memory_blocks"][1]["lived_us"] is None


def test_markdown_writes_amounts_for_people():
    text = markdown_report(TraceReport(step_of_training()), 1)
    assert "## Memory by operator" in text
    titles = "| device | name | peak | share | self | total | allocated | blocks |"
    assert titles in " ".join(text.split())
    assert "| cuda:0 | aten::addmm | 700 B | 11.7 % | -500 B | 100 B |" in " ".join(text.split())
    assert (
        "- cuda:0: peak 5.9 KiB at 30 ns, 4.9 KiB from before; running forward > aten::linear"
        " > aten::addmm"
    ) in text
    assert "## Blocks at the peak of memory" in text


def test_a_trace_without_records_has_no_such_tables():
    trace = trace_of(Row("a", 0, 5))
    assert peak_rows(trace) == operator_rows(trace, None) == block_rows(trace, None) == []
    assert "Memory" not in markdown_report(TraceReport(trace))
