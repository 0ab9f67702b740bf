"""What elementwise operators, reductions, norms, look-ups, copies and optimizers cost."""

from typing import Final

from tracetui.analysis.cost.formulas import Cost, broadcast_shape, convolved_sizes
from tracetui.analysis.cost.inputs import Inputs, Operand, UnmodelledError, added
from tracetui.analysis.cost.products import Model

ELEMENT_FLOP: Final[dict[str, int]] = {
    **dict.fromkeys(
        (
            "abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp",
            "clamp_max", "clamp_min", "div", "eq", "floor", "floor_divide", "fmod", "ge", "gt",
            "hardtanh", "isfinite", "isinf", "isnan", "le", "logical_and", "logical_not",
            "logical_or", "logical_xor", "lt", "masked_fill", "maximum", "minimum", "mul", "ne",
            "neg", "reciprocal", "relu", "remainder", "round", "rsub", "sign", "square", "sub",
            "threshold", "threshold_backward", "true_divide", "trunc", "where",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "add_relu", "hardtanh_backward", "leaky_relu", "leaky_relu_backward", "lerp",
            "native_dropout_backward", "relu6",
        ),
        2,
    ),
    **dict.fromkeys(("addcdiv", "addcmul", "hardsigmoid", "hardswish", "tanh_backward"), 3),
    **dict.fromkeys(
        (
            "acos", "asin", "atan", "atan2", "cos", "cosh", "elu", "erf", "erfc", "exp", "exp2",
            "expm1", "log", "log10", "log1p", "log2", "pow", "rsqrt", "selu", "sigmoid",
            "sigmoid_backward", "silu", "sin", "sinh", "softplus", "sqrt", "tan", "tanh",
        ),
        4,
    ),
    **dict.fromkeys(("gelu", "mish", "silu_backward", "softplus_backward", "elu_backward"), 8),
    "gelu_backward": 16,
}  # fmt: skip
"""FLOP for each element of the result.

What is no single instruction counts as the few it takes: about four for an exponential or a root,
eight for GELU. Elementwise work is bound by memory, so the weights move a point on the plot and
no conclusion.
"""

_COMPARISONS: Final = frozenset(
    ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "logical_and",
     "logical_or", "logical_not", "logical_xor")
)  # fmt: skip
"""Their result is one byte an element."""

_ARITY: Final = {
    **dict.fromkeys(("addcmul", "addcdiv", "lerp", "where", "masked_fill"), 3),
    **dict.fromkeys(
        (
            "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "clamp_max", "clamp_min",
            "div", "eq", "floor_divide", "fmod", "ge", "gt", "le", "logical_and", "logical_or",
            "logical_xor", "lt", "maximum", "minimum", "mul", "ne", "pow", "remainder", "rsub",
            "sub", "true_divide", "threshold_backward", "hardtanh_backward", "leaky_relu_backward",
            "native_dropout_backward", "tanh_backward", "sigmoid_backward", "silu_backward",
            "softplus_backward", "elu_backward", "gelu_backward",
        ),
        2,
    ),
}  # fmt: skip
"""How many positions hold operands; one where not listed. What follows is a given result."""


def _promoted(operands: list[Operand]) -> str | None:
    """Return the type that arithmetic between the operands gives.

    A number without dimensions gives way to a tensor with some, unless it alone is a fraction.
    """
    if any(each.item_bytes is None for each in operands):
        return None
    ranked = max(operands, key=lambda each: (each.is_float, bool(each.shape), each.item_bytes or 0))
    alone = ranked.is_float and not ranked.shape and any(each.shape for each in operands)
    return "float" if alone else ranked.type_name


def _vector_precision(operands: list[Operand]) -> str | None:
    """Return whose peak holds for arithmetic without matrix units: 32 bits, or 64."""
    if any(each.item_bytes is None for each in operands):
        return None
    return "fp64" if any(each.precision == "fp64" and each.shape for each in operands) else "fp32"


def pointwise(name: str, *, in_place: bool) -> Model:
    """Return the model of an elementwise operator of ``ELEMENT_FLOP``."""
    weight, arity = ELEMENT_FLOP[name], _ARITY.get(name, 1)

    def cost(inputs: Inputs) -> Cost:
        operands = [inputs.tensor(i) for i in range(arity) if inputs.has_tensor(i)]
        if not operands:
            raise UnmodelledError("an input's shape is not recorded")
        shape = operands[0].shape if in_place else broadcast_shape([o.shape for o in operands])
        # A number without dimensions travels with the launch, not through memory.
        read = [each for each in operands if each.shape] or operands[:1]
        out_type = operands[0].type_name if in_place else _promoted(operands)
        if name in _COMPARISONS:
            out_type = operands[0].type_name if in_place else "bool"
        out = Operand(shape, out_type)
        n_bytes = added(out.n_bytes, *(each.n_bytes for each in read))
        return Cost(weight * out.n_elements, n_bytes, _vector_precision(operands))

    return cost


