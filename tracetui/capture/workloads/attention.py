"""Attention from queries, keys and values on, spelled out and by every backend that torch has."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import torch
from torch.nn import functional

from tracetui.capture.workloads.steps import Setting, Step, compiled

Attend = Callable[[Any, Any, Any], Any]
"""Queries, keys and values of shape (batch, heads, seq, head_dim) into one of the same shape."""
_BACKENDS: Final = {
    "sdpa-math": "MATH",
    "sdpa-efficient": "EFFICIENT_ATTENTION",
    "sdpa-flash": "FLASH_ATTENTION",
    "sdpa-cudnn": "CUDNN_ATTENTION",
}
_HUB_KERNEL: Final = "kernels-community/flash-attn2"


def naive(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return attention spelled out; the mask makes a copy of the scores."""
    scores = (query @ key.transpose(-2, -1)) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return scores.softmax(-1) @ value


def naive_in_place(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return the same, the mask filled into the scores themselves."""
    scores = (query @ key.transpose(-2, -1)) / query.shape[-1] ** 0.5
    if mask is not None:
        scores.masked_fill_(mask, float("-inf"))
    return scores.softmax(-1) @ value


def _pinned(name: str, *, causal: bool) -> Attend:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = getattr(SDPBackend, name)

    def attend(query: Any, key: Any, value: Any) -> Any:
        with sdpa_kernel([backend]):
            return functional.scaled_dot_product_attention(query, key, value, is_causal=causal)

    return attend


def _flex(n_positions: int, device: Any, *, causal: bool) -> Attend:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def is_seen(_batch: Any, _head: Any, query: Any, key: Any) -> Any:
        return query >= key

    mask = (
        create_block_mask(is_seen, None, None, n_positions, n_positions, device=str(device))
        if causal
        else None
    )
    return partial(torch.compile(flex_attention, dynamic=False), block_mask=mask)


def _positions_first(function: Callable[..., Any], *, causal: bool) -> Attend:
    """Return an attention whose tensors are (batch, seq, heads, head_dim) as one of ours."""

    def attend(query: Any, key: Any, value: Any) -> Any:
        swapped = (each.transpose(1, 2) for each in (query, key, value))
        result = function(*swapped, causal=causal)
        return (result[0] if isinstance(result, tuple) else result).transpose(1, 2)

    return attend


def attention(variant: str, n_positions: int, device: Any, *, causal: bool) -> Attend:
    """Return a variant's attention over sequences of ``n_positions``.

    Raises:
        ImportError: The package of the variant is missing.
        ValueError: There is no such variant.
    """
    if variant in _BACKENDS:
        return _pinned(_BACKENDS[variant], causal=causal)
    if variant == "sdpa":
        return partial(functional.scaled_dot_product_attention, is_causal=causal)
    if variant == "flex":
        return _flex(n_positions, device, causal=causal)
    if variant == "flash-attn":
        from flash_attn import flash_attn_func

        return _positions_first(flash_attn_func, causal=causal)
    if variant == "hub":
        from kernels import get_kernel

        return _positions_first(get_kernel(_HUB_KERNEL, version=1).flash_attn_func, causal=causal)
    spelled: dict[str, Callable[..., Any]] = {"naive": naive, "naive-inplace": naive_in_place}
    if variant == "compiled":
        spelled["compiled"] = compiled(naive, variant)
    if variant not in spelled:
        raise ValueError(f"no attention {variant!r}")
    shape = (n_positions, n_positions)
    mask = torch.ones(shape, dtype=torch.bool, device=device).triu(1) if causal else None
    return partial(spelled[variant], mask=mask)


def build(variant: str, setting: Setting) -> Step:
    """Return one step of a variant."""
    n_positions = setting.number("seq")
    shape = (
        setting.number("batch"),
        setting.number("heads"),
        n_positions,
        setting.number("head_dim"),
    )
    query, key, value = setting.drawn(*shape), setting.drawn(*shape), setting.drawn(*shape)
    attend = attention(
        variant, n_positions, setting.device, causal=bool(setting.parameters["causal"])
    )
    return Step(lambda: attend(query, key, value), (query, key, value))
