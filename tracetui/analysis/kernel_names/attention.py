"""Attention kernels: FlashAttention, memory-efficient, cuDNN, AITER, Composable Kernel, paged."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, TensorCores, dtype_of
from tracetui.analysis.kernel_names.templates import (
    arguments_of,
    dtypes_among,
    integers_among,
    top_level,
)
from tracetui.analysis.kernel_names.words import direction_of, first_group, library_of

_ATTENTION: Final = re.compile(
    r"flash(?!infer)|fmha|attention|(?<![a-z])attn|sdpa|(?<![a-z])mha(?![a-z])|(?<![a-z])mla_"
    r"|(?:batch|single)_?(?:prefill|decode)_?with|qk_int8_sv",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"reshape_and_cache|kv_?cache_kernel|store_kv|kv_indices|prepare_varlen|scheduler_metadata",
    re.IGNORECASE,
)
"""Kernels that serve attention and bear its name: they fill its cache and plan its blocks."""

_FLASH_2: Final = re.compile(r"(?<![A-Za-z_])flash_(?P<direction>fwd|bwd)_(?P<part>\w*?kernel)")
_FLASH_2_TRAITS: Final = re.compile(r"Flash_(?:fwd|bwd)_kernel_traits\w*")
_FLASH_2_HELPER: Final = re.compile(r"dot_do_o|convert|combine")
_FLASH_3: Final = re.compile(
    r"Flash(?:Attn|Attention)?(?P<direction>Fwd|Bwd|Forward|Backward)(?P<part>\w*?)Sm(?P<arch>\d+)"
)
_FLASH_3_HELPER: Final = re.compile(r"Combine|Preprocess|Postprocess|Convert")
_MAINLOOP: Final = re.compile(r"CollectiveMainloop(?:Fwd|Bwd)Sm\d+")
_CUTE_INTEGER: Final = re.compile(r"C<(\d+)>")

_FMHA_CUTLASS: Final = re.compile(
    r"fmha_cutlass(?P<direction>[FB])_(?P<dtype>f32|f16|bf16)_(?P<aligned>aligned|notaligned)"
    r"_(?P<tile>\d+x\d+)(?P<rest>(?:_\w+?)?)_sm(?P<arch>\d+)"
)
_CUDNN_SDPA: Final = re.compile(
    r"cudnn_generated_\w*?sdpa_sm(?P<arch>\d+)_\w*?(?P<direction>fprop|bprop)(?P<rest>\w*)"
)
_CUDNN_TILE: Final = re.compile(r"_(\d+x\d+)x\d+_\d+x\d+x\d+")
_CUDNN_CLUSTER: Final = re.compile(r"_cga(\d+x\d+x\d+)")

_MATRIX_WORD: Final = re.compile(r"wgmma|hmma|mma|utcmma|mfma|qk_int8_sv", re.IGNORECASE)
_FMHA: Final = re.compile(r"(?<![A-Za-z])fmha_(?:v\d_)?(?P<direction>fwd|bwd)(?P<rest>\w*)")
_CK_FMHA: Final = re.compile(r"ck_tile::\w*Fmha(?P<direction>Fwd|Bwd)\w*Kernel")
_CK_PROBLEM: Final = re.compile(r"BlockFmha(?:Fwd|Bwd)?PipelineProblem")
_FLASHINFER: Final = re.compile(
    r"flashinfer::(?:\w+::)*(?:Batch|Single)(?P<phase>Prefill|Decode)With\w+"
)
_FORMAT_WORD: Final = re.compile(r"_(bf16|fp16|f16|fp32|f32)(?=_|$)")

_PASSES: Final = {
    "fwd": "forward",
    "bwd": "backward",
    "fprop": "forward",
    "bprop": "backward",
    "f": "forward",
    "b": "backward",
    "forward": "forward",
    "backward": "backward",
}


def attention_kernel(text: str) -> KernelName | None:
    """Return what the name of an attention kernel says; ``None`` for any other."""
    if not _ATTENTION.search(text) or _BESIDE.search(text):
        return None
    for family in _FAMILIES:
        found = family(text)
        if found is not None:
            return found
    return KernelName(
        origin=library_of(text),
        kind="attention",
        direction=direction_of(text),
        backend="paged" if "paged" in text.lower() else None,
        tensor_cores="yes" if _MATRIX_WORD.search(text) else "unknown",
    )


def _flash_2(text: str) -> KernelName | None:
    """Read ``flash_fwd_kernel<Flash_fwd_kernel_traits<head, M, N, warps, …, type>, …>``.

    The traits begin with the head's size, the block of queries and the block of keys; sums are
    kept in fp32 whatever the type.
    """
    found = _FLASH_2.search(text)
    if found is None:
        return None
    traits = _FLASH_2_TRAITS.search(text)
    arguments = arguments_of(text, traits.group()) if traits else []
    sizes, formats = integers_among(arguments), dtypes_among(arguments)
    is_product = _FLASH_2_HELPER.search(found["part"]) is None
    return KernelName(
        origin="flash-attention",
        backend="flash",
        kind="attention",
        direction=_PASSES[found["direction"]],
        dtype_in=formats[0] if formats else None,
        dtype_acc="fp32" if formats else None,
        tile=f"{sizes[1]}x{sizes[2]}" if is_product and len(sizes) > 2 else None,
        split_k=True if "splitkv" in found["part"] else None,
        tensor_cores="yes" if is_product else "no",
    )


def _flash_3(text: str) -> KernelName | None:
    """Read ``FlashAttnFwdSm90<CollectiveMainloopFwdSm90<stages, cluster, tile, …, type, …>, …>``.

    The third and later versions name the architecture; from sm100 on it is the fourth. The tile is
    queries, keys, head.
    """
    found = _FLASH_3.search(text)
    if found is None:
        return None
    mainloop = _MAINLOOP.search(text)
    arguments = arguments_of(text, mainloop.group()) if mainloop else []
    formats = dtypes_among(arguments)
    stages = integers_among(arguments[:1])
    shapes = [sizes for part in arguments if len(sizes := _CUTE_INTEGER.findall(part)) == 3]
    direction = _PASSES[found["direction"].lower()]
    is_known = direction == "forward" and len(shapes) > 1
    is_product = _FLASH_3_HELPER.search(found["part"]) is None
    return KernelName(
        origin="flash-attention-4" if int(found["arch"]) >= 100 else "flash-attention-3",
        backend="flash",
        kind="attention",
        arch=f"sm{found['arch']}",
        direction=direction,
        dtype_in=formats[0] if formats else None,
        dtype_acc=formats[1] if len(formats) > 1 else None,
        tile="x".join(shapes[1][:2]) if is_known else None,
        stages=str(stages[0]) if stages and is_known else None,
        cluster="x".join(shapes[0]) if is_known else None,
        tensor_cores="yes" if is_product else "no",
    )


def _fmha_cutlass(text: str) -> KernelName | None:
    """Read ``fmha_cutlassF_bf16_aligned_64x64_rf_sm80``: PyTorch's memory-efficient attention.

    On sm80 and later even fp32 is multiplied on tensor cores, as three tf32 products; before that
    fp32 is not, and fp16 from sm70 on.
    """
    found = _FMHA_CUTLASS.search(text)
    if found is None:
        return None
    arch, is_single = int(found["arch"]), found["dtype"] == "f32"
    cores: TensorCores = "yes" if arch >= (80 if is_single else 70) else "no"
    return KernelName(
        origin="xformers",
        backend="efficient",
        kind="attention",
        arch=f"sm{arch}",
        direction=_PASSES[found["direction"].lower()],
        dtype_in=dtype_of(found["dtype"]),
        dtype_acc="fp32",
        tile=found["tile"],
        epilogue="dropout" if "dropout" in found["rest"] else None,
        tensor_cores=cores,
    )


def _cudnn(text: str) -> KernelName | None:
    """Read ``cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_…``.

    Its ``f16`` stands for both 16-bit formats, so the operands' format stays open.
    """
    found = _CUDNN_SDPA.search(text)
    if found is None:
        return None
    return KernelName(
        origin="cudnn",
        backend="cudnn",
        kind="attention",
        arch=f"sm{found['arch']}",
        direction=_PASSES[found["direction"]],
        tile=first_group(_CUDNN_TILE, found["rest"]),
        cluster=first_group(_CUDNN_CLUSTER, found["rest"]),
        tensor_cores="yes" if _MATRIX_WORD.search(found["rest"]) else "unknown",
    )


def _composable(text: str) -> KernelName | None:
    """Read Composable Kernel's ``ck_tile::FmhaFwdKernel<…PipelineProblem<type, …>…>``."""
    found = _CK_FMHA.search(text)
    if found is None:
        return None
    problem = _CK_PROBLEM.search(text)
    arguments = arguments_of(text, problem.group()) if problem else []
    operand = dtype_of(arguments[0]) if arguments else None
    return KernelName(
        origin="composable-kernel",
        backend="ck",
        kind="attention",
        direction=_PASSES[found["direction"].lower()],
        dtype_in=operand,
        tensor_cores="yes" if operand in ("fp16", "bf16") else "unknown",
    )


