"""The findings that published captures of one GPU are known to call for, from traces that show them.

Figures are those of the captures: an A100, bf16. A trace has a few forwards, each an annotation,
launched well before the device comes to it.
"""

from tests.healthy import A100
from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.engine import findings
from tracetui.model.trace import Trace

_US = 1_000
_N_FORWARDS = 4
_TN_128 = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
_TN_256 = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"
_NN = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"
_SGEMM = "ampere_sgemm_128x64_nn"
_ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{}, std::array<char*, 2ul>>"
)
_SOFTMAX = (
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 12>"
)
_COPY = "Memcpy DtoD (Device -> Device)"
_X = "[64,128,3072]"
_S = "[4,16,4096,4096]"
_HEAD = '["c10::BFloat16","c10::BFloat16"]'
_ONE = '["c10::BFloat16",""]'

Step = tuple[str, str, str, str, int]
"""An operator, its shapes and types, its kernel and how many microseconds that takes."""


def _forwards(name: str, *steps: Step, around: tuple[str, int, int] | None = None) -> Trace:
    """Return forwards of these steps; ``around`` is an operator that encloses a range of them."""
    rows, device_ns, number = [], 2_000 * _US, 0
    host_ns = 0
    for _ in range(_N_FORWARDS):
        length = (len(steps) * 10 + 10) * _US
        rows.append(annotation(name, host_ns, length))
        if around is not None:
            operator, first, last = around
            start_ns = host_ns + (5 + first * 10) * _US - 500
            rows.append(Row(operator, start_ns, (last - first) * 10 * _US))
        for place, (operator, shape, types, work, us) in enumerate(steps):
            number += 1
            t = host_ns + (5 + place * 10) * _US
            outer = operator.split(">")
            rows += [
                Row(each, t + 200 * deep, 9_000 - 400 * deep, shape=shape, types=types)
                for deep, each in enumerate(outer)
            ]
            rows.append(launch(t + 2_000, 2_000, number))
            rows.append(_work(work, device_ns, us * _US, number))
            device_ns += us * _US + 1_000
        host_ns += length
    return trace_of(*rows, devices=[A100])


def _work(name: str, start_ns: int, dur_ns: int, number: int) -> Row:
    if name == _COPY:
        return Row(name, start_ns, dur_ns, "gpu_memcpy", "0", "7", number, n_bytes=32 * 2**20)
    return kernel(name, start_ns, dur_ns, number)


_UP: Step = ("aten::mm", "[[8192,768],[768,3072]]", _HEAD, _TN_128, 190)
_DOWN: Step = ("aten::mm", "[[8192,3072],[3072,768]]", _HEAD, _TN_256, 170)
_GELU: Step = ("aten::gelu", f"[{_X},[]]", _ONE, _ELEMENTWISE.format("GeluCUDAKernelImpl"), 93)
_MUL: Step = ("aten::mul", f"[{_X},{_X}]", _HEAD, _ELEMENTWISE.format("MulFunctor<float>"), 92)
_FUSED: Step = (
    "triton_poi_fused__unsafe_view_gelu_mul_0", f"[{_X},{_X}]", _HEAD,
    "triton_poi_fused__unsafe_view_gelu_mul_0", 89,
)  # fmt: skip
_QK: Step = ("aten::bmm", "[[64,4096,64],[64,64,4096]]", _HEAD, _TN_128, 300)
_DIV: Step = ("aten::div", f"[{_S},[]]", _ONE, _ELEMENTWISE.format("MulFunctor<float>"), 400)
_FILL: Step = (
    "aten::masked_fill_", f"[{_S},[4096,4096],[]]", _HEAD,
    "void at::native::elementwise_kernel<128, 4, masked_fill_kernel>", 450,
)  # fmt: skip
_HIDDEN: Step = (
    "aten::clone>aten::copy_", f"[{_S},[]]", _ONE, _COPY, 440,
)  # fmt: skip
_PV: Step = ("aten::bmm", "[[64,4096,4096],[64,4096,64]]", _HEAD, _NN, 280)
_SOFT: Step = ("aten::_softmax", f"[{_S},[],[]]", '["c10::BFloat16","",""]', _SOFTMAX, 500)
_FLASH: Step = (
    "aten::scaled_dot_product_attention>aten::_scaled_dot_product_flash_attention",
    "[[4,16,4096,64],[4,16,4096,64],[4,16,4096,64],[],[],[],[]]", _HEAD,
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>, true>", 147,
)  # fmt: skip


def _rules(trace: Trace) -> dict[str, str]:
    result = findings(trace)
    assert not [each for each in result.abstained if each.reason.startswith("failed")]
    return {each.rule: each.summary for each in result.found}


def test_the_eager_gated_mlp_wants_gelu_and_mul_as_one_kernel():
    trace = _forwards("mlp_fwd", _UP, _GELU, _UP, _MUL, _DOWN)
    (found,) = findings(trace).found

    assert found.rule == "unfused-chain"
    # The intermediate of 64 x 128 x 3072 bf16 is 48 MiB: not written and not read again.
    assert found.summary == (
        "gelu + mul could be one kernel: 4 times they run one after the other over the same"
        " elements, for 740.00 µs, 25.2 % of device time; one would save 96.0 MiB of traffic each"
        " time"
    )
    # In truth 96 us a forward went; two fifths of 185 are what memory traffic alone explains.
    assert found.gain_ns == 4 * 74 * _US


