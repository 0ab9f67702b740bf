"""What a kernel does, as the plain words of its name tell."""

import re
from typing import Final

# The first match decides. A norm names the reduction inside it, and reductions and copies are
# driven by elementwise templates, so the wider word comes later.
_KINDS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("softmax", r"soft_?max"),
        (
            "norm",
            (
                r"(?:layer|batch|group|instance|rms|weight)_?norm|(?<![a-z])bn_(?:fw|bw)"
                r"|norm_(?:fwd|bwd|forward|backward|kernel|fused|quant)|GammaBeta|RowwiseMoments"
            ),
        ),
        (
            "optimizer",
            r"FusedOptimizer|Fused(?:Adam|Sgd|Adagrad|Lamb)\w*Functor|adagrad_\w*kernel|adamw?_",
        ),
        ("gemm", r"(?:fused_)?moe_(?:gemm|kernel|mm)|grouped_mm|pack\d*_?mm|tinygemm|(?<!\w)bmm_"),
        ("convolution", r"conv_depthwise|slow_conv|conv_transpose|vol2col|im2col|col2im"),
        (
            "copy",
            (
                r"copy_kernel|copy_device_to_device|CatArray|CopyFunctor|batched_transpose"
                r"|transpose_kernel|copybuffer|fillbuffer|FillFunctor|fill_kernel|flip_kernel"
                r"|roll_cuda|NchwToNhwc|NhwcToNchw|StoreWithCast<\d+>.*copy"
            ),
        ),
        ("random", r"distribution_|random_from_to|bernoulli|randperm"),
        ("loss", r"nll_loss|NLLCriterion|ctc_loss|cross_entropy"),
        ("pool", r"_pool|pooling|upsample|interpolat"),
        ("sort", r"radix_?sort|(?<![a-z])sort|top_?k|bitonic|merge_?sort"),
        (
            "index",
            (
                r"(?<![a-z])index_(?!t\b)|_index_kernel|indexing|index(?=Select|Add|Func|Put|Copy)"
                r"|gather|scatter|(?<!rotary_)embedding|(?<![a-z])take_|masked_(?:select|fill)"
                r"|kv_?cache|kv_indices|reshape_and_cache|permute_\dD|Nonzero|where_index"
            ),
        ),
        (
            "reduction",
            (
                r"reduce|reduction|arg_?(?:max|min)|cumsum|cumprod|scan|histogram|welford|unique"
                r"|DeviceSelect|DeviceCompact|DevicePartition|partition"
            ),
        ),
        (
            "pointwise",
            (
                r"elementwise|element_wise|multi_tensor_apply|functor|dropout|activation"
                r"|act_and_mul|gelu|silu|swiglu|geglu|(?<![a-z])relu|sigmoid|rotary|(?<![a-z])rope"
                r"|pointwise|transform_bias|arange|linspace|clamp|triu_tril|thrust.*for_each"
            ),
        ),
    )
)


def kind_by_words(text: str) -> str | None:
    """Return what a kernel does by the words of its name; ``None`` when none tells."""
    for kind, pattern in _KINDS:
        if pattern.search(text):
            return kind
    return None
