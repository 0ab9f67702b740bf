"""Names made comparable."""

import pytest

from tracetui.compare.words import (
    is_attention,
    is_metadata,
    is_one_operator,
    operator_word,
    stable_name,
    tensor_sizes,
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 3/1"),
        ("## Call CompiledFxGraph fvgl ##", "## Call CompiledFxGraph fqpx ##"),
        ("graph_0_cpp_fused_gelu_mul_0", "graph_12_cpp_fused_gelu_mul_4"),
        ("triton_poi_fused_gelu_0", "triton_poi_fused_gelu_17"),
        ("Memset (Device)", "Memset (Unknown)"),
        ("<built-in method at 0x7f00aa>", "<built-in method at 0x1234>"),
    ],
)
def test_what_changes_from_run_to_run_is_left_out(first, second):
    assert stable_name(first) == stable_name(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("triton_poi_fused_gelu_0", "triton_poi_fused_gelu_mul_0"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x32_nn"),
        ("aten::mm", "aten::bmm"),
    ],
)
def test_what_tells_stays(first, second):
    assert stable_name(first) != stable_name(second)


@pytest.mark.parametrize(
    ("name", "word"),
    [("aten::add_", "add"), ("aten::_softmax", "softmax"), ("aten::bmm", "mm"), ("gelu", "gelu")],
)
def test_sort_of_work(name, word):
    assert operator_word(name) == word


def test_kinds_of_names():
    assert is_metadata("aten::transpose")
    assert not is_metadata("aten::mm")
    assert is_attention("pytorch_flash::flash_fwd_kernel")
    assert not is_attention("aten::mm")
    assert is_one_operator("aten::mm")
    assert not is_one_operator("Torch-Compiled Region: 0/0")


def test_sizes_of_tensors():
    assert tensor_sizes("[[2,4,128,32],[],[8,16]]") == {32_768, 128}
    assert tensor_sizes("[[],[]]") == frozenset()
    assert tensor_sizes("") == frozenset()
