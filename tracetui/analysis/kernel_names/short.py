"""A name for a kernel that fits a table."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, dtype_of
from tracetui.analysis.kernel_names.templates import last_word, split_template, top_level

_MOST_ARGUMENTS: Final = 4

_DRIVER: Final = re.compile(
    r"elementwise_kernel|reduce_kernel|multi_tensor_apply_kernel|elementwise_grid_stride_kernel"
)
"""Kernels that say in their arguments what they do."""

_ENTRY: Final = re.compile(r"^(?:Kernel2?|device_kernel|kentry|trampoline_kernel|kernel)$")
"""Entry points that say in their arguments what they are."""

_WORK: Final = re.compile(
    r"\b(\w+KernelImpl|\w+_kernel_cuda|\w+_cuda_kernel|\w+_kernel_impl|launch_\w+|CUDAFunctor\w*_\w+"
    r"|\w+Functor\w*|\w+_functor|\w+Ops|\w+_kernel(?=[(<])|\w+_cuda_out(?=\()"
    r"|copy_device_to_device)"
)
_NO_WORK: Final = re.compile(
    r"^(?:[AB]Unary|Binary|Unary)Functor$|^gpu_(?:index_)?kernel|^\w*elementwise_kernel$"
)
_WORK_AFFIXES: Final = re.compile(
    r"^(?:launch_|CUDAFunctor(?:OnSelf)?_)|(?:_kernel_cuda|_cuda_kernel|_kernel_impl|_kernel"
    r"|_cuda_out|(?:CUDA)?KernelImpl|Functor|_functor|Ops)$"
)
_DTYPE: Final = re.compile(
    r"(?<![\w:])(?:\w+::)*(BFloat16|Half|Float8_\w+|__nv_bfloat16|__hip_bfloat16|__half|half|float"
    r"|double|int|long|bool|short|signed char|unsigned char)(?![\w ]*\*)\b"
)
_PROCEDURAL: Final = re.compile(
    r"\b((?:cutlass|fmha|flash)\d*x?_\w*(?:gemm|fprop|dgrad|wgrad|fmha)\w*)"
)
_INNER: Final = re.compile(
    r"(FlashAttn\w+|Flash\w*Sm\d+|Fmha\w+Kernel|ImplicitGemmConvolution|ConvUniversal"
    r"|GemmUniversal\w*|GemmWith\w+|GemmGrouped|ReduceSplitK)"
)
_PLAIN_ARGUMENT: Final = re.compile(r"(?:[\w ]+::)*([A-Za-z_]\w*|\d+)(?<!\d[ul])[ul]*")
_SIZE_SUFFIX: Final = re.compile(r"^(\d+)[ul]+$")
_XMMA_TAIL: Final = re.compile(r"(?<=\d)_execute_(?:segment|kernel|split)\w*$")
_SCHEMES: Final = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (r"(Mem(?:cpy|set)\b.*)", "{}"),
        (
            (
                r"(?:Custom_)?(Cijk_[A-Za-z]+_[A-Za-z]+_[A-Z0-9]+).*?_(MT\d+x\d+x\d+)"
                r"(?:_(MI\d+x\d+x\d+))?"
            ),
            "{}",
        ),
        (r"cudnn_generated_(?:fort_native_)?(\w+?)(?:_kernel\d+_\d+)?$", "cudnn_{}"),
        (r"kernel_cutlass_(?:kernel_)?(\w+?)_object_at_", "{}"),
    )
)
"""Names whose readable part is a piece of them."""
_MANGLED_PART: Final = re.compile(r"\d+")


def short_name(text: str, facts: KernelName) -> str:
    """Return a readable name: no namespaces, parameters or template noise, but tile and type.

    ``at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>``
    becomes ``vectorized_elementwise<add, fp32>``.

    Args:
        text: The name, demangled where that was possible.
        facts: What the name says.
    """
    if text.startswith("_Z"):
        return _mangled_base(text) or text
    for pattern, shown in _SCHEMES:
        found = pattern.match(text)
        if found is not None:
            return shown.format("_".join(part for part in found.groups() if part))
    path, arguments = split_template(_XMMA_TAIL.sub("", text))
    base = last_word(path) or text
    if not arguments.strip():
        return base
    if _ENTRY.search(base):
        return _named_by_its_entry(base, arguments, facts)
    if _DRIVER.search(base):
        return _named_by_its_work(base, arguments, facts)
    is_product = facts.kind in ("attention", "gemm", "convolution")
    if is_product and facts.dtype_in and facts.tile:
        return f"{base}<{facts.dtype_in}, {facts.tile}>"
    return _with_arguments(base, _plain_arguments(arguments))


def _with_arguments(base: str, kept: list[str]) -> str:
    return f"{base}<{', '.join(kept)}>" if kept else base


def _named_by_its_entry(base: str, arguments: str, facts: KernelName) -> str:
    procedural = _PROCEDURAL.search(arguments)
    if procedural:
        return procedural.group(1)
    inner = _INNER.search(arguments)
    if inner is None:
        return _with_arguments(base, _plain_arguments(arguments))
    told = [word for word in (facts.dtype_in, facts.tile) if word]
    return _with_arguments(inner.group(1), told)


def _named_by_its_work(base: str, arguments: str, facts: KernelName) -> str:
    for found in _WORK.finditer(arguments):
        work = found.group(1)
        if _NO_WORK.search(work):
            continue
        work = _WORK_AFFIXES.sub("", _WORK_AFFIXES.sub("", work))
        dtype = facts.dtype_in
        if dtype is None:
            word = _DTYPE.search(arguments, found.end())
            dtype = dtype_of(word.group(1)) if word else None
        inside = f"{work}, {dtype}" if dtype else work
        return f"{base.removesuffix('_kernel')}<{inside}>"
    return base


def _plain_arguments(arguments: str) -> list[str]:
    """Return the distinct types and sizes among the arguments, the first few."""
    kept: list[str] = []
    for argument in top_level(arguments):
        plain = _PLAIN_ARGUMENT.fullmatch(argument)
        word = plain.group(1) if plain else ""
        size = _SIZE_SUFFIX.match(argument)
        word = size.group(1) if size else word
        if word and word not in ("true", "false") and word not in kept:
            kept.append(word)
        if len(kept) == _MOST_ARGUMENTS:
            break
    return kept


def _mangled_base(text: str) -> str:
    """Return what a mangled name that could not be read is called, or the work that it names."""
    procedural = _PROCEDURAL.search(text)
    if procedural:
        return procedural.group(1).partition("EE")[0]
    words: list[str] = []
    position = text.find("N") + 1 if text.startswith("_ZN") else 2
    while (number := _MANGLED_PART.match(text, position)) is not None:
        end = number.end() + int(number.group()[:4])
        words.append(text[number.end() : end])
        position = end
    base = words[-1] if words else ""
    inner = _INNER.search(text, position) if _ENTRY.search(base) else None
    return f"{base}<{inner.group(1)}>" if inner else base
