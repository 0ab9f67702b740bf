"""The generated kernels that TensorRT-LLM ships and that serving engines borrow (trtllm-gen)."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, dtype_of

_PRODUCT: Final = re.compile(
    r"^(?:bmm|gemm)_[A-Za-z0-9]+_(?P<a>Bfloat16|Fp16|Fp32|E4m3|E5m2|E2m1|MxE4m3|MxE2m1|MxInt4)"
    r"(?P<b>Bfloat16|Fp16|Fp32|E4m3|E5m2|E2m1|MxE4m3|MxE2m1|MxInt4)_(?P<acc>Fp32|Fp16)_(?:b\w+?_)*"
    r"t(?P<tile>\d+x\d+)x(?P<k>\d+)(?:u\d+)?_s(?P<stages>\d+)_et\d+x\d+_m(?P<mma>\d+x\d+x\d+)"
    r"_c(?:ga)?(?P<cluster>\d+x\d+x\d+)(?P<rest>\w*)",
    re.IGNORECASE,
)
_FORMATS: Final = {
    "bfloat16": "bf16",
    "fp16": "fp16",
    "fp32": "fp32",
    "e4m3": "fp8_e4m3",
    "e5m2": "fp8_e5m2",
    "e2m1": "fp4_e2m1",
    "mxe4m3": "fp8_e4m3",
    "mxe2m1": "fp4_e2m1",
}
_ATTENTION: Final = re.compile(
    r"^fmhaSm(?P<arch>\d+)[a-z]?Kernel_Q(?:kv)?(?P<q>Bfloat16|Fp16|E4m3|E5m2|E2m1)(?P<rest>\w*)"
)
_ATTENTION_TILE: Final = re.compile(r"SeqQ(\d+)Kv(\d+)")
_ARCH: Final = re.compile(r"_sm(\d+)[a-z]?$")
_LAYOUT: Final = re.compile(r"_([TN]{2})(?=_)")


def trtllm_kernel(text: str) -> KernelName | None:
    """Return what the name of a kernel of trtllm-gen says; ``None`` for any other."""
    return _product(text) or _attention(text)


def _product(text: str) -> KernelName | None:
    """Read ``bmm_E4m3_E4m3E4m3_Fp32_t128x16x128u2_s6_et64x16_m64x16x32_c1x1x1_rM_TN_…_sm100f``.

    The formats of the result, of A and B and of the accumulator; the tile, stages, the epilogue's
    tile, the matrix instruction, the cluster.
    """
    found = _PRODUCT.match(text)
    if found is None:
        return None
    arch, layout = _ARCH.search(text), _LAYOUT.search(found["rest"])
    a, b = _FORMATS.get(found["a"].lower()), _FORMATS.get(found["b"].lower())
    return KernelName(
        origin="trtllm-gen",
        arch=f"sm{arch.group(1)}" if arch else None,
        dtype_in=a if a == b else None,
        dtype_acc=dtype_of(found["acc"].lower()),
        mma=found["mma"],
        tile=found["tile"],
        tile_k=int(found["k"]),
        stages=f"{found['k']}x{found['stages']}",
        layout=layout.group(1).lower() if layout else None,
        cluster=found["cluster"],
        kind="gemm",
        tensor_cores="yes",
    )


def _attention(text: str) -> KernelName | None:
    """Read ``fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ128Kv128…``."""
    found = _ATTENTION.match(text)
    if found is None:
        return None
    tile = _ATTENTION_TILE.search(found["rest"])
    return KernelName(
        origin="trtllm-gen",
        backend="trtllm",
        arch=f"sm{found['arch']}",
        dtype_in=_FORMATS[found["q"].lower()],
        tile="x".join(tile.groups()) if tile else None,
        kind="attention",
        direction="forward",
        tensor_cores="yes",
    )
