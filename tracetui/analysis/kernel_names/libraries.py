"""The smaller kernels of cuBLAS and cuDNN, and names that only their words tell about."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName
from tracetui.analysis.kernel_names.kinds import kind_by_words
from tracetui.analysis.kernel_names.templates import dtypes_among, template_parts
from tracetui.analysis.kernel_names.words import (
    SPLIT_K,
    direction_of,
    first_group,
    library_of,
)

_TRANSFER: Final = re.compile(
    r"^(?:mem(?:cpy|set)\b|hip(?:memcpy|memset)|__amd_rocclr_|copybuffer|fillbuffer"
    r"|copy(?:host|device)to(?:host|device))",
    re.IGNORECASE,
)
_CUBLAS: Final = re.compile(
    r"^(?:cublasLt::|cublas::)?(?:(?P<product>gemv\w*|gemmSN_\w+|gemmk1\w*|gemm_kernel\w*|gemm2_\w+"
    r"|dot_kernel|cublasSgemm\w*)|(?P<reduction>splitKreduce_kernel|reduce_1Block_kernel|nrm2_kernel"
    r"|asum_kernel)|(?P<pointwise>scal_kernel\w*|axpy_kernel\w*))$"
)
_EPILOGUE: Final = re.compile(r"^epilogue::impl::globalKernel")
_SMALL_LAYOUT: Final = re.compile(r"gemmSN_([NT]{2})_")

_CUDNN: Final = re.compile(
    r"cudnn|cask_|^(?:implicit|explicit|precomputed)_convolve_|^fft[12]d_|^conv2d_c1_k1|^dgrad2d_c1"
)
_CONVOLUTION: Final = re.compile(
    r"convolve|conv(?!ert)|winograd|wgrad|dgrad|fprop|im2col|fft[12]d|_engine", re.IGNORECASE
)
_SUPPORT: Final = re.compile(r"compute\w*OffsetsKernel|generateWinogradTiles")
_GRADIENT: Final = re.compile(r"wgrad|dgrad", re.IGNORECASE)
_BATCH_NORM: Final = re.compile(r"(?<![a-z])bn_(fw|bw)_")
_SCALING: Final = re.compile(r"scale\w*Tensor|add\w*Tensor|op_generic_tensor", re.IGNORECASE)

_PRODUCT: Final = re.compile(
    r"(?<!fb)gemm|gemv|(?<![a-z])cijk_|splitk|cublas|matmul|wmma|wgmma|(?<![a-z])bmm(?![a-z])",
    re.IGNORECASE,
)
_CONVOLUTION_WORD: Final = re.compile(r"(?<![a-z])conv(?:\d|_|olution)|winograd", re.IGNORECASE)
_SPLIT_K_SUM: Final = re.compile(r"splitK_?reduce|reduce_?split_?k", re.IGNORECASE)
_MATRIX_WORD: Final = re.compile(r"tensorop|wgmma|hmma|mfma|wmma|deep_gemm|marlin", re.IGNORECASE)
_OTHER_WORK: Final = re.compile(
    r"bounds_check|find_long_segments|prepare_varlen|scheduler_metadata"
)


def transfer(text: str) -> KernelName | None:
    """Return a copy's or memset's facts: ``Memcpy HtoD (Pageable -> Device)``; else ``None``."""
    return KernelName(kind="copy", tensor_cores="no") if _TRANSFER.match(text) else None


def cudnn_kernel(head: str) -> KernelName | None:
    """Return what cuDNN's hand-written kernels say: convolution engines, batch norm, layouts."""
    if not _CUDNN.search(head):
        return None
    base, arguments = template_parts(head)
    path = head.partition("<")[0]
    formats = dtypes_among(arguments)
    operand = formats[0] if formats else None
    norm = _BATCH_NORM.search(base)
    if norm is not None:
        return KernelName(
            origin="cudnn",
            kind="norm",
            direction="forward" if norm.group(1) == "fw" else "backward",
            dtype_in=operand,
            dtype_acc=formats[1] if len(formats) > 1 else None,
            tensor_cores="no",
        )
    if _SUPPORT.search(base):
        return KernelName(origin="cudnn", kind="other", tensor_cores="no")
    kind = "gemm" if _PRODUCT.search(base) else kind_by_words(base)
    if kind not in ("copy", "norm", "softmax", "pool") and _CONVOLUTION.search(path):
        return KernelName(
            origin="cudnn",
            kind="convolution",
            direction="backward" if _GRADIENT.search(path) else None,
            dtype_in=operand,
            tensor_cores="no" if operand == "fp32" else "unknown",
        )
    if kind is None and _SCALING.search(base):
        kind = "pointwise"
    return KernelName(
        origin="cudnn",
        kind=kind,
        dtype_in=operand,
        tensor_cores="no" if kind not in (None, "gemm", "convolution") else "unknown",
    )


def cublas_kernel(text: str) -> KernelName | None:
    """Return what cuBLAS's small kernels say: matrix times vector, dot, and the sum of split K.

    They run on the CUDA cores. The sum's formats are not read: which is whose is not documented.
    """
    base, arguments = template_parts(text)
    if _EPILOGUE.match(text):
        return KernelName(origin="cublas", kind="pointwise", tensor_cores="no")
    found = _CUBLAS.match(base)
    if found is None:
        return None
    kind = {"product": "gemm"}.get(found.lastgroup or "", found.lastgroup)
    # gemmk1_kernel and gemv2T_kernel_val give their index type before the operands' format.
    formats = [word for word in dtypes_among(arguments) if not word.startswith("int")]
    return KernelName(
        origin="cublas",
        kind=kind,
        dtype_in=formats[0] if formats and kind == "gemm" else None,
        layout=(first_group(_SMALL_LAYOUT, base) or "").lower() or None,
        split_k=True if SPLIT_K.search(base) else None,
        tensor_cores="no",
    )


def by_its_words(head: str) -> KernelName:
    """Return the little that a name of no known scheme tells: the sort of work, and the library."""
    kind = kind_by_words(head)
    if kind in (None, "pointwise", "reduction", "copy"):
        if _SPLIT_K_SUM.search(head):
            kind = "reduction"
        elif _PRODUCT.search(head):
            kind = "gemm"
        elif _CONVOLUTION_WORD.search(head):
            kind = "convolution"
        elif _OTHER_WORK.search(head):
            kind = "other"
    is_product = kind in ("gemm", "convolution")
    return KernelName(
        origin=library_of(head),
        kind=kind,
        direction=direction_of(head.partition("<")[0]),
        tensor_cores="yes" if is_product and _MATRIX_WORD.search(head) else "unknown",
    )
