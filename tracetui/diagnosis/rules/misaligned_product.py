"""Products in half precision whose dimensions keep the kernel from wide loads."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import links
from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, SHAPES, Need
from tracetui.diagnosis.scope import device_busy_ns
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_PRODUCTS: Final = (
    "aten::mm",
    "aten::addmm",
    "aten::bmm",
    "aten::baddbmm",
    "aten::_addmm_activation",
)


@dataclass(frozen=True, slots=True)
class MisalignedProduct:
    """Fires when the kernel's name says narrow loads and the shapes say why.

    Both are asked for: a name of the kind ``align1`` or ``align2``, and a K or N that is no
    multiple of eight elements.
    """

    name: str = "misaligned-product"
    about: str = "half-precision products whose K or N is no multiple of 8"
    needs: tuple[Need, ...] = (DEVICE_WORK, SHAPES)
    min_share_ratio: float = 0.03
    multiple: int = 8
    """Elements of two bytes that one load of 16 bytes takes."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each shape of such a product."""
        slices = trace.slices
        kernels = np.flatnonzero(slices.kind == SliceKind.KERNEL)
        narrow = [
            each
            for each in np.unique(slices.name_id[kernels]).tolist()
            if self._is_narrow(trace.names[each])
        ]
        kernels = kernels[np.isin(slices.name_id[kernels], narrow)]
        owner = links(trace).owner_id[kernels]
        kernels, owner = kernels[owner != NO_ID], owner[owner != NO_ID]
        for signature in np.unique(slices.signature_id[owner]).tolist():
            own = kernels[slices.signature_id[owner] == signature]
            yield from self._judged(
                trace, own, int(owner[slices.signature_id[owner] == signature][0])
            )

    def _is_narrow(self, name: str) -> bool:
        decoded = decode(name)
        return (
            decoded.kind == "gemm"
            and decoded.dtype_in in ("fp16", "bf16")
            and decoded.alignment is not None
            and decoded.alignment < self.multiple
        )

    def _judged(self, trace: Trace, kernels: Int64s, owner: int) -> Iterator[Finding]:
        cost_ns, busy_ns = int(trace.slices.dur_ns[kernels].sum()), device_busy_ns(trace)
        shapes = [each.shape for each in tensors_of(trace, owner)][-2:]
        if cost_ns < self.min_share_ratio * busy_ns or trace.name_of(owner) not in _PRODUCTS:
            return
        if len(shapes) < 2 or len(shapes[1]) < 2:
            return
        m, k, n = shapes[0][-2], shapes[0][-1], shapes[1][-1]
        odd = [f"{name} = {size}" for name, size in (("K", k), ("N", n)) if size % self.multiple]
        if not odd:
            return
        many = len(kernels) > 1
        of = f"{m} x {k} x {n}"
        who = f"{count(len(kernels))} products of {of} load" if many else f"A product of {of} loads"
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"{who} narrowly, for {' and '.join(odd)} is no multiple of"
            f" {self.multiple}: {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
            in_time_order(trace, kernels),
            f"Pad the dimension to a multiple of {self.multiple}, better of 64: a vocabulary or a"
            f" hidden size, for example",
        )
