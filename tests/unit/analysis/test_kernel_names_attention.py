"""Names of attention kernels, and of those that only sound like it."""

import pytest

from tests.unit.analysis.kernel_name_facts import facts
from tracetui.analysis.kernel_names import decode

_FLASH_3 = (
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
    "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<"
    "cute::C<128>, cute::C<176>, cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::"
    "Sm90, false, false, false>, flash::CollectiveEpilogueFwd<cute::tuple<cute::C<128>, "
    "cute::C<128>, cute::C<176> >, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, "
    "cutlass::bfloat16_t, cutlass::arch::Sm90, 256, false, true, false, false>, "
    "flash::StaticPersistentTileScheduler<false> > > >(int)"
)
_BACKWARD_TRAITS = (
    "pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, "
    "cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 8, cutlass::bfloat16_t> >"
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        # The traits are the head's size, the block of queries, the block of keys, the warps.
        (
            (
                "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128,"
                " 128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64,"
                " 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, false, true, false>"
                "(pytorch_flash::Flash_fwd_params)"
            ),
            "flash-attention, flash, attention, forward, in bf16, acc fp32, tile 128x128, cores",
        ),
        # As Nsight spells it.
        (
            (
                "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, (int)256,"
                " (int)4, (bool)0, (bool)0, cutlass::half_t, X>, (bool)0>(Flash_fwd_params)"
            ),
            "flash-attention, flash, attention, forward, in fp16, acc fp32, tile 64x256, split, cores",
        ),
        (
            (
                "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
                f"{_BACKWARD_TRAITS}, false, true>(int)"
            ),
            "flash-attention, flash, attention, backward, in bf16, acc fp32, tile 128x128, cores",
        ),
        # It multiplies two tensors elementwise and sums: no matrix instruction.
        (
            f"void pytorch_flash::flash_bwd_dot_do_o_kernel<true, {_BACKWARD_TRAITS} >(int)",
            "flash-attention, flash, attention, backward, in bf16, acc fp32, no cores",
        ),
        (
            _FLASH_3,
            (
                "flash-attention-3, flash, attention, forward, sm90, in bf16, acc fp32, "
                "tile 128x176, stages 2, cluster 1x1x1, cores"
            ),
        ),
        (
            (
                "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object"
                "_at__tensorptrbf16gmemalign128o204820481_0"
            ),
            "flash-attention-4, flash, attention, forward, sm100, cores",
        ),
        (
            (
                "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<"
                "cutlass::bfloat16_t, cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)"
            ),
            "xformers, efficient, attention, forward, sm80, in bf16, acc fp32, tile 64x64, cores",
        ),
        (
            "fmha_cutlassB_f32_aligned_64x64_k64_dropout_sm80(X::Params)",
            (
                "xformers, efficient, attention, backward, sm80, in fp32, acc fp32, tile 64x64, "
                "then dropout, cores"
            ),
        ),
        # Tensor cores of sm75 take no fp32, and sm50 has none.
        (
            "fmha_cutlassF_f32_aligned_64x64_rf_sm75(X::Params)",
            "xformers, efficient, attention, forward, sm75, in fp32, acc fp32, tile 64x64, no cores",
        ),
        (
            "fmha_cutlassF_f16_notaligned_32x128_sm50(X::Params)",
            "xformers, efficient, attention, forward, sm50, in fp16, acc fp32, tile 32x128, no cores",
        ),
        # f16 in cuDNN's name is any 16-bit format.
        (
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
            "cudnn, cudnn, attention, forward, sm90, tile 64x128, cores",
        ),
        (
            (
                "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1"
                "_cga1x1x1_kernel0_0"
            ),
            "cudnn, cudnn, attention, backward, sm90, tile 64x64, cluster 1x1x1, cores",
        ),
        (
            "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ128Kv128PersistentContext",
            "trtllm-gen, trtllm, attention, forward, sm100, in bf16, tile 128x128, cores",
        ),
        ("aiter::fmha_fwd_hd128_bf16_rtz", "aiter, aiter, attention, forward, in bf16, cores"),
        (
            "_ZN5aiter35fmha_bwd_hd128_bf16_causal_a16_rtz_E",
            "aiter, aiter, attention, backward, in bf16, cores",
        ),
        (
            (
                "void ck_tile::kentry<ck_tile::gfx9_t, 2, ck_tile::FmhaFwdKernel<ck_tile::"
                "BlockFmhaPipelineQRKSVSAsync<ck_tile::BlockFmhaPipelineProblem<ck_tile::bf16_t,"
                " ck_tile::bf16_t, ck_tile::bf16_t, float> > > >(int)"
            ),
            "composable-kernel, ck, attention, forward, in bf16, cores",
        ),
        (
            (
                "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16,"
                " (vllm::Fp8KVCacheDataType)0, 1, 128, 256, false, 4, 1>(int)"
            ),
            "vllm, paged, attention, forward, in bf16, cores",
        ),
        (
            "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<X> >(int)",
            "flashinfer, paged, attention, forward, cores",
        ),
        # FlashInfer decodes on the CUDA cores: a query of one row fills no matrix instruction.
        (
            "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u>(int)",
            "flashinfer, paged, attention, forward, no cores",
        ),
        (
            (
                "void flash::flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, 64, 8,"
                " cutlass::bfloat16_t, 512, true, 0>, true>(Flash_fwd_mla_params)"
            ),
            "flash-attention, flash, attention, forward, in bf16, acc fp32, tile 64x64, split, cores",
        ),
        ("kernel_unified_attention_2d", "attention"),
        ("attn_fwd", "attention, forward"),
        ("_attn_bwd_dkdv", "attention, backward"),
        ("fused_attn", "attention"),
    ],
)
def test_attention(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(int)", "norm"),
        ("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(int)", "index"),
        ("create_flashinfer_kv_indices_triton", "index"),
        ("store_kvcache", "index"),
        ("flash::prepare_varlen_num_blocks_kernel(int, int)", "other"),
    ],
)
def test_kernels_that_only_sound_like_attention(name, kind):
    assert decode(name).kind == kind
