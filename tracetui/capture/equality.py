"""Whether a variant computes what the reference computes. Imports torch.

The largest relative error is useless near zero, so three numbers are kept: the largest absolute error,
the error's norm over the reference's norm, and whether all elements are close. Elements are close
within ``tolerance * (|reference| + largest |reference|)``: rounding errors of a product are as large
as its largest terms, however small the sum.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import torch

TOLERANCES: Final = {
    torch.float64: 1e-9,
    torch.float32: 1e-4,
    torch.float16: 5e-3,
    torch.bfloat16: 3e-2,
}
"""By the coarsest dtype that takes part; each some ten roundings of a long sum."""


@dataclass(frozen=True, slots=True)
class Equality:
    """How far results are from the reference's, over all of them."""

    is_equal: bool
    max_abs_error: float
    norm_relative_error: float
    """The largest, over the results, of the error's norm by the reference's norm."""
    tolerance: float
    reference: str
    """What the results were compared with."""

    def members(self) -> dict[str, Any]:
        """Return the equality as members of a JSON object."""
        return asdict(self)


def tensors_of(result: Any) -> list[Any]:
    """Return the tensors that a step returned, whatever they are packed in."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, Mapping):
        return [each for value in result.values() for each in tensors_of(value)]
    if isinstance(result, Iterable) and not isinstance(result, str | bytes):
        return [each for value in result for each in tensors_of(value)]
    return []


def snapshot(tensors: Sequence[Any]) -> list[Any]:
    """Return copies that later steps cannot change."""
    return [each.detach().clone() for each in tensors]


def equality(results: Sequence[Any], expected: Sequence[Any], reference: str) -> Equality:
    """Compare a variant's results with the reference's, tensor by tensor.

    Raises:
        ValueError: Their number or their shapes differ, or there are none.
    """
    if not results:
        raise ValueError("the step returned no tensor to compare")
    shapes = [tuple(each.shape) for each in results], [tuple(each.shape) for each in expected]
    if shapes[0] != shapes[1]:
        raise ValueError(f"results of shapes {shapes[0]}, the reference's are {shapes[1]}")
    errors = [_errors(*pair) for pair in zip(results, expected, strict=True)]
    tolerance = max(
        _tolerance(each.dtype) for pair in zip(results, expected, strict=True) for each in pair
    )
    norm_relative = max(error.norm_relative for error in errors)
    is_close = all(error.is_close_within(tolerance) for error in errors)
    return Equality(
        is_close and norm_relative <= tolerance,
        max(error.max_abs for error in errors),
        norm_relative,
        tolerance,
        reference,
    )


def _tolerance(dtype: Any) -> float:
    return TOLERANCES.get(dtype, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    difference: Any
    expected: Any
    max_abs: float
    norm_relative: float

    def is_close_within(self, tolerance: float) -> bool:
        """Return whether each element is near enough; not a number is near nothing."""
        if self.expected.numel() == 0:
            return True
        size = self.expected.abs()
        return bool((self.difference <= tolerance * (size + size.max())).all())


def _errors(result: Any, expected: Any) -> _Errors:
    exact = torch.float32 if result.device.type == "mps" else torch.float64
    result, expected = result.detach().to(exact), expected.detach().to(exact)
    difference = (result - expected).abs()
    norm = float(expected.norm())
    error_norm = float(difference.norm())
    return _Errors(
        difference,
        expected,
        float(difference.max()) if difference.numel() else 0.0,
        error_norm / norm if norm else error_norm,
    )
