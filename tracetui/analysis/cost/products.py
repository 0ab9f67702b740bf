"""What matrix products and attention cost."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tracetui.analysis.cost.formulas import AttentionShape, Cost, broadcast_shape, product_flop
from tracetui.analysis.cost.inputs import Inputs, Operand, UnmodelledError, added

Model = Callable[[Inputs], Cost]
"""From an operator's inputs to what it costs; raises ``UnmodelledError``."""

_COMPLEX_FACTOR: Final = 4
"""A complex multiplication and addition are eight real operations, a real pair is two."""


def _product_cost(
    a: Operand,
    b: Operand,
    out_shape: tuple[int, ...],
    extra: tuple[Operand, ...] = (),
    out_type: str | None = None,
) -> Cost:
    """Return the cost of products over the last two dimensions, ``extra`` being read once."""
    m, k = a.shape[-2:]
    n = b.shape[-1]
    if b.shape[-2] != k:
        raise UnmodelledError("the inner sizes differ")
    batch = Operand(out_shape[:-2]).n_elements
    out = Operand(out_shape, out_type or a.type_name)
    flop = product_flop(m, k, n, batch) * (_COMPLEX_FACTOR if a.is_complex else 1)
    n_bytes = added(a.n_bytes, b.n_bytes, out.n_bytes, *(each.n_bytes for each in extra))
    return Cost(flop, n_bytes, a.precision, is_matrix=True)


def _matrix(operand: Operand, n_dims: int) -> Operand:
    if len(operand.shape) != n_dims:
        raise UnmodelledError(f"a shape of {n_dims} sizes was expected")
    return operand


def _mm(inputs: Inputs, first: int = 0, extra: tuple[Operand, ...] = ()) -> Cost:
    a, b = _matrix(inputs.tensor(first), 2), _matrix(inputs.tensor(first + 1), 2)
    return _product_cost(a, b, (a.shape[0], b.shape[1]), extra)


def _bmm(inputs: Inputs, first: int = 0, extra: tuple[Operand, ...] = ()) -> Cost:
    a, b = _matrix(inputs.tensor(first), 3), _matrix(inputs.tensor(first + 1), 3)
    return _product_cost(a, b, (a.shape[0], a.shape[1], b.shape[2]), extra)


def _addmm(inputs: Inputs) -> Cost:
    return _mm(inputs, 1, (inputs.tensor(0),))


def _baddbmm(inputs: Inputs) -> Cost:
    return _bmm(inputs, 1, (inputs.tensor(0),))


def _addbmm(inputs: Inputs) -> Cost:
    """Return the cost of a sum over the batch: products as ``bmm``, one matrix as result."""
    bias, a, b = (_matrix(inputs.tensor(i), n) for i, n in ((0, 2), (1, 3), (2, 3)))
    flop = product_flop(a.shape[1], a.shape[2], b.shape[2], a.shape[0])
    out = Operand((a.shape[1], b.shape[2]), a.type_name)
    n_bytes = added(bias.n_bytes, a.n_bytes, b.n_bytes, out.n_bytes)
    return Cost(flop, n_bytes, a.precision, is_matrix=True)


def _mv(inputs: Inputs, first: int = 0, extra: tuple[Operand, ...] = ()) -> Cost:
    a, x = _matrix(inputs.tensor(first), 2), _matrix(inputs.tensor(first + 1), 1)
    out = Operand((a.shape[0],), a.type_name)
    n_bytes = added(a.n_bytes, x.n_bytes, out.n_bytes, *(each.n_bytes for each in extra))
    return Cost(product_flop(a.shape[0], a.shape[1], 1), n_bytes, a.precision, is_matrix=True)


def _addmv(inputs: Inputs) -> Cost:
    return _mv(inputs, 1, (inputs.tensor(0),))


def _dot(inputs: Inputs) -> Cost:
    x, y = _matrix(inputs.tensor(0), 1), _matrix(inputs.tensor(1), 1)
    n_bytes = added(x.n_bytes, y.n_bytes, x.item_bytes)
    return Cost(2 * x.n_elements, n_bytes, x.precision, is_matrix=True)


