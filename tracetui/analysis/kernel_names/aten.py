"""PyTorch's own CUDA and HIP kernels, and those of cub, thrust and cuDNN's batch norm."""

import re
from typing import Final

from tracetui.analysis.kernel_names.attention import direction_of
from tracetui.analysis.kernel_names.fields import KernelName, dtype_of
from tracetui.analysis.kernel_names.templates import (
    arguments_of,
    dtypes_among,
    template_parts,
    top_level,
)

_ATEN: Final = re.compile(
    r"at::(?:native|cuda|sparse)|at_cuda_detail|(?<![A-Za-z0-9])c10::|cunn_|N2at6native"
)
_CUB: Final = re.compile(r"(?<![A-Za-z])(cub|hipcub|rocprim|thrust)::|N3cub|N6thrust|rocprim")
_COPY: Final = re.compile(
    r"(?:direct_|float\w*_)?copy_kernel|copy_device_to_device|CatArray|CopyFunctor|batched_transpose"
    r"|FillFunctor|conj_kernel|fill_kernel|triu_tril|flip_kernel|roll_cuda|nchwToNhwc|nhwcToNchw"
)
_RANDOM: Final = re.compile(
    r"distribution_|random_from_to|bernoulli|randperm|philox", re.IGNORECASE
)
_OPTIMIZER: Final = re.compile(
    r"FusedOptimizer|Fused(?:Adam|Sgd|Adagrad|Lamb)\w*Functor|adagrad_|rowwise_adam"
)
_INDEX: Final = re.compile(
    r"index|gather|scatter|embedding|take_|masked_(?:fill|select|scatter)|kvcache|permute_\dD",
    re.IGNORECASE,
)
_LOSS: Final = re.compile(r"nll_loss|NLLCriterion|ctc_loss|mse_kernel|mse_backward|smooth_l1|bce_")
_POOL: Final = re.compile(r"_pool|pooling|upsample|interpolate", re.IGNORECASE)
_SOFTMAX: Final = re.compile(r"soft_?max", re.IGNORECASE)
_NORM: Final = re.compile(
    r"(?:layer|batch|group|instance|rms|weight)_?norm|(?<![a-z])bn_(?:fw|bw)|norm_(?:fwd|bwd|forward"
    r"|backward|kernel|fused|quant)|GammaBeta|RowwiseMoments|ComputeInternalGradients",
    re.IGNORECASE,
)
_SORT: Final = re.compile(
    r"radix_?sort|(?<![a-z])sort|topk|bitonic|merge_?sort|gatherTopK", re.IGNORECASE
)
_REDUCE: Final = re.compile(
    r"reduce|reduction|arg(?:max|min)|cumsum|cumprod|scan|histogram|welford|compact|unique",
    re.IGNORECASE,
)
_POINTWISE: Final = re.compile(
    r"elementwise|element_wise|multi_tensor_apply|functor|dropout|activation|act_and_mul|gelu|silu"
    r"|(?<![a-z])relu|rotary|pointwise|transform_bias|CompareGT|arange|linspace|opmath|(?<![a-z])fill",
    re.IGNORECASE,
)
_WITH_CAST: Final = re.compile(r"LoadWithCast|gpu_kernel_impl<")
_LAMBDA_FORMAT: Final = re.compile(r"\{lambda\(([\w: ]+?)(?:, [\w: ,]+)?\)#\d+\}(?=[>,\s]|$)")
_CONVERSION: Final = re.compile(
    r"(?P<source>bfloat16|float16|float|float8_\w+?)to(?P<target>float32|float16|bfloat16)_copy|(?P<made>bfloat16|float16)_copy_kernel"
)
_ELEMENTWISE: Final = re.compile(r"elementwise_kernel")
_REDUCING: Final = re.compile(r"::(\w+Ops|sum_functor|prod_functor|nansum_functor)<")


