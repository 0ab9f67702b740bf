"""What a capture says of itself while it runs."""

from typing import Any

import pytest

from tracetui.presentation.capture_progress import (
    equality_text,
    finished_line,
    note_line,
    plan_lines,
    stage_line,
    time_left,
    unavailable_line,
)

EQUAL = {"is_equal": True, "norm_relative_error": 4.2e-7, "reference": "eager in fp64"}
WHERE: dict[str, Any] = {"variant": "compiled", "point": {}, "swept": {}}


@pytest.mark.parametrize(
    ("left_s", "text"),
    [(None, ""), (0.2, "about 1 s left"), (89, "about 89 s left"), (90, "about 2 min left")],
)
def test_time_left_is_rounded_to_what_is_known(left_s: float | None, text: str):
    assert time_left(left_s) == text


def test_stage_is_one_line_with_what_is_swept():
    event = {**WHERE, "swept": {"seq": 512, "dtype": "bf16"}, "stage": "compiling", "left_s": 20}

    assert stage_line(event) == "compiled seq=512 dtype=bf16: compiling · about 20 s left"
    assert stage_line({**WHERE, "repeat": 1, "stage": "timing"}) == "compiled repeat 2: timing"


def test_result_has_median_spread_agreement_and_file():
    event = {
        **WHERE,
        "median_ns": 1_500_000,
        "p10_ns": 1_400_000,
        "p90_ns": 1_750_000,
        "equality": EQUAL,
        "path": "/t/mlp_compiled.json.gz",
        "bytes": 2048,
    }

    assert finished_line(event).split("  ", 1)[0] == "compiled"
    for part in ("1.500 ms (1.400 ms to 1.750 ms)", "equal (4.2e-07 of eager in fp64)", "2.0 KiB"):
        assert part in finished_line(event)


def test_results_that_differ_are_shouted():
    assert equality_text({**EQUAL, "is_equal": False, "norm_relative_error": 0.5}) == (
        "NOT EQUAL (5.0e-01 of eager in fp64)"
    )
    assert equality_text(None) == "nothing to compare"


def test_texts_from_elsewhere_cannot_steer_the_terminal():
    event = {**WHERE, "reason": "RuntimeError: \x1b[2Jgone", "note": "\x1b]0;title\x07"}

    assert "\x1b" not in unavailable_line(event)
    assert "\x1b" not in note_line(event)


def test_plan_tells_each_file_and_each_obstacle():
    lines = plan_lines(
        {
            "workload": "mlp",
            "device": "cpu",
            "torch": "2.13.0",
            "python": "/py",
            "out": "/t",
            "traces": [{"file": "mlp_eager.json.gz", "variant": "eager"}],
            "unavailable": [{"variant": "fused", "reason": "triton is not installed"}],
        }
    )

    assert lines[0] == "mlp on cpu with torch 2.13.0, Python /py, into /t"
    assert lines[1].split() == ["mlp_eager.json.gz", "eager"]
    assert "fused" in lines[2]
    assert "cannot run: triton is not installed" in lines[2]
