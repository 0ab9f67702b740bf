"""The JSON that scripts rely on."""

import json
from decimal import Decimal

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.reports.json_report import json_report, to_json
from tracetui.reports.report import Time, TraceReport


def one_launch():
    """Return an annotation with an operator that launches one kernel; a second has no launch."""
    return trace_of(
        annotation("fwd", 0, 10_000),
        ("aten::mm", 1_000, 5_000),
        launch(2_000, 1_000, 1),
        kernel("ampere_sgemm_128x64_tn", 4_000, 3_500, 1),
        kernel("fill_kernel", 8_000, 500),
        Row("Memcpy DtoD (Device -> Device)", 9_000, 1_000, "gpu_memcpy", "0", "7", n_bytes=64),
    )


def load(trace, limit=0, *, is_torch_merged=False):
    text = json_report(TraceReport(trace, is_torch_merged=is_torch_merged), limit)
    return json.loads(text, parse_float=Decimal)


def test_keys_are_those_of_the_contract():
    assert list(load(one_launch())) == [
        "schema",
        "file",
        "load",
        "missing",
        "devices",
        "gpu",
        "host",
        "operators",
        "annotations",
        "modules",
        "python_functions",
        "runtime_calls",
        "other_slices",
        "memops",
        "kernels",
        "roofline",
        "tiles",
        "steps",
        "bound",
        "idle_holders",
        "artefacts",
        "critical_path",
        "critical_path_slices",
        "compile_tax",
        "memory_operators",
        "memory_blocks",
        "roofs",
        "uncosted",
        "memory",
        "collectives",
        "idle",
        "findings",
        "abstained",
    ]


def test_findings_have_their_figures_and_abstentions_their_flag():
    # One step of 90 us, then two of 30: the first is an outlier.
    document = load(
        trace_of(
            annotation("ProfilerStep#1", 0, 90_000),
            annotation("ProfilerStep#2", 90_000, 30_000),
            annotation("ProfilerStep#3", 120_000, 30_000),
        )
    )

    assert document["findings"] == [
        {
            "rule": "cold-step",
            "severity": "low",
            "summary": "The first step, #1, took 90.00 µs where the others take 30.00 µs",
            "evidence": {"slices": 1, "first_us": Decimal("0.000")},
            "gain_us": None,
            "gain_how": "not estimated",
            "try": "Leave it out of every mean; give the profiler's schedule one more warmup step",
        }
    ]
    assert {
        "rule": "hidden-copy",
        "reason": "no operators",
        "flag": "ProfilerActivity.CPU",
    } in document["abstained"]


def test_operator_row():
    assert load(one_launch())["operators"] == [
        {
            "name": "aten::mm",
            "calls": 1,
            "total_us": Decimal("5.000"),
            "self_us": Decimal("4.000"),
            "device_total_us": Decimal("3.500"),
            "device_self_us": Decimal("3.500"),
            "kernels": 1,
            "flop": None,
            "bytes": None,
        }
    ]


def test_annotation_and_runtime_rows():
    document = load(one_launch())

    assert document["annotations"] == [
        {
            "name": "fwd",
            "calls": 1,
            "total_us": Decimal("10.000"),
            "self_us": Decimal("5.000"),
            "device_total_us": Decimal("3.500"),
            "device_self_us": Decimal(0),
            "kernels_per_call": 1,
        }
    ]
    assert document["runtime_calls"] == [
        {
            "name": "cudaLaunchKernel",
            "calls": 1,
            "total_us": Decimal("1.000"),
            "self_us": Decimal("1.000"),
        }
    ]


def test_devices_are_added_up():
    document = load(one_launch())
    expected = {
        "sum_us": Decimal("5.000"),
        "busy_us": Decimal("5.000"),
        "idle_us": Decimal("1.000"),
        "span_us": Decimal("6.000"),
        "kernels": 2,
        "memcpys": 1,
        "memsets": 0,
        "compute_us": Decimal("4.000"),
        "comm_us": Decimal(0),
        "memcpy_exposed_us": Decimal("1.000"),
    }

    for part in (document["gpu"], document["devices"][0]):
        assert {key: part[key] for key in expected} == expected
    assert document["gpu"]["unattributed_us"] == Decimal("1.500")
    assert document["gpu"]["unattributed_events"] == 2
    [stream] = document["devices"][0]["streams"]
    assert (stream["stream"], stream["busy_us"]) == (7, Decimal("5.000"))


