"""``act(gate) * up`` as one Triton kernel, forward and backward, for any shape.

The kernels run over elements, so one compilation serves every shape: the number of elements is not
specialised. They compute in fp32 (fp64 for fp64) and round once. On a GPU Triton compiles them; with
``TRITON_INTERPRET=1`` its interpreter runs them on the host.

With ``s = 1 / (1 + exp(-w))``:

- SiLU, ``w = x``: value ``x s``, slope ``s + x s (1 - s)``;
- GELU by tanh: since ``(1 + tanh z) / 2 = 1 / (1 + exp(-2z))``, value ``x s`` with ``w = 2z`` and
  ``z = sqrt(2/pi) (x + 0.044715 x^3)``; slope ``s + x s (1 - s) dw/dx``.
"""

# ruff: noqa: N803 - Triton writes what is fixed at compilation in capitals

from typing import Any, Final

import torch
import triton
import triton.language as tl

_BLOCK: Final = 1024
_NUMBERS: Final = {"gelu-tanh": 0, "silu": 1, "relu": 2}


@triton.jit
def _value_and_slope(x, ACTIVATION: tl.constexpr):  # type: ignore[no-untyped-def]
    if ACTIVATION == 2:
        slope = tl.where(x > 0, 1.0, 0.0).to(x.dtype)
        value = x * slope
    else:
        if ACTIVATION == 0:
            # 2 sqrt(2/pi), and that times 3 * 0.044715
            w = 1.5957691216057308 * (x + 0.044715 * x * x * x)
            w_slope = 1.5957691216057308 + 0.21406444881780073 * x * x
        else:
            w = x
            w_slope = 1.0
        s = 1 / (1 + tl.exp(-w))
        value = x * s
        slope = s + x * s * (1 - s) * w_slope
    return value, slope


@triton.jit(do_not_specialize=["n"])
def gated_activation_forward(  # type: ignore[no-untyped-def]
    gate,
    up,
    out,
    n,
    ACTIVATION: tl.constexpr,
    COMPUTE: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write ``act(gate) * up`` for one block of elements."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(gate + at, mask=inside, other=0.0).to(COMPUTE)
    y = tl.load(up + at, mask=inside, other=0.0).to(COMPUTE)
    value, _ = _value_and_slope(x, ACTIVATION)
    tl.store(out + at, (value * y).to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["n"])
def gated_activation_backward(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917  a kernel
    grad,
    gate,
    up,
    grad_gate,
    grad_up,
    n,
    ACTIVATION: tl.constexpr,
    COMPUTE: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write both gradients for one block of elements."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    d = tl.load(grad + at, mask=inside, other=0.0).to(COMPUTE)
    x = tl.load(gate + at, mask=inside, other=0.0).to(COMPUTE)
    y = tl.load(up + at, mask=inside, other=0.0).to(COMPUTE)
    value, slope = _value_and_slope(x, ACTIVATION)
    tl.store(grad_gate + at, (d * y * slope).to(grad_gate.dtype.element_ty), mask=inside)
    tl.store(grad_up + at, (d * value).to(grad_up.dtype.element_ty), mask=inside)


def _constants(gate: Any, activation: str) -> dict[str, Any]:
    return {
        "ACTIVATION": _NUMBERS[activation],
        "COMPUTE": tl.float64 if gate.dtype == torch.float64 else tl.float32,
        "BLOCK": _BLOCK,
    }


class _GatedActivation(torch.autograd.Function):
    """Joins both kernels for autograd."""

    @staticmethod
    def forward(ctx: Any, gate: Any, up: Any, activation: str) -> Any:
        """Return ``act(gate) * up``."""
        gate, up = gate.contiguous(), up.contiguous()
        out = torch.empty_like(gate)
        n = gate.numel()
        with torch.cuda.device_of(gate):
            gated_activation_forward[(triton.cdiv(n, _BLOCK),)](
                gate, up, out, n, **_constants(gate, activation)
            )
        ctx.save_for_backward(gate, up)
        ctx.activation = activation
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of gate and up."""
        gate, up = ctx.saved_tensors
        grad = grads[0].contiguous()
        grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
        n = gate.numel()
        with torch.cuda.device_of(gate):
            gated_activation_backward[(triton.cdiv(n, _BLOCK),)](
                grad, gate, up, grad_gate, grad_up, n, **_constants(gate, ctx.activation)
            )
        return grad_gate, grad_up, None


def gated_activation(gate: Any, up: Any, activation: str) -> Any:
    """Return ``act(gate) * up`` in one kernel; gate and up have one shape and one dtype."""
    if gate.shape != up.shape or gate.dtype != up.dtype:
        raise ValueError("gate and up need one shape and one dtype")
    return _GatedActivation.apply(gate, up, activation)
