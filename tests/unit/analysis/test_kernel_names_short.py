"""The name that fits a table."""

import pytest

from tracetui.analysis.kernel_names import decode


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,"
                " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>)"
            ),
            "vectorized_elementwise<add, fp32>",
        ),
        # What lies in memory, not the float that is multiplied.
        (
            (
                "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16,"
                " at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)"
                "::{lambda(int)#1}>(int)"
            ),
            "elementwise<Mul, bf16>",
        ),
        (
            (
                "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
                "at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(long)#1}, "
                "std::array<char*, 2ul>, 4>(int)"
            ),
            "unrolled_elementwise<direct_copy, int64>",
        ),
        (
            (
                "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl("
                "at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)"
            ),
            "vectorized_elementwise<Gelu, bf16>",
        ),
        (
            (
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps"
                "<float, float, float, float>, unsigned int, float, 4> >(int)"
            ),
            "reduce<Mean, fp32>",
        ),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false>(int)",
            "softmax_warp_forward<float, 7>",
        ),
        (
            "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(int)",
            "cutlass_80_simt_sgemm_128x64_8x5_nt_align1",
        ),
        (
            (
                "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128_32x3"
                "_nhwc_align4>(int)"
            ),
            "cutlass_tensorop_s1688dgrad_optimized_tf32_64x128_32x3_nhwc_align4",
        ),
        (
            (
                "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
                "_execute_segment_k_off_kernel__5x_cublas"
            ),
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
        ),
        (
            (
                "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128,"
                " 64, 4, false, false, cutlass::bfloat16_t>, false, true>(int)"
            ),
            "flash_fwd_kernel<bf16, 128x64>",
        ),
        (
            (
                "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2,"
                " cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>,"
                " cute::C<176>, cute::C<128> >, 128, cutlass::bfloat16_t, float> > >(int)"
            ),
            "FlashAttnFwdSm90<bf16, 128x176>",
        ),
        (
            "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)",
            "fmha_cutlassF_f32_aligned_64x64_rf_sm80",
        ),
        (
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
            "cudnn_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1",
        ),
        (
            "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100_object_at__tensorptrbf16gmem_0",
            "flash_attncuteflash_fwd_sm100",
        ),
        (
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x128_MI16x16x1_SN_LDSB1_AFC1",
            "Cijk_Alik_Bljk_BBS_MT128x96x128_MI16x16x1",
        ),
        (
            "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0EEEvPT0_PT_",
            "add_rmsnorm_quant_kernel<__bf16, 256, 16>",
        ),
        # A name that was cut off in the middle.
        (
            "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11x",
            "Kernel<ImplicitGemmConvolution>",
        ),
        ("void cub::f<2048l, false, c10::BFloat16, Dim<3> >(int)", "f<2048, BFloat16>"),
        ("void cask_cudnn::computeOffsetsKernel<false, false>(int)", "computeOffsetsKernel"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("triton_poi_fused_gelu_view_9", "triton_poi_fused_gelu_view_9"),
        (
            "std::enable_if<true, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)",
            "fused_add_rms_norm_kernel<BFloat16, 8>",
        ),
        ("unclosed<float", "unclosed<float>"),
        ("()", "()"),
        ("", ""),
    ],
)  # fmt: skip
def test_short_name_keeps_operation_tile_and_format(name, short):
    assert decode(name).short_name == short


def test_tokens_are_the_words_of_the_short_name():
    assert decode("nvjet_tst_64x8_64x16_4x1_v_bz_TNT").tokens == (
        "nvjet", "tst", "64x8", "64x16", "4x1", "v", "bz", "TNT",
    )  # fmt: skip
