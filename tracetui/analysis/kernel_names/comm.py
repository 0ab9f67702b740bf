"""Collectives of NCCL and RCCL, and other kernels that carry data between devices."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, dtype_of
from tracetui.analysis.kernel_names.words import first_group

_COMM: Final = re.compile(
    r"(?<![a-z])(?P<library>nccl|rccl|hccl|oneccl|mscclpp|msccl|nvshmem)"
    r"|(?P<experts>deep_ep::)|cross_device_reduce|userbuffers|multimem_|symm_mem"
    r"|(?<![a-z])(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all)",
    re.IGNORECASE,
)
_FORMAT: Final = re.compile(r"_(i8|u8|i32|u32|i64|u64|f16|f32|f64|bf16|f8e4m3|f8e5m2)(?=_|$)")
_EIGHT_BITS: Final = {"f8e4m3": "fp8_e4m3", "f8e5m2": "fp8_e5m2"}


def comm_kernel(text: str) -> KernelName | None:
    """Return what the name of a kernel that communicates says; ``None`` for any other.

    ``ncclDevKernel_AllReduce_Sum_bf16_RING_LL`` reduces bf16. Before it, in NCCL's ``ncclKernel_``
    names, one kernel stood in for every operation and format of its algorithm, so that
    ``…_Sum_int8_t`` tells nothing of the data.
    """
    found = _COMM.search(text)
    if found is None:
        return None
    word = first_group(_FORMAT, text) if "ncclDevKernel" in text else None
    library = "deepep" if found["experts"] else (found["library"] or "").lower()
    return KernelName(
        origin=library or None,
        dtype_in=(_EIGHT_BITS.get(word) or dtype_of(word)) if word else None,
        kind="comm",
        tensor_cores="no",
    )