def _row_wise(weight: int, n_inputs: int, extra: tuple[int, ...] = ()) -> Model:
    """Return the model of an operator whose result has the first input's shape.

    Args:
        weight: FLOP for each element.
        n_inputs: How many inputs of that shape are read.
        extra: Positions of the small inputs, such as a norm's weight.
    """

    def cost(inputs: Inputs) -> Cost:
        read = [inputs.tensor(index) for index in range(n_inputs)]
        read += [inputs.tensor(index) for index in extra if inputs.has_tensor(index)]
        first = read[0]
        out = Operand(first.shape, first.type_name)
        n_bytes = added(out.n_bytes, *(each.n_bytes for each in read))
        return Cost(weight * first.n_elements, n_bytes, _vector_precision(read[:1]))

    return cost


def _softmax(inputs: Inputs) -> Cost:
    """Return the cost of a softmax: exponential, sum and division of each element."""
    x = inputs.tensor(0)
    widens = inputs.has_value(2) and str(inputs.values[2]) == "True"
    out = Operand(x.shape, "float" if widens else x.type_name)
    return Cost(3 * x.n_elements, added(x.n_bytes, out.n_bytes), _vector_precision([x]))


_TRAINING: Final = 5


def _batch_norm(inputs: Inputs) -> Cost:
    """Return the cost of a batch norm, which takes statistics only in training."""
    x = inputs.tensor(0)
    small = [inputs.tensor(index) for index in range(1, 5) if inputs.has_tensor(index)]
    weight = 7 if inputs.flag(_TRAINING) else 4
    out = Operand(x.shape, x.type_name)
    n_bytes = added(x.n_bytes, out.n_bytes, *(each.n_bytes for each in small))
    return Cost(weight * x.n_elements, n_bytes, _vector_precision([x]))


def _reduced_elements(inputs: Inputs, x: Operand, dims: int) -> int:
    """Return how many elements are left; one where no dimension is named."""
    if not inputs.has_value(dims):
        return 1
    reduced = {index % max(len(x.shape), 1) for index in inputs.numbers(dims)}
    if not reduced:
        return 1
    return Operand(tuple(n for i, n in enumerate(x.shape) if i not in reduced)).n_elements


def _reduction(
    weight: int = 1, *, out_type: str | None = None, dims: int = 1, n_results: int = 1
) -> Model:
    """Return the model of a reduction over the dimensions that position ``dims`` names."""

    def cost(inputs: Inputs) -> Cost:
        x = inputs.tensor(0)
        n_left = _reduced_elements(inputs, x, dims)
        out = Operand((n_left,), out_type or x.type_name)
        indices = Operand((n_left,), "long") if n_results > 1 and inputs.has_value(dims) else None
        n_bytes = added(x.n_bytes, out.n_bytes, indices.n_bytes if indices else 0)
        return Cost(weight * x.n_elements, n_bytes, _vector_precision([x]))

    return cost


def _extreme(name: str) -> Model:
    """Return the model of ``max`` or ``min``: of one tensor, along one dimension, or of two."""
    pair, one = pointwise(f"{name}imum", in_place=False), _reduction(n_results=2)
    return lambda inputs: pair(inputs) if inputs.has_tensor(1) else one(inputs)


def _pooling(*, has_indices: bool) -> Model:
    """Return the model of a pooling: one FLOP an output element for each of its window.

    The places of the maxima, where they are written too, take 8 bytes each.
    """

    def cost(inputs: Inputs) -> Cost:
        x, kernel = inputs.tensor(0), inputs.numbers(1)
        n_dims = len(kernel)
        if not n_dims or len(x.shape) < n_dims:
            raise UnmodelledError("concrete inputs are not recorded")
        stride = inputs.numbers(2) or kernel
        padding = inputs.numbers(3) or [0] * n_dims
        sizes = convolved_sizes(x.shape[-n_dims:], kernel, stride, padding, [1] * n_dims)
        out = Operand((*x.shape[:-n_dims], *sizes), x.type_name)
        places = Operand(out.shape, "long").n_bytes if has_indices else 0
        flop = Operand(tuple(kernel)).n_elements * out.n_elements
        return Cost(flop, added(x.n_bytes, out.n_bytes, places), _vector_precision([x]))

    return cost


# Look-ups and copies


