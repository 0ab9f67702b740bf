from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.math_attention import MathAttention

_MATH = "aten::_scaled_dot_product_attention_math"


def _on_device(operator: str = _MATH, other_ns: int = 500_000):
    """An attention of three kernels, 60 + 30 + 10 us, and other work."""
    return trace_of(
        ("aten::scaled_dot_product_attention", 0, 50_000),
        (operator, 1_000, 48_000),
        ("aten::bmm", 2_000, 10_000),
        launch(3_000, 1_000, 1),
        kernel("ampere_sgemm_128x64_nn", 60_000, 60_000, 1),
        ("aten::_safe_softmax", 15_000, 10_000),
        launch(16_000, 1_000, 2),
        kernel("softmax_warp_forward", 120_000, 30_000, 2),
        ("aten::where", 30_000, 10_000),
        launch(31_000, 1_000, 3),
        kernel("where_kernel_impl", 150_000, 10_000, 3),
        ("aten::mm", 60_000, 10_000),
        launch(61_000, 1_000, 4),
        kernel("gemm", 160_000, other_ns, 4),
    )


def test_the_math_backend_is_named_with_its_kernels_and_its_share():
    trace = _on_device(other_ns=100_000)
    (found,) = MathAttention().check(trace)

    # 100 us of 200; all but the 60 us of the product could go.
    assert found.summary == (
        "scaled_dot_product_attention fell back to its math backend: 1 call of 3 kernels took"
        " 100.00 µs, 50.0 % of device time"
    )
    assert found.gain_ns == 40_000
    assert "sdpa_kernel" in found.change
    assert len(found.slices) == 3


def test_without_a_device_the_products_inside_do_not_count_as_gain():
    trace = trace_of(
        (_MATH, 0, 100), ("aten::bmm", 10, 30), ("aten::bmm", 60, 20), ("aten::mm", 100, 100)
    )
    (found,) = MathAttention().check(trace)

    assert found.gain_ns == 50
    assert "1 call took 100 ns, 50.0 % of the recording" in found.summary


def test_a_fused_backend_is_well():
    assert not list(MathAttention().check(_on_device("aten::_scaled_dot_product_flash_attention")))


def test_a_small_share_is_left_alone():
    assert not list(MathAttention().check(_on_device(other_ns=10_000_000)))


def test_where_no_fused_kernel_exists_none_is_missed():
    shape = "[[2,4,64,32],[2,4,64,32],[2,4,64,32],[],[]]"
    with_dropout = Row(_MATH, 0, 100, shape=shape, values='["","","","","0.1"]')
    without = Row(_MATH, 0, 100, shape=shape, values='["","","","","0.0"]')
    assert not list(MathAttention().check(trace_of(with_dropout)))
    assert list(MathAttention().check(trace_of(without)))

    for types, n_found in (("double", 0), ("float", 1)):
        call = Row(_MATH, 0, 100, shape=shape, types=f'["{types}","{types}","{types}","",""]')
        trace = trace_of(call, launch(10, 10, 1), kernel("gemm", 200, 50, 1))
        assert len(list(MathAttention().check(trace))) == n_found
