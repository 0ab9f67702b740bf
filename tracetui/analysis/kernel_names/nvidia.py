"""Matrix products and convolutions of NVIDIA's libraries: cuBLAS, CUTLASS, nvjet, XMMA, cuDNN."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, TensorCores, dtype_of

_GENERATIONS: Final = {
    "maxwell": "sm50",
    "pascal": "sm60",
    "volta": "sm70",
    "turing": "sm75",
    "ampere": "sm80",
    "hopper": "sm90",
}
"""cuBLAS and cuDNN name the generation that a kernel was first made for, not the device's own."""

_ACCUMULATORS: Final = {"s": "fp32", "h": "fp16", "i": "int32", "d": "fp64", "c": "complex64"}
_INSTRUCTIONS: Final = {
    "884": "8x8x4",
    "8816": "8x8x16",
    "8832": "8x8x32",
    "1688": "16x8x8",
    "16816": "16x8x16",
    "16832": "16x8x32",
    "16864": "16x8x64",
    "161616": "16x16x16",
    "161632": "16x16x32",
}
"""The matrix instructions' M, N and K, written without a separator."""

_CLASSIC: Final = re.compile(
    r"(?:^|_)(?P<generation>maxwell|pascal|volta|turing|ampere|hopper)_"
    r"(?:(?P<out>[a-z]+\d+)_)?(?P<math>(?:gc|[shdci])?(?P<mma>\d{3,6})?)"
    r"(?P<what>gemm|cudnn)(?:_(?P<operand>fp16|fp32|bf16|tf32|int8|f16|f32))?"
    r"_(?:(?P<winograd>winograd)_)?(?P<tile>\d+x\d+)(?P<rest>(?:_\w+)?)"
)
_SIMPLE_DTYPES: Final = {"s": "fp32", "h": "fp16", "d": "fp64", "i": "int8", "c": "complex64"}
_LDG: Final = re.compile(r"_ldg(\d+)(?:_|$)")
_STAGES: Final = re.compile(r"_stages_(\d+x\d+)")
_LAYOUT: Final = re.compile(r"_([nt][nt])(?:_v\d+)?(?:_|$)")
_SPLIT_K: Final = re.compile(r"split_?k", re.IGNORECASE)
_ACTIVATION: Final = re.compile(r"_(relu|gelu|bias|swish|sigmoid|silu)(?=_|$)")

_CUTLASS: Final = re.compile(
    r"cutlass_(?:(?P<arch>\d+)_)?(?P<opclass>tensorop|simt|wmma_tensorop|wmma)_"
    r"(?:(?P<out>[a-z]+\d*(?:_e\dm\d)?)_)?(?P<acc>[shdciz]|gz|gc)(?P<mma>\d{3,6})?(?P<fast>[a-z]*\d*)"
    r"(?P<what>gemm|cgemm|fprop|dgrad|wgrad|symm|syrk|trmm)(?P<operation>(?:_[a-z]+)*?)"
    r"(?:_(?P<operand>bf16|f16|f32|f64|tf32|s8|u8|s4|u4|e4m3|e5m2))*"
    r"_(?P<tile>\d+x\d+)_(?P<stages>\d+x\d+)(?P<rest>(?:_\w+)?)"
)
_CUTLASS_ALIGN: Final = re.compile(r"_align(\d+)")
_CUTLASS_LAYOUT: Final = re.compile(r"_([nt][nt])(?=_align|_|$)")
_CONV_LAYOUT: Final = re.compile(r"_(nhwc|nchw|ndhwc|ncdhw|nc\d+hw\d+)(?=_|$)")

