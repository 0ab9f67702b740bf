import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.rules.unfused_chain import UnfusedChain

_US = 1_000
_X = "[8192,3072]"
_BF16 = '["c10::BFloat16","c10::BFloat16"]'
_POINTWISE = "void at::native::vectorized_elementwise_kernel<4, {}, at::detail::Array<char*, 2>>"


def _mlp(second: str = "aten::mul", second_shape: str = f"[{_X},{_X}]", *, between: bool = False):
    """The known MLP: gelu of 93 us and mul of 92, then a product of 170."""
    rows = [
        Row("aten::gelu", 0, 10_000, shape=f"[{_X},[]]", types='["c10::BFloat16",""]'),
        launch(1_000, 2_000, 1),
        kernel(_POINTWISE.format("GeluCUDAKernelImpl"), 50 * _US, 93 * _US, 1),
        Row(second, 10_000, 10_000, shape=second_shape, types=_BF16),
        launch(11_000, 2_000, 2),
        kernel(_POINTWISE.format("MulFunctor<float>"), 150 * _US, 92 * _US, 2),
        Row("aten::mm", 20_000, 10_000, shape="[[8192,3072],[3072,768]]", types=_BF16),
        launch(21_000, 2_000, 3),
        kernel("ampere_bf16_s16816gemm_bf16_128x256_tn", 250 * _US, 170 * _US, 3),
    ]
    if between:
        rows.append(kernel("softmax_warp_forward", 145 * _US, 2 * _US))
    return trace_of(*rows)


def test_gelu_and_mul_could_be_one_kernel():
    trace = _mlp()
    (found,) = UnfusedChain().check(trace)

    # gelu reads one and writes one, mul reads two and writes one: 5 tensors of 8192 x 3072. One
    # kernel would read two and write one. So two fifths go: 37.2 + 36.8 us; 96 MiB of bf16.
    assert found.summary == (
        "gelu + mul could be one kernel: once they run one after the other over the same elements,"
        " for 185.00 µs, 52.1 % of device time; one would save 96.0 MiB of traffic each time"
    )
    assert found.gain_ns == 74_000
    assert "torch.compile" in found.change
    assert len(found.slices) == 2


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(_mlp("aten::mul", f"[{_X},[3072]]"), id="the second may read something else"),
        pytest.param(_mlp("aten::mul", "[[64,64],[64,64]]"), id="other elements"),
        pytest.param(_mlp(between=True), id="another kernel between"),
        pytest.param(_mlp("aten::mm", "[[8192,3072],[3072,3072]]"), id="a product follows"),
    ],
)
def test_where_they_do_not_follow_there_is_no_chain(trace):
    assert not list(UnfusedChain().check(trace))


def test_kernels_too_short_to_be_bound_by_memory_are_left_out():
    trace = trace_of(
        *(
            row
            for turn in range(10)
            for row in (
                Row("aten::gelu", turn * 10_000, 1_000, shape="[[64,64],[]]"),
                launch(turn * 10_000 + 100, 100, 2 * turn + 1),
                kernel(_POINTWISE.format("Gelu"), turn * 10_000 + 1_000, 1_000, 2 * turn + 1),
                Row("aten::mul", turn * 10_000 + 1_000, 1_000, shape="[[64,64],[64,64]]"),
                launch(turn * 10_000 + 1_100, 100, 2 * turn + 2),
                kernel(_POINTWISE.format("Mul"), turn * 10_000 + 2_500, 1_000, 2 * turn + 2),
            )
        )
    )
    assert not list(UnfusedChain().check(trace))


def test_a_backward_pass_is_left_alone():
    rows: list[Row | tuple[str, int, int]] = [
        ("autograd::engine::evaluate_function: MulBackward0", 0, 30_000),
        Row("aten::mul", 1_000, 5_000, shape=f"[{_X},{_X}]"),
        launch(2_000, 1_000, 1),
        kernel(_POINTWISE.format("Mul"), 50 * _US, 93 * _US, 1),
        Row("aten::mul", 10_000, 5_000, shape=f"[{_X},{_X}]"),
        launch(11_000, 1_000, 2),
        kernel(_POINTWISE.format("Mul"), 150 * _US, 92 * _US, 2),
    ]
    assert not list(UnfusedChain().check(trace_of(*rows)))


def _on_host(*, between_us: int = 1):
    """gelu of 400 us and mul of 600, then a product of 1,000; a view in between."""
    return trace_of(
        Row("aten::gelu", 0, 400 * _US, shape=f"[{_X},[]]", types='["float",""]'),
        Row("aten::view", 400 * _US, between_us * _US, shape=f"[{_X},[]]"),
        Row("aten::mul", 650 * _US, 600 * _US, shape=f"[{_X},{_X}]", types='["float","float"]'),
        Row("aten::mm", 1_250 * _US, 750 * _US, shape="[[8192,3072],[3072,768]]"),
    )