def test_idle_adds_up_to_the_device_s_idle_time():
    document = load(one_launch())
    [idle] = document["idle"]

    assert idle.pop("device") == 0
    assert sum(idle.values()) == Decimal("1.000")


def test_decoded_says_what_a_kernels_name_says_and_null_for_the_rest():
    gemm, fill = load(one_launch())["kernels"]

    assert gemm["decoded"] == {
        "origin": "cublas",
        "arch": "sm80",
        "dtype_in": "fp32",
        "dtype_acc": "fp32",
        "mma": None,
        "tile": "128x64",
        "stages": None,
        "layout": "tn",
        "kind": "gemm",
        "direction": None,
        "operators": None,
        "tensor_cores": "no",
    }
    assert {key for key, value in fill["decoded"].items() if value is not None} == {
        "kind",
        "tensor_cores",
    }


def test_kernel_and_copy_rows():
    document = load(one_launch())
    gemm = document["kernels"][0]

    assert [row["name"] for row in document["kernels"]] == ["ampere_sgemm_128x64_tn", "fill_kernel"]
    assert (gemm["class"], gemm["operators"]) == ("gemm", ["aten::mm"])
    assert {gemm[f"{word}_us"] for word in ("total", "mean", "median", "min", "max")} == {
        Decimal("3.500")
    }
    assert document["memops"] == [
        {
            "name": "Memcpy DtoD (Device -> Device)",
            "calls": 1,
            "total_us": Decimal("1.000"),
            "bytes": 64,
        }
    ]


def test_without_a_device_nothing_of_it_is_a_number():
    document = load(trace_of(annotation("fwd", 0, 10), ("aten::mm", 1, 5)))

    [operator], [span] = document["operators"], document["annotations"]
    assert operator["device_total_us"] is operator["device_self_us"] is operator["kernels"] is None
    assert span["device_total_us"] is span["kernels_per_call"] is None
    assert set(document["gpu"].values()) == {None}
    assert (document["devices"], document["idle"], document["memory"]) == ([], [], None)


def test_missing_inputs_name_the_flag():
    missing = load(trace_of(("aten::mm", 0, 5)))["missing"]

    assert "record_shapes=True" in {row["flag"] for row in missing}
    assert all(row["what"] and row["disables"] for row in missing)


def test_times_have_three_decimals_and_never_pass_a_float():
    long_ns = 9_007_199_254_740_993_123  # no float is this number of nanoseconds

    assert b'"total_us": 5.000' in json_report(TraceReport(one_launch()))
    assert b"9007199254740993.123" in to_json({"a": Time(long_ns)})
    with pytest.raises(TypeError, match="complex"):
        to_json({"a": 1j})


def test_limit_cuts_each_table():
    document = load(trace_of(("a", 0, 30), ("b", 40, 20), ("c", 70, 10)), 2)

    assert [row["name"] for row in document["operators"]] == ["a", "b"]


def test_torch_merge_folds_an_only_child_of_the_same_name():
    trace = trace_of(("aten::up", 0, 10), ("aten::up", 2, 6))

    assert load(trace)["operators"][0]["calls"] == 2
    assert load(trace, is_torch_merged=True)["operators"][0]["calls"] == 1


def test_empty_trace_is_a_document_too():
    document = load(trace_of())

    assert document["operators"] == []
    assert document["load"]["slices"] == 0


def test_modules_have_their_time_where_their_calls_are_recorded():
    trace = trace_of(
        annotation("nn.Module: Linear_0", 0, 10_000),
        ("aten::mm", 1_000, 5_000),
        launch(2_000, 1_000, 1),
        kernel("gemm", 4_000, 3_500, 1),
    )

    row = load(trace)["modules"][0]
    assert (row["name"], row["calls"]) == ("nn.Module: Linear_0", 1)
    assert row["total_us"] == 10
    assert row["device_total_us"] == Decimal("3.5")
    assert load(one_launch())["modules"] == []
