"""What a kernel does, as the plain words of its name tell."""

import re
from typing import Final

# The first match decides. A norm names the reduction inside it, and reductions and copies are
# driven by elementwise templates, so the wider word comes later. Names are read in lower case.
_KINDS: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("softmax", r"soft_?max"),
        (
            "norm",
            (
                r"(?:layer|batch|group|instance|rms|weight)_?norm|(?<![a-z])bn_(?:fw|bw)"
                r"|norm_(?:fwd|bwd|forward|backward|kernel|fused|quant)|gammabeta|rowwisemoments"
            ),
        ),
        (
            "optimizer",
            r"fusedoptimizer|fused(?:adam|sgd|adagrad|lamb)\w*functor|adagrad_\w*kernel|adamw?_",
        ),
        (
            "gemm",
            r"(?:fused_)?moe_(?:gemm|kernel|mm)|grouped_mm|pack\d*_?mm|tinygemm|(?<!\w)bmm_|marlin",
        ),
        ("convolution", r"conv_depthwise|slow_conv|conv_transpose|vol2col|im2col|col2im"),
        (
            "copy",
            (
                r"copy_kernel|copy_device_to_device|catarray|copyfunctor|batched_transpose"
                r"|transpose_kernel|copybuffer|fillbuffer|fillfunctor|fill_kernel|flip_kernel"
                r"|roll_cuda|nchwtonhwc|nhwctonchw"
            ),
        ),
        ("random", r"distribution_|random_from_to|bernoulli|randperm"),
        ("loss", r"nll_loss|nllcriterion|ctc_loss|cross_entropy"),
        ("pool", r"_pool|pooling|upsample|interpolat"),
        ("sort", r"radix_?sort|(?<![a-z])sort|top_?k|bitonic|merge_?sort"),
        (
            "index",
            (
                r"(?<![a-z])index_(?!t\b)|_index_kernel|indexing|index(?=select|add|func|put|copy)"
                r"|gather|scatter|(?<!rotary_)embedding|(?<![a-z])take_|masked_(?:select|fill)"
                r"|kv_?cache|kv_indices|reshape_and_cache|permute_\dd|nonzero|where_index"
            ),
        ),
        ("quantize", r"quant_|quantize|_quant(?![a-z])|cast_to_fp8"),
        (
            "reduction",
            (
                r"reduce|reduction|arg_?(?:max|min)|cumsum|cumprod|scan|histogram|welford|unique"
                r"|deviceselect|devicecompact|devicepartition|partition"
            ),
        ),
        (
            "pointwise",
            (
                r"elementwise|element_wise|multi_tensor_apply|functor|dropout|activation"
                r"|act_and_mul|gelu|silu|swiglu|geglu|(?<![a-z])relu|sigmoid|rotary|(?<![a-z])rope"
                r"|pointwise|transform_bias|arange|linspace|clamp|triu_tril"
            ),
        ),
    )
)


def kind_by_words(text: str) -> str | None:
    """Return what a kernel does by the words of its name; ``None`` when none tells."""
    lower = text.lower()
    for kind, pattern in _KINDS:
        if pattern.search(lower):
            return kind
    return None
