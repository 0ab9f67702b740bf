"""Matrix products in fp32 beside the tensor cores of a device that has them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.cost import operator_costs
from tracetui.analysis.device_table import DevicePeaks, peaks_of
from tracetui.analysis.kernel_names import KernelName, decode
from tracetui.analysis.links import links
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, GENERATION, Need
from tracetui.diagnosis.scope import device_busy_ns
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_S, NS_PER_US

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
    about: str = "large fp32 matrix products that leave the tensor cores of the device idle"
    needs: tuple[Need, ...] = (DEVICE_WORK, GENERATION)
    min_share_ratio: float = 0.1
    min_dimension: int = 64
    """Of M, N and K, where shapes are recorded."""
    min_kernel_ns: int = 20 * NS_PER_US
    attained_ratio: float = 0.5
    """How much of the ratio of the peaks a product is taken to gain."""
    min_speedup: float = 1.5
    """Below this the estimate says too little to be given."""
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
            f"Tensor cores stand idle: {_products(len(plain))} in fp32 ran without them for"
            f" {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of device time",
            in_time_order(trace, plain),
            _change(major, _peaks(trace)),
            self._saving(trace, plain, major),
        )

    def _saving(self, trace: Trace, kernels: Int64s, major: int) -> Saving | None:
        """Return what tensor cores would save, ``None`` where the device's peaks are not known.

        A product never gets faster than memory brings its operands.
        """
        peaks = _peaks(trace)
        precision = None if peaks is None else _precision(major, peaks)
        if peaks is None or precision is None or not peaks.bytes_per_s:
            return None
        ratio = peaks.matrix[precision] / peaks.vector["fp32"]
        if ratio * self.attained_ratio < self.min_speedup:
            return None
        costs, owner = operator_costs(trace), links(trace).owner_id[kernels]
        known = (owner != NO_ID) & (links(trace).n_device_self[owner] == 1)
        n_bytes = np.where(known, np.nan_to_num(costs.n_bytes[owner]), 0.0)
        dur_ns = trace.slices.dur_ns[kernels]
        least_ns = n_bytes / peaks.bytes_per_s * NS_PER_S
        then_ns = np.maximum(dur_ns / (ratio * self.attained_ratio), least_ns)
        start_ns = trace.slices.ts_ns[kernels]
        saved_ns = np.floor(np.maximum(dur_ns - then_ns, 0)).astype(np.int64)
        how = f"half of what {precision.upper()} is faster than FP32 by the data sheet, {ratio:.1f} times"
        return Saving(start_ns, start_ns + dur_ns, saved_ns, how)

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


def _peaks(trace: Trace) -> DevicePeaks | None:
    named_peaks = (peaks_of(each.name, each.total_bytes) for each in trace.devices)
    return next((peaks for peaks in named_peaks if peaks is not None), None)


def _precision(major: int, peaks: DevicePeaks) -> str | None:
    """Return the format to change to: TF32 where it is faster, which leaves the program as it is."""
    wanted = ("tf32", "bf16") if major >= 8 else ("fp16",)
    fp32 = peaks.vector.get("fp32")
    if not fp32:
        return None
    return next((each for each in wanted if peaks.matrix.get(each, 0) > 1.5 * fp32), None)


def _change(major: int, peaks: DevicePeaks | None) -> str:
    if major >= 8 and peaks is not None and _precision(major, peaks) == "bf16":
        # Cards for games run TF32 no faster than FP32.
        return 'Run the products in bf16 under torch.autocast("cuda", dtype=torch.bfloat16)'
    if major >= 8:
        return (
            'Allow TF32 with torch.set_float32_matmul_precision("high"), or run under'
            ' torch.autocast("cuda", dtype=torch.bfloat16)'
        )
    return 'Run under torch.autocast("cuda", dtype=torch.float16), with a GradScaler to train'
