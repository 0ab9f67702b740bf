"""PyTorch's own CUDA and HIP kernels, and those of cub, rocPRIM and thrust that it runs."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, dtype_of
from tracetui.analysis.kernel_names.kinds import kind_by_words
from tracetui.analysis.kernel_names.templates import (
    arguments_of,
    dtypes_among,
    template_parts,
)
from tracetui.analysis.kernel_names.words import direction_of

_ATEN: Final = re.compile(
    r"at::(?:native|cuda|sparse)|cunn_|(?:^|::)(?:softmax_warp_(?:forward|backward)"
    r"|elementwise_kernel_with_index|indexing_backward_kernel|CatArrayBatchedCopy)\b"
)
_CUB: Final = re.compile(r"^(?:at_cuda_detail::)?(?:cub|hipcub|rocprim|thrust)::|^void_?rocprim")
_NAMESPACE: Final = re.compile(r"^(?:at_cuda_detail::)?(\w+)::")
_WITH_CAST: Final = re.compile(r"LoadWithCast|gpu_kernel_impl<|type_specialized")
_CONVERSION: Final = re.compile(r"::(\w+?)to\w+?_copy_kernel_cuda")
_CONVERTED: Final = {"bfloat16": "bf16", "float16": "fp16", "float": "fp32"}
_TO_HALF: Final = re.compile(r"::(?:bfloat16|float16)_copy_kernel_cuda\(.*?\{lambda\(float\)")
_REDUCING: Final = re.compile(r"::(\w+Ops|(?:nan)?sum_functor|prod_functor)<")
_RANDOM: Final = re.compile(r"(\w+_and_transform)<")
_LAMBDA: Final = re.compile(r"\{lambda\(([^{}()]+)\)#\d+\}")
_WRAPPED: Final = re.compile(r"(?:^|::)(?:[AB]Unary|Binary)Functor$")
_COMPUTING: Final = re.compile(r"::(?:Mul|Div|DivTrunc|DivFloor)Functor<([\w:]+)>")


def own_kernel(head: str) -> KernelName | None:
    """Return what the name of one of PyTorch's own kernels says; ``None`` for any other."""
    if _CUB.search(head):
        return _primitive(head)
    if not _ATEN.search(head):
        return None
    kind = kind_by_words(head)
    operand, computed = _formats(head, kind)
    is_product = kind in ("gemm", "convolution")
    return KernelName(
        origin="aten",
        dtype_in=operand,
        dtype_acc=computed,
        kind=kind or "other",
        direction=direction_of(template_parts(head)[0]),
        tensor_cores="unknown" if is_product else "no",
    )


def _primitive(head: str) -> KernelName:
    """Read cub's, rocPRIM's and thrust's device-wide algorithms."""
    found = _NAMESPACE.match(head)
    library = found.group(1) if found else "cub"
    kind = kind_by_words(template_parts(head)[0]) or kind_by_words(head)
    return KernelName(origin=library, kind=kind or "other", tensor_cores="no")


def _formats(head: str, kind: str | None) -> tuple[str | None, str | None]:
    """Return the format in memory and the one that is computed in, where a name gives them.

    A kernel that converts what it loads takes whatever comes, so its name gives none.
    """
    base, arguments = template_parts(head)
    if "_copy_kernel_cuda" in head and "direct_copy" not in head:
        conversion = _CONVERSION.search(head)
        source = "float" if _TO_HALF.search(head) else conversion.group(1) if conversion else ""
        return _CONVERTED.get(source), None
    if _WITH_CAST.search(head):
        return None, None
    if base == "reduce_kernel":
        return _reduced(head)
    if base == "multi_tensor_apply_kernel":
        return _applied(arguments)
    if base.startswith("distribution_"):
        found = _RANDOM.search(head)
        drawn = arguments_of(head, found.group(1)) if found else []
        return dtype_of(drawn[0]) if drawn else None, None
    if "elementwise_kernel" in base:
        return _elementwise(head, arguments)
    return _in_order(base, kind, arguments)


def _in_order(
    base: str, kind: str | None, arguments: tuple[str, ...]
) -> tuple[str | None, str | None]:
    """Read a template whose first type is the operands', as all but the drivers have it."""
    formats = dtypes_among(arguments)
    if kind == "softmax":
        # The warp kernels give input, output, accumulator; the block kernels the last two swapped.
        place = 2 if "warp" in base else 1
        return formats[0] if formats else None, formats[place] if len(formats) > place else None
    first = dtype_of(arguments[0]) if arguments else None
    if kind == "norm" and first is not None:
        return first, formats[1] if len(formats) > 1 else None
    return first, None


def _reduced(head: str) -> tuple[str | None, str | None]:
    """Read ``ReduceOp<scalar, ops<scalar, accumulator, …>, …>``."""
    arguments = arguments_of(head, "ReduceOp")
    operation = _REDUCING.search(head)
    inner = arguments_of(head, operation.group(1)) if operation else []
    return (
        dtype_of(arguments[0]) if arguments else None,
        dtype_of(inner[1]) if len(inner) > 1 else None,
    )


def _applied(arguments: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Read the functor of a multi-tensor kernel; a copy gives its result's format first."""
    functor = next((part for part in arguments if "Functor<" in part), "")
    base, inside = template_parts(functor)
    formats = dtypes_among(inside)
    place = 1 if base == "CopyFunctor" else 0
    return formats[place] if len(formats) > place else None, None


def _elementwise(head: str, arguments: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Return the format of a functor's or lambda's operands, and of its computation if given."""
    inner = arguments_of(head, "gpu_kernel_impl_nocast")
    work = inner[0] if inner else next((p for p in arguments if "::" in p or "<" in p), "")
    base, inside = template_parts(work) if work.endswith(">") else ("", ())
    if _WRAPPED.search(base) and len(inside) > 3:
        computing = _COMPUTING.search(work)
        return dtype_of(inside[0]), dtype_of(computing.group(1)) if computing else None
    if _WRAPPED.search(base) and inside:
        base, inside = template_parts(inside[0])
    called = _LAMBDA.findall(work)
    if called:
        formats = [dtype_of(word) for word in called[-1].split(",")]
        return next((word for word in formats if word != "bool"), formats[0]), None
    formats_inside = dtypes_among(inside)
    computed = formats_inside[1] if base == "MulScalarFunctor" and len(formats_inside) > 1 else None
    return formats_inside[0] if formats_inside else None, computed
