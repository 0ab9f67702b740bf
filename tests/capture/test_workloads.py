"""Every variant of every workload on a CPU: it runs, is right, and its trace says what it did."""

import re
from collections import Counter

import pytest

from tests.capture.conftest import needs_torch
from tests.capture.counted import counted_annotations, counted_operators, torch_counted
from tracetui.capture.catalog import CATALOG, workload_entry

pytestmark = [pytest.mark.torch, needs_torch]

N_STEPS = 3
HOST = {
    "matmul-add": (
        "eager",
        "compiled",
        "compiled-reduce-overhead",
        "compiled-max-autotune",
        "addmm",
    ),
    "linear": ("eager", "compiled"),
    "mlp": ("eager", "compiled", "compiled-reduce-overhead", "compiled-max-autotune", "packed"),
    "attention": (
        "naive",
        "naive-inplace",
        "sdpa",
        "sdpa-math",
        "sdpa-flash",
        "compiled",
        "flex",
    ),
    "block": ("eager", "compiled", "naive", "naive-inplace", "sdpa-math", "sdpa-flash"),
}
"""What a CPU with a compiler and no further package can run."""
VARIANTS = [(workload, variant) for workload, variants in HOST.items() for variant in variants]
each_variant = pytest.mark.parametrize(("workload", "variant"), VARIANTS, ids=str)
each_workload = pytest.mark.parametrize("workload", HOST)


@each_workload
def test_each_variant_runs_or_says_why_not(captured, workload: str):
    capture = captured(workload)
    finished, refused = capture.told("finished"), capture.told("unavailable")

    assert set(HOST[workload]) <= set(finished)
    assert set(finished) | set(refused) == set(workload_entry(workload).variant_names)
    assert not set(finished) & set(refused)
    assert all(": " in each["reason"] for each in refused.values())


def test_reasons_are_those_of_torch(captured):
    refused = captured("attention").told("unavailable")

    assert refused["sdpa-cudnn"]["reason"].startswith("RuntimeError: No viable backend")
    assert refused["sdpa-efficient"]["reason"].startswith("RuntimeError: No viable backend")
    backward = captured("block").told("unavailable")["flex"]["reason"]
    assert "does not support backward on CPU" in backward


@each_variant
def test_variant_equals_the_reference_in_double_precision(captured, workload: str, variant: str):
    equality = captured(workload).told("finished")[variant]["equality"]

    assert equality["is_equal"]
    assert equality["reference"].endswith(" in fp64")
    assert equality["norm_relative_error"] < 1e-5


@each_variant
def test_operators_are_those_of_torch(captured, workload: str, variant: str):
    capture = captured(workload)
    expected = torch_counted(capture.file(variant), is_annotation=False)

    assert counted_operators(capture.trace(variant)) == expected


@each_variant
def test_annotations_are_those_of_torch(captured, workload: str, variant: str):
    capture = captured(workload)
    expected = torch_counted(capture.file(variant), is_annotation=True)

    assert counted_annotations(capture.trace(variant)) == expected


@each_variant
def test_each_step_has_one_annotation(captured, workload: str, variant: str):
    entry = workload_entry(workload)
    calls = captured(workload).calls(variant)
    parts = ("fwd", "bwd", "opt") if workload == "block" else ("fwd",)

    for part in parts:
        assert calls[f"{entry.annotation}_{part}"] == N_STEPS
    assert (
        sum(count for name, count in calls.items() if name.startswith("ProfilerStep#")) == N_STEPS
    )


@each_workload
def test_each_trace_repeats_the_session(captured, workload: str):
    capture = captured(workload)
    rows = {row["variant"]: row for row in capture.session["traces"]}

    assert set(rows) == set(capture.told("finished"))
    for row in rows.values():
        assert (capture.folder / row["file"]).is_file()
        runs = row["timing"]["runs_ns"]
        assert len(runs) == 5
        assert min(runs) <= row["timing"]["p10_ns"] <= row["timing"]["median_ns"]
        assert row["timing"]["median_ns"] <= row["timing"]["p90_ns"] <= max(runs)
    refused = {row["variant"]: row["reason"] for row in capture.session["unavailable"]}
    told = capture.told("unavailable")
    assert refused == {variant: event["reason"] for variant, event in told.items()}


@each_workload
def test_folder_holds_traces_session_and_oracles_alone(captured, workload: str):
    capture = captured(workload)
    stems = {capture.file(variant).name.removesuffix(".json.gz") for variant in HOST[workload]}
    found = {path.name for path in capture.folder.iterdir()}
    others = {name for name in found if name.removesuffix(".json.gz") in stems}
    others |= {f"{stem}.oracle.json" for stem in stems} | {"session.json"}

    assert others <= found
    assert all(name.endswith((".json.gz", ".oracle.json")) for name in found - {"session.json"})


