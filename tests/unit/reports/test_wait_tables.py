"""What held things back, in a report."""

import json

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.reports.json_report import json_report
from tracetui.reports.markdown_report import markdown_report
from tracetui.reports.report import TraceReport


def waiting():
    """Work at 0 to 10 and 60 to 80 us; the call for the second begins at 50 and takes 5."""
    return trace_of(
        ("aten::mm", 0, 70_000),
        launch(0, 0, 1),
        launch(50_000, 5_000, 2),
        Row("model.py(7): forward", 0, 90_000, "python_function"),
        kernel("gemm", 0, 10_000, 1),
        kernel("flash", 60_000, 20_000, 2),
        Row("Buffer Flush", 75_000, 1_000, "overhead", "-1", "0"),
    )


def test_verdict_holders_and_path_are_in_the_json():
    document = json.loads(json_report(TraceReport(waiting())))

    assert document["bound"] == [
        {
            "device": 0,
            "bound": "overhead",
            "counted_us": 80.0,
            "cold_step_us": 0.0,
            "profiler_us": 0.0,
            "busy_ratio": 0.375,
            "overhead_ratio": 0.5625,
            "sync_ratio": 0.0,
            "other_ratio": 0.0625,
            "launched_ahead_ratio": 0.0,
            "queued_median_us": 2.5,
            "queue_mean": 0.125,
        }
    ]
    assert document["idle_holders"] == [
        {
            "cause": "host_wait",
            "name": "aten::mm",
            "frame": "model.py(7): forward",
            "gaps": 1,
            "total_us": 40.0,
            "longest_us": 40.0,
            "longest_start_us": 10.0,
        }
    ]
    assert document["artefacts"] == [
        {"kind": "overhead", "name": "Buffer Flush", "start_us": 75.0, "total_us": 1.0}
    ]
    # The host to 50, the launch to 60, the work to 80.
    assert document["critical_path"] == [
        {"class": "operator", "total_us": 50.0, "ratio": 0.625},
        {"class": "compute", "total_us": 20.0, "ratio": 0.25},
        {"class": "launch", "total_us": 10.0, "ratio": 0.125},
    ]
    assert document["critical_path_slices"][0] == {
        "class": "operator",
        "name": "aten::mm",
        "pieces": 1,
        "total_us": 50.0,
        "first_us": 0.0,
    }
    assert document["compile_tax"] == []


def test_the_tax_of_compiling_has_a_row_for_each_function():
    trace = trace_of(
        ("TorchDynamo Cache Lookup", 0, 1_000),
        ("Torch-Compiled Region: 0/0", 1_000, 6_000),
        annotation("## Call CompiledFxGraph fa ##", 2_000, 4_000),
    )

    assert json.loads(json_report(TraceReport(trace)))["compile_tax"] == [
        {
            "frame": "0",
            "calls": 1,
            "tax_median_us": 3.0,
            "tax_us": 3.0,
            "total_us": 7.0,
            "variants": 1,
            "recompiles": 0,
        }
    ]


def test_markdown_says_it_for_people():
    text = markdown_report(TraceReport(waiting()))

    assert "**Overhead-bound: the device is idle 62.5 % of the time, 90.0 % of that waiting" in text
    for line in ("## What holds the devices back", "## Who held idle time", "## Critical path"):
        assert line in text
    assert "| operator | 50.00 µs | 62.5 % |" in text
    assert "## What torch.compile costs" not in text