def _paged(text: str) -> KernelName | None:
    """Read vLLM's paged attention for AMD: the product, and the sum over its parts."""
    if "paged_attention_ll4mi" not in text:
        return None
    is_product = "QKV" in text
    formats = dtypes_among(top_level(text.partition("<")[2]))
    cores: TensorCores = "unknown" if is_product else "no"
    return KernelName(
        origin="vllm",
        backend="paged",
        kind="attention",
        direction="forward",
        dtype_in=formats[0] if formats and is_product else None,
        tensor_cores="yes" if is_product and _MATRIX_WORD.search(text) else cores,
    )


def _fmha(text: str) -> KernelName | None:
    """Read AITER's ``aiter::fmha_fwd_hd128_bf16_rtz`` and others of the same scheme.

    AITER's are written for the matrix cores, which take both 16-bit formats.
    """
    found = _FMHA.search(text)
    if found is None:
        return None
    is_aiter = "aiter" in text
    word = first_group(_FORMAT_WORD, found["rest"])
    operand = dtype_of(word) if word else None
    return KernelName(
        origin="aiter" if is_aiter else None,
        backend="aiter" if is_aiter else None,
        kind="attention",
        direction=_PASSES[found["direction"]],
        dtype_in=operand,
        tensor_cores="yes" if is_aiter and operand in ("bf16", "fp16") else "unknown",
    )


def _flashinfer(text: str) -> KernelName | None:
    """Read FlashInfer's kernels: prefill multiplies matrices, decode one query on the CUDA cores."""
    found = _FLASHINFER.search(text)
    if found is None:
        return None
    is_prefill = found["phase"] == "Prefill"
    return KernelName(
        origin="flashinfer",
        backend="paged" if "Paged" in found.group() else None,
        kind="attention",
        direction="forward",
        tensor_cores="yes" if is_prefill else "no",
    )


_FAMILIES: Final = (
    _flash_3, _flash_2, _fmha_cutlass, _cudnn, _composable, _paged, _flashinfer, _fmha,
)  # fmt: skip
