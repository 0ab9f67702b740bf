"""``tracetui check`` as a user runs it."""

import json
from pathlib import Path

import pytest

from tests.unit.test_cli import check_refused, run

EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10.5, "dur": 2.25},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 20, "dur": 1},
]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}))
    return str(path)


def test_met_and_not_met_have_a_line_each_and_a_status(trace: str):
    met = run("check", trace, "--expect", "total_us(aten::mm) == 2.25")
    both = run("check", trace, "--expect", "calls(aten::mm) == 1", "--expect", "calls(aten::*) < 2")

    assert (met.returncode, met.stderr) == (0, b"")
    assert met.stdout.decode() == (
        "met      total_us(aten::mm) == 2.25 · found 2.250 us · 1 slice at 0.000 us: aten::mm\n"
    )
    assert both.returncode == 1
    assert both.stdout.decode().splitlines() == [
        "met      calls(aten::mm) == 1 · found 1 · 1 slice at 0.000 us: aten::mm",
        "NOT MET  calls(aten::*) < 2 · found 2 · 2 slices, first at 0.000 us: aten::mm",
    ]


def test_json_holds_the_same(trace: str):
    done = run(
        "check", trace, "--json", "--expect", "total_us(aten::mm) < 2", "--expect", "kernels<1"
    )

    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["met"], document["not_met"], document["baseline"]) == (0, 2, None)
    assert document["expectations"] == [
        {
            "expectation": "total_us(aten::mm) < 2",
            "met": False,
            "found": 2.25,
            "evidence": {"slices": 1, "first_us": 0.0, "first_name": "aten::mm"},
            "remark": None,
        },
        {
            "expectation": "kernels<1",
            "met": False,
            "found": None,
            "evidence": {"slices": 0, "first_us": None, "first_name": None},
            "remark": "no device activity was recorded",
        },
    ]
    assert b'"found": 2.250' in done.stdout


def test_a_file_of_expectations(trace: str, tmp_path: Path):
    path = tmp_path / "tracetui-expect.txt"
    path.write_text("# what is known\ncalls(aten::mm) == 1\n\ncalls(aten::add) == 1  # once\n")

    assert run("check", trace, "--expect-file", str(path)).returncode == 0
    path.write_text("calls(aten::mm) = 1")
    check_refused(run("check", trace, "--expect-file", str(path)), f"{path}:1", "cannot be read")


def test_a_baseline_comes_first(trace: str, tmp_path: Path):
    slower = tmp_path / "slower.json"
    slower.write_text(json.dumps({"traceEvents": [{**EVENTS[0], "dur": 3}]}))
    text = "total_us(aten::mm) <= 1.05 * baseline.total_us(aten::mm)"

    worse = run("check", trace, str(slower), "--expect", text)

    assert worse.returncode == 1
    assert b"found 3.000 us against 2.362 us" in worse.stdout
    assert run("check", str(slower), trace, "--expect", text).returncode == 0


def test_standard_input_can_be_checked(trace: str):
    done = run("check", "-", "--expect", "calls(aten::mm) == 1", stdin=Path(trace).read_bytes())

    assert done.returncode == 0


def test_what_cannot_be_checked_is_told_in_one_line(trace: str):
    check_refused(run("check", trace), "nothing is expected")
    check_refused(run("check", trace, "--expect", "kernel() == 5"), "near: kernels")
    check_refused(run("check", trace, "--expect", "total_us(aten::mn) < 5"), "near: aten::mm")
    check_refused(run("check", trace, "--expect", "gpu_us < baseline.gpu_us"), "baseline")
    check_refused(run("check", trace, trace, trace, "--expect", "kernels < 5"), "one file")
    check_refused(run("check", "-", "-", "--expect", "kernels < 5"), "one file only")
    check_refused(run("check", "/nowhere.json", "--expect", "kernels < 5"), "no such file")
    check_refused(run("check", trace, "--expect-file", "/nowhere"), "/nowhere: no such file")


def test_help_lists_the_functions():
    done = run("check", "--help")

    assert done.returncode == 0
    for word in ("kernels_per_call(NAME)", "--expect-file", "baseline."):
        assert word in done.stdout.decode()