_CUTLASS3: Final = re.compile(
    r"cutlass3x_sm(?P<arch>\d+)[a-z]?_(?P<opclass>\w*?tensorop|simt)_"
    r"(?P<acc>[shdi])(?P<mma>\d+x\d+x\d+)(?P<fast>[a-z]*)gemm_(?P<a>\w+?)_(?P<b>\w+?)_(?P<c>\w+?)_"
    r"(?P<c_in>\w+?)_(?P<d>\w+?)_(?P<tile>\d+x\d+)x(?P<k>\d+)_(?P<cluster>\d+x\d+x\d+)"
    r"(?:_(?P<stages>\d+))?_(?P<layout>[nt][nt])[nt]?_align(?P<align>\d+)(?P<rest>\w*)"
)

_XMMA: Final = re.compile(
    r"sm(?P<arch>\d+)_xmma_(?P<what>gemm|fprop|dgrad|wgrad)(?P<form>(?:_[a-z]+)*?)"
    r"_(?P<ab>[a-z]+\d[a-z0-9]*)_(?P<math>[a-z]+\d[a-z0-9]*)_(?P<last>[a-z]+\d[a-z0-9]*)"
    r"(?P<layout>_[a-z]+_[a-z]+)?_tilesize(?P<tile>\d+x\d+)x(?P<k>\d+)(?P<rest>\w*)"
)
_XMMA_SHORT: Final = re.compile(r"^sm(\d+)_xmma_(gemm|fprop|dgrad|wgrad)")
_XMMA_PAIR: Final = re.compile(r"^(bf16|tf32|f16|f32|f64|e4m3|e5m2|i8|u8|i32|i4)(\w*)$")
_XMMA_STAGE: Final = re.compile(r"_stage(\d+)")
_XMMA_TENSOR: Final = re.compile(r"_tensor(\d+x\d+x\d+)")
_XMMA_CLUSTER: Final = re.compile(r"_cga(?:size)?(\d+x\d+x\d+)|_cluster(\d+x\d+x\d+)")
_SEGMENT_K_OFF: Final = re.compile(r"segment_k_off")

_NVJET: Final = re.compile(
    r"^nvjet_(?:(?P<arch>sm\d+)[a-z]?_)?(?P<types>[a-z]{3,6}\d?)_(?P<tile>\d+x\d+)"
    r"(?:_(?P<stages>\d+x\d+))?(?:_(?P<cluster>\d+x\d+))?(?P<rest>(?:_\w+)?)$"
)
_NVJET_FORMATS: Final = {
    "hsh": ("fp16", "fp32"),
    "hhh": ("fp16", "fp16"),
    "hss": ("fp16", "fp32"),
    "tst": ("bf16", "fp32"),
    "tss": ("bf16", "fp32"),
    "ddd": ("fp64", "fp64"),
}
"""The operands', the accumulator's and the result's letter: h fp16, t bf16, s fp32, d fp64."""

_NVJET_LAYOUT: Final = re.compile(r"_([NT]{2})[NT]?(?:_|$)")
_NVJET_ACTIVATION: Final = re.compile(r"_(bias|relu|gelu)(?:[A-Z]\w*?)?(?=_|$)")


def nvidia_product(text: str) -> KernelName | None:
    """Return what the name of a product or convolution by an NVIDIA library says, if it is one."""
    for family in (_nvjet, _xmma, _cutlass3, _cutlass, _classic):
        found = family(text)
        if found is not None:
            return found
    return None


