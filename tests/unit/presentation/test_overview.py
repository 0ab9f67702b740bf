"""The overview's sentence, figures and what it says is missing, on traces small enough to add."""

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.unit.analysis.test_allocations import step_of_training
from tracetui.analysis.work_class import WorkClass
from tracetui.model.device import DeviceSpec
from tracetui.presentation.missing import missing_inputs
from tracetui.presentation.navigation import find_slice, follow, follow_back
from tracetui.presentation.overview import (
    answer,
    devices_text,
    file_line,
    load_lines,
    overview_lines,
    recorded,
)
from tracetui.presentation.overview_line import OverviewLine, Part, bar, cut_line
from tracetui.presentation.table import cell_width

_BUSY = (
    launch(0, 1_000, 1),
    launch(2_000, 1_000, 2),
    kernel("gemm", 10_000, 90_000, 1),
    kernel("relu", 100_000, 10_000, 2),
)


def test_a_host_only_trace_says_so():
    trace = trace_of(("aten::mm", 0, 5_000))
    assert answer(trace) == "CPU only: no GPU activity in this file; 1 thread, 5.00 µs"


def test_launches_without_kernels_are_missing_records_not_a_cpu_run():
    trace = trace_of(("aten::mm", 0, 5_000), launch(100, 50, 1), launch(200, 50, 2))
    assert answer(trace) == "GPU records missing: 2 launches without kernels"


def test_a_file_of_another_tool_is_no_cpu_run():
    trace = trace_of(Row("render", 0, 5_000, "frame"), Row("swap", 6_000, 3_000, "frame"))
    assert answer(trace) == (
        "Nothing of PyTorch in this file: 2 slices of something else, 9.00 µs;"
        " the timeline shows them"
    )
    assert not any(line.text.startswith("Host") for line in overview_lines(trace, 100))


def test_an_empty_trace_has_nothing_to_show():
    trace = trace_of()
    assert answer(trace) == "Nothing to show: this file has no slice"
    assert overview_lines(trace, 80)[0].text == "Nothing to show: this file has no slice"


def test_a_busy_device_is_named_with_its_scope():
    # 10-100 and 100-110 us without a gap: 100 us of 100.
    assert answer(trace_of(*_BUSY)) == (
        "Compute-bound: the device is busy 100.0 % of the time and never waits for the host, "
        "from its first to its last device work (100.00 µs)"
    )


def test_a_device_that_waits_for_launches_is_overhead_bound():
    # Busy 0-10 and 90-100 us; the second launch begins at 80, long after the device ran dry:
    # 70 us before it, 2 us inside it, 8 us after it, of 80 us idle.
    trace = trace_of(
        launch(0, 0, 1), kernel("a", 0, 10_000, 1), launch(80_000, 2_000, 2),
        kernel("b", 90_000, 10_000, 2),
    )  # fmt: skip
    assert answer(trace).startswith(
        "Overhead-bound: the device is idle 80.0 % of the time, 90.0 % of that waiting for the"
        " host to launch"
    )


def test_missing_inputs_name_what_they_switch_off_and_the_flag():
    missing = {each.what: each.flag for each in missing_inputs(trace_of(("aten::mm", 0, 10)))}
    assert missing == {
        "device activity": "ProfilerActivity.CUDA",
        "input shapes": "record_shapes=True",
        "stacks": "with_stack=True",
        "memory": "profile_memory=True",
        "steps": "schedule=… and prof.step() in the loop",
    }


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (Row("aten::mm", 0, 10, shape="[[2,3]]"), "input shapes"),
        (Row("f.py(1): f", 0, 10, "python_function"), "stacks"),
        (annotation("ProfilerStep#1", 0, 10), "steps"),
        (kernel("k", 0, 10), "device activity"),
        (("aten::mm", 0, 10), "operators"),
    ],
)
def test_what_is_there_is_not_missing(row, what):
    assert what not in {each.what for each in missing_inputs(trace_of(row))}


def test_a_kernel_row_leads_to_its_longest_slice_and_has_its_class():
    trace = trace_of(
        kernel("ampere_sgemm_128x64_nn", 0, 10), kernel("ampere_sgemm_128x64_nn", 20, 30)
    )
    lines = overview_lines(trace, 100)
    line = next(each for each in lines if each.view == "kernels" and each.slice_id >= 0)
    assert int(trace.slices.dur_ns[line.slice_id]) == 30
    assert line.parts[0].work_class == WorkClass.GEMM
    assert "100.0 %" in line.text


