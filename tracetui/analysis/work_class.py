"""What sort of work a device slice does, and a name for it that fits a table."""

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import Int8s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


class WorkClass(IntEnum):
    """A sort of device work; the order is that of legends."""

    GEMM = 0
    """Matrix products and convolutions."""
    ATTENTION = 1
    NORM = 2
    """Normalisations and softmax."""
    POINTWISE = 3
    REDUCTION = 4
    """Reductions, scans and sorts."""
    TRITON = 5
    """Generated Triton kernels, whatever they fuse."""
    COPY = 6
    """Copies, fills and changes of layout."""
    COMM = 7
    OTHER = 8


# The first match decides. An attention kernel names the matrix instructions it uses, a norm names
# the reduction inside it and a reduction runs elementwise functors: the wider word comes later.
_CLASSES: Final = tuple(
    (work, re.compile(pattern, re.IGNORECASE))
    for work, pattern in (
        (WorkClass.COMM, r"nccl|rccl|hccl|oneccl|msccl|cross_device_reduce"),
        (WorkClass.COPY, r"^mem(cpy|set)\b|rocclr_(copy|fill)|^hip(memcpy|memset)"),
        (WorkClass.TRITON, r"^triton_"),
        (
            WorkClass.ATTENTION,
            r"flash|fmha|attention|(?<![a-z])attn|sdpa|(?<![a-z])mha(?![a-z])|(?<![a-z])mla_",
        ),
        (
            WorkClass.NORM,
            (
                r"soft_?max|(layer|batch|group|instance|rms|weight)_?norm|(?<![a-z])bn_(fw|bw)"
                r"|norm_(fwd|bwd|forward|backward|kernel|fused|quant)"
            ),
        ),
        (
            WorkClass.GEMM,
            (
                r"(?<!fb)gemm|gemv|cutlass|nvjet|(?<![a-z])cijk_|xmma|splitk|cublas"
                r"|conv(?!ert)|winograd|wgrad|dgrad|fprop|scudnn|(?<![a-z])dot_kernel|matmul"
                r"|(?<![a-z])fft[12]d|wmma|wgmma"
            ),
        ),
        (
            WorkClass.COPY,
            (
                r"direct_copy|copy_kernel|catarray|copyfunctor|nchwtonhwc|nhwctonchw|fillfunctor"
                r"|transpose_kernel|copybuffer|fillbuffer"
            ),
        ),
        (
            WorkClass.REDUCTION,
            (
                r"reduce|reduction|arg(max|min)|cumsum|cumprod|devicescan|scan_kernel|radixsort"
                r"|(?<![a-z])sort|topk|histogram|welford"
            ),
        ),
        (
            WorkClass.POINTWISE,
            (
                r"elementwise|element_wise|multi_tensor_apply|functor|dropout|activation|act_and_mul"
                r"|gelu|silu|(?<![a-z])relu|rotary|distribution_|pointwise|transform_bias"
            ),
        ),
        (WorkClass.GEMM, r"(?<![a-z])engine(?![a-z])"),
    )
)


@lru_cache(maxsize=16_384)
def work_class(name: str) -> WorkClass:
    """Return what sort of work a kernel, copy or memset of this name does."""
    for work, pattern in _CLASSES:
        if pattern.search(name):
            return work
    return WorkClass.OTHER


@once_per_trace
def slice_classes(trace: Trace) -> Int8s:
    """Return the class of each slice; host slices are ``OTHER``."""
    slices = trace.slices
    classes = np.full(len(slices), WorkClass.OTHER, np.int8)
    kernels = slices.kind == SliceKind.KERNEL
    name_ids, place = np.unique(slices.name_id[kernels], return_inverse=True)
    of_name = np.array([work_class(trace.names[name_id]) for name_id in name_ids.tolist()], np.int8)
    if len(of_name):
        classes[kernels] = of_name[place]
    classes[(slices.kind == SliceKind.MEMCPY) | (slices.kind == SliceKind.MEMSET)] = WorkClass.COPY
    return frozen(classes)


_LONGEST_PARSED: Final = 20_000
"""A name beyond this is cut before parsing: nobody reads so much of a short name's origin."""

_MOST_ARGUMENTS: Final = 4

_WRAPPER: Final = re.compile(
    r"elementwise_kernel|reduce_kernel|multi_tensor_apply_kernel|^Kernel2?$|^device_kernel$"
    r"|elementwise_grid_stride_kernel"
)
"""Kernels that say in their arguments what they do."""

