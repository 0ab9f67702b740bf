"""Theoretical occupancy: how many warps fit on a multiprocessor, and what keeps more out.

The arithmetic is that of NVIDIA's occupancy calculator, and where a figure that it takes is not
recorded, what the file's own calculator said (``OccupancyLimits``); only it knows of barriers. Registers are handed out 256 at a time to
a warp and warps to four partitions evenly; from compute capability 8.0 on each block takes 1 KiB
of shared memory for the system. AMD's recordings lack what it needs.
"""

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from tracetui.analysis.memo import once_per_trace
from tracetui.analysis.work_class import WorkClass, work_class
from tracetui.model.arrays import NO_ID, Float64s, Int32s, Int64s, frozen
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import BYTES_PER_KIB

_REGISTER_GRAIN: Final = 256
"""Registers are allocated to a warp in multiples of this."""

_PARTITIONS: Final = 4
"""A multiprocessor's registers are in as many parts; a warp lives in one."""

_MAX_BLOCKS: Final = {
    (3, 0): 16, (3, 5): 16, (3, 7): 16, (5, 0): 32, (5, 2): 32, (5, 3): 32, (6, 0): 32, (6, 1): 32,
    (6, 2): 32, (7, 0): 32, (7, 2): 32, (7, 5): 16, (8, 0): 32, (8, 6): 16, (8, 7): 16, (8, 9): 24,
    (9, 0): 32, (10, 0): 32, (10, 1): 24, (10, 3): 32, (11, 0): 24, (12, 0): 24, (12, 1): 24,
}  # fmt: skip
"""Resident blocks by compute capability: CUDA C++ Programming Guide, "Technical Specifications"."""

_RESERVED_FROM: Final = (8, 0)
_NVIDIA_WARP: Final = 32

LIMITERS: Final = ("registers", "shared memory", "warps", "blocks", "barriers")
"""What keeps more blocks out; of equals the first."""

LOW_RATIO: Final = 0.25
"""Below this a kernel that waits for memory has too few warps to hide it."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What fits on a multiprocessor of one launch."""

    ratio: float
    """Resident warps over the most that fit, 0 to 1: theoretical."""
    blocks: int
    """Resident blocks on one multiprocessor."""
    warps: int
    """Resident warps on one multiprocessor."""
    max_warps: int
    limiter: str
    """One of ``LIMITERS``."""
    estimate_ratio: float | None
    """The same where the launch has too few blocks to fill the device; what a profiler estimates.

    ``None`` where the grid or the number of multiprocessors is not recorded.
    """
    waves: float | None
    """Rounds in which the grid runs: its blocks over those resident on the whole device."""
    tail_ratio: float | None
    """How full the rounds are on average, 0 to 1; the last one is the tail."""


_Limits: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Blocks by registers, shared memory, warps and blocks; ``None`` where that does not limit."""


def _own_limits(geometry: Geometry, device: DeviceSpec, warps_per_block: int) -> _Limits | None:
    """Return what we compute, or ``None`` where the recording lacks a figure for it."""
    capability = (device.compute_major, device.compute_minor)
    max_blocks = _MAX_BLOCKS.get(capability)  # type: ignore[arg-type] # None is simply not found
    if (
        max_blocks is None
        or geometry.registers is None
        or geometry.shared_bytes is None
        or not device.max_threads_per_sm
        or not device.registers_per_sm
        or not device.shared_bytes_per_sm
    ):
        return None
    return (
        _blocks_by_registers(geometry.registers, warps_per_block, device.registers_per_sm),
        _blocks_by_shared(geometry.shared_bytes, device.shared_bytes_per_sm, capability),
        device.max_threads_per_sm // _NVIDIA_WARP // warps_per_block,
        max_blocks,
    )


def _reported_limits(geometry: Geometry) -> _Limits | None:
    """Return what the file's calculator said, or ``None`` where it says nothing or gave up."""
    said = geometry.limits
    if said is None or not said.active_blocks:
        return None
    limits = (
        said.blocks_by_registers,
        said.blocks_by_shared_memory,
        said.blocks_by_warps,
        said.blocks_by_blocks,
    )
    return None if all(limit is None for limit in limits) else limits


