"""What a kernel's name says, as a person reads it."""

import pytest

from tests.literal import kernel, trace_of
from tracetui.analysis.kernel_names import decode
from tracetui.presentation.details import detail_lines
from tracetui.presentation.kernel_names import name_facts

GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        (
            GEMM,
            (
                "cublas · sm80 · bf16 in, fp32 acc · tensor cores yes · instruction 16x8x16"
                " · tile 128x128 · stages 32x5 · layout tn"
            ),
        ),
        (
            "triton_poi_fused__unsafe_view_gelu_mul_0",
            "inductor-triton · pointwise · fuses _unsafe_view, gelu, mul",
        ),
        (
            "nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT",
            (
                "nvjet · sm100 · bf16 in, fp32 acc · tensor cores yes · tile 64x16 · stages 64x16"
                " · layout tn · cluster 2x4 · split k"
            ),
        ),
        ("Memcpy DtoD (Device -> Device)", ""),
        ("my_kernel", ""),
    ],
)
def test_the_line_says_what_the_name_says_and_no_more(name, facts):
    assert name_facts(decode(name)) == facts


def test_details_of_a_kernel_say_what_its_name_says_and_of_another_nothing():
    trace = trace_of(("ampere_sgemm_128x64_tn", 0, 50), kernel("ampere_sgemm_128x64_tn", 100, 20))
    says = "says      cublas · sm80 · fp32 in, fp32 acc · tensor cores no · tile 128x64 · layout tn"

    assert says in detail_lines(trace, 1)
    assert not any(line.startswith("says") for line in detail_lines(trace, 0))