def _looked_up(inputs: Inputs, table: int, indices: int) -> Cost:
    """Return the cost of rows taken from a table: read and written once, with their numbers."""
    rows, which = inputs.tensor(table), inputs.tensor(indices)
    taken = Operand((*which.shape, *rows.shape[1:]), rows.type_name)
    n_bytes = added(which.n_bytes, taken.n_bytes, taken.n_bytes)
    return Cost(0, n_bytes, _vector_precision([rows]))


def _embedding(inputs: Inputs) -> Cost:
    return _looked_up(inputs, 0, 1)


def _index_select(inputs: Inputs) -> Cost:
    x, which = inputs.tensor(0), inputs.tensor(2)
    dim = inputs.number(1) % max(len(x.shape), 1)
    shape = (*x.shape[:dim], which.n_elements, *x.shape[dim + 1 :])
    taken = Operand(shape, x.type_name)
    return Cost(0, added(which.n_bytes, taken.n_bytes, taken.n_bytes), _vector_precision([x]))


def _gather(inputs: Inputs) -> Cost:
    x, which = inputs.tensor(0), inputs.tensor(2)
    taken = Operand(which.shape, x.type_name)
    return Cost(0, added(which.n_bytes, taken.n_bytes, taken.n_bytes), _vector_precision([x]))


def _embedding_backward(inputs: Inputs) -> Cost:
    gradient, which = inputs.tensor(0), inputs.tensor(1)
    out = Operand((inputs.number(2), gradient.shape[-1]), gradient.type_name)
    n_bytes = added(gradient.n_bytes, which.n_bytes, out.n_bytes)
    return Cost(gradient.n_elements, n_bytes, _vector_precision([gradient]))


def _copy(inputs: Inputs) -> Cost:
    to, source = inputs.tensor(0), inputs.tensor(1)
    return Cost(0, added(source.n_bytes, to.n_bytes), _vector_precision([to]))


def _fresh_copy(inputs: Inputs) -> Cost:
    x = inputs.tensor(0)
    out = Operand(x.shape, x.type_name)
    return Cost(0, added(x.n_bytes, out.n_bytes), _vector_precision([x]))


def _fill(inputs: Inputs) -> Cost:
    x = inputs.tensor(0)
    return Cost(0, x.n_bytes, _vector_precision([x]))


def _dropout(inputs: Inputs) -> Cost:
    """Return the cost of a dropout that keeps its mask, a byte an element."""
    x = inputs.tensor(0)
    out, mask = Operand(x.shape, x.type_name), Operand(x.shape, "bool")
    n_bytes = added(x.n_bytes, out.n_bytes, mask.n_bytes)
    return Cost(2 * x.n_elements, n_bytes, _vector_precision([x]))


# Optimizers work on lists, whose element types no file records: parameters and their state are
# held to be of 32 bits, which is what optimizers keep by default.

_LIST_TYPE: Final = "float"


def _listed(inputs: Inputs, index: int) -> int:
    return sum(each.n_elements for each in inputs.tensor_list(index))


def _list_cost(n_elements: int, flop: int, n_moved: int) -> Cost:
    """Return the cost of ``flop`` and ``n_moved`` reads and writes for each element."""
    if not n_elements:
        raise UnmodelledError("the shapes of a list of tensors are not recorded")
    n_bytes = n_moved * (Operand((n_elements,), _LIST_TYPE).n_bytes or 0)
    return Cost(flop * n_elements, n_bytes, "fp32")


def foreach(name: str, *, in_place: bool) -> Model:
    """Return the model of an elementwise operator over lists of tensors."""
    weight, arity = ELEMENT_FLOP[name], _ARITY.get(name, 1)
    del in_place  # Each result is written once, whether it has memory of its own or not.

    def cost(inputs: Inputs) -> Cost:
        n_lists = sum(_listed(inputs, index) > 0 for index in range(arity))
        return _list_cost(_listed(inputs, 0), weight, n_lists + 1)

    return cost


def _foreach_norm(inputs: Inputs) -> Cost:
    return _list_cost(_listed(inputs, 0), 2, 1)


def _foreach_copy(inputs: Inputs) -> Cost:
    return _list_cost(_listed(inputs, 0), 0, 2)


def _foreach_zero(inputs: Inputs) -> Cost:
    return _list_cost(_listed(inputs, 0), 0, 1)


def _fused_adam(inputs: Inputs) -> Cost:
    """Return the cost of a step of Adam (D. Kingma, J. Ba, 2015).

    Three FLOP for the first moment, four for the second, three for root, bias and epsilon, three
    for the update; four numbers are read and three written back for each parameter.
    """
    keeps_maxima = _listed(inputs, 4) > 0
    return _list_cost(_listed(inputs, 0), 14 if keeps_maxima else 13, 9 if keeps_maxima else 7)


