"""Names of NVIDIA's products and convolutions.

The facts are read from the libraries' own schemes: the CUTLASS profiler's documentation for its
two, cuBLASLt's algorithm attributes for XMMA (a name's ``tilesize128x128x128`` and ``stage4`` are
its ``TILE_128x128`` and ``STAGES_128x4``), recordings with known operands for nvjet.
"""

import pytest

from tests.unit.analysis.kernel_name_facts import facts
from tracetui.analysis.kernel_names import decode


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
         ("cublas, gemm, sm80, in bf16, acc fp32, mma 16x8x16, tile 128x128, k 32, stages 32x5, "
         "layout tn, align 8, cores")),
        ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_relu_f2f_stages_64x4_tn",
         ("cublas, gemm, sm80, in fp16, acc fp32, mma 16x8x16, tile 128x128, k 64, stages 64x4, "
         "layout tn, align 8, then relu, cores")),
        ("ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn",
         ("cublas, gemm, sm80, in fp16, acc fp32, mma 16x8x16, tile 64x64, k 64, stages 64x5, "
         "layout tn, align 8, cores")),
        ("ampere_int32_i16832gemm_int8_256x128_ldg16_stages_64x3_tn",
         ("cublas, gemm, sm80, in int8, acc int32, mma 16x8x32, tile 256x128, k 64, stages 64x3, "
         "layout tn, align 16, cores")),
        ("turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_nt",
         ("cublas, gemm, sm75, in fp16, acc fp32, mma 16x8x8, tile 256x128, layout nt, align 8, "
         "cores")),
        ("volta_h884gemm_64x64_ldg8_nn",
         "cublas, gemm, sm70, in fp16, acc fp16, mma 8x8x4, tile 64x64, layout nn, align 8, cores"),
        ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
         ("cublas, gemm, sm70, in fp16, acc fp32, mma 8x8x4, tile 128x128, layout nn, align 8, "
         "cores")),
        # No digits before gemm: the CUDA cores multiply, whatever the operands are stored as.
        ("ampere_sgemm_128x64_tn",
         "cublas, gemm, sm80, in fp32, acc fp32, tile 128x64, layout tn, no cores"),
        ("ampere_sgemm_32x32_sliced1x4_tn",
         "cublas, gemm, sm80, in fp32, acc fp32, tile 32x32, layout tn, no cores"),
        ("volta_fp16_sgemm_fp16_128x64_nn",
         "cublas, gemm, sm70, in fp16, acc fp32, tile 128x64, layout nn, no cores"),
        ("volta_dgemm_128x64_nn",
         "cublas, gemm, sm70, in fp64, acc fp64, tile 128x64, layout nn, no cores"),
        ("ampere_gcgemm_64x64_nt",
         "cublas, gemm, sm80, in complex64, acc complex64, tile 64x64, layout nt, no cores"),
        ("maxwell_sgemm_128x64_raggedMn_tn_splitK",
         "cublas, gemm, sm50, in fp32, acc fp32, tile 128x64, layout tn, split, no cores"),
        ("volta_scudnn_128x64_relu_interior_nn_v1",
         "cudnn, convolution, sm70, in fp32, acc fp32, tile 128x64, then relu, no cores"),
        ("volta_scudnn_128x64_stridedB_splitK_xregs_large_nn_v1",
         "cudnn, convolution, sm70, in fp32, acc fp32, tile 128x64, split, no cores"),
        ("turing_s1688cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
         ("cudnn, convolution, sm75, in fp16, acc fp32, mma 16x8x8, tile 256x64, layout nhwc, "
         "align 8, then relu, cores")),
        ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
         "cudnn, convolution, sm70, in fp32, acc fp32, tile 128x128, then relu, no cores"),
    ],
)  # fmt: skip
def test_names_by_generation(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_stage6_warpsize2x2x1"
         "_tensor16x8x16_kernel"),
         ("cublas, gemm, sm80, in bf16, acc fp32, mma 16x8x16, tile 64x64, k 64, stages 64x6, "
         "layout tn, cores")),
        (("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_cgasize1x2x1_stage4"
         "_gmmastage2_warpgroupsize1x1x1_tensor64x128x32_execute_kernel__5x_cublas"),
         ("cublas, gemm, sm90, in fp8_e4m3, acc fp32, mma 64x128x32, tile 128x128, k 128, "
         "stages 128x4, layout tn, cluster 1x2x1, cores")),
        (("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
         "_execute_segment_k_off_kernel__5x_cublas"),
         "cublas, gemm, sm90, in bf16, acc fp32, tile 128x128, k 64, layout tn, unsplit, cores"),
        # fp32 in memory, rounded to tf32 by the multiplication.
        (("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_warpgroupsize1x1x1"
         "_execute_segment_k_off_kernel__5x_cublas"),
         "cublas, gemm, sm90, in tf32, acc fp32, tile 128x64, k 32, layout tn, unsplit, cores"),
        (("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4"
         "_alignc4_execute_kernel__5x_cublas"),
         ("cublas, gemm, sm80, in fp32, acc fp32, tile 128x128, k 8, stages 8x3, layout tn, "
         "no cores")),
        (("sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16"
         "_stage4_warpsize2x2x1_g1_tensor16x8x8_execute_split_k_kernel_cudnn_train"),
         ("cudnn, convolution, backward, sm80, in tf32, acc fp32, mma 16x8x8, tile 128x128, k 16, "
         "stages 16x4, layout nhwc, split, cores")),
        (("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5"
         "_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn_infer"),
         ("cudnn, convolution, forward, sm80, in tf32, acc fp32, mma 16x8x8, tile 64x128, k 32, "
         "stages 32x5, layout nhwc, cores")),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn", "gemm, sm90, in bf16, acc fp32, cores"),
        ("sm80_xmma_gemm", "gemm, sm80"),
    ],
)  # fmt: skip
def test_names_of_xmma(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
         ("nvjet, gemm, in bf16, acc fp32, tile 128x256, k 64, stages 64x4, layout tn, "
         "cluster 1x2, cores")),
        ("nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_NNN",
         ("nvjet, gemm, in fp16, acc fp32, tile 192x192, k 64, stages 64x4, layout nn, "
         "cluster 2x1, cores")),
        ("nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT",
         ("nvjet, gemm, sm100, in bf16, acc fp32, tile 64x16, k 64, stages 64x16, layout tn, "
         "cluster 2x4, split, cores")),
        ("nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT",
         ("nvjet, gemm, sm100, in fp8_e4m3, acc fp32, tile 128x256, k 128, stages 128x6, layout tn, "
         "cluster 2x1, then bias, cores")),
        ("nvjet_sm100_ootst_128x128_256x7_4x1_2cta_v_bx_Avec16UE4M3_Bvec16UE4M3_TNT",
         ("nvjet, gemm, sm100, in fp4_e2m1, acc fp32, tile 128x128, k 256, stages 256x7, layout tn, "
         "cluster 4x1, cores")),
        ("nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN",
         "nvjet, gemm, sm120, in bf16, acc fp32, tile 64x64, k 128, stages 128x3, layout tn, cores"),
        # fp32 operands may be multiplied as they are or as tf32: the letters do not say.
        ("nvjet_sss_128x128_32x4_1x1_h_bz_TNT",
         "nvjet, gemm, acc fp32, tile 128x128, k 32, stages 32x4, layout tn, cluster 1x1"),
        ("nvjet_hsh_128x256", "nvjet, gemm, in fp16, acc fp32, tile 128x256, cores"),
        ("nvjet_of_another_scheme", "nvjet, gemm"),
    ],
)  # fmt: skip
def test_names_of_nvjet(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_32x3_nn_align8>"
         "(cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_32x3_nn_align8::Params)"),
         ("cutlass, gemm, sm80, in bf16, acc fp32, mma 16x8x16, tile 128x256, k 32, stages 32x3, "
         "layout nn, align 8, cores")),
        (("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>"
         "(int)"),
         ("cutlass, gemm, sm80, in bf16, acc fp32, mma 16x8x16, tile 64x64, k 64, stages 64x6, "
         "layout tn, align 8, then relu, cores")),
        # fp32 operands and matrix instructions of 16x8x8: tf32.
        ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(int)",
         ("cutlass, gemm, sm80, in tf32, acc fp32, mma 16x8x8, tile 256x64, k 16, stages 16x4, "
         "layout nn, align 4, cores")),
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(int)",
         ("cutlass, gemm, sm80, in fp32, acc fp32, tile 128x64, k 8, stages 8x5, layout nt, align 1, "
         "no cores")),
        ("void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm_f16_32x32_128x2_tn_align8>(int)",
         ("cutlass, gemm, sm80, in fp16, acc fp32, mma 16x16x16, tile 32x32, k 128, stages 128x2, "
         "layout tn, align 8, cores")),
        ("void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1>(int)",
         ("cutlass, gemm, sm80, in fp64, acc fp64, mma 8x8x4, tile 128x64, k 16, stages 16x3, "
         "layout nn, align 1, cores")),
        ("cutlass_tensorop_s8_i16832gemm_s8_128x256_64x3_tn_align16",
         ("cutlass, gemm, in int8, acc int32, mma 16x8x32, tile 128x256, k 64, stages 64x3, "
         "layout tn, align 16, cores")),
        ("cutlass_tensorop_s1688tf32gemm_128x256_16x3_nn_align4",
         ("cutlass, gemm, in tf32, acc fp32, mma 16x8x8, tile 128x256, k 16, stages 16x3, "
         "layout nn, align 4, cores")),
        (("void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_256x64_16x4"
         "_nhwc_unity_stride_align4>(int)"),
         ("cudnn, convolution, backward, in tf32, acc fp32, mma 16x8x8, tile 256x64, k 16, "
         "stages 16x4, layout nhwc, align 4, cores")),
        ("cutlass_tensorop_s16816fprop_optimized_f16_128x128_64x4_nhwc",
         ("cutlass, convolution, forward, in fp16, acc fp32, mma 16x8x16, tile 128x128, k 64, "
         "stages 64x4, layout nhwc, cores")),
        (("void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<"
         "cutlass_cudnn_train::MatrixShape<4, 128>, float> >(int)"),
         "cudnn, reduction, split, no cores"),
    ],
)  # fmt: skip
def test_names_of_cutlass_2(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (("cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_1x2x1_0_tnn"
         "_align8_warpspecialized_pingpong_epi_tma"),
         ("cutlass, gemm, sm90, in bf16, acc fp32, mma 64x128x16, tile 128x128, k 64, layout tn, "
         "align 8, cluster 1x2x1, cores")),
        ("cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f32_128x128x64_2x1x1_0_ntn_align8",
         ("cutlass, gemm, sm90, in fp16, acc fp32, tile 128x128, k 64, layout nt, align 8, "
         "cluster 2x1x1, cores")),
        (("cutlass3x_sm90_tensorop_h64x128x16gemm_f16_f16_f16_void_f16_128x128x64_1x1x1_0_nnn_align8"
         "_warpspecialized_cooperative_epi_tma"),
         ("cutlass, gemm, sm90, in fp16, acc fp16, mma 64x128x16, tile 128x128, k 64, layout nn, "
         "align 8, cluster 1x1x1, cores")),
        ("cutlass3x_sm90_tensorop_s64x128x8tf32gemm_f32_f32_f32_f32_f32_128x128x32_2x1x1_0_tnn_align4",
         ("cutlass, gemm, sm90, in tf32, acc fp32, mma 64x128x8, tile 128x128, k 32, layout tn, "
         "align 4, cluster 2x1x1, cores")),
        (("cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_64x128x128_2x1x1_0_tnt"
         "_align16_warpspecialized_epi_nosmem"),
         ("cutlass, gemm, sm90, in fp8_e4m3, acc fp32, mma 64x128x32, tile 64x128, k 128, layout tn, "
         "align 16, cluster 2x1x1, cores")),
        ("cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x64x16_1x1x1_3_tnn_align1_bias_f32_relu",
         ("cutlass, gemm, sm100, in fp32, acc fp32, tile 128x64, k 16, stages 16x3, layout tn, "
         "align 1, cluster 1x1x1, then relu, no cores")),
        (("cutlass3x_sm100_bstensorop_s256x192x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_f16_f16"
         "_256x192x256_0_tnn_align32_o_vs16_2sm_bias_f16_relu"),
         ("cutlass, gemm, sm100, in fp4_e2m1, acc fp32, mma 256x192x64, tile 256x192, k 256, "
         "layout tn, align 32, then relu, cores")),
        (("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int,"
         " int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
         "MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >,"
         " cutlass::gemm::KernelTmaWarpSpecializedPingpong>, cute::tuple<cute::C<64>, cute::C<128>,"
         " cute::C<128> >, cutlass::float_e4m3_t, cute::tuple<long, cute::C<1>, long>,"
         " cutlass::float_e4m3_t, cute::tuple<long, cute::C<1>, long> > > >(int)"),
         "cutlass, gemm, sm90, in fp8_e4m3, tile 64x128, k 128, stages 128x4, cluster 2x1x1, cores"),
        # Mangled: a filter gradient with GemmShape<64, 128, 32> and tfloat32_t.
        (("_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock"
         "22ImplicitGemmMultistageINS_4gemm9GemmShapeILi64ELi128ELi32EEENS4_52Conv2dWgradOutputGradient"
         "TileAccessIteratorOptimizedINS_10tfloat32_tEEEEEEEEEvNT_6ParamsE"),
         "cudnn, convolution, backward, in tf32, tile 64x128, k 32, cores"),
    ],
)  # fmt: skip
def test_names_of_cutlass_3_and_templates(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (("bmm_E4m3_E4m3E4m3_Fp32_t128x16x128u2_s6_et64x16_m64x16x32_c1x1x1_rM_TN_transOut_noShfl"
         "_dsFp8_schPd4x2x2x3_bN_tma_tmaSf_rgTma_clmp_lbW2_dynB_sm100f"),
         ("trtllm-gen, gemm, sm100, in fp8_e4m3, acc fp32, mma 64x16x32, tile 128x16, k 128, "
         "stages 128x6, layout tn, cluster 1x1x1, cores")),
        (("bmm_Bfloat16_E2m1E2m1_Fp32_bA16_bB16_bC16_t128x8x512u2_s4_et128x8_m128x8x64_cga1x1x1"
         "_16dp256b_rM_TN_transOut_sm100a"),
         ("trtllm-gen, gemm, sm100, in fp4_e2m1, acc fp32, mma 128x8x64, tile 128x8, k 512, "
         "stages 512x4, layout tn, cluster 1x1x1, cores")),
        ("void deep_gemm::fp8_gemm_kernel<7168u, 2048u, 128u, 160u>(int)", "deepgemm, gemm, cores"),
        ("cudnn_generated_fort_native_matMul_pointwise_sm90", "cudnn, gemm"),
        ("fused_moe_kernel", "gemm"),
        ("gemm", "gemm"),
    ],
)  # fmt: skip
def test_names_of_other_products(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (("void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 128,"
         " 16, 4, 4, false, true, cublasGemvParamsEx<int> >(int)"),
         "cublas, gemm, in bf16, no cores"),
        (("void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false, cublasGemvTensorStridedBatched<"
         "float const> >(int)"), "cublas, gemm, in fp32, layout tn, no cores"),
        ("void gemmk1_kernel<int, float, 256, 5, false, false, false, false, X>(int)",
         "cublas, gemm, in fp32, no cores"),
        ("void dot_kernel<float, 128, 0, cublasDotParams<X> >(int)",
         "cublas, gemm, in fp32, no cores"),
        (("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float,"
         " __nv_bfloat16, true, true, false>(int)"), "cublas, reduction, split, no cores"),
        (("void epilogue::impl::globalKernel<float, float, float, true, true>(int,"
         " cublasLtEpilogue_t)"), "cublas, pointwise, no cores"),
        ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)",
         "cudnn, convolution, backward, in fp32, no cores"),
        ("void implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1, false, true, true>(int)",
         "cudnn, convolution, in fp32, no cores"),
        ("void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(int)",
         "cudnn, convolution, in fp32, no cores"),
        ("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)",
         "cudnn, norm, backward, in fp32, acc fp32, no cores"),
        ("void cudnn::ops::nchwToNhwcKernel<__half, __half, float, true, true>(int)",
         "cudnn, copy, in fp16, no cores"),
        ("cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)",
         "cudnn, other, no cores"),
    ],
)  # fmt: skip
def test_small_kernels_of_cublas_and_cudnn(name, said):
    assert facts(decode(name)) == said
