"""What a kernel's name can say, and the words that libraries use for number formats."""

import re
from dataclasses import dataclass
from typing import Final, Literal

TensorCores = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class KernelName:
    """The facts in a kernel's name; ``None`` and ``()`` where the name does not say."""

    name: str = ""
    short_name: str = ""
    origin: str | None = None
    """The library or generator: "cublas", "cutlass", "cudnn", "inductor-triton", "aten", …"""
    arch: str | None = None
    """The architecture that it was built for: "sm80", "gfx942"."""
    dtype_in: str | None = None
    """The format of the operands: "fp32", "tf32", "bf16", "fp16", "fp8_e4m3", "int8", …

    Of a matrix product, the format that the multiplication itself takes: fp32 operands that are
    rounded for tensor cores are "tf32".
    """
    dtype_acc: str | None = None
    """The format in which sums are kept, or in which elementwise work is computed."""
    mma: str | None = None
    """The matrix instruction's M x N x K: "16x8x16"."""
    tile: str | None = None
    """The M x N of the result that one block computes: "128x256"; of attention, queries x keys."""
    tile_k: int | None = None
    """How much of K a block takes at a time."""
    stages: str | None = None
    """The depth of the pipeline, after its step in K where that is known: "32x5"."""
    layout: str | None = None
    """Of a product, A's and B's: "tn" (transposed, not); of a convolution, "nhwc" or "nchw"."""
    split_k: bool | None = None
    """Whether blocks share a result by splitting K, to be summed afterwards."""
    alignment: int | None = None
    """How many elements one load takes, which the operands' addresses must be multiples of."""
    cluster: str | None = None
    """Blocks that share their memory: "2x1x1"."""
    epilogue: str | None = None
    """What is applied to the result before it is stored: "relu", "bias", …"""
    kind: str | None = None
    """One of ``KINDS``; ``None`` when the name does not tell."""
    backend: str | None = None
    """Of attention: "flash", "efficient", "cudnn", "aiter", "ck", "trtllm", "paged"."""
    direction: str | None = None
    """"forward" or "backward", where the name says so."""
    inductor_kind: str | None = None
    """One of ``INDUCTOR_KINDS``, of kernels that torch.compile made."""
    operators: tuple[str, ...] = ()
    """The operators that torch.compile fused, without ``aten::``."""
    tensor_cores: TensorCores = "unknown"
    """Whether matrix instructions are used, AMD's matrix cores among them."""
    tokens: tuple[str, ...] = ()
    """The words of the short name, for marking those that differ."""


KINDS: Final = (
    "gemm",
    "convolution",
    "attention",
    "norm",
    "softmax",
    "pointwise",
    "reduction",
    "sort",
    "copy",
    "index",
    "comm",
    "optimizer",
    "random",
    "quantize",
    "pool",
    "loss",
    "other",
)
"""What a kernel does; "other" is known to be none of the rest."""

INDUCTOR_KINDS: Final = (
    "pointwise",
    "reduction",
    "persistent-reduction",
    "mixed-reduction",
    "split-scan",
    "template",
    "foreach",
    "cpp",
)

_DTYPES: Final = {
    "float": "fp32",
    "f32": "fp32",
    "fp32": "fp32",
    "double": "fp64",
    "f64": "fp64",
    "fp64": "fp64",
    "half": "fp16",
    "half_t": "fp16",
    "Half": "fp16",
    "__half": "fp16",
    "_Float16": "fp16",
    "std::float16_t": "fp16",
    "f16": "fp16",
    "fp16": "fp16",
    "BFloat16": "bf16",
    "bfloat16_t": "bf16",
    "__nv_bfloat16": "bf16",
    "__hip_bfloat16": "bf16",
    "hip_bfloat16": "bf16",
    "bf16": "bf16",
    "bf16_t": "bf16",
    "__bf16": "bf16",
    "std::bfloat16_t": "bf16",
    "tf32": "tf32",
    "tfloat32_t": "tf32",
    "e4m3": "fp8_e4m3",
    "float_e4m3_t": "fp8_e4m3",
    "Float8_e4m3fn": "fp8_e4m3",
    "Float8_e4m3fnuz": "fp8_e4m3",
    "__nv_fp8_e4m3": "fp8_e4m3",
    "e5m2": "fp8_e5m2",
    "float_e5m2_t": "fp8_e5m2",
    "Float8_e5m2": "fp8_e5m2",
    "Float8_e5m2fnuz": "fp8_e5m2",
    "__nv_fp8_e5m2": "fp8_e5m2",
    "e2m1": "fp4_e2m1",
    "float_e2m1_t": "fp4_e2m1",
    "i8": "int8",
    "s8": "int8",
    "int8": "int8",
    "int8_t": "int8",
    "signed char": "int8",
    "u8": "uint8",
    "uint8_t": "uint8",
    "Byte": "uint8",
    "unsigned char": "uint8",
    "i32": "int32",
    "s32": "int32",
    "int32": "int32",
    "int32_t": "int32",
    "int": "int32",
    "i64": "int64",
    "int64": "int64",
    "int64_t": "int64",
    "long": "int64",
    "short": "int16",
    "bool": "bool",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
}
_QUALIFIERS: Final = re.compile(r"^(?:const )?(?:\w+::)*")


def dtype_of(word: str) -> str | None:
    """Return the number format that a library's word or C++ type stands for."""
    text = word.strip().removesuffix(" const")
    return _DTYPES.get(text) or _DTYPES.get(_QUALIFIERS.sub("", text, count=1))