def test_a_kernel_row_shares_the_device_time_with_copies():
    trace = trace_of(
        kernel("relu", 0, 30_000), Row("Memcpy HtoD", 50_000, 10_000, "gpu_memcpy", "0", "7")
    )
    lines = [each.text for each in overview_lines(trace, 100)]
    assert any("relu" in line and "75.0 %" in line for line in lines)


def test_classes_are_shares_of_device_time():
    trace = trace_of(
        kernel("ampere_sgemm_128x64_nn", 0, 75), Row("Memcpy DtoH", 75, 25, "gpu_memcpy", "0", "7")
    )
    text = "\n".join(line.text for line in overview_lines(trace, 100))
    assert "gemm 75.0 %" in text
    assert "copy 25.0 %" in text


@pytest.mark.parametrize("width", [1, 20, 40, 80, 120, 200])
def test_rows_fit_their_width(width):
    trace = trace_of(("aten::a_very_long_operator_name_that_goes_on_and_on", 0, 10), *_BUSY)
    lines = overview_lines(trace, width)
    tables = [line for line in lines if line.slice_id >= 0]
    assert tables
    assert all(len(line.text) <= max(width, 64) for line in tables)


def test_a_bar_is_filled_to_an_eighth_of_a_cell():
    assert bar(0.5, 8) == "████    "
    assert bar(0.53125, 8) == "████▎   "
    assert bar(2.0, 4) == "████"
    assert bar(-1.0, 2) == "  "
    assert bar(0.5, 0) == ""
    assert bar(0.5, 4, ascii_only=True) == "##.."


def test_ascii_only_draws_no_other_characters_in_bars():
    lines = overview_lines(trace_of(*_BUSY), 80, ascii_only=True)
    bars = "".join(part.text for line in lines for part in line.parts if part.role == "bar")
    assert bars.isascii()


def test_steps_are_counted_and_the_longest_is_where_enter_leads():
    trace = trace_of(
        annotation("ProfilerStep#1", 0, 100_000),
        annotation("ProfilerStep#2", 100_000, 300_000),
        annotation("ProfilerStep#3", 400_000, 100_000),
    )
    line = next(each for each in overview_lines(trace, 100) if each.text.startswith("Steps"))
    assert "3 steps, median 100.00 µs" in line.text
    assert trace.name_of(line.slice_id) == "ProfilerStep#2"
    assert "3 steps" in recorded(trace)


@pytest.mark.parametrize(
    ("listed", "used", "text"),
    [
        (["V100"] * 8, [1], "1 of 8 V100 used"),
        (["V100"] * 2, [0, 1], "V100 ×2"),
        (["V100"], [0], "V100"),
        (["V100", "T4"], [1], "1 of 2 V100, T4 used"),
        (["V100"] * 2, [], "none of 2 V100 used"),
        ([], [0], ""),
    ],
)
def test_the_devices_of_the_machine_are_told_from_those_at_work(listed, used, text):
    trace = trace_of(
        ("aten::mm", 0, 5),
        *(kernel("gemm", 10, 5, device=device) for device in used),
        devices=[DeviceSpec(index, name) for index, name in enumerate(listed)],
    )
    assert devices_text(trace) == text
    assert recorded(trace).startswith(text or "by hand")


def test_the_peak_of_each_devices_memory_leads_to_what_ran_then():
    trace = step_of_training()
    (line,) = [each for each in overview_lines(trace, 100) if each.text.startswith("Memory ")]
    assert line.text == (
        "Memory   cuda:0 peak 5.9 KiB at 30 ns in aten::addmm, forward, ProfilerStep#4"
    )
    assert (line.view, trace.name_of(line.slice_id)) == ("memory", "aten::addmm")