def test_without_a_device_the_operators_themselves_are_the_chain():
    trace = _on_host()
    (found,) = UnfusedChain().check(trace)

    # Two fifths of 1,000 us; 2 x 96 MiB of fp32.
    assert found.summary == (
        "gelu + mul could be one kernel: once they run one after the other over the same elements,"
        " for 1.000 ms, 50.0 % of the recording; one would save 192.0 MiB of traffic each time"
    )
    assert found.gain_ns == 400 * _US
    assert [trace.name_of(each) for each in found.slices] == ["aten::gelu", "aten::mul"]


def test_without_a_device_work_in_between_ends_the_chain():
    assert not list(UnfusedChain().check(_on_host(between_us=200)))


def _gated(second: str = "aten::mul", *, n_between: int = 1):
    """The known MLP as it is written: gelu(gate(x)) * up(x); gelu 93 us, mul 92, up 190."""
    rows = [
        Row("aten::gelu", 0, 10_000, shape=f"[{_X},[]]", types='["c10::BFloat16",""]'),
        launch(1_000, 2_000, 1),
        kernel(_POINTWISE.format("GeluCUDAKernelImpl"), 100 * _US, 93 * _US, 1),
    ]
    for turn in range(n_between):
        t = 10_000 + turn * 10_000
        rows += [
            Row("aten::mm", t, 10_000, shape="[[8192,768],[768,3072]]", types=_BF16),
            launch(t + 1_000, 2_000, 10 + turn),
            kernel(_GEMM, (200 + turn * 190) * _US, 190 * _US, 10 + turn),
        ]
    return trace_of(
        *rows,
        Row(second, 60_000, 10_000, shape=f"[{_X},{_X}]", types=_BF16),
        launch(61_000, 2_000, 2),
        kernel(_POINTWISE.format("MulFunctor<float>"), 1_000 * _US, 92 * _US, 2),
    )


_GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


def test_a_gate_reaches_over_the_product_that_it_multiplies():
    (found,) = UnfusedChain().check(_gated())

    # 185 of 375 us; two fifths of the traffic, as above.
    assert found.summary.startswith("gelu + mul could be one kernel: once")
    assert "185.00 µs, 49.3 % of device time" in found.summary
    assert found.gain_ns == 74_000


def test_only_an_activation_and_one_product_make_a_gate():
    assert not list(UnfusedChain().check(_gated("aten::add")))
    assert not list(UnfusedChain().check(_gated(n_between=3)))


def test_a_gate_on_the_host():
    trace = trace_of(
        Row("aten::silu", 0, 400 * _US, shape=f"[{_X}]", types='["float"]'),
        Row("aten::linear", 400 * _US, 900 * _US, shape="[[8192,768],[3072,768],[]]"),
        Row("aten::mm", 410 * _US, 880 * _US, shape="[[8192,768],[768,3072]]"),
        Row("aten::mul", 1_300 * _US, 600 * _US, shape=f"[{_X},{_X}]", types='["float","float"]'),
    )
    (found,) = UnfusedChain().check(trace)

    assert found.gain_ns == 400 * _US


def _loop(*names: str, n_turns: int, steps: bool = False):
    """Turns of operators of 100 us each, over the same elements, and nothing between them."""
    turn_us = 100 * len(names)
    rows = [
        Row(name, (turn * turn_us + at * 100) * _US, 100 * _US, shape="[[512,512]]")
        for turn in range(n_turns)
        for at, name in enumerate(names)
    ]
    if steps:
        rows += [
            annotation(f"ProfilerStep#{turn}", turn * turn_us * _US, turn_us * _US)
            for turn in range(n_turns)
        ]
    return trace_of(*rows)


def test_a_step_does_not_read_on_what_the_one_before_wrote():
    (found,) = UnfusedChain().check(_loop("aten::cos", "aten::exp", n_turns=2, steps=True))
    assert found.summary.startswith("cos + exp could be one kernel: 2 times they run")


def test_a_loop_over_the_same_operators_is_one_chain_for_each_turn():
    (found,) = UnfusedChain().check(_loop("aten::cos", "aten::exp", n_turns=5))

    assert found.summary.startswith("cos + exp could be one kernel: 5 times they run")
    # Of each two reads and two writes go a write and a read: half of 5 x 200 us.
    assert found.gain_ns == 500 * _US


def test_one_operator_again_and_again_is_a_loop_and_no_chain():
    assert not list(UnfusedChain().check(_loop("aten::exp", n_turns=6)))
    (found,) = UnfusedChain().check(_loop("aten::exp", n_turns=2))
    assert found.summary.startswith("exp + exp could be one kernel: once")
