"""Names of AMD's libraries.

Tensile's are read as its documentation has them: MT is the macro tile's M, N and K, MI the matrix
instruction (of a full name its M, N, K and blocks), GSU the global split of K, ISA the device.
"""

import pytest

from tests.unit.analysis.kernel_name_facts import facts
from tracetui.analysis.kernel_names import decode

_CK = (
    "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffle"
    "INS_34GridwiseGemmMultipleD_xdl_cshuffleIDF16bDF16bDF16bfDF16bNS_5TupleIJEEEDF16bNS0_12element"
    "_wise11PassThroughES8_S8_Li1ELi64ELi64ELi32ELi32ELi8ELi8ELi32ELi32EEEEEvT_"
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            (
                "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x128_MI16x16x1_SN_LDSB1_AFC1"
                "_CLR1_ISA942_IU1_K1"
            ),
            ("hipblaslt, gemm, gfx942, in bf16, acc fp32, tile 128x96, k 128, layout tn, cores"),
        ),
        (
            "Cijk_Ailk_Bljk_BBS_BH_MT128x64x64_MI32x32x8x1_SN_1LDSB0_GRVWn1_GSU1_GSUASB_GLS0_ISA942",
            (
                "tensile, gemm, gfx942, in bf16, acc fp32, mma 32x32x8, tile 128x64, k 64, "
                "layout nn, unsplit, cores"
            ),
        ),
        (
            "Cijk_Ailk_Bjlk_HHS_BH_MT128x128x32_MI32x32x8x1_SE_GSU4_ISA90a.kd",
            (
                "tensile, gemm, gfx90a, in fp16, acc fp32, mma 32x32x8, tile 128x128, k 32, "
                "layout nt, split, cores"
            ),
        ),
        # TT is a thread's own tile: the vector units multiply.
        (
            "Cijk_Ailk_Bjlk_SB_MT64x64x16_SN_TT4_4_WG16_16_1",
            "tensile, gemm, in fp32, acc fp32, tile 64x64, k 16, layout nt, no cores",
        ),
        (
            "Cijk_Alik_Bjlk_DB_MT64x32x8_MI16x16x4x1_SN_ISA90a",
            (
                "tensile, gemm, gfx90a, in fp64, acc fp64, mma 16x16x4, tile 64x32, k 8, "
                "layout tt, cores"
            ),
        ),
        (
            "Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SAV_UserArgs_MT256x256x128_MI16x16x1_SN_ISA942_SK3",
            (
                "hipblaslt, gemm, gfx942, in fp8_e4m3, acc fp32, tile 256x256, k 128, layout tn, "
                "split, cores"
            ),
        ),
        # A is e4m3 and B e5m2: there is no one format.
        (
            "Custom_Cijk_Alik_Bljk_F8B8BS_BH_Bias_HA_S_SAB_SAV_UserArgs_shortname1",
            "hipblaslt, gemm, acc fp32, layout tn",
        ),
        ("Cijk_Alik_Bljk_QQQ_BH_MT64x64x64", "tensile, gemm, tile 64x64, k 64, layout tn"),
    ],
)
def test_names_of_tensile(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            (
                "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1"
                "_1x4x1x64_tb1x8x2x1_1x4x1x64_gkgs"
            ),
            (
                "miopen, convolution, forward, in bf16, mma 32x32x8, tile 128x128, k 32, "
                "layout nhwc, split, cores"
            ),
        ),
        (
            "igemm_wrw_gtcx_nhwc_fp16_bx0_ex0_bt64x64x16_wt16x16x4_ws1x1_wr2x2",
            (
                "miopen, convolution, backward, in fp16, mma 16x16x4, tile 64x64, k 16, "
                "layout nhwc, cores"
            ),
        ),
        ("miopenSp3AsmConv_v21_1_3_gfx9_fp32_f2x3_stride1", "miopen, convolution, in fp32"),
        ("batched_transpose_32x32_half", "miopen, copy, in fp16, no cores"),
        ("Im2d2Col_v2", "miopen, copy, no cores"),
        ("SubTensorOpWithScalar1d", "miopen, pointwise, no cores"),
        ("MIOpenBatchNormFwdTrainSpatial", "miopen, norm, no cores"),
        # 64 threads, a tile of 64 x 32 x 32, formats of A, B and what they are multiplied as.
        (
            _CK,
            ("composable-kernel, convolution, forward, in bf16, acc fp32, tile 64x32, k 32, cores"),
        ),
        (
            "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_",
            "aiter, norm",
        ),
        ("__amd_rocclr_copyBuffer", "copy, no cores"),
        ("__amd_rocclr_fillBufferAligned", "copy, no cores"),
        ("CopyDeviceToDevice", "copy, no cores"),
    ],
)
def test_names_of_other_libraries(name, said):
    assert facts(decode(name)) == said