def _linear(inputs: Inputs) -> Cost:
    """Return the cost of ``x @ weight.T + bias``, x of any number of leading dimensions."""
    x, weight = inputs.tensor(0), _matrix(inputs.tensor(1), 2)
    if not x.shape or x.shape[-1] != weight.shape[1]:
        raise UnmodelledError("the inner sizes differ")
    bias = (inputs.tensor(2),) if inputs.has_tensor(2) else ()
    out = Operand((*x.shape[:-1], weight.shape[0]), x.type_name)
    rows = Operand(x.shape[:-1]).n_elements
    flop = product_flop(rows, weight.shape[1], weight.shape[0])
    n_bytes = added(x.n_bytes, weight.n_bytes, out.n_bytes, *(each.n_bytes for each in bias))
    return Cost(flop, n_bytes, x.precision, is_matrix=True)


def _matmul(inputs: Inputs) -> Cost:
    """Return the cost of NumPy's ``@``: vectors are promoted, leading dimensions broadcast."""
    a, b = inputs.tensor(0), inputs.tensor(1)
    if not a.shape or not b.shape:
        raise UnmodelledError("a product of scalars")
    left = a if len(a.shape) > 1 else Operand((1, *a.shape), a.type_name)
    right = b if len(b.shape) > 1 else Operand((*b.shape, 1), b.type_name)
    batch = broadcast_shape([left.shape[:-2], right.shape[:-2]])
    return _product_cost(left, right, (*batch, left.shape[-2], right.shape[-1]))


def _int_mm(inputs: Inputs) -> Cost:
    a, b = _matrix(inputs.tensor(0), 2), _matrix(inputs.tensor(1), 2)
    return _product_cost(a, b, (a.shape[0], b.shape[1]), out_type="int")


def _scaled_mm(inputs: Inputs) -> Cost:
    """Return the cost of a product of scaled 8-bit matrices; the result is of 16 bits."""
    a, b = _matrix(inputs.tensor(0), 2), _matrix(inputs.tensor(1), 2)
    return _product_cost(a, b, (a.shape[0], b.shape[1]), out_type="c10::BFloat16")


# Attention

_Shape = Callable[[Operand, Operand, Operand], AttentionShape]


def _heads_first(q: Operand, k: Operand, v: Operand) -> AttentionShape:
    """Return the sizes of tensors (…, heads, length, width)."""
    heads = Operand(q.shape[:-2]).n_elements
    return AttentionShape(heads, q.shape[-2], k.shape[-2], q.shape[-1], v.shape[-1])


def _length_first(q: Operand, k: Operand, v: Operand) -> AttentionShape:
    """Return the sizes of tensors (batch, length, heads, width)."""
    heads = q.shape[0] * q.shape[2]
    return AttentionShape(heads, q.shape[1], k.shape[1], q.shape[-1], v.shape[-1])


def _causal(inputs: Inputs, index: int | None) -> bool:
    """Return whether a truth value, or a kind of mask other than 0, is set."""
    if index is None:
        return False
    text = str(inputs.values[index]).strip() if index < len(inputs.values) else ""
    if text in ("True", "False"):
        return text == "True"
    return inputs.number(index) != 0


def _attention(
    shape: _Shape,
    causal: int | None,
    *,
    mask: int | None = None,
    ragged: tuple[int, ...] = (),
    window: tuple[int, ...] = (),
) -> Model:
    """Return the model of a forward pass with queries, keys and values first."""

    def cost(inputs: Inputs) -> Cost:
        q, k, v = (inputs.tensor(index) for index in range(3))
        sizes = _sizes(shape, inputs, (q, k, v), causal, ragged, window)
        out = Operand((sizes.heads, sizes.n_queries, sizes.value_width), q.type_name)
        masks = (inputs.tensor(mask),) if mask is not None and inputs.has_tensor(mask) else ()
        n_bytes = added(*(each.n_bytes for each in (q, k, v, out, *masks)))
        return Cost(sizes.forward_flop, n_bytes, q.precision, is_matrix=True)

    return cost


def _attention_backward(
    shape: _Shape,
    causal: int | None,
    *,
    out: int = 4,
    ragged: tuple[int, ...] = (),
    window: tuple[int, ...] = (),
) -> Model:
    """Return the model of a backward pass: gradient, queries, keys and values first."""

    def cost(inputs: Inputs) -> Cost:
        gradient, q, k, v = (inputs.tensor(index) for index in range(4))
        sizes = _sizes(shape, inputs, (q, k, v), causal, ragged, window)
        read = added(*(each.n_bytes for each in (gradient, q, k, v, inputs.tensor(out))))
        written = added(*(Operand(each.shape, each.type_name).n_bytes for each in (q, k, v)))
        return Cost(sizes.backward_flop, added(read, written), q.precision, is_matrix=True)

    return cost


