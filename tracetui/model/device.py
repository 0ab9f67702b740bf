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
