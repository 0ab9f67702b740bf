"""What every rule owes the rest; the cases are taken from the registry."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED
from tests.golden.recordings import SKIPPED_WITHOUT
from tests.healthy import A100, healthy_trace
from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.engine import checked
from tracetui.diagnosis.finding import Rule
from tracetui.diagnosis.rules import RULES
from tracetui.diagnosis.what_if import prediction
from tracetui.errors import TraceTuiError
from tracetui.model.device import DeviceSpec
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "sample_traces").glob("*.json.gz"))
RECORDINGS = sorted((SHARED / "traces").glob("*.json*")) + sorted(
    (SHARED / "torch-oracle").glob("*.pt.trace.json")
)

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def _assert_sound(trace: Trace, rule: Rule) -> None:
    result = checked(trace, (rule,))
    assert not [each for each in result.abstained if each.reason.startswith("failed")]
    for found in result.found:
        assert found.rule == rule.name
        for text in (found.summary, found.change):
            assert len(text.split()) >= 5, "a whole sentence"
            assert not text.endswith((".", ",", " ")), "the screen ends the sentence"
            assert "None" not in text
            assert "nan" not in text.split()
        assert found.change[0].isupper()
        assert any(letter.isdigit() for letter in found.summary), "a finding has its figure"
        assert len(found.slices), "a finding has evidence"
        assert len(np.unique(found.slices)) == len(found.slices)
        assert found.slices.min() >= 0
        assert found.slices.max() < len(trace.slices)
        assert (np.diff(trace.slices.ts_ns[found.slices]) >= 0).all()
        if found.saving is not None:
            assert found.saving.how
            assert found.gain_ns is not None
            assert (found.saving.saved_ns >= 0).all()
            assert (found.saving.saved_ns <= found.saving.end_ns - found.saving.start_ns).all()


@each_rule
def test_a_healthy_trace_gives_none(rule: Rule):
    assert not checked(healthy_trace(), (rule,)).found


@each_rule
def test_thresholds_are_fields_of_a_frozen_value(rule: Rule):
    assert {"name", "about", "needs"} <= {field.name for field in fields(rule)}  # type: ignore[arg-type] # every rule is a dataclass
    with pytest.raises(FrozenInstanceError):
        rule.name = "other"  # type: ignore[misc] # that it cannot be set is what is tested


@each_rule
def test_the_readme_names_it(rule: Rule):
    text = (ROOT / "README.md").read_text()
    assert f"| `{rule.name}` | {rule.about} |" in text


def test_names_are_different():
    assert len({rule.name for rule in RULES}) == len(RULES)


@each_rule
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_on_the_samples_it_is_sound(rule: Rule, path: Path):
    _assert_sound(read_trace(path, use_cache=False), rule)


@SKIPPED_WITHOUT
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_on_real_recordings_all_are_sound(path: Path):
    trace = read_trace(path, use_cache=False)
    for rule in RULES:
        _assert_sound(trace, rule)


_OPERATORS = (
    "aten::masked_fill", "aten::masked_fill_", "aten::clone", "aten::copy_", "aten::bmm", "aten::mm",
    "aten::addmm", "aten::_softmax", "aten::gelu", "aten::mul", "aten::add", "aten::tril", "aten::item",
    "aten::_scaled_dot_product_attention_math", "Torch-Compiled Region: 0/0",
    "## Call CompiledFxGraph fa ##", "_compile.compile_inner (dynamo_timed)",
    "autograd::engine::evaluate_function: MulBackward0",
)  # fmt: skip
_ANNOTATIONS = (
    "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3", "Optimizer.step#SGD.step",
    "Optimizer.zero_grad#SGD.zero_grad",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
)  # fmt: skip
_CALLS = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize")
_KERNELS = (
    "ampere_sgemm_128x64_nn", "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>",
    "softmax_warp_forward", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "nchwToNhwcKernel",
    "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align1",
)  # fmt: skip
_COPIES = ("Memcpy DtoD (Device -> Device)", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)")
_SHAPES = (
    "[[64,64],[64,64]]",
    "[[8,64,64],[8,64,64]]",
    "[[8,64,64],[],[]]",
    "[[],[3]]",
    "[]",
    "[[0,4]]",
)


@st.composite
def _troubled_rows(draw: Any) -> list[Row]:
    """Return rows that rules look at, thrown together: they cross, repeat and have no length."""
    span = st.tuples(st.integers(0, 3_000), st.integers(0, 500))
    rows = []
    for _ in range(draw(st.integers(0, 12))):
        start, length = draw(span)
        if draw(st.booleans()):
            shape = draw(st.sampled_from((None, *_SHAPES)))
            rows.append(Row(draw(st.sampled_from(_OPERATORS)), start, length, shape=shape))
        else:
            rows.append(annotation(draw(st.sampled_from(_ANNOTATIONS)), start, length))
    for number in range(draw(st.integers(0, 12))):
        start, length = draw(span)
        rows.append(launch(start, length, number, name=draw(st.sampled_from(_CALLS))))
    for number in range(draw(st.integers(0, 12))):
        start, length = draw(span)
        stream = draw(st.sampled_from((7, 20)))
        if draw(st.booleans()):
            rows.append(
                kernel(draw(st.sampled_from(_KERNELS)), start, length, number, stream=stream)
            )
        else:
            name, moved = draw(st.sampled_from(_COPIES)), draw(st.integers(-1, 2**30))
            category = "gpu_memset" if name.startswith("Memset") else "gpu_memcpy"
            copied = Row(name, start, length, category, "0", str(stream), number, n_bytes=moved)
            rows.append(copied)
    return rows


@settings(max_examples=30)
@given(_troubled_rows(), st.sampled_from(((), (A100,))))
def test_on_any_recording_all_are_sound(rows: list[Row], devices: tuple[DeviceSpec, ...]):
    trace = trace_of(*rows, devices=devices)
    for rule in RULES:
        _assert_sound(trace, rule)
    found = checked(trace, RULES).found
    then = prediction(trace, found)
    assert 0 <= then.then_ns <= then.now_ns


@SKIPPED_WITHOUT
def test_on_damaged_files_all_are_sound():
    n_read = 0
    for path in sorted((SHARED / "cases").glob("*/input.*")):
        try:
            trace = read_trace(path, use_cache=False)
        except TraceTuiError:
            continue
        n_read += 1
        for rule in RULES:
            _assert_sound(trace, rule)
    assert n_read > 40
