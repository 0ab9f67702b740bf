"""Names of PyTorch's own kernels, of cub, of collectives, copies and Triton kernels by hand."""

import pytest

from tests.unit.analysis.kernel_name_facts import facts
from tracetui.analysis.kernel_names import decode

_VECTORIZED = "void at::native::vectorized_elementwise_kernel<4, {}, std::array<char*, 3ul> >(int)"
_NO_CAST = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<{0}>("
    "at::TensorIteratorBase&, {0} const&)::{{lambda(int)#1}}>(int)"
)
_MUL = (
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16,"
    " at::native::binary_internal::MulFunctor<float> >"
)
_REDUCE = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, {}, unsigned int,"
    " c10::BFloat16, 4, 4> >(int)"
)
_DIRECT_COPY = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const"
    "::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}"
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (_VECTORIZED.format("at::native::CUDAFunctor_add<float>"), "aten, pointwise, in fp32, no cores"),
        # Multiplied as fp32, stored as bf16.
        (_VECTORIZED.format(_MUL), "aten, pointwise, in bf16, acc fp32, no cores"),
        (_NO_CAST.format(_MUL), "aten, pointwise, in bf16, acc fp32, no cores"),
        (_VECTORIZED.format("at::native::BUnaryFunctor<at::native::AddFunctor<long> >"),
         "aten, pointwise, in int64, no cores"),
        (_VECTORIZED.format("at::native::MulScalarFunctor<c10::Half, float>"),
         "aten, pointwise, in fp16, acc fp32, no cores"),
        (_VECTORIZED.format(
            "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
            "{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::"
            "{lambda(c10::BFloat16)#1}"), "aten, pointwise, in bf16, no cores"),
        # Of where(condition, a, b) the condition's format is not the data's.
        (_VECTORIZED.format(
            "at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}"
            "::operator()() const::{lambda(bool, float, float)#1}"),
         "aten, pointwise, in fp32, no cores"),
        # Such a kernel converts whatever it loads.
        (("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<"
         "at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"),
         "aten, pointwise, no cores"),
        (_NO_CAST.format(_DIRECT_COPY), "aten, copy, in bf16, no cores"),
        (_VECTORIZED.format(
            "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"),
         "aten, copy, in fp32, no cores"),
        (_VECTORIZED.format(
            "at::native::bfloat16tofloat32_copy_kernel_cuda(at::TensorIteratorBase&)::"
            "{lambda(c10::BFloat16)#1}"), "aten, copy, in bf16, no cores"),
        (_VECTORIZED.format("at::native::FillFunctor<float>"), "aten, copy, in fp32, no cores"),
        (("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>"
         "(float*)"), "aten, copy, in fp32, no cores"),
        (_REDUCE.format(
            "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float,"
            " c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>"),
         "aten, reduction, in bf16, acc fp32, no cores"),
        (_REDUCE.format("at::native::MeanOps<c10::BFloat16, float, float, c10::BFloat16>"),
         "aten, reduction, in bf16, acc fp32, no cores"),
        (("void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 7,"
         " false, false>(int)"), "aten, softmax, forward, in bf16, acc fp32, no cores"),
        (("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, c10::Half, float, c10::Half,"
         " at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(int)"),
         "aten, softmax, forward, in fp16, acc fp32, no cores"),
        (("void at::native::(anonymous namespace)::cunn_SoftMaxBackwardSmem<4, float, float, float,"
         " at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(int)"),
         "aten, softmax, backward, in fp32, acc fp32, no cores"),
        (("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float,"
         " false>(int)"), "aten, norm, in bf16, acc fp32, no cores"),
        (("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float,"
         " 64u, 1u, 32u, true, true, false>(int)"), "aten, norm, backward, in fp32, acc fp32, no cores"),
        (("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
         " namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
         "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*>(int)"),
         "aten, optimizer, in fp32, no cores"),
        (("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
         " namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor"
         "<float, 2, 2, 0>, std::plus<float>, float>(int)"), "aten, pointwise, in fp32, no cores"),
        # The result's format comes first.
        (("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
         " namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::CopyFunctor<"
         "c10::BFloat16, float, 2, 1, 1>, at::native::Copy<c10::BFloat16, float> >(int)"),
         "aten, copy, in fp32, no cores"),
        (("void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4,"
         " at::native::templates::cuda::normal_and_transform<c10::BFloat16, float, at::CUDAGeneratorImpl*>"
         "()::{lambda(float)#1}>(int)"), "aten, random, in bf16, no cores"),
        (("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned"
         " int, 2, 2, -2, true>(int)"), "aten, index, in bf16, no cores"),
        ("void at::native::vectorized_gather_kernel<16, long>(char*)", "aten, index, no cores"),
        ("void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(int)",
         "aten, pool, backward, in fp32, no cores"),
        (("void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, c10::Half, int>"
         "(int)"), "aten, convolution, forward"),
        (("void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float,"
         " long>(int)"), "aten, loss, forward, in fp32, no cores"),
        ("void at::native::something_new<float>(int)", "aten, other, in fp32, no cores"),
    ],
)  # fmt: skip
def test_pytorchs_own(name, said):
    assert facts(decode(name)) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("void cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, int*, int*>(int*)",
         "cub, reduction, no cores"),
        ("void at_cuda_detail::cub::DeviceRadixSortSingleTileKernel<X, false, long, int>(long)",
         "cub, sort, no cores"),
        (("void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<rocprim::ROCPRIM_400200_NS::"
         "detail::wrapped_scan_config<X, long> >(int)"), "rocprim, reduction, no cores"),
        (("void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::"
         "ParallelForAgent<X> >(int)"), "thrust, other, no cores"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         "nccl, comm, in bf16, no cores"),
        ("ncclDevKernel_ReduceScatter_Sum_f8e4m3_RING_LL", "nccl, comm, in fp8_e4m3, no cores"),
        ("ncclDevKernel_SendRecv(ncclDevComm*)", "nccl, comm, no cores"),
        # One kernel for all formats, named by the first.
        ("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
         "nccl, comm, no cores"),
        ("mscclKernel_Sum_half_Simple", "msccl, comm, no cores"),
        ("void vllm::cross_device_reduce_1stage<half, 2>(int)", "comm, no cores"),
        ("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<X>(int)",
         "comm, no cores"),
        ("Memcpy HtoD (Pageable -> Device)", "copy, no cores"),
        ("Memset (Device)", "copy, no cores"),
        (("void split_embedding_codegen_forward_unweighted_kernel<float, float, float, false, long,"
         " 1ul, 8ul>(int)"), "fbgemm, index, forward"),
        (("void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, (bool)1>"
         "(T1 *)"), "vllm, pointwise"),
        (("std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type vllm::"
         "fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)"), "vllm, norm"),
        ("void rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "pointwise"),
        ("void deep_ep::internode_ll::combine<3, 10, 7168, 9>(void*)", "deepep, comm, no cores"),
        ("void marlin::Marlin<__nv_bfloat16, 1125899906842638l>(int)", "marlin, gemm, cores"),
        ("void per_token_group_quant_8bit_kernel<__nv_bfloat16, c10::Float8_e4m3fn>(int)", "quantize"),
        ("_triton_rope", "triton, pointwise"),
        ("_layer_norm_forward_kernel", "norm, forward"),
        ("_swiglu_backward_kernel", "pointwise, backward"),
        ("liger_cross_entropy_kernel", "liger, loss"),
        ("", ""),
    ],
)  # fmt: skip
def test_other_libraries_and_copies(name, said):
    assert facts(decode(name)) == said
