"""What kernels' names say, from names of real recordings and the libraries' own schemes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.kernel_names import KernelName, decode, fused_operators

AMPERE = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


def said(name: str, *fields: str) -> tuple[object, ...]:
    """Return some of the fields that a name decodes to."""
    decoded = decode(name)
    return tuple(getattr(decoded, field) for field in fields)


def test_cublas_name_gives_every_part():
    decoded = decode(AMPERE)

    assert (decoded.origin, decoded.arch, decoded.kind) == ("cublas", "sm80", "gemm")
    assert (decoded.dtype_in, decoded.dtype_acc, decoded.mma) == ("bf16", "fp32", "16x8x16")
    assert (decoded.tile, decoded.tile_k, decoded.stages) == ("128x128", 32, "32x5")
    assert (decoded.layout, decoded.alignment, decoded.tensor_cores) == ("tn", 8, "yes")


@pytest.mark.parametrize(
    ("joined", "operators"),
    [
        ("_unsafe_view_gelu_mul", ("_unsafe_view", "gelu", "mul")),
        ("gelu_gelu_backward_view", ("gelu", "gelu_backward", "view")),
        ("", ()),
    ],
)
def test_fused_list_is_split_into_operators(joined, operators):
    assert fused_operators(joined) == operators


@given(st.text(max_size=80))
def test_any_text_is_decoded(name):
    assert isinstance(decode(name), KernelName)
