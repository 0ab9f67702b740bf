"""A name for a kernel that fits a table."""

import re
from typing import Final

from tracetui.analysis.kernel_names.templates import split_template, top_level

LONGEST_PARSED: Final = 20_000
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


def short_name(name: str) -> str:
    """Return a readable name: no namespaces, parameters or template noise, but tile and type.

    ``void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>``
    becomes ``vectorized_elementwise<add, float>``.
    """
    if name.startswith(("Memcpy", "Memset")):
        return name
    text = name[:LONGEST_PARSED]
    if text.startswith("_Z"):
        return _demangled_base(text) or name
    tensile = _TENSILE.match(text)
    if tensile:
        return "_".join(part for part in tensile.groups() if part)
    if "xmma" in text:
        text = _XMMA_TAIL.sub("", text)
    text = text.replace("(anonymous namespace)::", "").removeprefix("void ").strip()
    path, arguments = split_template(text)
    base = path.rsplit("::", 1)[-1].strip() or name
    if not arguments:
        return base
    if _WRAPPER.search(base):
        return _named_by_its_work(base, arguments)
    kept = _plain_arguments(arguments)
    return f"{base}<{', '.join(kept)}>" if kept else base


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
    for argument in top_level(arguments):
        plain = _PLAIN_ARGUMENT.fullmatch(argument.strip())
        word = plain.group(1) if plain else ""
        size = _SIZE_SUFFIX.match(argument.strip())
        word = size.group(1) if size else word
        if word and word not in ("true", "false") and word not in kept:
            kept.append(word)
        if len(kept) == _MOST_ARGUMENTS:
            break
    return kept


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