_WORK: Final = re.compile(
    r"\b(cutlass_\w*gemm\w*|(?:fmha|flash)_\w+"
    r"|\w+_kernel_cuda|\w+_kernel_impl|launch_\w+|CUDAFunctor\w*_\w+|\w+Functor\w*|\w+_functor"
    r"|\w+Ops|\w+_kernel(?=[(<]))"
)
_NO_WORK: Final = re.compile(
    r"^(?:[AB]Unary|Binary|Unary)Functor$|^gpu_kernel|^\w*elementwise_kernel$"
)
_WORK_AFFIXES: Final = re.compile(
    r"^(?:launch_|CUDAFunctor(?:OnSelf)?_)|(?:_kernel_cuda|_kernel_impl|_kernel|Functor|_functor|Ops)$"
)
_DTYPE: Final = re.compile(
    r"\b(BFloat16|Half|Float8_\w+|__nv_bfloat16|__hip_bfloat16|__half|half|float|double|int|long"
    r"|bool|short|signed char|unsigned char)\b"
)
_PLAIN_ARGUMENT: Final = re.compile(r"(?:[\w ]+::)*([A-Za-z_]\w*|\d+)(?<!\d[ul])[ul]*")
_SIZE_SUFFIX: Final = re.compile(r"^(\d+)[ul]+$")
_LAMBDA: Final = re.compile(
    r"\{lambda\([^{}]*\)#\d+\}(?:::operator\(\)\([^()]*\)(?: const)?(?:::)?)?"
)
_TENSILE: Final = re.compile(
    r"^(Cijk_[A-Za-z]+_[A-Za-z]+_[A-Z0-9]+).*?_(MT\d+x\d+x\d+)(?:_(MI\d+x\d+x\d+))?"
)
_XMMA_TAIL: Final = re.compile(r"_execute_(?:segment|kernel|split)\w*$")
_MANGLED_PART: Final = re.compile(r"\d+")
_TELLING_WORD: Final = re.compile(r"^\w*(Gemm|Conv|Attention)\w*$")


@lru_cache(maxsize=16_384)
def short_kernel_name(name: str) -> str:
    """Return a readable name: no namespaces, parameters or template noise, but tile and type.

    ``void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>``
    becomes ``vectorized_elementwise<add, float>``.
    """
    if name.startswith(("Memcpy", "Memset")):
        return name
    text = name[:_LONGEST_PARSED]
    if text.startswith("_Z"):
        return _demangled_base(text) or name
    tensile = _TENSILE.match(text)
    if tensile:
        return "_".join(part for part in tensile.groups() if part)
    if "xmma" in text:
        text = _XMMA_TAIL.sub("", text)
    text = text.replace("(anonymous namespace)::", "").removeprefix("void ").strip()
    path, arguments = _split_template(text)
    base = path.rsplit("::", 1)[-1].strip() or name
    if not arguments:
        return base
    if _WRAPPER.search(base):
        return _named_by_its_work(base, arguments)
    kept = _plain_arguments(arguments)
    return f"{base}<{', '.join(kept)}>" if kept else base


def _split_template(text: str) -> tuple[str, str]:
    """Return the qualified name and its template arguments, without the parameter list."""
    depth, opened = 0, -1
    for position, letter in enumerate(text):
        if letter == "<":
            if depth == 0 and opened < 0:
                opened = position
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
            if depth == 0:
                return text[:opened], text[opened + 1 : position]
        elif letter == "(" and depth == 0:
            return text[:position], ""
    return (text, "") if opened < 0 else (text[:opened], text[opened + 1 :])


def _named_by_its_work(base: str, arguments: str) -> str:
    for found in _WORK.finditer(arguments):
        work = found.group(1)
        if _NO_WORK.search(work):
            continue
        if work.startswith(("cutlass_", "fmha_", "flash_")):
            return work
        work = _WORK_AFFIXES.sub("", _WORK_AFFIXES.sub("", work))
        dtype = _DTYPE.search(arguments, found.end())
        inside = f"{work}, {dtype.group(1)}" if dtype else work
        return f"{base.removesuffix('_kernel')}<{inside}>"
    return base


def _plain_arguments(arguments: str) -> list[str]:
    """Return the distinct types and sizes among the arguments, the first few."""
    kept: list[str] = []
    for argument in _top_level(arguments):
        plain = _PLAIN_ARGUMENT.fullmatch(argument.strip())
        word = plain.group(1) if plain else ""
        size = _SIZE_SUFFIX.match(argument.strip())
        word = size.group(1) if size else word
        if word and word not in ("true", "false") and word not in kept:
            kept.append(word)
        if len(kept) == _MOST_ARGUMENTS:
            break
    return kept


def _top_level(arguments: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(arguments):
        if letter in "<({":
            depth += 1
        elif letter in ">)}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(arguments[start:position])
            start = position + 1
    parts.append(arguments[start:])
    return parts


def _demangled_base(text: str) -> str:
    """Return the last name of a mangled path, or the first telling one where that is a wrapper."""
    words: list[str] = []
    position = text.find("N") + 1 if text.startswith("_ZN") else 2
    while (number := _MANGLED_PART.match(text, position)) is not None:
        end = number.end() + int(number.group()[:4])
        words.append(text[number.end() : end])
        position = end
    base = words[-1] if words else ""
    if not _WRAPPER.search(base):
        return base
    for number in _MANGLED_PART.finditer(text, position):
        word = text[number.end() : number.end() + int(number.group()[:2])]
        if _TELLING_WORD.search(word):
            return f"{base}<{word}>"
    return base
