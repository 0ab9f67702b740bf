"""CUTLASS's products and convolutions, by their procedural names and as C++ templates.

The schemes are those of the CUTLASS profiler's documentation.
"""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, TensorCores, dtype_of
from tracetui.analysis.kernel_names.templates import arguments_of
from tracetui.analysis.kernel_names.words import (
    ACCUMULATORS,
    ACTIVATION,
    CONVOLUTION_LAYOUT,
    INSTRUCTIONS,
    PASSES,
    SPLIT_K,
    first_group,
    pipeline,
    whole_group,
)

_CUTLASS_2: Final = re.compile(
    r"cutlass_(?:(?P<arch>\d+)_)?(?P<opclass>wmma_tensorop|tensorop|simt|wmma)_"
    r"(?:(?P<out>[a-z]+\d+)_)?g?(?P<acc>[shdciz])(?P<mma>\d{3,6})?(?P<fast>(?:[a-z]+\d+)?)"
    r"(?P<what>c?gemm|spgemm|fprop|dgrad|wgrad|symm|syrk|trmm)(?P<form>(?:_[a-z]+)*?)"
    r"(?:_(?P<operand>bf16|f16|f32|f64|tf32|s8|u8|s4|u4|e4m3|e5m2))*"
    r"_(?P<tile>\d+x\d+)_(?P<stages>\d+x\d+)(?P<rest>(?:_\w+)?)"
)
_ALIGNMENT: Final = re.compile(r"_align(\d+)")
_LAYOUT: Final = re.compile(r"_([nt][nt])(?=_|$)")

_CUTLASS_3: Final = re.compile(
    r"cutlass3x_sm(?P<arch>\d+)[a-z]?_(?P<opclass>\w*?tensorop|simt)_"
    r"(?:(?P<acc>[shdi])(?P<mma>\d+x\d+x\d+)?)?(?P<fast>(?:[a-z]+\d+)?)(?P<what>gemm|fprop|dgrad|wgrad)"
    r"(?:_block_scaled)?_(?P<a>\w+?)_(?P<b>\w+?)_(?P<sum>[fsi]\d+)_(?:\w+?)_"
    r"(?P<tile>\d+x\d+)x(?P<k>\d+)(?:_(?P<cluster>\d+x\d+x\d+))?(?:_(?P<stages>\d+))?"
    r"_(?P<layout>[nt][nt])[nt]?_align(?P<align>\d+)(?P<rest>\w*)"
)
_BLOCK_SCALED: Final = re.compile(r"^u?e\d+m\d+x(\w+)$")
_NARROW: Final = {"f4": "fp4_e2m1", "e2m1": "fp4_e2m1", "e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2"}

_TEMPLATE: Final = re.compile(r"(?<![a-z])cutlass(?:_cudnn\w*)?::")
_WORK: Final = re.compile(
    r"GemmUniversal|GemmWithFusedEpilogue|GemmKernel|DefaultGemm|GemmGrouped|MmaMultistage|MmaPipelined"
    r"|(?P<convolution>ImplicitGemmConvolution|ConvUniversal)|(?P<sum>ReduceSplitK)"
)
_FORMAT: Final = re.compile(
    r"(?<![a-z])(tfloat32_t|bfloat16_t|half_t|float_e4m3_t|float_e5m2_t|float_e2m1_t)"
)
_ARCHITECTURE: Final = re.compile(r"arch::Sm(\d+)")
_MAINLOOP: Final = re.compile(r"Mainloop\w*?Sm(?P<arch>\d+)\w*")
_CUTE_INTEGER: Final = re.compile(r"C<(\d+)>")
_MATRIX: Final = re.compile(
    r"OpClassTensorOp|TensorOp|Sm(?:90|100|103|120)[A-Za-z]*|wgmma|GMMA|UMMA"
)
_GRADIENT: Final = re.compile(r"(?P<backward>[WD]grad)|Fprop")


def cutlass_product(text: str) -> KernelName | None:
    """Return what the name of a CUTLASS product or convolution says; ``None`` for any other."""
    if "cutlass" not in text:
        return None
    for family in (_cutlass_3, _cutlass_2, _template):
        found = family(text)
        if found is not None:
            return found
    return None


def _origin(text: str) -> str:
    """Return whose kernel it is: cuDNN brings its own copy of CUTLASS under another name."""
    return "cudnn" if "cutlass_cudnn" in text else "cutlass"


def _cutlass_2(text: str) -> KernelName | None:
    """Read ``cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_32x3_nn_align8`` wherever it is."""
    found = _CUTLASS_2.search(text)
    if found is None:
        return None
    what, rest = found["what"], found["rest"]
    accumulator = ACCUMULATORS[found["acc"]]
    is_convolution = what in PASSES
    return KernelName(
        origin=_origin(text),
        arch=f"sm{found['arch']}" if found["arch"] else None,
        dtype_in=_operand(found, accumulator),
        dtype_acc=accumulator,
        mma=INSTRUCTIONS.get(found["mma"] or ""),
        tile=found["tile"],
        tile_k=int(found["stages"].partition("x")[0]),
        stages=found["stages"],
        layout=first_group(CONVOLUTION_LAYOUT if is_convolution else _LAYOUT, rest),
        split_k=True if SPLIT_K.search(rest) else None,
        alignment=whole_group(_ALIGNMENT, rest),
        epilogue=first_group(ACTIVATION, found["form"] + rest),
        kind="convolution" if is_convolution else "gemm",
        direction=PASSES.get(what),
        tensor_cores="no" if found["opclass"] == "simt" else "yes",
    )


