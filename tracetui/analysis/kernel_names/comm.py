"""Collectives of NCCL and RCCL, and other kernels that carry data between devices."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, dtype_of

_COMM: Final = re.compile(
    r"(?<![a-z])(?P<library>nccl|rccl|hccl|oneccl|msccl|mscclpp|nvshmem)"
    r"|cross_device_reduce|(?:one|two)_shot_all_?reduce|multimem_|symm_mem|all_?reduce_(?:one|two)",
    re.IGNORECASE,
)
_FORMAT: Final = re.compile(
    r"_(int8_t|int8|i8|u8|i32|u32|i64|u64|half|f16|float|f32|double|f64|bf16|f8e4m3|f8e5m2)(?=_|$)"
)


def comm_kernel(text: str) -> KernelName | None:
    """Return what the name of a kernel that communicates says; ``None`` for any other.

    ``ncclDevKernel_AllReduce_Sum_bf16_RING_LL`` reduces bf16. Before NCCL 2.19 one kernel stood in
    for all operations and formats of its algorithm, so that ``ncclKernel_…_Sum_int8_t`` says
    nothing of the data.
    """
    found = _COMM.search(text)
    if found is None:
        return None
    library = (found["library"] or "").lower() or None
    dtype = None
    if "ncclDevKernel" in text:
        word = _FORMAT.search(text)
        dtype = dtype_of(word.group(1)) if word else None
    return KernelName(origin=library, dtype_in=dtype, kind="comm", tensor_cores="no")
