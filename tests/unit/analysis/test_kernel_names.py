"""What names say: the rules that hold for all of them, and the fused operators of torch.compile."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.kernel_names import (
    INDUCTOR_KINDS,
    KINDS,
    KernelName,
    decode,
    fused_operators,
)

_PIECES = (
    "void ", "at::native::", "elementwise_kernel", "<", ">", "(", ")", ", ", "::", "_", "4", "float",
    "{lambda(", ")#1}", "ReduceOp", "triton_poi_fused", "gelu", "_Z", "N", "E", "I", "S_", "nvjet_tst_",
    "128x256", "Cijk_Alik_Bljk_", "BBS", "_MT1x2x3", "flash_fwd_kernel", "cutlass", "Flash_fwd_kernel_traits",
    "sm80_xmma_gemm_", "bf16f32", "CollectiveMma", "C<1>", "fmha_cutlassF_", "\x1b", "é", "cpp_fused_",
)  # fmt: skip


@given(st.text(max_size=80) | st.lists(st.sampled_from(_PIECES), max_size=24).map("".join))
def test_any_text_is_decoded_to_facts_of_the_known_sorts(name):
    said = decode(name)

    assert isinstance(said, KernelName)
    assert said.name == name
    assert bool(said.short_name) == bool(name)
    assert said.kind in (None, *KINDS)
    assert said.inductor_kind in (None, *INDUCTOR_KINDS)
    assert said.direction in (None, "forward", "backward")
    assert said.tensor_cores in ("yes", "no", "unknown")


def test_a_name_of_no_scheme_says_nothing():
    said = decode("my_kernel_v2")

    assert said == KernelName(
        name="my_kernel_v2", short_name="my_kernel_v2", tokens=("my", "kernel", "v2")
    )


@pytest.mark.parametrize(
    "name",
    [
        "void a::b<" + "c<" * 50_000 + ">" * 50_000 + ">(int)",
        "_ZN" + "1a" * 40_000 + "E",
        "_Z1fI" + "S_" * 20_000 + "E",
        "triton_poi_fused_" + "add_" * 30_000 + "0",
        "triton_poi_fused_" + "_".join(f"op{number}" for number in range(700)) + "_0",
        "cutlass_" + "a_" * 30_000,
        "sm80_xmma_gemm" + "_a1" * 5_000,
        "(" * 100_000,
        "std::enable_if<" * 4_000,
        "ampere_" * 15_000,
        "fmha_cutlassF_f32_aligned_1x1" + "_a" * 20_000,
    ],
    ids=lambda name: name[:20],
)
def test_a_name_made_to_be_slow_is_not(name):
    decode.cache_clear()
    begin = time.process_time()
    decode(name)

    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    "name",
    [
        "void foo<{}>(int)",
        "_Z{}foo",
        "_Z3fooILi{}EEvv",
        "_ZN3foo{}barEv",
        "ampere_sgemm_{}x64_tn",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize{}x128x16_stage{}",
        "Cijk_Ailk_Bljk_HB_MT{}x64x{}_SN",
        "cutlass_80_tensorop_f16_s16816gemm_f16_{}x128_{}x3_nn_align{}",
        "nvjet_hsh_{}x128_{}x4_2x1_v_bz_TNT",
        "void flash_fwd_kernel<Flash_fwd_kernel_traits<{}, 64, 64, 4>>",
        "triton_poi_fused_add_{}",
        "ncclDevKernel_AllReduce_{}",
        "fmhaSm{}Kernel_QkvBfloat16",
    ],
)
def test_a_number_that_no_machine_word_holds_is_no_trouble(name):
    facts = decode(name.replace("{}", "7" * 5000))
    assert facts.tile_k is None or facts.tile_k < 10**18
    assert len(facts.short_name) < 200


@pytest.mark.parametrize(
    ("joined", "operators"),
    [
        ("_unsafe_view_gelu_mul", "_unsafe_view gelu mul"),
        ("gelu_gelu_backward_view", "gelu gelu_backward view"),
        ("native_layer_norm_native_layer_norm_backward", "native_layer_norm native_layer_norm_backward"),
        ("_to_copy_add_mean_mul_pow_rsqrt", "_to_copy add mean mul pow rsqrt"),
        ("add_addmm_native_dropout_view", "add addmm native_dropout view"),
        ("embedding_dense_backward_squeeze_sum", "embedding_dense_backward squeeze sum"),
        ("_log_softmax_nll_loss_forward", "_log_softmax nll_loss_forward"),
        ("add__unsafe_view", "add _unsafe_view"),
        ("copy_", "copy_"),
        # The node names of another naming mode stand in the order of the graph.
        ("relu_add", "relu add"),
        # A custom operator is one name, also when a part of it is an operator's.
        ("add_fmha_v3_fwd_mul", "add fmha_v3_fwd mul"),
        ("clone_my_add_kernel_view", "clone my_add_kernel view"),
        ("", ""),
    ],
)  # fmt: skip
def test_fused_list_is_split_into_operators(joined, operators):
    assert fused_operators(joined) == tuple(operators.split())


_OPERATORS = ("add", "addmm", "cat", "gelu", "gelu_backward", "mul", "native_layer_norm", "pow", "sum",
              "_to_copy", "_unsafe_view", "select_backward", "view", "var_mean", "index_put")  # fmt: skip


@given(st.sets(st.sampled_from(_OPERATORS), min_size=1))
def test_a_sorted_list_of_operators_is_split_as_it_was_joined(names):
    joined = "_".join(sorted(names))

    assert fused_operators(joined) == tuple(sorted(names))


@pytest.mark.parametrize(
    ("name", "origin", "inductor_kind", "kind", "operators"),
    [
        ("triton_poi_fused__unsafe_view_gelu_mul_0", "inductor-triton", "pointwise", "pointwise",
         "_unsafe_view gelu mul"),
        ("triton_red_fused__unsafe_view_add_mean_mul_pow_rsqrt_1", "inductor-triton", "reduction",
         "reduction", "_unsafe_view add mean mul pow rsqrt"),
        ("triton_per_fused_add_native_layer_norm_11", "inductor-triton", "persistent-reduction",
         "reduction", "add native_layer_norm"),
        ("triton_tem_fused_addmm_relu_3", "inductor-triton", "template", "gemm", "addmm relu"),
        ("triton_tem_fused_convolution_0", "inductor-triton", "template", "convolution", "convolution"),
        ("triton_tem_fused_flex_attention_0", "inductor-triton", "template", "attention",
         "flex_attention"),
        # The sum over the parts of K that such a template left.
        ("triton_tem_fused_addmm_0_reduce_k", "inductor-triton", "template", "reduction", "addmm"),
        ("triton_tem_fused_0", "inductor-triton", "template", None, ""),
        ("triton_for_fused_2", "inductor-triton", "foreach", None, ""),
        ("triton_red_fused_1", "inductor-triton", "reduction", "reduction", ""),
        ("triton_poi_fused_add_0d1d2d3de", "inductor-triton", "pointwise", "pointwise", "add"),
        ("triton_poi_5", "inductor-triton", "pointwise", "pointwise", ""),
        ("triton__0d1d2d", "inductor-triton", None, None, ""),
        ("graph_2_cpp_fused_gelu_mul_split_view_0", "inductor-cpp", "cpp", None,
         "gelu mul split view"),
        ("cpp_fused_relu_0", "inductor-cpp", "cpp", None, "relu"),
        ("mytriton_poi_fused_add_0", None, None, None, ""),
    ],
)  # fmt: skip
def test_kernels_of_torch_compile(name, origin, inductor_kind, kind, operators):
    said = decode(name)

    assert (said.origin, said.inductor_kind, said.kind) == (origin, inductor_kind, kind)
    assert said.operators == tuple(operators.split())
    assert said.tensor_cores == "unknown"
