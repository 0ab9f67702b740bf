"""What one operator computes that may also be spelled out, and what shapes tell of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tracetui.compare.units import Unit
from tracetui.compare.words import ATTENTION_PARTS, product_extents, tensor_sizes


@dataclass(frozen=True, slots=True)
class Composite:
    """What an operator computes, in sorts of work."""

    parts: frozenset[str]
    """All that may be among it."""
    required: frozenset[str]
    """What must be among it."""


_ATTENTION: Final = Composite(ATTENTION_PARTS, frozenset(("mm", "softmax")))
_NORM: Final = Composite(
    frozenset(
        [
            "mean",
            "var",
            "var_mean",
            "sub",
            "add",
            "rsqrt",
            "sqrt",
            "mul",
            "div",
            "pow",
            "square",
            "copy",
        ]
    ),
    frozenset(("mul",)),
)
_COMPOSITES: Final = {
    "addmm": Composite(frozenset(("mm", "add", "mul")), frozenset(("mm", "add"))),
    "baddbmm": Composite(frozenset(("mm", "add", "mul")), frozenset(("mm", "add"))),
    "linear": Composite(frozenset(("mm", "add")), frozenset(("mm", "add"))),
    "native_layer_norm": _NORM,
    "layer_norm": _NORM,
    "rms_norm": _NORM,
    "_fused_rms_norm": _NORM,
    "native_group_norm": _NORM,
    "_softmax": Composite(
        frozenset(["amax", "max", "sub", "exp", "sum", "div", "copy"]), frozenset(("exp", "sum"))
    ),
    "_log_softmax": Composite(
        frozenset(["amax", "max", "sub", "exp", "sum", "log", "copy"]), frozenset(("exp", "log"))
    ),
    "silu": Composite(frozenset(("sigmoid", "mul")), frozenset(("sigmoid", "mul"))),
    "gelu": Composite(frozenset(["mul", "add", "tanh", "erf", "pow"]), frozenset(("mul", "add"))),
    "addcmul": Composite(frozenset(("mul", "add")), frozenset(("mul", "add"))),
    "addcmul_": Composite(frozenset(("mul", "add")), frozenset(("mul", "add"))),
}
"""What one operator computes that may also be spelled out, and what must be among it."""


def inner_extents(unit: Unit) -> tuple[int, ...]:
    """Return rows and summed extent of a product; nothing for other work or unknown shapes."""
    extents = product_extents(unit.shape)
    return () if extents is None else extents.inner


def n_columns(unit: Unit) -> int:
    """Return the columns of a product; 0 for other work or unknown shapes."""
    extents = product_extents(unit.shape)
    return 0 if extents is None else extents.columns


def composite_of(unit: Unit) -> Composite | None:
    """Return what its operator computes all at once; ``None`` where nothing spells that out."""
    if unit.is_attention:
        return _ATTENTION
    return _COMPOSITES.get(unit.operator.rsplit("::", 1)[-1])


def is_whole(run: list[Unit], composite: Composite) -> bool:
    """Return whether some work has all that a composite requires, in more than one piece."""
    if len(run) < 2:
        return False
    words = frozenset().union(*(unit.words for unit in run))
    return composite.required <= words


def sizes_agree(whole: Unit, parts: Sequence[Unit]) -> bool | None:
    """Return whether a tensor of one side has the size of one of the other; ``None`` if unknown."""
    sizes = tensor_sizes(whole.shape)
    others = frozenset().union(*(tensor_sizes(part.shape) for part in parts))
    return bool(sizes & others) if sizes and others else None


def shapes_agree(first: Unit, second: Unit) -> bool:
    """Return whether the shapes do not speak against a pair; unknown shapes do not."""
    return not first.shape or not second.shape or first.shape == second.shape
