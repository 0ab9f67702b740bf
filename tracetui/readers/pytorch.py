"""What torch.profiler adds to the trace-event format."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from tracetui.model.builder import TraceBuilder
from tracetui.model.device import DeviceSpec, OccupancyLimits
from tracetui.model.strings import clean_text

_BASE_TIME: Final = "baseTimeNanoseconds"


def whole(value: object, default: int) -> int:
    """Return a number of any spelling as an integer, or ``default`` if it is none."""
    if isinstance(value, bool):
        return default
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else default
    if isinstance(value, str | float):
        try:
            number = int(value)
        except (ValueError, OverflowError):
            return default
        return number if -(2**63) <= number < 2**63 else default
    return default


def _maybe(values: Mapping[str, Any], key: str) -> int | None:
    number = whole(values.get(key), -1)
    return None if number < 0 else number


def devices(metadata: Mapping[str, Any]) -> tuple[DeviceSpec, ...]:
    """Return the devices that the file describes."""
    listed = metadata.get("deviceProperties") or metadata.get("computeProperties") or []
    if not isinstance(listed, list):
        return ()
    return tuple(
        DeviceSpec(
            index=whole(values.get("id"), row),
            name=clean_text(str(values.get("name", ""))),
            total_bytes=_maybe(values, "totalGlobalMem"),
            compute_major=_maybe(values, "computeMajor"),
            compute_minor=_maybe(values, "computeMinor"),
            n_sms=_maybe(values, "numSms"),
            warp_size=_maybe(values, "warpSize"),
            max_threads_per_block=_maybe(values, "maxThreadsPerBlock"),
            max_threads_per_sm=_maybe(values, "maxThreadsPerMultiprocessor"),
            registers_per_sm=_maybe(values, "regsPerMultiprocessor"),
            shared_bytes_per_sm=_maybe(values, "sharedMemPerMultiprocessor"),
        )
        for row, values in enumerate(listed)
        if isinstance(values, dict)
    )


_LIMIT_NAMES: Final = {
    "active_blocks": "activeBlocksPerMultiprocessor",
    "blocks_by_registers": "blockLimitRegs",
    "blocks_by_shared_memory": "blockLimitSharedMem",
    "blocks_by_warps": "blockLimitWarps",
    "blocks_by_blocks": "blockLimitBlocks",
    "blocks_by_barriers": "blockLimitBarriers",
    "registers_per_block": "allocatedRegistersPerBlock",
    "shared_bytes_per_block": "allocatedSharedMemPerBlock",
}
"""Members of a kernel's ``occupancy``: ``visitTypedMetadata`` in kineto's ``CuptiActivity.h``."""
_UNLIMITED: Final = 2**31 - 1
"""What the calculator writes for a resource that the kernel takes nothing of."""


def occupancy_limits(raw: bytes) -> OccupancyLimits | None:
    """Return a kernel's ``occupancy`` argument; ``None`` where it is not what kineto writes."""
    try:
        values = orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError:
        return None
    if not isinstance(values, dict) or not values.keys() & set(_LIMIT_NAMES.values()):
        return None
    numbers = {name: _maybe(values, said) for name, said in _LIMIT_NAMES.items()}
    factors = clean_text(str(values.get("limitingFactors", "")))
    return OccupancyLimits(
        factors=tuple(word for word in factors.split("|") if word not in ("", "none")),
        **{name: None if value == _UNLIMITED else value for name, value in numbers.items()},
    )


def producer(metadata: Mapping[str, Any], categories: set[str]) -> str:
    """Return what wrote the file, as far as the file tells."""
    known = {word.lower() for word in categories}
    if {"cpu_op", "user_annotation", "kernel", "operator"} & known or "schemaVersion" in metadata:
        return "torch.profiler"
    return "another producer"


def add_metadata(builder: TraceBuilder, values: Mapping[str, Any]) -> None:
    """Take what a file says of itself, cleaned; the last word wins."""
    builder.metadata.update(values)
    builder.base_ns = whole(builder.metadata.get(_BASE_TIME), 0)
    builder.devices = devices(builder.metadata)
