"""What a recording says of one operator's inputs, as operands that know their size."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_FLOATS: Final = {
    "float": (4, "fp32"),
    "double": (8, "fp64"),
    "Half": (2, "fp16"),
    "BFloat16": (2, "bf16"),
    "Float8_e4m3fn": (1, "fp8"),
    "Float8_e5m2": (1, "fp8"),
    "Float8_e4m3fnuz": (1, "fp8"),
    "Float8_e5m2fnuz": (1, "fp8"),
    "Float8_e8m0fnu": (1, "fp8"),
    "complex<float>": (8, "fp32"),
    "complex<double>": (16, "fp64"),
    "complex<Half>": (4, "fp16"),
}
_INTEGERS: Final = {
    "bool": 1,
    "signed char": 1,
    "unsigned char": 1,
    "char": 1,
    "short": 2,
    "short int": 2,
    "unsigned short": 2,
    "int": 4,
    "unsigned int": 4,
    "long": 8,
    "long int": 8,
    "long long": 8,
    "unsigned long": 8,
    "__int64": 8,
    "qint8": 1,
    "quint8": 1,
    "qint32": 4,
}
_NAMESPACES: Final = ("c10::", "at::")


class UnmodelledError(Exception):
    """A model cannot say what this call costs; the text says why, for people."""


def _bare(type_name: str) -> str:
    for namespace in _NAMESPACES:
        type_name = type_name.removeprefix(namespace).replace(f"<{namespace}", "<")
    return type_name


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor: its shape, and its C++ element type and strides where the file says them."""

    shape: tuple[int, ...]
    type_name: str | None = None
    strides: tuple[int, ...] | None = None

    @property
    def n_elements(self) -> int:
        """Return how many elements the shape has."""
        return math.prod(self.shape)

    @property
    def n_distinct(self) -> int:
        """Return how many elements lie in memory: a dimension of stride 0 repeats one."""
        if self.strides is None or len(self.strides) != len(self.shape):
            return self.n_elements
        return math.prod(
            size
            for size, stride in zip(self.shape, self.strides, strict=True)
            if stride or not size
        )

    @property
    def item_bytes(self) -> int | None:
        """Return the bytes of an element, or ``None`` for a type that is not known."""
        name = _bare(self.type_name or "")
        return _FLOATS[name][0] if name in _FLOATS else _INTEGERS.get(name)

    @property
    def precision(self) -> str | None:
        """Return the name of the peak that holds for this type, such as ``bf16``."""
        name = _bare(self.type_name or "")
        if name in _FLOATS:
            return _FLOATS[name][1]
        return "int8" if _INTEGERS.get(name) == 1 and name != "bool" else None

    @property
    def is_complex(self) -> bool:
        """Return whether an element is a complex number."""
        return _bare(self.type_name or "").startswith("complex<")

    @property
    def is_float(self) -> bool:
        """Return whether an element is a real or complex floating-point number."""
        return _bare(self.type_name or "") in _FLOATS

    @property
    def n_bytes(self) -> int | None:
        """Return the bytes to read it once, or ``None`` without a known type."""
        return None if self.item_bytes is None else self.n_distinct * self.item_bytes


def added(*amounts: int | None) -> int | None:
    """Return the sum, or ``None`` if any part of it is not known."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def _sizes(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, list) and all(type(size) is int for size in value):
        return tuple(value)
    return None


@dataclass(frozen=True, slots=True)
class Inputs:
    """One operator's inputs by position, as the file gives them."""

    dims: Sequence[Any]
    types: Sequence[Any] = ()
    values: Sequence[Any] = ()
    all_strides: Sequence[Any] = ()

    @classmethod
    def from_signature(cls, text: str) -> "Inputs":
        """Return the inputs of one of ``Trace.signatures``."""
        parts = [part if isinstance(part, list) else [] for part in json.loads(text)]
        return cls(*parts)

    def _type(self, index: int) -> str | None:
        """Return the type's name, "" where the position holds none, ``None`` if types lack."""
        if not self.types:
            return None
        given = self.types[index] if index < len(self.types) else ""
        return given if isinstance(given, str) else ""

    def has_tensor(self, index: int) -> bool:
        """Return whether a tensor stands at this position."""
        if index >= len(self.dims):
            return False
        shape = _sizes(self.dims[index])
        type_name = self._type(index)
        if shape is None:
            return False
        if type_name is None:
            return bool(shape)
        return type_name not in ("", "Scalar", "ScalarList", "TensorList", "GenericList")

    def tensor(self, index: int) -> Operand:
        """Return the tensor at this position; raises ``UnmodelledError`` where there is none."""
        if not self.has_tensor(index):
            raise UnmodelledError("an input's shape is not recorded")
        strides = self.all_strides[index] if index < len(self.all_strides) else None
        return Operand(tuple(self.dims[index]), self._type(index), _sizes(strides))

    def tensors(self) -> list[Operand]:
        """Return every plain tensor, in order."""
        return [self.tensor(index) for index in range(len(self.dims)) if self.has_tensor(index)]

    def tensor_list(self, index: int) -> list[Operand]:
        """Return the tensors of a list; files do not say their types."""
        given = self.dims[index] if index < len(self.dims) else None
        if not isinstance(given, list) or not given:
            return []
        shapes = [_sizes(shape) for shape in given]
        return [Operand(shape) for shape in shapes if shape is not None]

    def has_value(self, index: int) -> bool:
        """Return whether a number, a truth value or a list of numbers is recorded here."""
        return index < len(self.values) and self.values[index] not in ("", None)

    def flag(self, index: int) -> bool:
        """Return a truth value; raises ``UnmodelledError`` where it is not recorded."""
        if not self.has_value(index):
            raise UnmodelledError("concrete inputs are not recorded")
        return str(self.values[index]).strip() == "True"

    def number(self, index: int) -> int:
        """Return a whole number; raises ``UnmodelledError`` where it is not recorded."""
        try:
            return int(str(self.values[index]))
        except (IndexError, ValueError):
            raise UnmodelledError("concrete inputs are not recorded") from None

    def numbers(self, index: int) -> list[int]:
        """Return a list of whole numbers, a single one as a list of one."""
        text = str(self.values[index]).strip() if index < len(self.values) else ""
        try:
            return [int(part) for part in text.strip("[]").split(",") if part.strip()]
        except ValueError:
            raise UnmodelledError("concrete inputs are not recorded") from None

    def flags(self, index: int) -> list[bool]:
        """Return a list of truth values; raises ``UnmodelledError`` where it is not recorded."""
        if not self.has_value(index):
            raise UnmodelledError("concrete inputs are not recorded")
        parts = str(self.values[index]).strip().strip("[]").split(",")
        return [part.strip() in ("True", "1") for part in parts]
