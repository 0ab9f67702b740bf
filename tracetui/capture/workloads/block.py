"""A whole pre-norm transformer block: attention and a gated MLP, each beside its residual."""

from typing import Any, Final

import torch
from torch import nn

from tracetui.capture.workloads.attention import Attend, attention
from tracetui.capture.workloads.steps import ACTIVATIONS, Setting, Step, compiled

_OPTIMIZERS: Final = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
_RATE: Final = 1e-4


class Attention(nn.Module):
    """Causal self-attention with one projection in and one out."""

    def __init__(self, dim: int, n_heads: int, attend: Attend) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.attend = attend
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x: Any) -> Any:
        """Return what the positions gathered from those before them."""
        batch, seq, dim = x.shape
        split = self.qkv(x).view(batch, seq, 3, self.n_heads, dim // self.n_heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        gathered = self.attend(query, key, value)
        return self.out(gathered.transpose(1, 2).reshape(batch, seq, dim))


class GatedMlp(nn.Module):
    """The MLP of the ``mlp`` workload as a module."""

    def __init__(self, dim: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Any) -> Any:
        """Return ``down(act(gate(x)) * up(x))``."""
        return self.down(ACTIVATIONS[self.activation](self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Norm, attention, residual; norm, MLP, residual."""

    def __init__(self, setting: Setting, attend: Attend) -> None:
        super().__init__()
        dim = setting.number("dim")
        self.norm_attention = nn.LayerNorm(dim)
        self.attention = Attention(dim, setting.number("heads"), attend)
        self.norm_mlp = nn.LayerNorm(dim)
        self.mlp = GatedMlp(dim, setting.number("hidden"), str(setting.parameters["activation"]))

    def forward(self, x: Any) -> Any:
        """Return the block's output, of the shape of its input."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


def _attention_of(variant: str) -> str:
    return "sdpa" if variant in ("eager", "compiled") else variant


def build(variant: str, setting: Setting) -> Step:
    """Return one step of a variant."""
    dim, n_positions = setting.number("dim"), setting.number("seq")
    if dim % setting.number("heads"):
        raise ValueError(f"dim {dim} does not divide into {setting.number('heads')} heads")
    x = setting.drawn(setting.number("batch"), n_positions, dim)
    attend = attention(_attention_of(variant), n_positions, setting.device, causal=True)
    block = Block(setting, attend).to(setting.device, setting.computes_in or setting.dtype)
    with torch.no_grad():
        for weight in block.parameters():
            if weight.dim() > 1:
                weight.copy_(setting.weight(*weight.shape))
            weight.requires_grad_(setting.backward)
    function = compiled(block, variant) if variant == "compiled" else block
    weights = tuple(block.parameters())
    return Step(lambda: function(x), (x, *weights), finish=_optimizer_step(setting, block))


def _optimizer_step(setting: Setting, block: nn.Module) -> Any:
    name = str(setting.parameters["optimizer"])
    if name == "none":
        return None
    if not setting.backward:
        raise ValueError("an optimizer needs the backward")
    return _OPTIMIZERS[name](block.parameters(), lr=_RATE).step