def _allocated(amount: int, grain: int) -> int:
    return -(-amount // grain) * grain


def theoretical_occupancy(geometry: Geometry, device: DeviceSpec) -> Occupancy | None:
    """Return what fits, or ``None`` where the recording lacks a figure that it takes.

    Args:
        geometry: How the kernel was launched.
        device: Where it ran.
    """
    n_threads = math.prod(geometry.block) if geometry.block else 0
    if device.warp_size != _NVIDIA_WARP or not device.max_threads_per_sm or n_threads <= 0:
        return None
    warps_per_block = -(-n_threads // _NVIDIA_WARP)
    max_warps = device.max_threads_per_sm // _NVIDIA_WARP
    limits = _own_limits(geometry, device, warps_per_block) or _reported_limits(geometry)
    if limits is None:
        return None
    barriers = None if geometry.limits is None else geometry.limits.blocks_by_barriers
    # A calculator that knows of no barriers writes 0, and no kernel runs with none.
    known = [math.inf if limit is None else limit for limit in (*limits, barriers or None)]
    blocks = int(min(known))
    if blocks < 1:
        return None
    warps = blocks * warps_per_block
    return Occupancy(
        ratio=warps / max_warps,
        blocks=blocks,
        warps=warps,
        max_warps=max_warps,
        limiter=LIMITERS[known.index(blocks)],
        **_by_grid(geometry, device, blocks, n_threads),
    )


def _blocks_by_registers(registers: int, warps_per_block: int, registers_per_sm: int) -> int | None:
    per_warp = _allocated(registers * _NVIDIA_WARP, _REGISTER_GRAIN)
    if per_warp <= 0:
        return None
    warps = registers_per_sm // _PARTITIONS // per_warp * _PARTITIONS
    return warps // warps_per_block


def _blocks_by_shared(shared: int, per_sm: int, capability: tuple[int | None, ...]) -> int | None:
    reserved = BYTES_PER_KIB if (capability[0] or 0, capability[1] or 0) >= _RESERVED_FROM else 0
    taken = shared + reserved
    return per_sm // taken if taken > 0 else None


def _by_grid(
    geometry: Geometry, device: DeviceSpec, blocks: int, n_threads: int
) -> dict[str, float | None]:
    n_blocks = math.prod(geometry.grid) if geometry.grid else 0
    if n_blocks <= 0 or not device.n_sms or not device.max_threads_per_sm:
        return dict.fromkeys(("estimate_ratio", "waves", "tail_ratio"))
    resident = min(float(blocks), n_blocks / device.n_sms)
    waves = n_blocks / (device.n_sms * blocks)
    return {
        "estimate_ratio": resident * n_threads / device.max_threads_per_sm,
        "waves": waves,
        "tail_ratio": waves / math.ceil(waves),
    }


def is_low_by_design(kernel_name: str, occupancy: Occupancy) -> bool:
    """Return whether a low occupancy is what the kernel's authors chose.

    Matrix products, convolutions and attention keep their tiles in registers and shared memory;
    they hide waiting behind their own pipeline, not behind other warps.
    """
    tiled = work_class(kernel_name) in (WorkClass.GEMM, WorkClass.ATTENTION)
    return tiled and occupancy.limiter in ("registers", "shared memory")


@dataclass(frozen=True, slots=True, eq=False)
class KernelOccupancy:
    """The occupancy of each kernel of a trace."""

    slice_ids: Int64s
    """All kernels; the columns below have one row for each."""
    pair_id: Int32s
    """Into ``occupancies``; ``NO_ID`` where none could be computed."""
    occupancies: tuple[Occupancy, ...]
    """One for each launch geometry on each device."""
    reported_ratio: Float64s
    """The file's own estimate; NaN where it has none."""
    estimate_ratio: Float64s
    """Ours of the same quantity; NaN where it could not be computed."""

    def of(self, slice_id: int) -> Occupancy | None:
        """Return the occupancy of one kernel."""
        row = int(np.searchsorted(self.slice_ids, slice_id))
        if row >= len(self.slice_ids) or self.slice_ids[row] != slice_id:
            return None
        pair = int(self.pair_id[row])
        return None if pair == NO_ID else self.occupancies[pair]

    def agreement(self) -> "Agreement":
        """Return how the file's own estimates compare with ours."""
        both = ~np.isnan(self.reported_ratio) & ~np.isnan(self.estimate_ratio)
        reported = np.round(self.reported_ratio[both] * 100)
        ours = np.round(np.minimum(self.estimate_ratio[both], 1) * 100)
        agrees = np.abs(reported - ours) <= _ROUNDING_PERCENT
        is_zero = (reported == 0) & ~agrees
        return Agreement(len(ours), int(agrees.sum()), int(is_zero.sum()))


_ROUNDING_PERCENT: Final = 1
"""Files have whole percents, and not all writers round them the same way."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many kernels report the occupancy that we compute."""

    n_comparable: int
    """Kernels that both report one and let one be computed."""
    n_agreeing: int
    """To the whole percent, give or take one."""
    n_zero: int
    """Those that report 0 where some warps fit: the writer's calculator gave up, as it does on
    launches that ask for more than 48 KiB of shared memory."""


def device_of(trace: Trace, index: int) -> DeviceSpec | None:
    """Return the device with this index; the only one, where the file describes only one."""
    for device in trace.devices:
        if device.index == index:
            return device
    return trace.devices[0] if len(trace.devices) == 1 else None


@once_per_trace
def kernel_occupancy(trace: Trace) -> KernelOccupancy:
    """Return the occupancy of each kernel, computed once for each launch geometry and device."""
    slices = trace.slices
    rows = np.flatnonzero(slices.kind == SliceKind.KERNEL)
    geometry_id = slices.geometry_id[rows].astype(np.int64)
    device_of_track = np.array([track.device for track in trace.tracks], np.int64)
    index = device_of_track[slices.track_id[rows]] if len(rows) else rows
    n_geometries = len(trace.geometries) + 1
    keys, pair = np.unique((index + 1) * n_geometries + geometry_id + 1, return_inverse=True)
    occupancies: list[Occupancy] = []
    found = np.full(len(keys), NO_ID, np.int32)
    estimate, reported = np.full(len(keys), np.nan), np.full(len(keys), np.nan)
    for row, key in enumerate(keys.tolist()):
        device_index, geometry_row = divmod(key, n_geometries)
        if not geometry_row:
            continue
        geometry = trace.geometries[geometry_row - 1]
        if geometry.occupancy_ratio is not None:
            reported[row] = geometry.occupancy_ratio
        device = device_of(trace, device_index - 1)
        occupancy = None if device is None else theoretical_occupancy(geometry, device)
        if occupancy is None:
            continue
        found[row] = len(occupancies)
        occupancies.append(occupancy)
        if occupancy.estimate_ratio is not None:
            estimate[row] = occupancy.estimate_ratio
    return KernelOccupancy(
        slice_ids=frozen(rows),
        pair_id=frozen(found[pair]) if len(rows) else frozen(np.empty(0, np.int32)),
        occupancies=tuple(occupancies),
        reported_ratio=frozen(reported[pair]) if len(rows) else frozen(np.empty(0)),
        estimate_ratio=frozen(estimate[pair]) if len(rows) else frozen(np.empty(0)),
    )