def own_kernel(text: str) -> KernelName | None:
    """Return what the name of one of PyTorch's own kernels says; ``None`` for any other."""
    is_cub = _CUB.search(text) is not None and "at::native::" not in text.partition("(")[0][:200]
    if not (is_cub or _ATEN.search(text)):
        return None
    kind = kind_by_words(text)
    if kind is None:
        return KernelName(origin="cub" if is_cub else "aten", kind="other", tensor_cores="no")
    dtype_in, dtype_acc = (None, None) if is_cub else _formats(text)
    return KernelName(
        origin="cub" if is_cub else "aten",
        dtype_in=dtype_in,
        dtype_acc=dtype_acc,
        kind=kind,
        direction=direction_of(template_parts(text)[0]),
        tensor_cores="no",
    )


def kind_by_words(text: str) -> str | None:
    """Return what a kernel does as the words of its name tell; ``None`` when none does.

    The first match decides: a norm names the reduction inside it, and a reduction or a copy is
    driven by elementwise templates, so the wider word comes later.
    """
    for kind, pattern in _KIND_WORDS:
        if pattern.search(text):
            return kind
    return None


_KIND_WORDS: Final = (
    ("softmax", _SOFTMAX),
    ("norm", _NORM),
    ("optimizer", _OPTIMIZER),
    ("copy", _COPY),
    ("random", _RANDOM),
    ("loss", _LOSS),
    ("pool", _POOL),
    ("sort", _SORT),
    ("index", _INDEX),
    ("reduction", _REDUCE),
    ("pointwise", _POINTWISE),
)


def _formats(text: str) -> tuple[str | None, str | None]:
    """Return the format in memory and the one that is computed in, where a name gives them.

    A kernel that converts on load takes whatever comes, so its name gives none.
    """
    base, arguments = template_parts(text)
    conversion = _CONVERSION.search(text)
    if conversion is not None:
        return dtype_of((conversion["source"] or "").replace("bfloat16", "bf16")), None
    if _WITH_CAST.search(text):
        return None, None
    if base == "reduce_kernel":
        return _reduced_formats(text)
    if _ELEMENTWISE.search(base):
        return _elementwise_formats(arguments)
    if base == "multi_tensor_apply_kernel":
        return _elementwise_formats(arguments[1:])
    formats = dtypes_among(arguments)
    operand = formats[0] if formats else None
    if _SOFTMAX.search(base):
        # The warp kernels give input, output, accumulator; the block kernels the last two swapped.
        place = 2 if "warp" in base else 1
        return operand, formats[place] if len(formats) > place else None
    if _NORM.search(base):
        return operand, formats[1] if len(formats) > 1 else None
    return operand, None


def _reduced_formats(text: str) -> tuple[str | None, str | None]:
    """Read ``ReduceOp<scalar, ops<scalar, accumulator, …>, …>``."""
    arguments = arguments_of(text, "ReduceOp")
    operand = dtype_of(arguments[0]) if arguments else None
    operation = _REDUCING.search(text)
    inner = arguments_of(text, operation.group(1)) if operation else []
    return operand, dtype_of(inner[1]) if len(inner) > 1 else None


def _elementwise_formats(arguments: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Return the format of a functor's or lambda's operands, and of its computation if given."""
    work = next((part for part in arguments if "::" in part or "<" in part), "")
    functor = re.search(r"(?:[AB]Unary|Binary)Functor<", work)
    if functor is not None:
        inside = top_level(work[functor.end() :])
        formats = dtypes_among(inside)
        computed = re.search(
            r"\w+Functor<([\w:]+)> ?$", inside[3].rstrip("> ") + ">" if len(inside) > 3 else ""
        )
        return formats[0] if formats else None, dtype_of(computed.group(1)) if computed else None
    called = _LAMBDA_FORMAT.findall(work)
    if called:
        return dtype_of(called[-1]), None
    typed = re.search(r"<([\w: ]+)(?:, ([\w: ]+))?[,>]", work)
    return (dtype_of(typed.group(1)), dtype_of(typed.group(2) or "")) if typed else (None, None)