def _fused_sgd(inputs: Inputs) -> Cost:
    """Return the cost of a step of gradient descent, with momentum where it has a buffer."""
    has_momentum = _listed(inputs, 2) > 0
    return _list_cost(_listed(inputs, 0), 4 if has_momentum else 2, 5 if has_momentum else 3)


def _fused_adagrad(inputs: Inputs) -> Cost:
    return _list_cost(_listed(inputs, 0), 7, 5)


_LAYER_NORM, _RMS_NORM, _NORM_BACKWARD = 7, 4, 12
"""FLOP an element: mean, difference, square and sum, scale, weight and bias; and so on."""

ARITHMETIC: Final[dict[str, Model]] = {
    **{f"aten::{name}": pointwise(name, in_place=False) for name in ELEMENT_FLOP},
    **{f"aten::{name}_": pointwise(name, in_place=True) for name in ELEMENT_FLOP},
    **{f"aten::_foreach_{name}": foreach(name, in_place=False) for name in ELEMENT_FLOP},
    **{f"aten::_foreach_{name}_": foreach(name, in_place=True) for name in ELEMENT_FLOP},
    "aten::native_dropout": _dropout,
    "aten::_softmax": _softmax,
    "aten::softmax": _softmax,
    "aten::_safe_softmax": _softmax,
    "aten::_log_softmax": _softmax,
    "aten::log_softmax": _softmax,
    "aten::_softmax_backward_data": _row_wise(4, 2),
    "aten::_log_softmax_backward_data": _row_wise(4, 2),
    "aten::native_layer_norm": _row_wise(_LAYER_NORM, 1, (2, 3)),
    "aten::layer_norm": _row_wise(_LAYER_NORM, 1, (2, 3)),
    "aten::native_layer_norm_backward": _row_wise(_NORM_BACKWARD, 2, (3, 4, 5)),
    "aten::native_group_norm": _row_wise(_LAYER_NORM, 1, (1, 2)),
    "aten::native_group_norm_backward": _row_wise(_NORM_BACKWARD, 2, (2, 3, 4)),
    "aten::rms_norm": _row_wise(_RMS_NORM, 1, (2,)),
    "aten::_fused_rms_norm": _row_wise(_RMS_NORM, 1, (2,)),
    "aten::_fused_rms_norm_backward": _row_wise(_NORM_BACKWARD, 2, (3, 4)),
    "aten::batch_norm": _batch_norm,
    "aten::native_batch_norm": _batch_norm,
    "aten::cudnn_batch_norm": _batch_norm,
    "aten::miopen_batch_norm": _batch_norm,
    "aten::native_batch_norm_backward": _row_wise(_NORM_BACKWARD, 2, (2, 3, 4, 5, 6)),
    "aten::cudnn_batch_norm_backward": _row_wise(_NORM_BACKWARD, 2, (2, 3, 4, 5, 6)),
    "aten::miopen_batch_norm_backward": _row_wise(_NORM_BACKWARD, 2, (2, 3, 4, 5, 6)),
    **{f"aten::{name}": _reduction() for name in ("sum", "mean", "prod", "amax", "amin", "nansum")},
    **{f"aten::{name}": _reduction(4) for name in ("var", "std")},
    **{f"aten::{name}": _reduction(5, dims=2) for name in ("norm", "linalg_vector_norm")},
    "aten::logsumexp": _reduction(5),
    **{f"aten::{name}": _reduction(out_type="bool") for name in ("any", "all")},
    **{f"aten::{name}": _reduction(out_type="long") for name in ("argmax", "argmin")},
    "aten::max": _extreme("max"),
    "aten::min": _extreme("min"),
    **{f"aten::{name}": _row_wise(1, 1) for name in ("cumsum", "cumprod")},
    **{f"aten::avg_pool{n}d": _pooling(has_indices=False) for n in (1, 2, 3)},
    **{f"aten::max_pool{n}d_with_indices": _pooling(has_indices=True) for n in (2, 3)},
    "aten::_foreach_norm": _foreach_norm,
    "aten::_fused_adam_": _fused_adam,
    "aten::_fused_adamw_": _fused_adam,
    "aten::_fused_sgd_": _fused_sgd,
    "aten::_fused_adagrad_": _fused_adagrad,
}
"""Arithmetic without matrix units, by operator; positions follow torch's schemas."""

COPIES: Final[dict[str, Model]] = {
    "aten::copy_": _copy,
    "aten::clone": _fresh_copy,
    "aten::fill_": _fill,
    "aten::zero_": _fill,
    "aten::embedding": _embedding,
    "aten::index_select": _index_select,
    "aten::gather": _gather,
    "aten::embedding_dense_backward": _embedding_backward,
    "aten::_foreach_copy_": _foreach_copy,
    "aten::_foreach_zero_": _foreach_zero,
}
"""What moves and computes little or nothing, by operator."""