def _per_step(calls: Counter[str], *names: str) -> list[float]:
    return [calls[f"aten::{name}"] / N_STEPS for name in names]


def _generated(calls: Counter[str]) -> dict[str, float]:
    """Return the generated kernels without the number of the graph, with calls a step."""
    found: Counter[str] = Counter()
    for name, count in calls.items():
        match = re.fullmatch(r"graph_\d+_(.+)", name)
        if match:
            found[match[1]] += count
    return {name: count / N_STEPS for name, count in found.items()}


def test_matmul_add_is_two_operators_until_it_is_compiled(captured):
    capture = captured("matmul-add")

    assert _per_step(capture.calls("eager"), "matmul", "mm", "add", "addmm") == [1, 1, 1, 0]
    for variant in ("addmm", *(name for name in HOST["matmul-add"] if "compiled" in name)):
        # The bias is copied into the result, which the product is then added to.
        calls = capture.calls(variant)
        assert _per_step(calls, "matmul", "mm", "add", "addmm", "copy_") == [0, 0, 0, 1, 1]
        assert _generated(calls) == {}


def test_linear_is_the_same_addmm_eager_and_compiled(captured):
    capture = captured("linear")

    assert _per_step(capture.calls("eager"), "linear", "addmm") == [1, 1]
    assert _per_step(capture.calls("compiled"), "linear", "addmm") == [0, 1]


def test_mlp_keeps_three_products_and_fuses_the_rest(captured):
    capture = captured("mlp")

    assert _per_step(capture.calls("eager"), "linear", "mm", "gelu", "mul") == [3, 3, 1, 1]
    assert _per_step(capture.calls("packed"), "linear", "mm", "gelu", "mul") == [2, 2, 1, 1]
    for variant in HOST["mlp"]:
        if "compiled" in variant:
            calls = capture.calls(variant)
            assert _per_step(calls, "linear", "gelu", "mul") == [0, 0, 0]
            assert list(_generated(calls)) == ["cpp_fused__unsafe_view_gelu_mul_0"]


def test_attention_spelled_out_copies_its_scores_unless_in_place(captured):
    capture = captured("attention")
    names = ("bmm", "masked_fill", "clone", "masked_fill_", "_softmax")

    assert _per_step(capture.calls("naive"), *names) == [2, 1, 1, 1, 1]
    assert _per_step(capture.calls("naive-inplace"), *names) == [2, 0, 0, 1, 1]


def test_attention_compiled_is_two_products_around_one_kernel(captured):
    calls = captured("attention").calls("compiled")

    assert _per_step(calls, "bmm", "masked_fill", "_softmax", "div") == [2, 0, 0, 0]
    (kernel,) = _generated(calls)
    assert {"softmax", "div", "masked", "fill"} <= set(kernel.split("_"))


def test_flex_attention_is_one_kernel_without_products(captured):
    calls = captured("attention").calls("flex")

    assert _per_step(calls, "bmm", "_softmax") == [0, 0]
    assert _generated(calls) == {"kernel": 1}


def test_each_pinned_backend_is_seen_by_name(captured):
    capture = captured("attention")
    names = ("_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention_for_cpu")

    assert _per_step(capture.calls("sdpa-math"), *names) == [1, 0]
    assert _per_step(capture.calls("sdpa-flash"), *names) == [0, 1]
    assert _per_step(capture.calls("sdpa"), *names) == [0, 1]


def test_block_runs_forward_backward_and_optimizer(captured):
    capture = captured("block")
    eager, compiled = capture.calls("eager"), capture.calls("compiled")

    assert _per_step(eager, "native_layer_norm", "native_layer_norm_backward") == [2, 2]
    assert _per_step(compiled, "native_layer_norm", "native_layer_norm_backward") == [0, 0]
    # qkv, out, gate, up and down, and two products backward for each.
    assert _per_step(eager, "linear", "mm") == [5, 15]
    assert _per_step(compiled, "linear", "mm") == [0, 15]
    kernels = " ".join(_generated(compiled))
    assert "native_layer_norm_backward" in kernels
    assert "gelu_backward" in kernels
    assert eager["Optimizer.step#AdamW.step"] == N_STEPS


def test_test_knows_every_workload():
    assert set(HOST) == {entry.name for entry in CATALOG}
