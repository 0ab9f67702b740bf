"""FLOP of whole recordings against torch's own counter, and occupancy against the files' own."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.golden.recordings import SKIPPED_WITHOUT
from tracetui.analysis.cost import Inputs, cost_of, operator_costs
from tracetui.analysis.occupancy import kernel_occupancy
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
ORACLES = sorted((SHARED / "torch-oracle").glob("*.oracle.json")) if SHARED.is_dir() else []
RECORDINGS = sorted((SHARED / "traces").glob("*.json*")) if SHARED.is_dir() else []

_SAME_WORK = {
    "aten.convolution": ("aten::convolution", "aten::mkldnn_convolution"),
    "aten.convolution_backward": ("aten::convolution_backward",),
}
"""Torch counts what is called from Python; the recording goes on to the library below."""


def _flop_by_name(trace: Trace) -> Counter[str]:
    costs = operator_costs(trace)
    found: Counter[str] = Counter()
    for row in np.flatnonzero(costs.is_counted).tolist():
        found[trace.name_of(row)] += int(costs.flop[row])
    return found


def _counted_by_torch(oracle: Path) -> dict[str, Any]:
    values = json.loads(oracle.read_text())["values"]
    return dict(values.get("flop_counter", {}).get("by_op", {}))


@SKIPPED_WITHOUT
@pytest.mark.parametrize("oracle", ORACLES, ids=lambda path: path.name)
def test_flop_are_those_that_torch_counts(oracle: Path):
    expected = _counted_by_torch(oracle)
    if not expected:
        pytest.skip("torch counted no FLOP in this recording")
    trace = read_trace(
        oracle.with_name(oracle.name.replace(".oracle.", ".pt.trace.")), use_cache=False
    )
    found = _flop_by_name(trace)
    n_runs = _n_runs(trace)
    for name, flop in expected.items():
        if name == "aten.convolution_backward":
            continue
        ours = _SAME_WORK.get(name, (name.replace("aten.", "aten::"),))
        assert sum(found[each] for each in ours) == n_runs * flop, name


def _n_runs(trace: Trace) -> int:
    """Return how many steps were recorded: torch counted one."""
    names = {
        trace.name_of(row)
        for row in np.flatnonzero(trace.slices.kind == SliceKind.ANNOTATION).tolist()
        for row in np.flatnonzero(trace.slices.kind == SliceKind.ANNOTATION).tolist()
    }
    return max(sum(name.startswith("ProfilerStep#") for name in names), 1)


@SKIPPED_WITHOUT
def test_a_grouped_weight_gradient_is_not_multiplied_by_its_groups():
    """The first convolution's weight alone, both gradients of the second, which has two groups.

    7 077 888 + 2 x 9 437 184; torch adds another 9 437 184, the weight's gradient a second time.
    """
    oracle = SHARED / "torch-oracle" / "cnn_train_memory.oracle.json"
    trace = read_trace(oracle.with_name("cnn_train_memory.pt.trace.json"), use_cache=False)

    ours = _flop_by_name(trace)["aten::convolution_backward"]

    assert ours == 7_077_888 + 2 * 9_437_184
    assert _counted_by_torch(oracle)["aten.convolution_backward"] == ours + 9_437_184


@SKIPPED_WITHOUT
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_every_reported_occupancy_is_ours_or_a_zero_where_warps_fit(recording: Path):
    found = kernel_occupancy(read_trace(recording, use_cache=False)).agreement()

    print(f"{recording.name}: {found}")  # noqa: T201 - pytest -s shows how far they agree
    assert found.n_agreeing + found.n_zero == found.n_comparable


def test_a_sample_s_flop_by_hand():
    """Three forwards of a gated MLP: 128 x 96 by 96 x 256 twice, 128 x 256 by 256 x 96 once."""
    trace = read_trace(SAMPLES / "mlp_eager.json.gz", use_cache=False)

    found = _flop_by_name(trace)

    assert found["aten::mm"] == 3 * 3 * 2 * 128 * 96 * 256
    assert found["aten::mul"] == 3 * 128 * 256


@pytest.mark.parametrize("name", ["attention_naive", "attention_sdpa"])
def test_causal_attention_costs_half_where_the_kernel_skips_it(name: str):
    """2 x 4 heads of 128 x 128 over 32: 4 BHNNd whole by two products, half inside one kernel."""
    trace = read_trace(SAMPLES / f"{name}.json.gz", use_cache=False)

    found = _flop_by_name(trace)

    whole = 3 * 4 * 2 * 4 * 128 * 128 * 32
    matrix = found["aten::bmm"] + found["aten::_scaled_dot_product_flash_attention_for_cpu"]
    assert matrix == (whole if name == "attention_naive" else whole // 2)


@pytest.mark.torch
def test_closed_forms_are_those_of_the_flop_counter():
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    def counted(call: Any) -> int:
        with FlopCounterMode(display=False) as mode:
            call()
        return int(mode.get_total_flops())

    def shaped(*shapes: list[int], values: list[Any] | None = None) -> Inputs:
        types = ["float" if shape else "" for shape in shapes]
        given = [""] * len(shapes) if values is None else [str(value) for value in values]
        return Inputs(list(shapes), types, given)

    def tensor(*sizes: int) -> Any:
        return torch.empty(sizes, device="meta")

    products = (
        ("aten::mm", [[3, 5], [5, 7]], torch.mm),
        ("aten::addmm", [[7], [3, 5], [5, 7]], torch.addmm),
        ("aten::bmm", [[2, 3, 5], [2, 5, 7]], torch.bmm),
        ("aten::baddbmm", [[2, 3, 7], [2, 3, 5], [2, 5, 7]], torch.baddbmm),
        ("aten::linear", [[4, 3, 5], [7, 5], [7]], torch.nn.functional.linear),
        ("aten::matmul", [[2, 4, 3, 5], [2, 4, 5, 7]], torch.matmul),
    )
    for name, shapes, call in products:
        ours = cost_of(name, shaped(*shapes)).flop
        assert ours == counted(lambda: call(*(tensor(*s) for s in shapes))), name  # noqa: B023

    for groups, transposed, stride in ((1, False, 1), (2, False, 2), (1, True, 2), (4, True, 1)):
        x, weight = (
            tensor(2, 8, 9, 9),
            tensor(*((8, 12 // groups) if transposed else (12, 8 // groups)), 3, 3),
        )
        values = [
            "",
            "",
            "",
            f"[{stride}, {stride}]",
            "[1, 1]",
            "[1, 1]",
            transposed,
            "[0, 0]",
            groups,
        ]
        given = shaped(list(x.shape), list(weight.shape), *[[]] * 7, values=values)
        ours = cost_of("aten::convolution", given).flop
        arguments = (x, weight, None, [stride] * 2, [1, 1], [1, 1], transposed, [0, 0], groups)
        assert ours == counted(lambda: torch.convolution(*arguments)), (groups, transposed)  # noqa: B023

    forward = torch.ops.aten._scaled_dot_product_flash_attention
    q, k = tensor(2, 3, 16, 8), tensor(2, 3, 20, 8)
    shapes = [list(q.shape), list(k.shape), list(k.shape), [], [], []]
    ours = cost_of(
        "aten::_scaled_dot_product_flash_attention",
        shaped(*shapes, values=["", "", "", "0.", "False", "False"]),
    ).flop
    assert ours == counted(lambda: forward(q.half(), k.half(), k.half()))


@pytest.mark.torch
def test_gradients_are_those_of_the_flop_counter():
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import (
        conv_flop_count,
        sdpa_backward_flop_count,
    )

    assert torch.__version__
    q, k, v = (2, 3, 16, 8), (2, 3, 20, 8), (2, 3, 20, 12)
    gradient = (2, 3, 16, 12)
    shapes = [list(gradient), list(q), list(k), list(v), list(gradient), [2, 3, 16], *[[]] * 9]
    given = Inputs(
        shapes,
        ["float"] * 6 + [""] * 9,
        [*[""] * 8, "16", "20", "0.", "False", "", "", ""],
    )
    ours = cost_of("aten::_scaled_dot_product_flash_attention_backward", given).flop
    assert ours == sdpa_backward_flop_count(gradient, q, k, v)

    x, weight, out = [2, 8, 9, 9], [12, 8, 3, 3], [2, 12, 7, 7]
    values = ["", "", "", "[12]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"]
    one = conv_flop_count(x, weight, out)
    for mask, n_gradients in (("[True, True, True]", 2), ("[False, True, False]", 1)):
        given = Inputs([out, x, weight, *[[]] * 8], ["float"] * 3 + [""] * 8, [*values, mask])
        assert cost_of("aten::convolution_backward", given).flop == n_gradients * one
