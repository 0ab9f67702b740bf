"""A matrix product and an addition: the smallest thing that can be fused."""

from typing import Any

import torch

from tracetui.capture.workloads.steps import Setting, Step, compiled, stay


def matmul_add(x: Any, weight: Any, bias: Any) -> Any:
    """Return the product and, apart from it, the sum."""
    return torch.add(torch.matmul(x, weight), bias)


def build(variant: str, setting: Setting) -> Step:
    """Return one step of a variant."""
    size = setting.number("size")
    x, weight, bias = setting.drawn(size, size), setting.weight(size, size), setting.drawn(size)
    leaves = (x, weight, bias)
    if variant == "addmm":
        return Step(lambda: torch.addmm(bias, x, weight), leaves)
    if variant == "eager":
        return Step(lambda: matmul_add(x, weight, bias), leaves)
    stay(weight, bias)
    function = compiled(matmul_add, variant)
    return Step(lambda: function(x, weight, bias), leaves)
