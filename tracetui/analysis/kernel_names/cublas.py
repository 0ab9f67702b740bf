"""Products and convolutions that cuBLAS and cuDNN name: by generation, as XMMA, as nvjet."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, TensorCores, dtype_of
from tracetui.analysis.kernel_names.words import (
    ACCUMULATORS,
    ACTIVATION,
    CONVOLUTION_LAYOUT,
    INSTRUCTIONS,
    PASSES,
    SPLIT_K,
    first_group,
    pipeline,
)

_GENERATIONS: Final = {
    "maxwell": "sm50",
    "pascal": "sm60",
    "volta": "sm70",
    "turing": "sm75",
    "ampere": "sm80",
    "hopper": "sm90",
}
"""A name gives the generation that the kernel was first made for, not the device's own."""

_CLASSIC: Final = re.compile(
    r"(?:^|_)(?P<generation>maxwell|pascal|volta|turing|ampere|hopper)_"
    r"(?:(?P<out>[a-z]+\d+)_)?(?P<letters>g?[shdciz])(?P<mma>\d{3,6})?"
    r"(?P<what>gemm|cudnn)(?:_(?P<operand>fp16|fp32|bf16|tf32|int8|f16|f32))?"
    r"_(?:winograd_)?(?P<tile>\d+x\d+)(?P<rest>(?:_\w+)?)"
)
_CUDA_CORE_FORMATS: Final = {**ACCUMULATORS, "i": "int8"}
_LDG: Final = re.compile(r"_ldg(\d+)(?=_|$)")
_STAGES: Final = re.compile(r"_stages_(\d+x\d+)")
_LAYOUT: Final = re.compile(r"_([nt][nt])(?=_|$)")

_XMMA: Final = re.compile(
    r"sm(?P<arch>\d+)_xmma_(?P<what>gemm|fprop|dgrad|wgrad)(?:_[a-z]+)*?"
    r"_(?P<in_out>[a-z]+\d[a-z0-9]*)_(?P<math>[a-z]+\d[a-z0-9]*)_(?P<scale>[a-z]+\d[a-z0-9]*)"
    r"(?P<layout>_[a-z]+_[a-z]+)?_tilesize(?P<tile>\d+x\d+)x(?P<k>\d+)(?P<rest>\w*)"
)
_XMMA_CUT_SHORT: Final = re.compile(
    r"^sm(?P<arch>\d+)_xmma_(?P<what>gemm|fprop|dgrad|wgrad)(?:(?:_[a-z]+)*?"
    r"_(?P<in_out>[a-z]+\d[a-z0-9]*)_(?P<math>[a-z]+\d[a-z0-9]*))?"
)
_XMMA_PAIR: Final = re.compile(r"^(bf16|tf32|f16|f32|f64|e4m3|e5m2|i8|u8|i32|i4)(\w*)$")
_XMMA_STAGE: Final = re.compile(r"_stage(\d+)")
_XMMA_INSTRUCTION: Final = re.compile(r"_tensor(\d+x\d+x\d+)")
_XMMA_CLUSTER: Final = re.compile(r"_cgasize(\d+x\d+x\d+)")
_MATRIX_FORMATS: Final = frozenset(("tf32", "bf16", "fp8_e4m3", "fp8_e5m2"))
"""What only matrix instructions multiply."""

_NVJET: Final = re.compile(
    r"^nvjet_(?:(?P<arch>sm\d+)[a-z]?_)?(?P<types>[a-z]{3}|[a-z]{5})_(?:(?P<math>tf32)_)?"
    r"(?:mma_)?(?P<tile>\d+x\d+)(?:x(?P<k>\d+)_(?P<depth>\d+)|_(?P<stages>\d+x\d+))?"
    r"(?:_(?P<cluster>\d+x\d+)(?![x\d]))?(?P<rest>(?:_\w+)?)$"
)
_NVJET_OPERANDS: Final = {"h": "fp16", "t": "bf16", "d": "fp64", "q": "fp8_e4m3", "o": "fp4_e2m1"}
"""Letters that stand for an operand's format.

NVIDIA documents none. These are those of recordings whose operands are known, q and o with the
scales that MX and NV block formats need in the same name. An s is fp32 or tf32: it stays open.
"""
_NVJET_LAYOUT: Final = re.compile(r"_([NT]{2})[NT]{0,2}(?=_|$)")
_NVJET_EPILOGUE: Final = re.compile(r"_(bias|relu|gelu)(?=_|[A-Z]|$)", re.IGNORECASE)


def cublas_product(text: str) -> KernelName | None:
    """Return what the name of a product or convolution of cuBLAS or cuDNN says, if it is one."""
    if text.startswith("nvjet_"):
        return _nvjet(text)
    if "_xmma_" in text:
        return _xmma(text)
    return _classic(text)


