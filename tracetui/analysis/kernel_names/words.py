"""Words that the names of several libraries' products have in common."""

import re
from typing import Final

ACCUMULATORS: Final = {
    "s": "fp32",
    "h": "fp16",
    "i": "int32",
    "d": "fp64",
    "c": "complex64",
    "z": "complex128",
}
"""BLAS's letters, which a product's name gives for its accumulator."""

INSTRUCTIONS: Final = {
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
"""The matrix instructions' M, N and K, which names write without a separator."""

PASSES: Final = {"fprop": "forward", "dgrad": "backward", "wgrad": "backward"}
"""A convolution's passes: the result, the input's gradient, the filter's gradient."""

SPLIT_K: Final = re.compile(r"split_?k", re.IGNORECASE)
ACTIVATION: Final = re.compile(r"_(relu|gelu|swish|sigmoid|silu|tanh)(?=_|$)")
CONVOLUTION_LAYOUT: Final = re.compile(r"(?:^|_)(nhwc|nchw|ndhwc|ncdhw)(?=[a-z_]|$)")
_FORWARD: Final = re.compile(r"fwd|forward|fprop", re.IGNORECASE)
_BACKWARD: Final = re.compile(r"bwd|backward|bprop", re.IGNORECASE)


def first_group(pattern: re.Pattern[str], text: str) -> str | None:
    """Return what a pattern's first group that took part holds at its first match."""
    found = pattern.search(text)
    return next((group for group in found.groups() if group), None) if found else None


def whole_group(pattern: re.Pattern[str], text: str) -> int | None:
    """Return the same as a whole number."""
    group = first_group(pattern, text)
    return None if group is None else int(group)


def pipeline(step: str | int | None, depth: str | None) -> str | None:
    """Return a pipeline's step in K and its depth as cuBLAS writes them: "32x5"."""
    if not depth or depth == "0":
        return None
    return depth if step is None else f"{step}x{depth}"


_LIBRARIES: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "fbgemm",
            (
                r"fbgemm|(?:split|dense)_embedding_(?:\w+_)?codegen|^bounds_check_indices"
                r"|^linearize_index"
            ),
        ),
        ("flashinfer", r"flashinfer::|^kernel_cutlass_kernel_flashinfer"),
        ("vllm", r"vllm::"),
        ("sglang", r"sglang|sgl_hip|sgl_kernel"),
        ("aiter", r"aiter::|^aiter_"),
        ("transformer-engine", r"transformer_engine::"),
        ("deepgemm", r"deep_gemm::"),
        ("marlin", r"marlin"),
        ("liger", r"^_?liger_"),
        ("tensorrt-llm", r"tensorrt_llm::"),
        ("cutlass", r"cutlass::|kernel_cutlass_"),
        ("triton", r"(?<![a-z])triton(?![a-z])"),
    )
)


def library_of(text: str) -> str | None:
    """Return the library whose namespace or prefix a name bears, where it bears a known one."""
    return next((name for name, pattern in _LIBRARIES if pattern.search(text)), None)


def direction_of(text: str) -> str | None:
    """Return the pass that a name speaks of, when it speaks of one."""
    is_forward = _FORWARD.search(text) is not None
    if is_forward == (_BACKWARD.search(text) is not None):
        return None
    return "forward" if is_forward else "backward"
