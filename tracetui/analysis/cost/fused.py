"""What the fused kernels cost that torch's compiler writes, from their names and buffers.

The compiler names a kernel after the operators it fused and hands it its buffers and, last, the
number of elements of each axis (https://docs.pytorch.org/docs/stable/torch.compiler.html).
"""

from typing import Final

from tracetui.analysis.cost.arithmetic import ELEMENT_FLOP
from tracetui.analysis.cost.formulas import Cost, product_flop
from tracetui.analysis.cost.inputs import Inputs, Operand, UnmodelledError, added
from tracetui.analysis.kernel_names import KernelName, decode

_FUSED_FLOP: Final[dict[str, int]] = {
    **ELEMENT_FLOP,
    **dict.fromkeys(("sum", "mean", "amax", "amin", "prod", "any", "max", "min", "argmax"), 1),
    "native_dropout": 2,
    "addmm": 1,
    "baddbmm": 1,
    "var": 4,
    "var_mean": 4,
    "std": 4,
    "_softmax": 3,
    "_log_softmax": 3,
    "_safe_softmax": 3,
    "_softmax_backward_data": 4,
    "_log_softmax_backward_data": 4,
    "native_layer_norm": 7,
    "native_group_norm": 7,
    "_native_batch_norm_legit_functional": 7,
    "_native_batch_norm_legit_no_training": 4,
    "native_layer_norm_backward": 12,
    "_fused_rms_norm": 4,
}
"""FLOP an element of what may stand in a fused kernel's name; ``addmm`` is its bias there."""

_LOOK_UPS: Final = frozenset(
    ("embedding", "index", "index_select", "gather", "index_put", "scatter", "scatter_add")
)
"""They touch a part of a buffer only: as many elements as the kernel has."""


def is_fused_name(name: str) -> bool:
    """Return whether torch's compiler may have written a kernel of this name."""
    return "_fused_" in name and decode(name).inductor_kind is not None


def _n_elements(inputs: Inputs, buffers: list[Operand]) -> int:
    """Return over how many elements the kernel goes.

    The last numbers are the axes; before them may stand sizes that were left open when the
    kernel was compiled. As many count as multiply to no more than the largest buffer holds.
    """
    largest = max(buffer.n_elements for buffer in buffers)
    product = 0
    for index in reversed(range(len(inputs.values))):
        if not inputs.has_value(index):
            break
        try:
            size = inputs.number(index)
        except UnmodelledError:
            break
        if product and product * size > largest:
            break
        product = size * (product or 1)
    return product or largest


def _template_cost(kernel: KernelName, buffers: list[Operand]) -> Cost:
    """Return the cost of a product that the compiler wrote itself: (m, k), (k, n) and (m, n)."""
    named = {"mm", "addmm", "bmm", "baddbmm"} & set(kernel.operators)
    matrices = [each for each in buffers if len(each.shape) == (3 if "bmm" in named else 2)]
    if not named or len(matrices) < 3:
        raise UnmodelledError("a template that is no plain matrix product")
    a, b, out = matrices[0], matrices[1], matrices[-1]
    if a.shape[-1] != b.shape[-2] or out.shape[-2:] != (a.shape[-2], b.shape[-1]):
        raise UnmodelledError("a template that is no plain matrix product")
    batch = Operand(out.shape[:-2]).n_elements
    flop = product_flop(a.shape[-2], a.shape[-1], b.shape[-1], batch)
    return Cost(flop, added(*(each.n_bytes for each in buffers)), a.precision, is_matrix=True)


def fused_cost(name: str, inputs: Inputs) -> Cost:
    """Return what one call of a fused kernel costs; each buffer moves once.

    A buffer that is read and written in place counts once: the file does not tell which are.

    Raises:
        UnmodelledError: its buffers are not recorded, or their types are not known.
    """
    kernel = decode(name)
    buffers = inputs.tensors()
    if not buffers:
        raise UnmodelledError("the buffers of this fused kernel are not recorded")
    if kernel.inductor_kind == "template":
        return _template_cost(kernel, buffers)
    n_elements = _n_elements(inputs, buffers)
    looks_up = not _LOOK_UPS.isdisjoint(kernel.operators)
    moved: list[int | None] = []
    for buffer in buffers:
        n_moved = min(buffer.n_elements, n_elements) if looks_up else buffer.n_elements
        moved.append(None if buffer.item_bytes is None else n_moved * buffer.item_bytes)
    flop = n_elements * sum(_FUSED_FLOP.get(operator, 0) for operator in kernel.operators)
    is_double = any(buffer.precision == "fp64" for buffer in buffers)
    return Cost(flop, added(*moved), "fp64" if is_double else "fp32")
