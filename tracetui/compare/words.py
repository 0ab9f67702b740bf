"""Names made comparable: without addresses, hashes and numbers, and what kinds of work they mean."""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_CHANGING: Final = re.compile(
    r"0x[0-9a-fA-F]+|(?<=CompiledFxGraph )\w+|(?<=^graph_)\d+(?=_)|(?<=Torch-Compiled Region: )[\d/]+"
    r"|(?<=ProfilerStep#)\d+|(?<=\.py\()\d+(?=\))|(?<=^nn\.Module: )(\w+)_\d+$"
)
_NUMBERED: Final = re.compile(r"^((?:graph_#_)?(?:triton_|cpp_fused|kernel_cpp)\w*?)_\d+$")

_TENSOR: Final = re.compile(r"\[(\d+(?:,\d+)*)\]")

METADATA: Final = frozenset(
    [
        "view",
        "view_as",
        "_unsafe_view",
        "unsafe_view",
        "reshape",
        "reshape_as",
        "_reshape_alias",
        "expand",
        "expand_as",
        "as_strided",
        "as_strided_",
        "transpose",
        "transpose_",
        "t",
        "t_",
        "permute",
        "movedim",
        "squeeze",
        "squeeze_",
        "unsqueeze",
        "unsqueeze_",
        "flatten",
        "unflatten",
        "select",
        "slice",
        "split",
        "split_with_sizes",
        "chunk",
        "narrow",
        "unbind",
        "detach",
        "detach_",
        "alias",
        "lift_fresh",
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "resize_",
        "resolve_conj",
        "resolve_neg",
        "result_type",
        "item",
        "_local_scalar_dense",
        "is_nonzero",
        "set_",
        "unfold",
        "diagonal",
        "swapaxes",
        "numpy_T",
        "mT",
        "broadcast_tensors",
        "output_nr",
        "is_leaf",
        "_version",
        "view_as_real",
        "view_as_complex",
        "real",
        "conj",
        "size",
        "stride",
        "numel",
        "_fused_sdp_choice",
        "_nested_tensor_size",
    ]
)
"""Operators, without ``aten::``, that look at memory differently or take some, and compute nothing."""

SYNONYMS: Final = {
    "copy_": "copy",
    "clone": "copy",
    "contiguous": "copy",
    "_to_copy": "copy",
    "to": "copy",
    "masked_fill": "masked_fill",
    "where": "masked_fill",
    "_softmax": "softmax",
    "_safe_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "native_layer_norm": "layer_norm",
    "native_batch_norm": "batch_norm",
    "native_group_norm": "group_norm",
    "native_dropout": "dropout",
    "fill_": "fill",
    "zero_": "fill",
    "zeros": "fill",
    "ones": "fill",
    "full": "fill",
    "zeros_like": "fill",
    "ones_like": "fill",
    "full_like": "fill",
    "scalar_tensor": "fill",
    "arange": "arange",
    "rsub": "sub",
    "matmul": "mm",
    "bmm": "mm",
    "addmm": "mm",
    "baddbmm": "mm",
    "linear": "mm",
    "embedding": "embedding",
    "index_select": "embedding",
    "nll_loss_forward": "nll_loss",
    "nll_loss_nd": "nll_loss",
    "_foreach_copy_": "copy",
}
"""Different names, after aten:: and a trailing underscore, of one sort of work."""

ATTENTION_PARTS: Final = frozenset(
    [
        "mm",
        "mul",
        "div",
        "add",
        "sub",
        "masked_fill",
        "softmax",
        "dropout",
        "copy",
        "fill",
        "tril",
        "triu",
        "logical_not",
        "bitwise_not",
        "arange",
        "le",
        "ge",
        "lt",
        "gt",
        "eq",
        "sum",
        "amax",
        "exp",
    ]
)
_ATTENTION: Final = re.compile(r"scaled_dot_product|_attention|flash|fmha|efficient_attention")


@lru_cache(maxsize=65_536)
def stable_name(name: str) -> str:
    """Return a host slice's name without what differs from run to run."""
    if name.startswith("Memset"):
        # Inside a graph the kind of memory is not known: "Memset (Device)", "Memset (Unknown)".
        return "Memset"
    return _NUMBERED.sub(r"\1", _CHANGING.sub("#", name))


@lru_cache(maxsize=65_536)
def operator_word(name: str) -> str:
    """Return the sort of work an operator's name means: ``aten::add_`` and ``add`` are ``add``."""
    word = name.rsplit("::", 1)[-1]
    found = SYNONYMS.get(word)
    if found is None:
        bare = word.removesuffix("_") if not word.endswith("__") else word
        found = SYNONYMS.get(bare, bare.removeprefix("_"))
    return found


