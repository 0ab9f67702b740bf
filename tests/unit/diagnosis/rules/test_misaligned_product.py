import pytest

from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.misaligned_product import MisalignedProduct

_US = 1_000
_NARROW = (
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align1>(Params)"
)
_WIDE = (
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align8>(Params)"
)
_BF16 = '["c10::BFloat16","c10::BFloat16"]'


def _product(name: str, n: int):
    return trace_of(
        Row("aten::mm", 0, 10 * _US, shape=f"[[4096,768],[768,{n}]]", types=_BF16),
        launch(1 * _US, 2 * _US, 1),
        kernel(name, 20 * _US, 400 * _US, 1),
        kernel("vectorized_elementwise_kernel", 500 * _US, 600 * _US),
    )


def test_an_odd_vocabulary_loads_narrowly():
    (found,) = MisalignedProduct().check(_product(_NARROW, 50257))

    assert found.summary == (
        "A product of 4096 x 768 x 50257 loads narrowly, for N = 50257 is no multiple of 8:"
        " 400.00 µs, 40.0 % of device time"
    )
    assert found.change.startswith("Pad the dimension")
    assert len(found.slices) == 1


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(_product(_WIDE, 50257), id="loads widely all the same"),
        pytest.param(_product(_NARROW, 50304), id="narrow for another reason"),
        pytest.param(_product("ampere_sgemm_128x64_nn", 50257), id="fp32"),
    ],
)
def test_without_both_the_name_and_the_shape_it_is_silent(trace):
    assert not list(MisalignedProduct().check(trace))
