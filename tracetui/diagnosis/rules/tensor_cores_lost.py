"""Matrix products in fp32 beside the tensor cores of a device that has them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import KernelName, decode
from tracetui.analysis.links import links
from tracetui.diagnosis.finding import Finding, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.diagnosis.scope import device_busy_ns
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_US

_NOT_NVIDIA: Final = re.compile(r"amd|instinct|radeon|intel|gaudi|ascend", re.IGNORECASE)
_WITHOUT: Final = re.compile(r"GTX 16|\bMX\d", re.IGNORECASE)
"""Devices of compute capability 7.5 that have no tensor cores."""
_PRODUCTS: Final = (
    "aten::mm",
    "aten::addmm",
    "aten::bmm",
    "aten::baddbmm",
    "aten::_addmm_activation",
)
_TILE: Final = re.compile(r"(\d+)x(\d+)")
_ARCH: Final = re.compile(r"sm(\d+)")


@dataclass(frozen=True, slots=True)
class TensorCoresLost:
    """Fires when large fp32 products run on the plain cores, by the kernels' names.

    Where the shapes are known each dimension must be large; where they are not, the kernel must be
    long and its tile no narrow one: skinny products are bound by memory, whatever the core. On
    devices before Ampere, which have no TF32, convolutions count too, if nothing else uses tensor
    cores.
    """

    name: str = "tensor-cores-lost"
    about: str = "large fp32 matrix products beside the tensor cores of a device that has them"
    needs: tuple[Need, ...] = (DEVICE_WORK,)
    min_share_ratio: float = 0.1
    min_dimension: int = 128
    """Of M, N and K, where shapes are recorded."""
    min_kernel_ns: int = 20 * NS_PER_US
    min_tile: int = 64
    """Both sides of the tile, where shapes are not recorded."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such products."""
        major = _compute_major(trace)
        if major is None or major < 7:
            return
        slices = trace.slices
        kernels = np.flatnonzero(slices.kind == SliceKind.KERNEL)
        names = {each: decode(trace.names[each]) for each in np.unique(slices.name_id[kernels])}
        uses_them = any(each.tensor_cores == "yes" for each in names.values())
        wanted = [
            name_id
            for name_id, name in names.items()
            if _is_plain(name, with_convolutions=major < 8 and not uses_them)
        ]
        plain = kernels[np.isin(slices.name_id[kernels], wanted)]
        plain = plain[self._are_large(trace, plain)]
        cost_ns, busy_ns = int(slices.dur_ns[plain].sum()), device_busy_ns(trace)
        if not len(plain) or cost_ns < self.min_share_ratio * busy_ns:
            return
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"Tensor cores stand idle: {_products(len(plain))} in fp32 ran beside them for"
            f" {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
            in_time_order(trace, plain),
            _change(major),
        )

    def _are_large(
        self, trace: Trace, kernels: Int64s
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which products are large enough for the core to matter."""
        slices = trace.slices
        owner = links(trace).owner_id[kernels]
        signature = np.where(owner != NO_ID, slices.signature_id[owner], NO_ID)
        keys = np.stack((slices.name_id[kernels], signature))
        _, first, group = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        verdicts = [self._is_large(trace, int(kernels[row]), int(owner[row])) for row in first]
        by_shape = np.array(verdicts, np.int8)[group.reshape(-1)]
        is_long = slices.dur_ns[kernels] >= self.min_kernel_ns
        large: np.ndarray[tuple[int], np.dtype[np.bool_]] = (by_shape == 1) | (
            (by_shape == -1) & is_long
        )
        return large

    def _is_large(self, trace: Trace, kernel: int, owner: int) -> int:
        """Return 1 for large, 0 for small, -1 where the kernel's duration has to tell."""
        if owner != NO_ID and trace.name_of(owner) in _PRODUCTS:
            shapes = [each.shape for each in tensors_of(trace, owner)][-2:]
            if len(shapes) == 2:
                sizes = (*shapes[0][-2:], shapes[1][-1])
                return int(min(sizes) >= self.min_dimension)
        name = decode(trace.name_of(kernel))
        tile = _TILE.fullmatch(name.tile or "")
        if name.kind == "convolution":
            return -1
        return -1 if tile and min(map(int, tile.groups())) >= self.min_tile else 0


def _compute_major(trace: Trace) -> int | None:
    """Return the generation of the device, ``None`` where it is unknown or has no tensor cores."""
    for device in trace.devices:
        if _NOT_NVIDIA.search(device.name) or _WITHOUT.search(device.name):
            return None
        if device.compute_major is not None:
            return device.compute_major
    kernels = np.unique(trace.slices.name_id[trace.slices.kind == SliceKind.KERNEL]).tolist()
    found = [_ARCH.fullmatch(decode(trace.names[each]).arch or "") for each in kernels]
    # Names tell what a kernel was built for; a device runs those of its own and of older ones.
    return max((int(each.group(1)) // 10 for each in found if each), default=None)


def _is_plain(name: KernelName, *, with_convolutions: bool) -> bool:
    kinds = ("gemm", "convolution") if with_convolutions else ("gemm",)
    return name.kind in kinds and name.tensor_cores == "no" and name.dtype_in == "fp32"


def _products(n_products: int) -> str:
    return "1 product" if n_products == 1 else f"{count(n_products)} products"


def _change(major: int) -> str:
    if major >= 8:
        return (
            'Allow TF32 with torch.set_float32_matmul_precision("high"), or run under'
            ' torch.autocast("cuda", dtype=torch.bfloat16)'
        )
    return 'Run under torch.autocast("cuda", dtype=torch.float16), with a GradScaler to train'
