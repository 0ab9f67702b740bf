"""What the recording says of its hardware."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """One entry of ``deviceProperties``; ``None`` where the file does not say."""

    index: int
    name: str
    total_bytes: int | None = None
    compute_major: int | None = None
    compute_minor: int | None = None
    n_sms: int | None = None
    warp_size: int | None = None
    max_threads_per_block: int | None = None
    max_threads_per_sm: int | None = None
    registers_per_sm: int | None = None
    shared_bytes_per_sm: int | None = None


@dataclass(frozen=True, slots=True)
class OccupancyLimits:
    """What the profiler's own occupancy calculator said of a launch, on one multiprocessor.

    Blocks are those that would fit if nothing else limited them; ``None`` where the file does not
    say or there is no such limit. kineto writes it since 2026, as ``occupancy`` of a kernel.
    """

    active_blocks: int | None = None
    """Those that fit; 0 where the calculator gave up."""
    factors: tuple[str, ...] = ()
    """What limits them, in the file's words: ``WARPS``, ``REGS``, ``SMEM``, ``BLOCKS``,
    ``BARRIERS``."""
    blocks_by_registers: int | None = None
    blocks_by_shared_memory: int | None = None
    blocks_by_warps: int | None = None
    blocks_by_blocks: int | None = None
    blocks_by_barriers: int | None = None
    registers_per_block: int | None = None
    shared_bytes_per_block: int | None = None


@dataclass(frozen=True, slots=True)
class Geometry:
    """How a kernel was launched; ``None`` where the file does not say."""

    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    registers: int | None
    """Registers for each thread."""
    shared_bytes: int | None
    """Shared memory for each block."""
    occupancy_ratio: float | None
    """The file's own estimate, 0 to 1."""
    blocks_per_sm: float | None
    warps_per_sm: float | None
    limits: OccupancyLimits | None = None
    """The file's own account of what limits the occupancy."""
