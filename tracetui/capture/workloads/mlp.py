"""A gated MLP without biases: ``down(act(gate(x)) * up(x))``, GeGLU or SwiGLU by its activation."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional

from tracetui.capture.workloads.steps import ACTIVATIONS, Setting, Step, compiled, stay


def _gated(activation: Callable[[Any], Any]) -> Callable[..., Any]:
    def gated_mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
        hidden = activation(functional.linear(x, gate)) * functional.linear(x, up)
        return functional.linear(hidden, down)

    return gated_mlp


def _fused(activation: str) -> Callable[..., Any]:
    from tracetui.capture.workloads.gated_activation import gated_activation

    def fused_mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
        hidden = gated_activation(functional.linear(x, gate), functional.linear(x, up), activation)
        return functional.linear(hidden, down)

    return fused_mlp


def _packed(activation: Callable[[Any], Any], x: Any, gate: Any, up: Any, down: Any) -> Step:
    """Return the variant whose gate and up are the halves of one weight."""
    both = torch.cat((gate, up)).detach().requires_grad_(gate.requires_grad)

    def forward() -> Any:
        gated, plain = functional.linear(x, both).chunk(2, dim=-1)
        return functional.linear(activation(gated) * plain, down)

    def gradients() -> list[Any]:
        return [x.grad, *both.grad.chunk(2), down.grad]

    return Step(forward, (x, both, down), gradients)


def _liger(setting: Setting, x: Any, gate: Any, up: Any, down: Any) -> Step:
    """Return the layer of liger-kernel with our weights in it."""
    activation = str(setting.parameters["activation"])
    config = SimpleNamespace(
        hidden_size=setting.number("dim"),
        intermediate_size=setting.number("hidden"),
        hidden_act="silu" if activation == "silu" else "gelu_pytorch_tanh",
    )
    if activation == "silu":
        from liger_kernel.transformers.swiglu import LigerSwiGLUMLP as Layer
    elif activation == "gelu-tanh":
        from liger_kernel.transformers.geglu import LigerGEGLUMLP as Layer
    else:
        raise ValueError(f"liger-kernel has no gated layer with {activation}")
    layer = Layer(config).to(setting.device, setting.dtype)
    weights = (layer.gate_proj.weight, layer.up_proj.weight, layer.down_proj.weight)
    with torch.no_grad():
        for theirs, ours in zip(weights, (gate, up, down), strict=True):
            theirs.copy_(ours)
            theirs.requires_grad_(setting.backward)
    return Step(lambda: layer(x), (x, *weights))


def build(variant: str, setting: Setting) -> Step:
    """Return one step of a variant."""
    dim, hidden = setting.number("dim"), setting.number("hidden")
    x = setting.drawn(setting.number("batch"), setting.number("seq"), dim)
    gate, up = setting.weight(hidden, dim), setting.weight(hidden, dim)
    down = setting.weight(dim, hidden)
    name = str(setting.parameters["activation"])
    if variant == "packed":
        return _packed(ACTIVATIONS[name], x, gate, up, down)
    if variant == "liger":
        return _liger(setting, x, gate, up, down)
    function = _fused(name) if variant == "fused" else _gated(ACTIVATIONS[name])
    if variant.startswith("compiled"):
        stay(gate, up, down)
        function = compiled(function, variant)
    return Step(lambda: function(x, gate, up, down), (x, gate, up, down))