def test_the_compiled_mlp_wants_nothing():
    assert _rules(_forwards("mlp_fwd", _UP, _UP, _FUSED, _DOWN)) == {}


def test_naive_attention_has_a_hidden_copy_and_is_written_out():
    out_of_place = ("aten::masked_fill", 2, 4)
    steps = (_QK, _DIV, _HIDDEN, _FILL, _SOFT, _PV)
    found = _rules(_forwards("attn_fwd", *steps, around=out_of_place))

    assert set(found) == {"hidden-copy", "written-out-attention"}
    # 440 of 2,370 us.
    assert "4 copies of 32.0 MiB took 1.760 ms, 18.6 % of device time" in found["hidden-copy"]
    # The scores of 4 x 16 heads: 4096 x 4096 x 2 bytes each are 2 GiB.
    assert found["written-out-attention"].endswith("its scores take 2.0 GiB")


def test_in_place_the_copy_is_gone():
    assert set(_rules(_forwards("attn_fwd", _QK, _DIV, _FILL, _SOFT, _PV))) == {
        "written-out-attention"
    }


def test_a_fused_attention_wants_nothing():
    assert _rules(_forwards("attn_fwd", _FLASH)) == {}


def test_the_math_backend_is_named_and_its_products_have_left_the_tensor_cores():
    steps = [
        ("aten::bmm", "[[64,4096,64],[64,64,4096]]", '["float","float"]', _SGEMM, 2_500),
        ("aten::add_", f"[{_S},{_S},[]]", '["float","float",""]', "elementwise_kernel<add>", 700),
        ("aten::_safe_softmax", f"[{_S},[],[]]", '["float","",""]', _SOFTMAX, 1_400),
        ("aten::bmm", "[[64,4096,4096],[64,4096,64]]", '["float","float"]', _SGEMM, 2_600),
    ]
    math = ("aten::_scaled_dot_product_attention_math", 0, 4)
    found = _rules(_forwards("attn_fwd", *steps, around=math))

    assert set(found) == {"math-attention", "tensor-cores-lost"}
    assert "4 calls of 4 kernels took 28.800 ms, 100.0 % of device time" in found["math-attention"]
    # 5.1 of 7.2 ms.
    assert "8 products in fp32" in found["tensor-cores-lost"]
    assert "20.400 ms, 70.8 % of device time" in found["tensor-cores-lost"]


def test_compiled_matmul_and_add_copies_its_addend():
    found = _rules(_addmm_forwards())
    assert set(found) == {"bias-copy"}
    assert "4 copies of 32.0 MiB took 132.00 µs, 5.4 % of device time" in found["bias-copy"]


def _addmm_forwards() -> Trace:
    """Return forwards of one addmm each, which copies 33 us and then multiplies 580 us."""
    rows, device_ns = [], 2_000 * _US
    for turn in range(_N_FORWARDS):
        t = turn * 50 * _US
        rows += [
            annotation("matmul_add_fwd", t, 40 * _US),
            Row("aten::addmm", t + 1_000, 30 * _US, shape="[[4096,4096],[4096,4096],[4096,4096]]"),
            launch(t + 5_000, 2_000, 2 * turn + 1, name="cudaMemcpyAsync"),
            _work(_COPY, device_ns, 33 * _US, 2 * turn + 1),
            launch(t + 12_000, 2_000, 2 * turn + 2),
            _work(_NN, device_ns + 34 * _US, 580 * _US, 2 * turn + 2),
        ]
        device_ns += 615 * _US
    return trace_of(*rows, devices=[A100])


def test_a_small_product_is_overhead_bound_and_its_first_step_cold():
    """Size 64: 0.3, 0.1, 0.1 and 0.1 ms a step, and two kernels of 3 us in each."""
    rows, start, number = [], 0, 0
    for step, wall_us in enumerate((330, 100, 100, 100)):
        t = start * _US
        rows.append(annotation(f"ProfilerStep#{step + 2}", t, wall_us * _US))
        for turn, at in enumerate((wall_us - 60, wall_us - 30)):
            number += 1
            name = "aten::mm" if turn == 0 else "aten::add"
            rows += [
                Row(name, t + at * _US, 20 * _US, shape="[[64,64],[64,64]]", types=_HEAD),
                launch(t + (at + 10) * _US, 5 * _US, number),
                kernel("small", t + (at + 16) * _US, 3 * _US, number),
            ]
        start += wall_us
    assert set(_rules(trace_of(*rows, devices=[A100]))) == {"overhead-bound", "cold-step"}


def test_a_product_whose_mean_misleads():
    """Size 4096, 20 runs: typically 580 us, on average 1,084."""
    runs = [580] * 16 + [3_100] * 4
    steps = [("aten::mm", "[[4096,4096],[4096,4096]]", _HEAD, _NN, us) for us in runs]
    rows, device_ns = [], 2_000 * _US
    for number, (operator, shape, types, work, us) in enumerate(steps, start=1):
        rows += [
            Row(operator, number * 20 * _US, 10 * _US, shape=shape, types=types),
            launch(number * 20 * _US + 2_000, 2_000, number),
            kernel(work, device_ns, us * _US, number),
        ]
        device_ns += us * _US + 1_000
    found = _rules(trace_of(*rows, devices=[A100]))

    assert set(found) == {"mean-misleads"}
    assert (
        "1.084 ms, where half of its 20 runs on equal shapes take 580.00 µs"
        in (found["mean-misleads"])
    )


def test_one_linear_layer_wants_nothing():
    assert _rules(_forwards("linear_fwd", _UP)) == {}
