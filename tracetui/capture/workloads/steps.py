"""What every workload is made of: one step, and where and with what it runs. Imports torch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import torch
from torch.nn import functional

from tracetui.capture.spec import Value

DTYPES: Final = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}
ACTIVATIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "relu": functional.relu,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a variant: a forward, and what its backward reaches."""

    forward: Callable[[], Any]
    leaves: tuple[Any, ...] = ()
    """The tensors that get gradients; they are cleared before each step."""
    gradients: Callable[[], Sequence[Any]] | None = None
    """The gradients in the order and layout of the reference; none takes those of the leaves."""
    finish: Callable[[], None] | None = None
    """What follows the backward, such as a step of an optimizer."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a workload runs and with which numbers; the same seed draws the same numbers."""

    device: Any
    dtype: Any
    """What the numbers are rounded to."""
    parameters: Mapping[str, Value]
    backward: bool
    seed: int
    computes_in: Any = None
    """What the numbers are held in; the reference holds rounded numbers more exactly."""
    _generator: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        generator = torch.Generator()
        generator.manual_seed(self.seed)
        object.__setattr__(self, "_generator", generator)

    def number(self, name: str) -> int:
        """Return a parameter that is a whole number."""
        return int(self.parameters[name])

    def anew(self) -> "Setting":
        """Return the same setting, drawing from the start again."""
        return replace(self)

    def exactly(self) -> "Setting":
        """Return the setting of the reference: the same numbers, computed more exactly."""
        exact = torch.float64 if self.dtype in (torch.float32, torch.float64) else torch.float32
        if self.device.type == "mps":  # has no double precision
            exact = torch.float32
        return replace(self, computes_in=exact)

    def drawn(self, *shape: int, scale: float = 1.0) -> Any:
        """Return a tensor of normal numbers, a leaf where a backward is asked for."""
        values = torch.randn(shape, generator=self._generator) * scale
        held = values.to(self.dtype).to(self.device, self.computes_in or self.dtype)
        return held.requires_grad_(self.backward)

    def weight(self, n_out: int, n_in: int) -> Any:
        """Return a weight that keeps the size of what passes through."""
        return self.drawn(n_out, n_in, scale=n_in**-0.5)


def stay(*weights: Any) -> None:
    """Let CUDA graphs read weights where they are, as they do with those of a module.

    Without it each replay copies all of them to a place of the graph's own, and is timed with that.
    """
    from torch._dynamo import mark_static_address

    for weight in weights:
        mark_static_address(weight)


def compiled(function: Callable[..., Any], variant: str) -> Callable[..., Any]:
    """Return a function through ``torch.compile`` in the mode that a variant's name ends in."""
    mode = variant.removeprefix("compiled").removeprefix("-") or "default"
    result: Callable[..., Any] = torch.compile(function, mode=mode, dynamic=False)
    return result