def _classic(text: str) -> KernelName | None:
    """Read ``ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn`` and its relatives.

    Digits before ``gemm`` are a matrix instruction; without them the CUDA cores multiply. The
    letter is the accumulator's format, ``ldg8`` a load of eight elements.
    """
    found = _CLASSIC.search(text)
    if found is None:
        return None
    rest, letter, mma = found["rest"], found["letters"][-1], found["mma"]
    is_convolution = found["what"] == "cudnn"
    accumulator = ACCUMULATORS[letter]
    operand = dtype_of(found["operand"] or "")
    if operand is None:
        operand = "fp16" if mma and letter == "h" else None if mma else _CUDA_CORE_FORMATS[letter]
    loads = _LDG.findall(rest)
    stages = first_group(_STAGES, rest)
    return KernelName(
        origin="cudnn" if is_convolution else "cublas",
        arch=_GENERATIONS[found["generation"]],
        dtype_in=operand,
        dtype_acc=accumulator,
        mma=INSTRUCTIONS.get(mma or ""),
        tile=found["tile"],
        tile_k=int(stages.partition("x")[0]) if stages else None,
        stages=stages,
        layout=first_group(CONVOLUTION_LAYOUT if is_convolution else _LAYOUT, rest),
        split_k=True if SPLIT_K.search(rest) else None,
        alignment=int(loads[0]) if len(loads) == 1 else None,
        epilogue=first_group(ACTIVATION, rest),
        kind="convolution" if is_convolution else "gemm",
        tensor_cores="yes" if mma else "no",
    )


def _xmma(text: str) -> KernelName | None:
    """Read ``sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_…_cublas``.

    The pairs of formats are what lies in memory (operands, result) and what is computed with
    (multiplication, accumulation).
    """
    found = _XMMA.search(text)
    if found is None:
        return _xmma_cut_short(text)
    rest, what = found["rest"], found["what"]
    math, accumulator = _formats_of_pair(found["math"])
    instruction = first_group(_XMMA_INSTRUCTION, rest)
    cores: TensorCores = "unknown"
    if instruction or "_warpgroupsize" in rest or math in _MATRIX_FORMATS:
        cores = "yes"
    elif math == "fp32":
        cores = "no"
    return KernelName(
        origin="cudnn" if "cudnn" in rest or what != "gemm" else "cublas",
        arch=f"sm{found['arch']}",
        dtype_in=math,
        dtype_acc=accumulator,
        mma=instruction,
        tile=found["tile"],
        tile_k=int(found["k"]),
        stages=pipeline(found["k"], first_group(_XMMA_STAGE, rest)),
        layout=_xmma_layout((found["layout"] or "").strip("_")),
        split_k=_xmma_split(rest),
        cluster=first_group(_XMMA_CLUSTER, rest),
        kind="gemm" if what == "gemm" else "convolution",
        direction=PASSES.get(what),
        tensor_cores=cores,
    )


def _xmma_cut_short(text: str) -> KernelName | None:
    """Read what is left of an XMMA name that a tool has cut off before its tile."""
    found = _XMMA_CUT_SHORT.match(text)
    if found is None:
        return None
    math, accumulator = _formats_of_pair(found["math"] or "")
    return KernelName(
        arch=f"sm{found['arch']}",
        dtype_in=math,
        dtype_acc=accumulator,
        kind="gemm" if found["what"] == "gemm" else "convolution",
        direction=PASSES.get(found["what"]),
        tensor_cores="yes" if math in _MATRIX_FORMATS else "unknown",
    )


def _formats_of_pair(text: str) -> tuple[str | None, str | None]:
    """Return the two formats that are written without a separator: ``bf16f32``."""
    found = _XMMA_PAIR.match(text)
    return (dtype_of(found.group(1)), dtype_of(found.group(2))) if found else (None, None)


def _xmma_layout(text: str) -> str | None:
    operands = text.partition("_")[0]
    if re.fullmatch(r"[nt][nt]", operands):
        return operands
    return first_group(CONVOLUTION_LAYOUT, text)


def _xmma_split(rest: str) -> bool | None:
    if "segment_k_off" in rest:
        return False
    return True if SPLIT_K.search(rest) or "segment_k" in rest else None


def _nvjet(text: str) -> KernelName | None:
    """Read ``nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT``: cuBLAS since Hopper.

    Formats of operands, accumulator and result; tile; step in K and stages; cluster. Five letters
    give A, B, C, accumulator and D.
    """
    found = _NVJET.match(text)
    if found is None:
        return KernelName(origin="nvjet", kind="gemm")
    types, rest = found["types"], found["rest"]
    is_uniform = len(types) == 3 or types[0] == types[1]
    operand = _NVJET_OPERANDS.get(types[0]) if is_uniform else None
    if found["math"]:
        operand = found["math"]
    stages = found["stages"] or pipeline(found["k"], found["depth"])
    return KernelName(
        origin="nvjet",
        arch=found["arch"],
        dtype_in=operand,
        dtype_acc=ACCUMULATORS.get(types[-2]),
        tile=found["tile"],
        tile_k=int(stages.partition("x")[0]) if stages else None,
        stages=stages,
        layout=(first_group(_NVJET_LAYOUT, rest) or "").lower() or None,
        split_k=True if SPLIT_K.search(rest) else None,
        cluster=found["cluster"],
        epilogue=(first_group(_NVJET_EPILOGUE, rest) or "").lower() or None,
        kind="gemm",
        tensor_cores="unknown" if operand in (None, "fp64") else "yes",
    )
