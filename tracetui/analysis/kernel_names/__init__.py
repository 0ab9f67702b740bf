"""What a kernel's name says: library, architecture, formats, tile, and the operators it fuses."""

from tracetui.analysis.kernel_names.decoder import decode
from tracetui.analysis.kernel_names.differences import NameDifference, name_differences
from tracetui.analysis.kernel_names.fields import INDUCTOR_KINDS, KINDS, KernelName, dtype_of
from tracetui.analysis.kernel_names.inductor import fused_operators

__all__ = [
    "INDUCTOR_KINDS",
    "KINDS",
    "KernelName",
    "NameDifference",
    "decode",
    "dtype_of",
    "fused_operators",
    "name_differences",
]
