"""The smaller kernels of cuBLAS and cuDNN, and names that only their words tell about."""

import re
from typing import Final

from tracetui.analysis.kernel_names.aten import kind_by_words
from tracetui.analysis.kernel_names.attention import direction_of
from tracetui.analysis.kernel_names.fields import KernelName, dtype_of
from tracetui.analysis.kernel_names.templates import dtypes_among, template_parts

_TRANSFER: Final = re.compile(
    r"^(?:mem(?:cpy|set)\b|hip(?:memcpy|memset)|__amd_rocclr_|copybuffer|fillbuffer)", re.IGNORECASE
)
_CUBLAS: Final = re.compile(
    r"^(?:cublasLt::)?(?:gemv\w*|gemmSN_\w+|gemmk1\w*|gemm2?_?kernel\w*|dot_kernel|splitKreduce_kernel"
    r"|reduce_1Block_kernel|gemvx|scal_kernel|axpy_kernel\w*|nrm2_kernel|asum_kernel|globalKernel)"
)
_CUBLAS_LAYOUT: Final = re.compile(r"gemmSN_([NT]{2})_")
_CUDNN: Final = re.compile(
    r"cudnn|cask_|^(?:void )?(?:implicit|explicit|precomputed)_convolve_\w+|fft[12]d_|^Im2[dD]2Col|scudnn"
)
_CONVOLUTION: Final = re.compile(
    r"convolve|conv(?!ert)|winograd|wgrad|dgrad|fprop|engine|im2col|im2d2col|fft[12]d"
    r"|offsetsKernel",
    re.IGNORECASE,
)
_SUPPORT: Final = re.compile(r"compute\w*OffsetsKernel|generateWinogradTiles")
_WINOGRAD_BACKWARD: Final = re.compile(r"winogradWgrad|wgrad|dgrad", re.IGNORECASE)
_BATCH_NORM: Final = re.compile(r"bn_(fw|bw)_")
_PRODUCT: Final = re.compile(
    r"(?<!fb)gemm|gemv|cutlass|(?<![a-z])cijk_|xmma|splitk|cublas|matmul|wmma|wgmma|(?<![a-z])dot_kernel",
    re.IGNORECASE,
)
_SPLIT_K_SUM: Final = re.compile(r"splitK_?reduce|ReduceSplitK|reduce_split_?k", re.IGNORECASE)
_TENSOR_WORD: Final = re.compile(
    r"tensorop|wgmma|hmma|mfma|(?<![a-z])mma_|wmma|Sm(?:90|100|120)\b", re.IGNORECASE
)
_ARCH_WORD: Final = re.compile(r"cutlass::arch::Sm(\d+)")
_OPERAND_WORD: Final = re.compile(
    r"cutlass::(bfloat16_t|half_t|tfloat32_t|float_e4m3_t|float_e5m2_t)"
)
_LLM_LIBRARIES: Final = (
    (
        "fbgemm",
        re.compile(r"fbgemm|(?:split|dense)_embedding_(?:\w+_)?codegen|bounds_check_indices"),
    ),
    ("flashinfer", re.compile(r"flashinfer")),
    ("vllm", re.compile(r"vllm::")),
    ("sglang", re.compile(r"sglang|sgl_hip|sgl_kernel")),
    ("aiter", re.compile(r"aiter")),
    ("apex", re.compile(r"apex|cuApplyLayerNorm|cuComputeGradInput")),
    ("transformer-engine", re.compile(r"transformer_engine")),
    ("deepgemm", re.compile(r"deep_gemm")),
)


def transfer(text: str) -> KernelName | None:
    """Return a copy's or memset's facts: ``Memcpy HtoD (Pageable -> Device)``; else ``None``."""
    return KernelName(kind="copy", tensor_cores="no") if _TRANSFER.match(text) else None


