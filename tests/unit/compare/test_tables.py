"""Operators and kernels joined by name."""

from tests.unit.compare.recordings import op, steps_of
from tracetui.compare.comparison import comparison


def test_a_name_on_one_side_has_nothing_on_the_other_and_deltas_add_up():
    found = comparison(
        steps_of([op("aten::mm", ("gemm", 20_000)), op("aten::gelu", ("gelu", 6_000))]),
        steps_of([op("aten::mm", ("gemm", 20_000)), op("fused", ("fused_gelu", 4_000))]),
    )

    assert [(row.name, row.baseline_ns, row.candidate_ns) for row in found.kernel_names] == [
        ("gemm", 20_000, 20_000),
        ("gelu", 6_000, None),
        ("fused_gelu", None, 4_000),
    ]
    assert found.gpu is not None
    assert sum(row.delta_ns for row in found.kernel_names) == found.gpu.delta_ns
    operators = {row.name: row for row in found.operators}
    assert operators["aten::mm"].baseline_gpu_ns == operators["aten::mm"].candidate_gpu_ns == 20_000
    assert operators["aten::gelu"].candidate_gpu_ns is None


def test_figures_are_per_step():
    two, four = ([[op("aten::mm", ("gemm", 10_000))]] * n for n in (2, 4))
    (row,) = comparison(steps_of(*two), steps_of(*four)).kernel_names

    assert (row.baseline_ns, row.candidate_ns, row.baseline_calls) == (10_000, 10_000, 1)
    (total,) = comparison(steps_of(*two), steps_of(*four), per="total").kernel_names
    assert (total.baseline_ns, total.candidate_ns) == (20_000, 40_000)
