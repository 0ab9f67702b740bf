"""Floating-point operations and least bytes in closed form.

A multiplication and an addition are two FLOP. "Least bytes" reads each operand once and writes
each result once: what a kernel with a perfect cache would move.

Sources: S. Williams, A. Waterman, D. Patterson: "Roofline", Commun. ACM 52(4), 2009; the counting
of torch's ``FlopCounterMode`` where it counts; T. Dao et al.: "FlashAttention", NeurIPS 2022, for
the five products of the backward pass.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call computes and must at least move."""

    flop: int
    n_bytes: int | None
    """``None`` where the types are not recorded."""
    precision: str | None = None
    """Which of a device's peaks the arithmetic is held against; ``None`` if not known."""
    is_matrix: bool = False
    """Whether matrix units can do it."""


def product_flop(m: int, k: int, n: int, batch: int = 1) -> int:
    """Return the FLOP of ``batch`` products of (m, k) by (k, n) matrices: 2mnk each."""
    return 2 * batch * m * k * n


def convolution_flop(spatial: Sequence[int], weight: Sequence[int], batch: int) -> int:
    """Return the FLOP of a convolution's forward pass or of either of its gradients.

    Args:
        spatial: Shape of the output without batch and channels; of the input, if transposed.
        weight: (out, in / groups, kernel…); transposed: (in, out / groups, kernel…).
        batch: Images.

    Each output element, or each input element of a transposed one, meets ``weight[1:]`` numbers.
    The gradients do the same products in another order, groups or not: ``FlopCounterMode`` counts
    the weight's gradient ``groups`` times too often.
    """
    return 2 * batch * math.prod(spatial) * math.prod(weight)


def convolved_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> list[int]:
    """Return the spatial output shape of a convolution that is not transposed."""
    return [
        (size + 2 * pad - gap * (extent - 1) - 1) // step + 1
        for size, extent, step, pad, gap in zip(
            sizes, kernel, stride, padding, dilation, strict=True
        )
    ]


def transposed_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
) -> list[int]:
    """Return the spatial output shape of a transposed convolution."""
    return [
        (size - 1) * step - 2 * pad + gap * (extent - 1) + extra + 1
        for size, extent, step, pad, gap, extra in zip(
            sizes, kernel, stride, padding, dilation, output_padding, strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """The sizes of one attention; heads are the queries'."""

    heads: int
    """Heads of all sequences of the batch together."""
    n_queries: int
    n_keys: int
    key_width: int
    value_width: int
    is_causal: bool = False

    def _flop(self, n_key_products: int, n_value_products: int) -> int:
        width = n_key_products * self.key_width + n_value_products * self.value_width
        whole = 2 * self.heads * self.n_queries * self.n_keys * width
        # Above the diagonal of a square there is nothing to do; half is what everybody counts.
        return whole // 2 if self.is_causal and self.n_queries == self.n_keys else whole

    @property
    def forward_flop(self) -> int:
        """Return the FLOP of scores and values; the softmax does not count."""
        return self._flop(1, 1)

    @property
    def backward_flop(self) -> int:
        """Return the FLOP of the scores again and the four gradients: five products."""
        return self._flop(3, 2)


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to."""
    n_dims = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (n_dims - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(0 if 0 in sizes else max(sizes) for sizes in zip(*padded, strict=True))