def test_the_median_of_an_even_number_of_steps_lies_between_the_two_in_the_middle():
    # 100, 200, 300 and 900 us: (200 + 300) / 2; 900 less 100 is 320 % of that.
    widths_ns = (100_000, 900_000, 200_000, 300_000)
    trace = trace_of(
        *(annotation(f"ProfilerStep#{n}", n * 10**6, width) for n, width in enumerate(widths_ns, 1))
    )
    line = next(each for each in overview_lines(trace, 100) if each.text.startswith("Steps"))
    assert "4 steps, median 250.00 µs, range 320.0 % of it" in line.text


def test_what_the_reader_did_is_told():
    trace = trace_of(("aten::mm", 0, 10))
    trace.report.skipped["no time stamp"] = 3
    trace.report.repaired["end before begin"] = 1
    trace.report.is_truncated = True
    trace.report.notes.append("bytes after the data\x1b[0m")
    assert load_lines(trace) == [
        "the file ends early: the recording was cut off",
        "skipped 3: no time stamp",
        "repaired 1: end before begin",
        "bytes after the data␛[0m",
    ]
    assert file_line(trace) == "by hand · 0 B · by hand · 1 events · 1 slices"


def test_links_lead_forward_and_back():
    trace = trace_of(
        ("aten::mm", 0, 50_000), launch(10_000, 5_000, 1), kernel("k", 60_000, 10_000, 1),
        kernel("next", 80_000, 10_000),
    )  # fmt: skip
    names = {trace.name_of(each): each for each in range(len(trace.slices))}
    call = names["cudaLaunchKernel"]
    assert follow(trace, names["aten::mm"]) == call
    assert follow(trace, call) == names["k"]
    assert follow(trace, names["k"]) == names["next"]
    assert follow(trace, names["next"]) == -1
    assert follow_back(trace, names["k"]) == call
    assert follow_back(trace, call) == names["aten::mm"]
    assert follow_back(trace, names["aten::mm"]) == -1
    assert follow(trace, -1) == follow_back(trace, 99) == -1


def test_a_search_goes_round_in_time():
    trace = trace_of(("aten::Mm", 0, 10), ("aten::add", 20, 10), ("aten::mm", 40, 10))
    assert [find_slice(trace, "mm", start) for start in (-1, 0, 2)] == [0, 2, 0]
    assert [find_slice(trace, "mm", start, forward=False) for start in (-1, 0, 2)] == [2, 2, 0]
    assert find_slice(trace, "Mm", 0) == 0
    assert find_slice(trace, "nothing", 0) == -1
    assert find_slice(trace, "", 0) == -1


def test_what_is_worth_a_look_leads_to_its_evidence_and_its_heading_to_all():
    rows = [
        ("aten::bmm", 0, 500_000), ("aten::masked_fill", 500_000, 400_000),
        ("aten::clone", 510_000, 200_000), ("aten::masked_fill_", 720_000, 150_000),
    ]  # fmt: skip
    trace = trace_of(*rows)
    lines = overview_lines(trace, 100)
    heading = next(row for row, line in enumerate(lines) if line.text.startswith("Worth a look"))

    assert lines[heading].view == "findings"
    assert lines[heading].text.startswith("Worth a look  1 finding: ")
    assert lines[heading].text.endswith("       saves")
    found = lines[heading + 1]
    assert "masked_fill copies its whole input first" in found.text
    assert found.text.endswith("  −200.00 µs")
    assert (found.view, trace.name_of(found.slice_id)) == ("timeline", "aten::clone")
    assert {len(line.text) for line in lines[heading : heading + 2]} == {100}
    partial = [line.text for line in overview_lines(trace, 100, is_partial=True)]
    assert not [text for text in partial if text.startswith("Worth a look")]


def test_a_line_without_room_ends_in_an_ellipsis():
    line = OverviewLine((Part("  a file "), Part("幅幅幅", "dim"), Part("rest")), "timeline", 3)
    assert cut_line(line, 40) == line
    assert [part.text for part in cut_line(line, 12).parts] == ["  a file ", "幅…"]
    assert cut_line(line, 9).text == "  a file…"
    assert (cut_line(line, 9).view, cut_line(line, 9).slice_id) == ("timeline", 3)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_no_line_is_wider_than_the_screen(width):
    trace = trace_of(("aten::a_very_long_operator_name_that_goes_on_and_on", 0, 10), *_BUSY)
    trace.report.notes.append("a note " * 30)
    for line in overview_lines(trace, width):
        assert cell_width(line.text.rstrip()) <= width
