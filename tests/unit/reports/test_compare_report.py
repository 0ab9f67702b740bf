"""A comparison as JSON and as Markdown."""

import json
from decimal import Decimal

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tracetui.compare.comparison import comparison
from tracetui.compare.scoreboard import scoreboard
from tracetui.reports.compare_report import CompareReport, compare_json, compare_markdown

PAIR_KEYS = {
    *("candidate", "gpu_us", "host_us", "wall_us", "waterfall", "residual_us", "matches"),
    *("host_waterfall", "host_residual_us", "wall_waterfall", "wall_residual_us"),
}


def report_of(*traces):
    pairs = tuple(comparison(traces[0], candidate) for candidate in traces[1:])
    return CompareReport(pairs, scoreboard(traces))


def document(*traces):
    return json.loads(compare_json(report_of(*traces)), parse_float=Decimal)


@pytest.fixture(scope="module")
def fused():
    return document(steps_of(*[mlp()] * 4), steps_of(*[compiled_mlp()] * 4))


def test_keys_are_those_of_the_contract(fused):
    assert list(fused) == [
        "schema",
        "baseline",
        "candidates",
        "within",
        "per",
        "pairs",
        "scoreboard",
    ]
    (pair,) = fused["pairs"]
    assert set(pair) >= PAIR_KEYS
    assert list(pair["gpu_us"]) == ["baseline", "candidate", "delta", "ratio", "ci", "verdict"]
    assert all(
        list(match)[:5] == ["kind", "baseline", "candidate", "delta_us", "why"]
        for match in pair["matches"]
    )
    assert set(fused["scoreboard"][0]) >= {
        *("trace", "kernels_per_call", "launches_per_call", "copies_per_call", "gpu_us", "host_us"),
        *("tensor_core_ratio", "roof_ratio", "occupancy", "limiter", "compile_tax_us"),
        "peak_bytes",
    }


def test_times_are_exact_microseconds(fused):
    (pair,) = fused["pairs"]

    assert pair["gpu_us"]["baseline"] == Decimal("735.000")
    assert pair["gpu_us"]["delta"] == Decimal("-96.000")
    assert str(pair["gpu_us"]["delta"]) == "-96.000"
    assert pair["gpu_us"]["verdict"] == "faster"


@pytest.mark.parametrize("prefix", ["", "host_", "wall_"])
def test_parts_and_residual_are_the_delta(fused, prefix):
    (pair,) = fused["pairs"]
    total = sum(part["delta_us"] for part in pair[f"{prefix}waterfall"])

    assert total + pair[f"{prefix}residual_us"] == pair[f"{prefix or 'gpu_'}us"]["delta"]


def test_what_was_not_measured_is_null():
    (pair,) = document(steps_of([op("aten::mm")]), steps_of([op("aten::mm")]))["pairs"]

    assert set(pair["gpu_us"].values()) == {None}
    assert (pair["waterfall"], pair["residual_us"], pair["unprofiled_us"]) == (None, None, None)
    assert pair["host_us"]["delta"] == 0


def test_one_row_for_each_trace_and_one_pair_for_each_candidate():
    found = document(steps_of(mlp()), steps_of(compiled_mlp()), steps_of(mlp()))

    assert (len(found["pairs"]), len(found["candidates"]), len(found["scoreboard"])) == (2, 2, 3)


def test_markdown_opens_on_the_answer():
    text = compare_markdown(report_of(steps_of(*[mlp()] * 4), steps_of(*[compiled_mlp()] * 4)))

    bold = next(line for line in text.splitlines() if line.startswith("**"))
    assert bold.startswith("**B is 1.15x faster on the GPU")
    assert "| residual |  |  | ±0 ns |" in text
    assert "gelu and mul became one kernel" in text
    assert "## Scoreboard, per step" in text


def test_names_of_a_file_are_no_markup():
    evil = "evil | [x](y) `z`"
    text = compare_markdown(
        report_of(steps_of([op("aten::mm", ("gemm", 9_000))]), steps_of([op(evil, (evil, 9_000))]))
    )

    assert "[x](y)" not in text
    assert all(
        line.count("|") - line.count("\\|") == 8
        for line in text.splitlines()
        if "evil" in line and line.startswith("| only")
    )


def test_markdown_says_in_words_what_became_of_the_work():
    with_copy = [*mlp(), op("aten::copy_", ("Memcpy DtoD (Device -> Device)", 5_000))]
    pair = (steps_of(*[mlp()] * 3), steps_of(*[with_copy] * 3))
    new, gone = (compare_markdown(report_of(*sides)) for sides in (pair, pair[::-1]))

    assert "| a new copy | – | copy\\_ |" in new
    assert "| only in A | copy\\_ | – |" in gone
    assert not any(word in new + gone for word in ("only-baseline", "new-copy"))