def _sizes(
    shape: _Shape,
    inputs: Inputs,
    operands: tuple[Operand, Operand, Operand],
    causal: int | None,
    ragged: tuple[int, ...],
    window: tuple[int, ...],
) -> AttentionShape:
    if any(inputs.has_tensor(index) for index in ragged):
        raise UnmodelledError("the lengths of packed sequences are not recorded")
    if any(inputs.has_value(index) and inputs.number(index) >= 0 for index in window):
        raise UnmodelledError("attention in a sliding window")
    n_dims = 4 if shape is _length_first else 3
    if any(len(each.shape) < n_dims for each in operands):
        raise UnmodelledError("the lengths of packed sequences are not recorded")
    return replace(shape(*operands), is_causal=_causal(inputs, causal))


PRODUCTS: Final[dict[str, Model]] = {
    "aten::mm": _mm,
    "aten::bmm": _bmm,
    "aten::addmm": _addmm,
    "aten::addmm_": _addmm,
    "aten::_addmm_activation": _addmm,
    "aten::baddbmm": _baddbmm,
    "aten::baddbmm_": _baddbmm,
    "aten::addbmm": _addbmm,
    "aten::addbmm_": _addbmm,
    "aten::mv": _mv,
    "aten::addmv": _addmv,
    "aten::addmv_": _addmv,
    "aten::dot": _dot,
    "aten::vdot": _dot,
    "aten::inner": _dot,
    "aten::linear": _linear,
    "aten::mkldnn_linear": _linear,
    "mkldnn::_linear_pointwise": _linear,
    "aten::matmul": _matmul,
    "aten::_int_mm": _int_mm,
    "aten::_scaled_mm": _scaled_mm,
}
"""Matrix products by operator; positions follow torch's schemas."""

_PACKED_FORWARD: Final = (3, 4)

ATTENTIONS: Final[dict[str, Model]] = {
    "aten::scaled_dot_product_attention": _attention(_heads_first, 5, mask=3),
    "aten::_scaled_dot_product_flash_attention": _attention(_heads_first, 4),
    "aten::_scaled_dot_product_efficient_attention": _attention(_heads_first, 6, mask=3),
    "aten::_scaled_dot_product_cudnn_attention": _attention(_heads_first, 6, mask=3),
    "aten::_scaled_dot_product_flash_attention_for_cpu": _attention(_heads_first, 4, mask=5),
    "aten::_scaled_dot_product_fused_attention_overrideable": _attention(_heads_first, 5, mask=3),
    "aten::_flash_attention_forward": _attention(
        _length_first, 8, ragged=_PACKED_FORWARD, window=(11, 12)
    ),
    "aten::_efficient_attention_forward": _attention(_length_first, 9, mask=3, ragged=(4, 5)),
    "aten::_cudnn_attention_forward": _attention(_heads_first, 10, mask=3, ragged=(4, 5)),
    "aten::_scaled_dot_product_flash_attention_backward": _attention_backward(
        _heads_first, 11, ragged=(6, 7)
    ),
    "aten::_scaled_dot_product_efficient_attention_backward": _attention_backward(
        _heads_first, 11, out=5
    ),
    "aten::_scaled_dot_product_cudnn_attention_backward": _attention_backward(
        _heads_first, 14, ragged=(9, 10)
    ),
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward(
        _heads_first, 7
    ),
    "aten::_scaled_dot_product_fused_attention_overrideable_backward": _attention_backward(
        _heads_first, 13, out=6, ragged=(8, 9)
    ),
    "aten::_flash_attention_backward": _attention_backward(
        _length_first, 11, ragged=(6, 7), window=(15, 16)
    ),
    "aten::_efficient_attention_backward": _attention_backward(
        _length_first, 14, out=5, ragged=(6, 7)
    ),
    "aten::_cudnn_attention_backward": _attention_backward(_heads_first, 14, ragged=(9, 10)),
    "flash_attn::_flash_attn_forward": _attention(_length_first, 5, window=(6, 7)),
    "flash_attn::_flash_attn_backward": _attention_backward(_length_first, 11, window=(12, 13)),
    "aiter::fmha_v3_fwd": _attention(_length_first, 5, window=(6, 7)),
    "aiter::mha_fwd": _attention(_length_first, 5, window=(6, 7)),
}
"""Attention by operator, forward and backward; positions follow the schemas of torch 2.13, and
of flash-attn and aiter where they name the operator."""
