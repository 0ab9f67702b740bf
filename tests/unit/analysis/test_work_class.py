"""Class and short name of kernels, from names of real recordings."""

import numpy as np
import pytest

from tests.literal import Row, kernel, trace_of
from tracetui.analysis.work_class import WorkClass, short_kernel_name, slice_classes, work_class

ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>)"
)
MUL = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)"
    "::{lambda(int)#1}>(int)"
)
COPY = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(long)#1}, "
    "at::detail::Array<char*, 2> >(int)"
)
MEAN = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >(int)"
)
SOFTMAX = (
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, false>"
    "(float*, float const*, int, int, int, bool const*, int, bool)"
)
CUTLASS = (
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>"
    "(cutlass_80_simt_sgemm_128x64_8x5_nt_align1::Params)"
)
XMMA = (
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
    "_execute_segment_k_off_kernel__5x_cublas"
)
FMHA = (
    "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, "
    "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)"
)
TENSILE = (
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x128_MI16x16x1_SN_LDSB1_AFC1_CLR1_CADS0"
)
RMSNORM = "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (XMMA, WorkClass.GEMM),
        (CUTLASS, WorkClass.GEMM),
        (TENSILE, WorkClass.GEMM),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", WorkClass.GEMM),
        ("volta_scudnn_128x64_relu_interior_nn_v1", WorkClass.GEMM),
        ("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)", WorkClass.GEMM),
        (FMHA, WorkClass.ATTENTION),
        ("attn_fwd", WorkClass.ATTENTION),
        ("void pytorch_flash::flash_fwd_kernel<X, false>(Flash_fwd_params)", WorkClass.ATTENTION),
        (SOFTMAX, WorkClass.NORM),
        (RMSNORM, WorkClass.NORM),
        ("void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(int)", WorkClass.NORM),
        (ADD, WorkClass.POINTWISE),
        (MUL, WorkClass.POINTWISE),
        (MEAN, WorkClass.REDUCTION),
        ("void cub::DeviceRadixSortSingleTileKernel<long, int>(long)", WorkClass.REDUCTION),
        ("triton_per_fused_add_native_layer_norm_11", WorkClass.TRITON),
        ("_triton_of_some_project", WorkClass.TRITON),
        ("_triton_rope", WorkClass.POINTWISE),
        (COPY, WorkClass.COPY),
        ("Memcpy HtoD (Pageable -> Device)", WorkClass.COPY),
        ("Memset (Device)", WorkClass.COPY),
        ("__amd_rocclr_copyBuffer", WorkClass.COPY),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", WorkClass.COMM),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", WorkClass.COMM),
        ("void sglang::cross_device_reduce_1stage<bf16, 8>(int)", WorkClass.COMM),
        ("mscclKernel_Sum_half_Simple", WorkClass.COMM),
        ("void fbgemm_gpu::permute_2D_lengths<int>(int)", WorkClass.OTHER),
        ("void at::native::max_pool_forward_nchw<float, float>(int)", WorkClass.OTHER),
        ("", WorkClass.OTHER),
    ],
)
def test_class_follows_the_name(name, expected):
    assert work_class(name) is expected


def test_class_of_a_products_second_step_is_the_products():
    assert (
        work_class("void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)") is WorkClass.GEMM
    )


def test_short_name_is_the_decoders():
    assert short_kernel_name(ADD) == "vectorized_elementwise<add, fp32>"


def test_device_slices_have_the_class_of_their_name_and_host_slices_none():
    trace = trace_of(
        ("aten::gemm", 0, 10),
        kernel("ampere_sgemm_128x64_nn", 10, 5),
        kernel("ncclDevKernel_AllReduce", 20, 5),
        Row("copy of my own", 30, 5, "gpu_memcpy", "0", "7"),
    )

    classes = slice_classes(trace)

    found = dict(zip([trace.name_of(i) for i in range(4)], classes.tolist(), strict=True))
    assert found == {
        "aten::gemm": WorkClass.OTHER,
        "ampere_sgemm_128x64_nn": WorkClass.GEMM,
        "ncclDevKernel_AllReduce": WorkClass.COMM,
        "copy of my own": WorkClass.COPY,
    }
    assert classes.dtype == np.int8
