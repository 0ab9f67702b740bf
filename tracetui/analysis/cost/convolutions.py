"""What convolutions cost, grouped and transposed, forward and backward."""

from dataclasses import dataclass
from typing import Final

from tracetui.analysis.cost.formulas import (
    Cost,
    convolution_flop,
    convolved_sizes,
    transposed_sizes,
)
from tracetui.analysis.cost.inputs import Inputs, Operand, UnmodelledError, added
from tracetui.analysis.cost.products import Model


@dataclass(frozen=True, slots=True)
class _Positions:
    """Where torch's schema of a convolution has each thing; ``None`` where it has none."""

    stride: int
    padding: int
    dilation: int | None
    bias: int | None = None
    groups: int | None = None
    output_padding: int | None = None
    transposed: int | None = None
    """Where the truth value stands; see ``is_transposed``."""
    is_transposed: bool = False
    """What holds without one."""


def _spread(numbers: list[int], n_dims: int, default: int) -> list[int]:
    """Return one number for each dimension; a single one holds for all."""
    if not numbers:
        return [default] * n_dims
    return numbers * n_dims if len(numbers) == 1 else numbers


def _padding(
    inputs: Inputs, positions: _Positions, weight: Operand, dilation: list[int]
) -> list[int]:
    """Return the padding, of which "same" and "valid" are words for numbers."""
    text = str(inputs.values[positions.padding]) if positions.padding < len(inputs.values) else ""
    n_dims = len(dilation)
    if text.strip("'\"") == "valid":
        return [0] * n_dims
    if text.strip("'\"") == "same":
        spans = zip(dilation, weight.shape[2:], strict=True)
        totals = [gap * (extent - 1) for gap, extent in spans]
        if any(total % 2 for total in totals):
            raise UnmodelledError("a padding that differs between the sides")
        return [total // 2 for total in totals]
    return _spread(inputs.numbers(positions.padding), n_dims, 0)


def _output_shape(
    inputs: Inputs, positions: _Positions, x: Operand, weight: Operand, *, is_transposed: bool
) -> tuple[int, ...]:
    n_dims = len(weight.shape) - 2
    if len(x.shape) != n_dims + 2:
        raise UnmodelledError("a convolution without a batch")
    if not inputs.has_value(positions.padding) or not inputs.has_value(positions.stride):
        raise UnmodelledError("concrete inputs are not recorded")
    stride = _spread(inputs.numbers(positions.stride), n_dims, 1)
    gaps = [] if positions.dilation is None else inputs.numbers(positions.dilation)
    dilation = _spread(gaps, n_dims, 1)
    padding = _padding(inputs, positions, weight, dilation)
    sizes, kernel = x.shape[2:], weight.shape[2:]
    if not is_transposed:
        spatial = convolved_sizes(sizes, kernel, stride, padding, dilation)
        return (x.shape[0], weight.shape[0], *spatial)
    groups = 1 if positions.groups is None else inputs.number(positions.groups)
    extra = [] if positions.output_padding is None else inputs.numbers(positions.output_padding)
    spatial = transposed_sizes(sizes, kernel, stride, padding, dilation, _spread(extra, n_dims, 0))
    return (x.shape[0], weight.shape[1] * groups, *spatial)


def _forward(positions: _Positions) -> Model:
    def cost(inputs: Inputs) -> Cost:
        x, weight = inputs.tensor(0), inputs.tensor(1)
        is_transposed = positions.is_transposed
        if positions.transposed is not None:
            is_transposed = inputs.flag(positions.transposed)
        shape = _output_shape(inputs, positions, x, weight, is_transposed=is_transposed)
        has_bias = positions.bias is not None and inputs.has_tensor(positions.bias)
        bias = inputs.tensor(positions.bias).n_bytes if has_bias and positions.bias else 0
        spatial = x.shape[2:] if is_transposed else shape[2:]
        flop = convolution_flop(spatial, weight.shape, x.shape[0])
        n_bytes = added(x.n_bytes, weight.n_bytes, Operand(shape, x.type_name).n_bytes, bias)
        return Cost(flop, n_bytes, x.precision, is_matrix=True)

    return cost


_TRANSPOSED, _OUTPUT_MASK = 7, 10
"""Positions in ``convolution_backward``."""


def _backward(inputs: Inputs) -> Cost:
    """Return the cost of the gradients that the output mask asks for."""
    gradient, x, weight = (inputs.tensor(index) for index in range(3))
    mask = inputs.flags(_OUTPUT_MASK)
    is_transposed = inputs.flag(_TRANSPOSED)
    for_input, for_weight, for_bias = (*mask, False, False, False)[:3]
    spatial = x.shape[2:] if is_transposed else gradient.shape[2:]
    one = convolution_flop(spatial, weight.shape, gradient.shape[0])
    moved = [gradient.n_bytes]
    if for_input:
        moved += [weight.n_bytes, Operand(x.shape, x.type_name).n_bytes]
    if for_weight:
        moved += [x.n_bytes, Operand(weight.shape, weight.type_name).n_bytes]
    if for_bias:
        moved.append(Operand((gradient.shape[1],), gradient.type_name).n_bytes)
    flop = one * (int(for_input) + int(for_weight))
    return Cost(flop, added(*moved), gradient.precision, is_matrix=True)


_WITH_GROUPS: Final = _Positions(stride=3, padding=4, dilation=5, bias=2, groups=6)
_PADDING_FIRST: Final = _Positions(stride=4, padding=3, dilation=5, bias=2, groups=6)
_KERNEL_SIZE: Final = _Positions(stride=4, padding=5, dilation=None, bias=3)
_KERNEL_SIZE_DILATED: Final = _Positions(stride=4, padding=5, dilation=6, bias=3)
_TRANSPOSED_BY_NAME: Final = _Positions(
    stride=3, padding=4, dilation=7, bias=2, groups=6, output_padding=5, is_transposed=True
)
_EITHER: Final = _Positions(
    stride=3, padding=4, dilation=5, bias=2, groups=8, output_padding=7, transposed=6
)

CONVOLUTIONS: Final[dict[str, Model]] = {
    **{f"aten::conv{n}d": _forward(_WITH_GROUPS) for n in (1, 2, 3)},
    **{f"aten::conv_transpose{n}d": _forward(_TRANSPOSED_BY_NAME) for n in (1, 2, 3)},
    "aten::convolution": _forward(_EITHER),
    "aten::_convolution": _forward(_EITHER),
    "aten::convolution_overrideable": _forward(_EITHER),
    "aten::mkldnn_convolution": _forward(_PADDING_FIRST),
    "mkldnn::_convolution_pointwise": _forward(_PADDING_FIRST),
    "aten::miopen_convolution": _forward(_PADDING_FIRST),
    "aten::miopen_depthwise_convolution": _forward(_PADDING_FIRST),
    "aten::cudnn_convolution": _forward(_Positions(stride=3, padding=2, dilation=4, groups=5)),
    "aten::cudnn_convolution_relu": _forward(_WITH_GROUPS),
    "aten::miopen_convolution_relu": _forward(_WITH_GROUPS),
    "aten::cudnn_convolution_transpose": _forward(
        _Positions(stride=4, padding=2, dilation=5, groups=6, output_padding=3, is_transposed=True)
    ),
    "aten::miopen_convolution_transpose": _forward(
        _Positions(
            stride=5, padding=3, dilation=6, bias=2, groups=7, output_padding=4, is_transposed=True
        )
    ),
    "aten::thnn_conv2d": _forward(_KERNEL_SIZE),
    "aten::_slow_conv2d_forward": _forward(_KERNEL_SIZE),
    "aten::slow_conv3d_forward": _forward(_KERNEL_SIZE),
    "aten::_conv_depthwise2d": _forward(_KERNEL_SIZE_DILATED),
    "aten::conv_depthwise3d": _forward(_KERNEL_SIZE_DILATED),
    "aten::slow_conv_dilated2d": _forward(_KERNEL_SIZE_DILATED),
    "aten::slow_conv_dilated3d": _forward(_KERNEL_SIZE_DILATED),
    "aten::convolution_backward": _backward,
}
"""Convolutions by operator; positions follow torch's schemas."""