def _classic(text: str) -> KernelName | None:
    """Read ``ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn`` and its relatives."""
    found = _CLASSIC.search(text)
    if found is None:
        return None
    rest, letters, mma = found["rest"], found["math"].rstrip("0123456789"), found["mma"]
    letter = letters[-1:] if letters != "gc" else "c"
    is_convolution = found["what"] == "cudnn" or letters.endswith("cudnn")
    if mma:
        operand = dtype_of(found["operand"] or "") or ("fp16" if letter == "h" else None)
        accumulator = _ACCUMULATORS.get(letter)
        cores: TensorCores = "yes"
    else:
        operand = accumulator = _SIMPLE_DTYPES.get(letter)
        if letter == "i":
            accumulator = "int32"
        cores = "no"
    ldg, stages, layout = _LDG.search(rest), _STAGES.search(rest), _LAYOUT.search(rest)
    activation = _ACTIVATION.search(rest)
    return KernelName(
        origin="cudnn" if is_convolution else "cublas",
        arch=_GENERATIONS[found["generation"]],
        dtype_in=operand,
        dtype_acc=accumulator,
        mma=_INSTRUCTIONS.get(mma or ""),
        tile=found["tile"],
        tile_k=int(stages.group(1).partition("x")[0]) if stages else None,
        stages=stages.group(1) if stages else None,
        layout=layout.group(1) if layout else None,
        split_k=True if _SPLIT_K.search(rest) else None,
        alignment=int(ldg.group(1)) if ldg else None,
        epilogue=activation.group(1) if activation else None,
        kind="convolution" if is_convolution else "gemm",
        tensor_cores=cores,
    )


def _cutlass(text: str) -> KernelName | None:
    """Read ``cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_32x3_nn_align8`` wherever it is."""
    found = _CUTLASS.search(text)
    if found is None:
        return None
    what, rest, operation = found["what"], found["rest"], found["operation"]
    cores: TensorCores = "no" if found["opclass"] == "simt" else "yes"
    accumulator = _ACCUMULATORS.get(found["acc"][-1])
    align, layout = _CUTLASS_ALIGN.search(rest), _CUTLASS_LAYOUT.search(rest)
    conv_layout, activation = _CONV_LAYOUT.search(rest), _ACTIVATION.search(operation + rest)
    return KernelName(
        origin="cudnn" if "cutlass_cudnn" in text else "cutlass",
        arch=f"sm{found['arch']}" if found["arch"] else None,
        dtype_in=_cutlass_operand(found, accumulator),
        dtype_acc=accumulator,
        mma=_INSTRUCTIONS.get(found["mma"] or ""),
        tile=found["tile"],
        tile_k=int(found["stages"].partition("x")[0]),
        stages=found["stages"],
        layout=layout.group(1) if layout else conv_layout.group(1) if conv_layout else None,
        split_k=True if _SPLIT_K.search(rest) else None,
        alignment=int(align.group(1)) if align else None,
        epilogue=activation.group(1) if activation else None,
        kind="convolution" if what in _CONV_DIRECTIONS else "gemm",
        direction=_CONV_DIRECTIONS.get(what),
        tensor_cores=cores,
    )


_CONV_DIRECTIONS: Final = {"fprop": "forward", "dgrad": "backward", "wgrad": "backward"}


def _cutlass_operand(found: re.Match[str], accumulator: str | None) -> str | None:
    """Return the operands' format; CUTLASS writes it only where it is not the accumulator's.

    With fp32 operands and matrix instructions the multiplication is tf32's: 16x8x8 on sm80 takes
    no fp32. ``s1688tf32gemm`` and ``s1688bf16gemm`` say to what fp32 operands are rounded.
    """
    if found["operand"]:
        return dtype_of(found["operand"])
    fast = dtype_of(found["fast"])
    if fast is not None:
        return fast
    if found["opclass"] != "simt" and accumulator == "fp32":
        return "tf32" if found["mma"] == "1688" and not found["fast"] else None
    return accumulator if accumulator != "int32" else None


def _cutlass3(text: str) -> KernelName | None:
    """Read ``cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_…_128x128x64_1x2x1_0_tnn_…``."""
    found = _CUTLASS3.search(text)
    if found is None:
        return None
    stages = found["stages"]
    return KernelName(
        origin="cutlass",
        arch=f"sm{found['arch']}",
        dtype_in=dtype_of(found["a"]),
        dtype_acc=dtype_of(found["c"]) or _ACCUMULATORS.get(found["acc"]),
        mma=found["mma"],
        tile=found["tile"],
        tile_k=int(found["k"]),
        stages=f"{found['k']}x{stages}" if stages and stages != "0" else None,
        layout=found["layout"],
        split_k=True if "splitk" in found["rest"] or "stream_k" in found["rest"] else None,
        alignment=int(found["align"]),
        cluster=found["cluster"],
        kind="gemm",
        tensor_cores="no" if found["opclass"] == "simt" else "yes",
    )


