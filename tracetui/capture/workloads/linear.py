"""One linear layer with a bias: a single kernel on a GPU, compiled or not."""

from typing import Any

from torch.nn import functional

from tracetui.capture.workloads.steps import Setting, Step, compiled


def linear(x: Any, weight: Any, bias: Any) -> Any:
    """Return what the layer returns."""
    return functional.linear(x, weight, bias)


def build(variant: str, setting: Setting) -> Step:
    """Return one step of a variant."""
    n_in, n_out = setting.number("in"), setting.number("out")
    x = setting.drawn(setting.number("batch"), n_in)
    weight, bias = setting.weight(n_out, n_in), setting.drawn(n_out)
    function = linear if variant == "eager" else compiled(linear, variant)
    return Step(lambda: function(x, weight, bias), (x, weight, bias))