def _operand(found: re.Match[str], accumulator: str) -> str | None:
    """Return the operands' format; CUTLASS writes it only where it is not the accumulator's.

    Matrix instructions take no fp32: operands of that format are multiplied as tf32 by the
    16x8x8 instruction, or as what ``s1688bf16gemm`` and its like name.
    """
    if found["operand"]:
        return dtype_of(found["operand"])
    if found["fast"]:
        return dtype_of(found["fast"])
    if found["opclass"] == "simt" or accumulator not in ("fp32", "int32"):
        return "int8" if accumulator == "int32" else accumulator
    return "tf32" if accumulator == "fp32" and found["mma"] == "1688" else None


def _cutlass_3(text: str) -> KernelName | None:
    """Read ``cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_1x2x1_0_…``.

    After the instruction come the formats of A, B, accumulator, C and D, tile, cluster, stages
    (0: chosen when compiled), the layouts of A, B and C, and the alignment.
    """
    found = _CUTLASS_3.search(text)
    if found is None:
        return None
    what, rest = found["what"], found["rest"]
    return KernelName(
        origin="cutlass",
        arch=f"sm{found['arch']}",
        dtype_in=dtype_of(found["fast"]) if found["fast"] else _narrow(found["a"], found["b"]),
        dtype_acc=dtype_of(found["sum"]),
        mma=found["mma"],
        tile=found["tile"],
        tile_k=int(found["k"]),
        stages=pipeline(found["k"], found["stages"]),
        layout=found["layout"],
        split_k=True if SPLIT_K.search(rest) or "stream_k" in rest else None,
        alignment=int(found["align"]),
        cluster=found["cluster"],
        epilogue=first_group(ACTIVATION, rest),
        kind="convolution" if what in PASSES else "gemm",
        direction=PASSES.get(what),
        tensor_cores="no" if found["opclass"] == "simt" else "yes",
    )


def _narrow(a: str, b: str) -> str | None:
    """Return the operands' format where both have one; ``ue4m3xf4`` is f4 with scales."""
    formats = []
    for word in (a, b):
        scaled = _BLOCK_SCALED.match(word)
        plain = scaled.group(1) if scaled else word
        formats.append(_NARROW.get(plain) or dtype_of(plain))
    return formats[0] if formats[0] == formats[1] else None


def _template(text: str) -> KernelName | None:
    """Read a kernel that is spelled as the C++ template that it is."""
    work = _WORK.search(text) if _TEMPLATE.search(text) else None
    if work is None:
        return None
    if work["sum"]:
        return KernelName(origin=_origin(text), kind="reduction", split_k=True, tensor_cores="no")
    if "CollectiveMma<" in text:
        return _collective(text)
    formats = {dtype_of(word) for word in _FORMAT.findall(text)}
    shape = arguments_of(text, "GemmShape")
    operand = formats.pop() if len(formats) == 1 else None
    cores: TensorCores = "yes" if _MATRIX.search(text) or operand == "tf32" else "unknown"
    gradient = _GRADIENT.search(text) if work["convolution"] else None
    return KernelName(
        origin=_origin(text),
        arch=f"sm{arch}" if (arch := first_group(_ARCHITECTURE, text)) else None,
        dtype_in=operand,
        tile="x".join(shape[:2]) if len(shape) == 3 else None,
        tile_k=int(shape[2]) if len(shape) == 3 and shape[2].isdecimal() else None,
        kind="convolution" if work["convolution"] else "gemm",
        direction=("backward" if gradient["backward"] else "forward") if gradient else None,
        tensor_cores=cores,
    )


def _collective(text: str) -> KernelName:
    """Read ``CollectiveMma<Mainloop…<stages, cluster, …>, tile, type of A, stride, type of B, …>``."""
    mainloop = _MAINLOOP.search(text)
    policy = arguments_of(text, mainloop.group()) if mainloop else []
    arguments = arguments_of(text, "CollectiveMma")
    cluster = next((sizes for part in policy if len(sizes := _CUTE_INTEGER.findall(part)) == 3), [])
    tile = _CUTE_INTEGER.findall(arguments[1]) if len(arguments) > 1 else []
    a, b = (first_group(_FORMAT, part) for part in (*arguments[2:5:2], "", "")[:2])
    stages = policy[0] if policy and policy[0].isdecimal() else None
    has_tile = len(tile) == 3
    return KernelName(
        origin="cutlass",
        arch=f"sm{mainloop['arch']}" if mainloop else None,
        dtype_in=dtype_of(a) if a and a == b else None,
        tile="x".join(tile[:2]) if has_tile else None,
        tile_k=int(tile[2]) if has_tile else None,
        stages=pipeline(tile[2], stages) if has_tile else stages,
        cluster="x".join(cluster) or None,
        kind="gemm",
        tensor_cores="yes" if _MATRIX.search(text) else "unknown",
    )