def _xmma(text: str) -> KernelName | None:
    """Read ``sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_…_cublas``."""
    found = _XMMA.search(text)
    if found is None:
        short = _XMMA_SHORT.match(text)
        if short is None:
            return None
        what = short.group(2)
        return KernelName(
            arch=f"sm{short.group(1)}",
            kind="gemm" if what == "gemm" else "convolution",
            direction=_CONV_DIRECTIONS.get(what),
        )
    rest, what = found["rest"], found["what"]
    math, accumulator = _xmma_pair(found["math"])
    layouts = (found["layout"] or "").strip("_").split("_")
    stage, tensor = _XMMA_STAGE.search(rest), _XMMA_TENSOR.search(rest)
    cluster = _XMMA_CLUSTER.search(rest)
    is_wgmma = "_warpgroupsize" in rest
    cores: TensorCores = "unknown"
    if tensor or is_wgmma or math in ("tf32", "bf16", "fp8_e4m3", "fp8_e5m2"):
        cores = "yes"
    elif "simt" in rest or "ffma" in rest or math == "fp32":
        cores = "no"
    split_k: bool | None = None
    if _SEGMENT_K_OFF.search(rest):
        split_k = False
    elif _SPLIT_K.search(rest) or "segment_k" in rest:
        split_k = True
    return KernelName(
        origin="cudnn" if "cudnn" in rest else "cublas",
        arch=f"sm{found['arch']}",
        dtype_in=math,
        dtype_acc=accumulator,
        mma=tensor.group(1) if tensor else None,
        tile=found["tile"],
        tile_k=int(found["k"]),
        stages=f"{found['k']}x{stage.group(1)}" if stage else None,
        layout=_xmma_layout(layouts),
        split_k=split_k,
        cluster=next((group for group in cluster.groups() if group), None) if cluster else None,
        kind="gemm" if what == "gemm" else "convolution",
        direction=_CONV_DIRECTIONS.get(what),
        tensor_cores=cores,
    )


def _xmma_pair(text: str) -> tuple[str | None, str | None]:
    """Return the two formats that are written without a separator: ``bf16f32``."""
    found = _XMMA_PAIR.match(text)
    return (dtype_of(found.group(1)), dtype_of(found.group(2))) if found else (None, None)


def _xmma_layout(words: list[str]) -> str | None:
    if re.fullmatch(r"[nt][nt]", words[0]):
        return words[0]
    found = re.match(r"nhwc|nchw|ndhwc|ncdhw", words[0])
    return found.group() if found else None


def _nvjet(text: str) -> KernelName | None:
    """Read ``nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT``: cuBLAS's products since Hopper."""
    found = _NVJET.match(text)
    if found is None:
        return KernelName(origin="nvjet", kind="gemm") if text.startswith("nvjet_") else None
    rest = found["rest"]
    operand, accumulator = _NVJET_FORMATS.get(found["types"], (None, None))
    layout, activation = _NVJET_LAYOUT.search(rest), _NVJET_ACTIVATION.search(rest)
    stages = found["stages"]
    return KernelName(
        origin="nvjet",
        arch=found["arch"],
        dtype_in=operand,
        dtype_acc=accumulator,
        tile=found["tile"],
        tile_k=int(stages.partition("x")[0]) if stages else None,
        stages=stages,
        layout=layout.group(1).lower() if layout else None,
        split_k=True if _SPLIT_K.search(rest) else None,
        cluster=found["cluster"],
        epilogue=activation.group(1) if activation else None,
        kind="gemm",
        tensor_cores="yes",
    )
