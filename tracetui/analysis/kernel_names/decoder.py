"""From a kernel's name to what it says."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tracetui.analysis.kernel_names.aten import own_kernel
from tracetui.analysis.kernel_names.attention import attention_kernel
from tracetui.analysis.kernel_names.comm import comm_kernel
from tracetui.analysis.kernel_names.fields import KernelName
from tracetui.analysis.kernel_names.inductor import inductor_kernel
from tracetui.analysis.kernel_names.libraries import (
    by_its_words,
    cublas_kernel,
    cudnn_kernel,
    transfer,
)
from tracetui.analysis.kernel_names.nvidia import nvidia_product
from tracetui.analysis.kernel_names.rocm import rocm_kernel
from tracetui.analysis.kernel_names.short import LONGEST_PARSED, short_name

_WORD: Final = re.compile(r"[A-Za-z0-9.]+")

# The first that knows the name decides. A list of fused operators may hold any word; attention
# names the products inside it.
_FAMILIES: Final = (
    transfer,
    inductor_kernel,
    comm_kernel,
    attention_kernel,
    rocm_kernel,
    nvidia_product,
    cudnn_kernel,
    cublas_kernel,
    own_kernel,
)


@lru_cache(maxsize=16_384)
def decode(name: str) -> KernelName:
    """Return what the name of a kernel, copy or generated loop says.

    Args:
        name: As the recording has it: mangled, demangled or neither. Any text is allowed.

    Returns:
        The facts; those that the name does not give are ``None``, ``()`` or "unknown".
    """
    text = name[:LONGEST_PARSED].removeprefix("void ").strip()
    found = next((facts for family in _FAMILIES if (facts := family(text))), None)
    shown = short_name(name)
    return replace(
        found or by_its_words(text),
        name=name,
        short_name=shown,
        tokens=tuple(_WORD.findall(shown)),
    )
