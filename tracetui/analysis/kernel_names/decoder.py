"""From a kernel's name to what it says."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tracetui.analysis.kernel_names.aten import own_kernel
from tracetui.analysis.kernel_names.attention import attention_kernel
from tracetui.analysis.kernel_names.comm import comm_kernel
from tracetui.analysis.kernel_names.cublas import cublas_product
from tracetui.analysis.kernel_names.cutlass import cutlass_product
from tracetui.analysis.kernel_names.demangle import demangled
from tracetui.analysis.kernel_names.fields import KernelName
from tracetui.analysis.kernel_names.inductor import inductor_kernel
from tracetui.analysis.kernel_names.libraries import (
    by_its_words,
    cublas_kernel,
    cudnn_kernel,
    transfer,
)
from tracetui.analysis.kernel_names.rocm import rocm_kernel
from tracetui.analysis.kernel_names.short import short_name
from tracetui.analysis.kernel_names.templates import head_of
from tracetui.analysis.kernel_names.trtllm import trtllm_kernel

_LONGEST_READ: Final = 20_000
"""A name is cut here before it is read: no library's is so long."""

_LONG_NUMBER: Final = re.compile(r"(\d{18})\d+")
"""Digits that would make no number of 64 bits; no tile or architecture is so large."""
_WORD: Final = re.compile(r"[A-Za-z0-9.]+")
_DECORATION: Final = re.compile(
    r"^void |(?:\.kd|\s*\[clone [^\]]*\])+$|\(anonymous namespace\)::|<unnamed>::"
)
"""What says nothing of a kernel: its result, a copy's mark, a namespace without a name."""

_CONSTRAINT: Final = re.compile(r"^(?:typename )?std::enable_if<.*?>::type ")
_NSIGHT_LAMBDA: Final = re.compile(r"\[lambda\(([^\[\]]*)\) \(instance (\d+)\)\]")
_NSIGHT_INTEGER: Final = re.compile(r"\((?:unsigned )?(?:int|long|short|char)\)(?=-?\d)")
_NSIGHT_BOOLEAN: Final = re.compile(r"\(bool\)([01])")
_BOOLEANS: Final = {"0": "false", "1": "true"}

# Each is given the name without its parameters; the first that knows it decides. A list of fused operators may hold any word, attention
# names the products inside it, and PyTorch's drivers name whatever they run.
_FAMILIES: Final = (
    transfer,
    inductor_kernel,
    comm_kernel,
    trtllm_kernel,
    attention_kernel,
    rocm_kernel,
    cutlass_product,
    cublas_product,
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
    cut = _LONG_NUMBER.sub(r"\1…", name[:_LONGEST_READ])
    text = _plain(demangled(cut.removesuffix(".kd")) or cut)
    head = head_of(text)
    found = next((facts for family in _FAMILIES if (facts := family(head))), None)
    facts = found or by_its_words(head)
    shown = short_name(text, facts) or name
    return replace(facts, name=name, short_name=shown, tokens=tuple(_WORD.findall(shown)))


def _plain(text: str) -> str:
    """Return a C++ name as the profiler's own demangler spells it, whoever demangled it.

    Nsight writes ``(int)128`` for 128 and ``[lambda(float) (instance 1)]`` for
    ``{lambda(float)#1}``.
    """
    text = _DECORATION.sub("", _CONSTRAINT.sub("", text)).strip()
    if "[lambda" in text:
        text = _NSIGHT_LAMBDA.sub(r"{lambda(\1)#\2}", text)
    if "(int)" in text or "(bool)" in text or "(unsigned" in text:
        text = _NSIGHT_BOOLEAN.sub(lambda found: _BOOLEANS[found.group(1)], text)
        text = _NSIGHT_INTEGER.sub("", text)
    return text
