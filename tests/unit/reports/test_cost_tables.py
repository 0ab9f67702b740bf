"""What a report says of cost, roofs, tiles and occupancy."""

import json
from decimal import Decimal

from tests.literal import Row, launch, trace_of
from tests.unit.reports.test_json_report import load
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.trace import Trace
from tracetui.reports.json_report import json_report
from tracetui.reports.markdown_report import markdown_report
from tracetui.reports.report import TraceReport

A100 = DeviceSpec(0, "NVIDIA A100-SXM4-80GB", None, 8, 0, 108, 32, 1024, 2048, 65536, 167936)
KERNEL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


def one_product(*devices: DeviceSpec) -> Trace:
    """Return a product of 8192 x 768 by 768 x 3072 in 0.19 ms, as the published capture has it."""
    shape, types = json.dumps([[8192, 768], [768, 3072]]), json.dumps(["c10::BFloat16"] * 2)
    geometry = Geometry((24, 64, 1), (128, 1, 1), 234, 81920, 0.0, None, None)
    return trace_of(
        Row("aten::linear", 0, 100_000, shape="[[8192,768],[3072,768]]", types=types),
        Row("aten::mm", 1000, 90_000, shape=shape, types=types),
        launch(2000, 5000, 1),
        Row(KERNEL, 50_000, 190_000, "kernel", "0", "7", correlation=1, geometry=geometry),
        devices=devices,
    )


def test_the_operator_that_counts_has_the_flop_and_its_wrapper_none():
    rows = {row["name"]: row for row in load(one_product())["operators"]}

    assert rows["aten::mm"]["flop"] == 38_654_705_664
    assert rows["aten::mm"]["bytes"] == 2 * (8192 * 768 + 768 * 3072 + 8192 * 3072)
    assert (rows["aten::linear"]["flop"], rows["aten::linear"]["bytes"]) == (None, None)


def test_a_roofline_row_has_rates_and_shares():
    document = load(one_product(A100))
    [row] = document["roofline"]

    assert (row["operator"], row["class"], row["precision"]) == ("aten::mm", "gemm", "bf16")
    assert row["total_us"] == Decimal("190.000")
    # 38.65 GFLOP in 0.19 ms: 203 TFLOP/s, 65 % of the roof.
    assert round(float(row["flop_per_s"]) / 1e12) == 203
    assert round(float(row["roof_ratio"]), 2) == 0.65
    assert row["bound"] == "compute"
    assert document["roofs"]["matrix_flop_per_s"]["bf16"] == 312e12
    assert "datasheet" in document["roofs"]["source"]
    assert document["uncosted"] == []


def test_an_unknown_device_has_rates_and_no_shares():
    document = load(one_product())
    [row] = document["roofline"]

    assert document["roofs"] is None
    assert (row["roof_ratio"], row["bound"]) == (None, None)
    assert row["flop_per_s"] > 0


def test_given_peaks_make_the_roofs():
    report = TraceReport(one_product(), given_peaks={"bf16": 203.4e12 * 2, "bw": 2e12})
    [row] = json.loads(json_report(report))["roofline"]

    assert round(row["roof_ratio"], 3) == 0.5


def test_a_kernel_tells_its_theoretical_occupancy_and_tiles():
    document = load(one_product(A100))
    [kernel], [tiles] = document["kernels"], document["tiles"]

    # 234 registers x 32 lanes round up to 7680 a warp: two warps of a partition's 16384 registers,
    # eight in all, two blocks of four.
    assert kernel["occupancy_reported_ratio"] == 0
    assert kernel["occupancy_theoretical_ratio"] == 0.125
    assert kernel["occupancy_limiter"] == "registers"
    # 64 x 24 tiles on 108 processors take 15 waves.
    assert (tiles["tiles"], tiles["tile_ratio"]) == (1536, 1)
    assert round(float(tiles["wave_ratio"]), 4) == round(1536 / (15 * 108), 4)


def test_markdown_has_a_roofline_with_its_roofs():
    text = markdown_report(TraceReport(one_product(A100)))

    assert "## Roofline" in text
    assert "203 TFLOP/s" in text
    assert "65.2 %" in text
    assert "Roofs: NVIDIA A100 80GB SXM, 2.04 TB/s" in text
    assert "## Tiles of matrix products" in text
    assert "`--peak` gives them" in markdown_report(TraceReport(one_product()))
    assert "## Roofline" not in markdown_report(TraceReport(trace_of()))
