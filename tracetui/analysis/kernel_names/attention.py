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

_FLASH_2: Final = re.compile(r"(?:^|[:\s\d])flash_(?P<direction>fwd|bwd)_(?P<part>\w*?kernel)")
_FLASH_2_TRAITS: Final = re.compile(r"Flash_(?:fwd|bwd)_kernel_traits")
_FLASH_3: Final = re.compile(r"Flash(?:Attn)?(?P<direction>Fwd|Bwd)(?P<part>\w*?)Sm(?P<arch>\d+)")
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
_MATRIX_WORD: Final = re.compile(r"wgmma|hmma|mma|utcmma|umma")

_FMHA: Final = re.compile(r"(?:^|[^A-Za-z])fmha_(?:v\d_)?(?P<direction>fwd|bwd)(?P<rest>\w*)")
_CK_FMHA: Final = re.compile(r"ck_tile.*?Fmha(?P<direction>Fwd|Bwd)", re.DOTALL)
_MFMA: Final = re.compile(r"mfma", re.IGNORECASE)
_FORMAT_WORD: Final = re.compile(r"(?:^|_)(bf16|fp16|f16|fp32|f32|fp8)(?=_|$)")

_ATTENTION: Final = re.compile(
    r"flash|fmha|attention|(?<![a-z])attn|sdpa|(?<![a-z])mha(?![a-z])|(?<![a-z])mla_",
    re.IGNORECASE,
)
_FORWARD: Final = re.compile(r"fwd|forward|fprop", re.IGNORECASE)
_BACKWARD: Final = re.compile(r"bwd|backward|bprop|(?<![a-z])bw(?![a-z])", re.IGNORECASE)


def attention_kernel(text: str) -> KernelName | None:
    """Return what the name of an attention kernel says; ``None`` for any other."""
    if not _ATTENTION.search(text):
        return None
    for family in (_flash_3, _flash_2, _fmha_cutlass, _cudnn, _rocm):
        found = family(text)
        if found is not None:
            return found
    return KernelName(
        kind="attention",
        direction=direction_of(text),
        backend="paged" if "paged" in text.lower() else None,
        tensor_cores="yes" if _MFMA.search(text) or "wgmma" in text else "unknown",
    )


def direction_of(text: str) -> str | None:
    """Return the pass that a name speaks of, when it speaks of one."""
    is_forward, is_backward = _FORWARD.search(text), _BACKWARD.search(text)
    if bool(is_forward) == bool(is_backward):
        return None
    return "forward" if is_forward else "backward"


def _flash_2(text: str) -> KernelName | None:
    """Read ``flash_fwd_kernel<Flash_fwd_kernel_traits<head, M, N, warps, …, type>, …>``.

    The traits begin with the head's size, the block of queries and the block of keys.
    """
    found = _FLASH_2.search(text)
    if found is None:
        return None
    traits = _FLASH_2_TRAITS.search(text)
    arguments = arguments_of(text, traits.group()) if traits else []
    sizes, formats = integers_among(arguments), dtypes_among(arguments)
    is_product = not re.search(r"dot_do_o|convert|combine", found["part"])
    cores: TensorCores = "yes" if is_product else "no"
    return KernelName(
        origin="flash-attention",
        backend="flash",
        kind="attention",
        direction="forward" if found["direction"] == "fwd" else "backward",
        dtype_in=formats[0] if formats else None,
        dtype_acc="fp32" if formats else None,
        tile=f"{sizes[1]}x{sizes[2]}" if is_product and len(sizes) > 2 else None,
        split_k=True if "splitkv" in found["part"] else None,
        tensor_cores=cores,
    )


def _flash_3(text: str) -> KernelName | None:
    """Read ``FlashAttnFwdSm90<CollectiveMainloopFwdSm90<stages, cluster, tile, …, type, …>, …>``."""
    found = _FLASH_3.search(text)
    if found is None:
        return None
    mainloop = re.search(r"CollectiveMainloop(?:Fwd|Bwd)Sm\d+", text)
    arguments = arguments_of(text, mainloop.group()) if mainloop else []
    formats, stages = dtypes_among(arguments), integers_among(arguments)
    shapes = [
        _CUTE_INTEGER.findall(argument)
        for argument in arguments
        if "tuple<" in argument and "C<" in argument
    ]
    is_forward = found["direction"] == "Fwd"
    is_product = not re.search(r"Combine|Preprocess|Postprocess|Convert", found["part"])
    tile = shapes[1][:2] if len(shapes) > 1 and is_forward else []
    return KernelName(
        origin="flash-attention-3",
        backend="flash",
        kind="attention",
        arch=f"sm{found['arch']}",
        direction="forward" if is_forward else "backward",
        dtype_in=formats[0] if formats else None,
        dtype_acc=formats[1] if len(formats) > 1 else None,
        tile="x".join(tile) if len(tile) == 2 else None,
        stages=str(stages[0]) if stages and is_forward else None,
        cluster="x".join(shapes[0]) if shapes else None,
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
        direction="forward" if found["direction"] == "F" else "backward",
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
    tile, cluster = _CUDNN_TILE.search(found["rest"]), _CUDNN_CLUSTER.search(found["rest"])
    return KernelName(
        origin="cudnn",
        backend="cudnn",
        kind="attention",
        arch=f"sm{found['arch']}",
        direction="forward" if found["direction"] == "fprop" else "backward",
        tile=tile.group(1) if tile else None,
        cluster=cluster.group(1) if cluster else None,
        tensor_cores="yes" if _MATRIX_WORD.search(found["rest"]) else "unknown",
    )


def _rocm(text: str) -> KernelName | None:
    """Read the kernels of AITER and Composable Kernel, and vLLM's paged attention for AMD."""
    composable = _CK_FMHA.search(text)
    if composable is not None:
        return KernelName(
            origin="composable-kernel",
            backend="ck",
            kind="attention",
            direction="forward" if composable["direction"] == "Fwd" else "backward",
        )
    if "paged_attention_ll4mi" in text:
        formats = dtypes_among(top_level(text.partition("<")[2]))
        is_product = "QKV" in text
        return KernelName(
            origin="vllm",
            backend="paged",
            kind="attention",
            direction="forward",
            dtype_in=formats[0] if formats and is_product else None,
            tensor_cores="yes" if _MFMA.search(text) else "unknown" if is_product else "no",
        )
    found = _FMHA.search(text)
    if found is None:
        return None
    is_aiter = "aiter" in text
    word = _FORMAT_WORD.search(found["rest"])
    return KernelName(
        origin="aiter" if is_aiter else None,
        backend="aiter" if is_aiter else None,
        kind="attention",
        direction="forward" if found["direction"] == "fwd" else "backward",
        dtype_in=dtype_of(word.group(1)) if word else None,
    )