@dataclass(frozen=True, slots=True)
class FusedWords:
    """The sorts of work that one kernel does together."""

    words: frozenset[str]
    needed: frozenset[str]
    """Those that must be found on the other side to be sure."""


_MAY_VANISH: Final = frozenset(("copy", "fill", "arange", "dropout"))
"""What a fused kernel lists and eager code may do without a kernel of its own."""
_COPYING: Final = frozenset(("copy",))
_ACTIVATIONS: Final = frozenset(("gelu", "silu", "relu", "sigmoid", "tanh"))
_KNOWN_FUSED: Final = (
    (re.compile(r"geglu|gelu_?(and_)?mul", re.IGNORECASE), frozenset(("gelu", "tanh", "mul"))),
    (re.compile(r"swiglu|silu_?(and_)?mul", re.IGNORECASE), frozenset(("silu", "sigmoid", "mul"))),
    (re.compile(r"act_and_mul|gated_act", re.IGNORECASE), _ACTIVATIONS | {"mul"}),
    (
        re.compile(r"rotary|(?<![a-z])rope", re.IGNORECASE),
        frozenset(["mul", "add", "neg", "cat", "copy"]),
    ),
)
"""Kernels of libraries that are known to do the work of several operators."""
_BACKWARD: Final = re.compile(r"backward|_bwd", re.IGNORECASE)


def listed_words(operators: tuple[str, ...], *, is_template: bool) -> FusedWords:
    """Return the sorts of work of a list of fused operators, what computes nothing left out.

    A generated loop also lists a product, a convolution or an attention whose operands or results
    it only lays out; these run on their own, except in a template. What lists nothing else copies.
    """
    words = frozenset(operator_word(word) for word in operators if not is_metadata(word))
    if not is_template:
        words = frozenset(word for word in words if not _runs_on_its_own(word)) or _COPYING
    return FusedWords(words, words - _MAY_VANISH)


def _runs_on_its_own(word: str) -> bool:
    return word == "mm" or "convolution" in word or is_attention(word)


@lru_cache(maxsize=65_536)
def known_fused(name: str) -> FusedWords | None:
    """Return the sorts of work of a library's fused kernel, by its name; ``None`` for others."""
    for pattern, words in _KNOWN_FUSED:
        if pattern.search(name) is None:
            continue
        if _BACKWARD.search(name):
            words |= {f"{word}_backward" for word in words & _ACTIVATIONS}
        return FusedWords(words, frozenset(("mul",)))
    return None


@lru_cache(maxsize=65_536)
def is_metadata(name: str) -> bool:
    """Return whether an operator computes nothing, so that no kernel can be missing for it."""
    return name.rsplit("::", 1)[-1] in METADATA


@lru_cache(maxsize=65_536)
def is_attention(name: str) -> bool:
    """Return whether a kernel or operator is a whole attention."""
    return _ATTENTION.search(name) is not None


@lru_cache(maxsize=65_536)
def tensor_sizes(shape: str) -> frozenset[int]:
    """Return how many elements each tensor of input shapes, as JSON text, has; scalars left out."""
    return frozenset(
        math.prod(int(extent) for extent in inner.split(",")) for inner in _TENSOR.findall(shape)
    )


@lru_cache(maxsize=65_536)
def is_one_operator(name: str) -> bool:
    """Return whether a host slice is one operator, and not a region that holds many."""
    return "::" in name and not name.startswith(("autograd::", "torch::autograd", "##"))


@dataclass(frozen=True, slots=True)
class ProductExtents:
    """The extents of a matrix product."""

    inner: tuple[int, ...]
    """Rows and the summed extent."""
    columns: int


_PRODUCT: Final = re.compile(r"\[\[(\d+),(\d+)\],\[(\d+),(\d+)\](?:,.*)?\]")


@lru_cache(maxsize=65_536)
def product_extents(shape: str) -> ProductExtents | None:
    """Return the extents of two matrices' product from input shapes; ``None`` for anything else."""
    found = _PRODUCT.fullmatch(shape)
    if found is None or found[2] != found[3]:
        return None
    return ProductExtents((int(found[1]), int(found[2])), int(found[4]))


_N_OPERANDS: Final = {"mm": 2, "bmm": 2, "addmm": 3, "baddbmm": 3}


@lru_cache(maxsize=65_536)
def plain_shape(operator: str, shape: str) -> str:
    """Return an operator's input shapes without the result that compiled code passes as ``out=``."""
    n_operands = _N_OPERANDS.get(operator.removeprefix("aten::"))
    if n_operands is None or not shape:
        return shape
    tensors = _TENSOR.findall(shape)
    return "[" + ",".join(f"[{tensor}]" for tensor in tensors[:n_operands]) + "]"
