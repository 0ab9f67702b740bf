"""The roofline's table, summary and details."""

import json
from dataclasses import replace

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.unit.reports.test_cost_tables import A100, one_product
from tracetui.presentation.roofline import (
    RooflineTable,
    bound_text,
    intensity_text,
    point_lines,
    shapes_text,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[8192,768],[768,3072]]", "[8192,768]x[768,3072]"),
        ("[[768],[8192,768],[],[]]", "[768]x[8192,768]"),
        ("[[[3,4],[5]],[]]", "{2 tensors}"),
        ("", ""),
        ("[]", ""),
        ("not json", "not json"),
    ],
)
def test_shapes_for_people(text: str, shown: str):
    assert shapes_text(text) == shown


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0, "0"), (0.25, "0.25"), (99.5, "99.50"), (1560.4, "1560")]
)
def test_intensities_are_plain_numbers(value: float | None, text: str):
    assert intensity_text(value) == text


def test_the_summary_says_what_bounds_the_time():
    table = RooflineTable.of(one_product(A100))

    assert table.summary == "Bound by compute 100.0 %; 100.0 % of kernel time costed"


def test_an_unknown_device_is_named_and_has_no_shares():
    table = RooflineTable.of(one_product())

    assert table.summary.startswith("No roofs of this device are known, P gives them; ")
    assert table.table.cells(0)[2:4] == ["–", "–"]


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        (trace_of(), "ProfilerActivity.CPU"),
        (trace_of(("aten::mm", 0, 5)), "record_shapes=True"),
        (trace_of(Row("aten::view", 0, 5, shape="[[2]]")), "no operator with a known cost"),
    ],
)
def test_an_empty_roofline_says_what_would_fill_it(trace, words: str):
    table = RooflineTable.of(trace)

    assert table.summary.startswith("No roofline: ")
    assert words in table.summary
    assert len(table.table) == 0


def test_a_row_has_time_share_bound_and_rates():
    table = RooflineTable.of(one_product(A100))

    line = table.table.line(0, 110)

    for text in ("aten::mm [8192,768]x[768,3072]", "190.00 µs", "65.2 %", "compute", "203 T"):
        assert text in line


def test_the_details_say_how_the_share_comes_about():
    table = RooflineTable.of(one_product(A100))

    text = "\n".join(point_lines(table.roofline, table.point_at(0)))

    for words in (
        "[8192,768]x[768,3072]",
        "1 calls, 190.00 µs, 100.0 % of what is costed",
        "38.7 GFLOP",
        "65.2 % of the roof",
        "compute (bf16)",
        "NVIDIA A100 80GB SXM",
    ):
        assert words in text
    unknown = RooflineTable.of(one_product())
    assert "P gives them" in "\n".join(point_lines(unknown.roofline, unknown.point_at(0)))


def test_every_slice_of_an_operator_leads_to_its_row():
    trace = one_product(A100)
    table = RooflineTable.of(trace)
    by_name = {trace.name_of(row): row for row in range(len(trace.slices))}

    assert table.place_of_slice(by_name["aten::mm"]) == 0
    assert table.place_of_slice(by_name["cudaLaunchKernel"]) == 0
    assert (
        table.place_of_slice(max(range(len(trace.slices)), key=lambda i: trace.slices.kind[i])) == 0
    )
    assert table.place_of_slice(by_name["aten::linear"]) == -1
    assert table.place_of_slice(-1) == -1


def test_by_class_there_is_one_row_for_each_sort_of_work():
    shape, types = json.dumps([[64], [64]]), json.dumps(["float", "float"])
    rows = []
    for i, (name, ran) in enumerate(
        [("aten::add", "vectorized_elementwise_kernel"), ("aten::mul", "elementwise_kernel")]
    ):
        rows += [
            Row(name, 1000 * i, 50, shape=shape, types=types),
            launch(1000 * i + 10, 5, i + 1),
            kernel(ran, 1000 * i + 50, 40, i + 1),
        ]
    trace = trace_of(annotation("step", 0, 5000), *rows)

    assert len(RooflineTable.of(trace).table) == 2
    table = RooflineTable.of(trace, by="class")
    assert [table.point_at(0).label, table.point_at(0).calls] == ["pointwise", 2]


def test_what_a_cache_served_is_told_from_memory():
    point = RooflineTable.of(one_product(A100)).point_at(0)

    assert "cache" in bound_text(replace(point, bound="memory", roof_ratio=1.25))
    assert bound_text(replace(point, bound="memory", roof_ratio=0.5)) == "memory"
    assert "too small" in bound_text(replace(point, bound="latency"))
    assert bound_text(replace(point, bound=None)) == "–"
    assert "too low" in bound_text(replace(point, bound="compute", roof_ratio=1.5))


def test_given_rates_take_the_place_of_unknown_roofs():
    table = RooflineTable.of(one_product(), {"bf16": 406.9e12, "bw": 2e12})

    assert table.summary.startswith("Bound by compute")
    assert round(table.point_at(0).roof_ratio or 0, 2) == 0.5