def cudnn_kernel(text: str) -> KernelName | None:
    """Return what cuDNN's hand-written kernels say: convolution engines, batch norm, layouts."""
    if not _CUDNN.search(text):
        return None
    base, arguments = template_parts(text)
    formats = dtypes_among(arguments)
    norm = _BATCH_NORM.search(base)
    if norm is not None:
        return KernelName(
            origin="cudnn",
            kind="norm",
            direction="forward" if norm.group(1) == "fw" else "backward",
            dtype_in=formats[0] if formats else None,
            dtype_acc=formats[1] if len(formats) > 1 else None,
            tensor_cores="no",
        )
    if _SUPPORT.search(base):
        return KernelName(origin="cudnn", kind="other", tensor_cores="no")
    if _CONVOLUTION.search(base):
        is_backward = _WINOGRAD_BACKWARD.search(base) is not None
        return KernelName(
            origin="cudnn",
            kind="convolution",
            direction="backward" if is_backward else None,
            dtype_in=formats[0] if formats else None,
            tensor_cores="no" if formats and formats[0] == "fp32" else "unknown",
        )
    kind = "gemm" if _PRODUCT.search(base) else kind_by_words(base)
    if kind is None and "Tensor" in base:
        kind = "pointwise"
    if kind is None and re.search(r"ImplicitGemmConvolution|Conv2d", text):
        return _implicit_convolution(text)
    if kind is None and _SPLIT_K_SUM.search(text):
        kind = "reduction"
    return KernelName(origin="cudnn", kind=kind, dtype_in=formats[0] if formats else None)


def _implicit_convolution(text: str) -> KernelName:
    """Read a CUTLASS convolution inside cuDNN, spelled as the template that it is."""
    shape = re.search(r"GemmShapeILi(\d+)ELi(\d+)ELi(\d+)E|GemmShape<(\d+), (\d+), (\d+)>", text)
    sizes = [size for size in shape.groups() if size] if shape else []
    operand = re.search(r"(tfloat32_t|bfloat16_t|half_t)", text)
    is_backward = re.search(r"Wgrad|Dgrad", text) is not None
    return KernelName(
        origin="cudnn",
        kind="convolution",
        direction="backward" if is_backward else "forward" if "Fprop" in text else None,
        dtype_in=dtype_of(operand.group(1)) if operand else None,
        tile=f"{sizes[0]}x{sizes[1]}" if sizes else None,
        tile_k=int(sizes[2]) if sizes else None,
        tensor_cores="yes" if operand else "unknown",
    )


def cublas_kernel(text: str) -> KernelName | None:
    """Return what cuBLAS's small kernels say: matrix times vector, dot, and the sum of split K."""
    base, arguments = template_parts(text)
    if not (_CUBLAS.match(base) and ("cublas" in text or "kernel" in base)):
        return None
    formats = dtypes_among(arguments)
    is_sum = _SPLIT_K_SUM.search(base) is not None
    layout = _CUBLAS_LAYOUT.search(base)
    kind = "gemm"
    if is_sum or base.startswith("reduce_1Block"):
        kind = "reduction"
    elif base.startswith(("scal", "axpy", "globalKernel")):
        kind = "pointwise"
    return KernelName(
        origin="cublas",
        kind=kind,
        dtype_in=formats[0] if formats and kind == "gemm" and base[:5] != "gemmk" else None,
        layout=layout.group(1).lower() if layout else None,
        split_k=True if is_sum else None,
        tensor_cores="no",
    )


def by_its_words(text: str) -> KernelName:
    """Return the little that a name of no known scheme tells: the sort of work, and the library."""
    origin = next((name for name, pattern in _LLM_LIBRARIES if pattern.search(text)), None)
    if origin is None and "cutlass" in text:
        origin = "cutlass"
    kind = kind_by_words(text)
    if kind in (None, "pointwise", "reduction", "copy") and _PRODUCT.search(text):
        kind = "reduction" if _SPLIT_K_SUM.search(text) else "gemm"
    elif kind is None and re.search(r"(?<![a-z])conv(?:\d|_|olution)", text, re.IGNORECASE):
        kind = "convolution"
    arch, operand = _ARCH_WORD.search(text), _OPERAND_WORD.search(text)
    is_product = kind in ("gemm", "convolution")
    return KernelName(
        origin=origin,
        arch=f"sm{arch.group(1)}" if arch else None,
        dtype_in=dtype_of(operand.group(1)) if operand and is_product else None,
        kind=kind,
        direction=direction_of(text.partition("(")[0]),
        tensor_cores="yes" if is_product and _TENSOR_WORD.search(text) else "unknown",
    )
