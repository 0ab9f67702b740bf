"""Bounds for CI."""

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tracetui.compare.comparison import comparison
from tracetui.compare.gates import METRICS, gate, gate_result
from tracetui.errors import UsageError


@pytest.fixture(scope="module")
def slower():
    """Return a comparison whose device time rises from 9.000 to 9.900 us, 10 %."""
    return comparison(
        steps_of(*[[op("aten::mm", ("gemm", 9_000))]] * 4),
        steps_of(*[[op("aten::mm", ("gemm", 9_900))]] * 4),
    )


@pytest.mark.parametrize(
    ("text", "is_broken"),
    [
        ("gpu_us > +5%", True),
        ("gpu_us > 5%", True),
        ("gpu_us > +10.1%", False),
        ("gpu_us < -5%", False),
        ("gpu_us > +0.5us", True),
        ("gpu_us > +900 ns", False),
        ("gpu_us >= +900 ns", True),
        ("gpu_us > 9.5", True),
        ("gpu_us > 9.9", False),
        ("gpu_us>+0.0008ms", True),
        ("kernels_per_call > 0", True),
        ("kernels_per_call > 1", False),
        ("launches_per_call > +0", False),
        ("wall_us > +2us", False),
        ("host_us <= +0%", True),
        ("compile_tax_us > 0", False),
        ("copies_per_call > 0", False),
    ],
)
def test_bound(slower, text, is_broken):
    assert gate_result(gate(text), slower).is_broken is is_broken


def test_result_says_which_bound_broke_and_by_how_much(slower):
    result = gate_result(gate("gpu_us > +5%"), slower)

    assert result.summary == (
        "gpu_us > +5%: gpu_us 9.000 → 9.900 (+0.900, +10.00 %); +5.00 percentage points against"
        " the bound"
    )


def test_a_count_says_its_margin():
    found = comparison(steps_of(compiled_mlp()), steps_of(mlp()))

    assert gate_result(gate("kernels_per_call > 4"), found).summary == (
        "kernels_per_call > 4: kernels_per_call 4 → 5 (+1, +25.00 %); +1 against the bound"
    )


@pytest.mark.parametrize(
    "text",
    ["", "gpu_us", "gpu_us > ", "gpu_us > fast", "> 5", "gpu_us == 5", "gpu > 5", "gpu_us > 5 mb"],
)
def test_what_is_no_bound_is_an_error(text):
    with pytest.raises(UsageError, match="--fail-if"):
        gate(text)


def test_a_count_has_no_unit_of_time():
    with pytest.raises(UsageError, match="kernels_per_call is no time"):
        gate("kernels_per_call > +2us")


@pytest.mark.parametrize("metric", ["gpu_us", "unprofiled_us", "kernels_per_call", "peak_bytes"])
def test_what_was_not_measured_never_passes_in_silence(metric):
    on_host = comparison(steps_of([op("aten::mm")]), steps_of([op("aten::mm")]))

    with pytest.raises(UsageError, match=f"{metric} was not measured on both sides"):
        gate_result(gate(f"{metric} > 0"), on_host)


def test_growth_from_nothing_is_beyond_any_share():
    found = comparison(steps_of(mlp()), steps_of(compiled_mlp()))

    assert gate_result(gate("compile_tax_us > +1000%"), found).is_broken
    assert set(METRICS) >= {"gpu_us", "host_us", "wall_us", "kernels_per_call"}
