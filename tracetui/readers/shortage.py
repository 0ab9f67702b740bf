"""Whether a file fits into memory, told before it is read."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tracetui.errors import TraceFormatError
from tracetui.model.load_report import LoadReport
from tracetui.model.portion import Shortage
from tracetui.readers import cache
from tracetui.readers.source import ByteSource
from tracetui.units import BYTES_PER_KIB, BYTES_PER_MIB

_BASE_BYTES: Final = 60 * BYTES_PER_MIB
"""What the program takes by itself."""
_BYTES_PER_SLICE: Final = 500
"""What a report takes for each slice at its peak: measured 450 to 480 on traces of 0.1 to 1 GB."""
_SAMPLE_BYTES: Final = BYTES_PER_MIB
_SAMPLED_AT: Final = (0.0, 0.5, 0.9)
"""Where in the text: recordings have the host's events first and the device's last."""
_EVENT: Final = re.compile(rb'"ph"\s*:\s*"(\w)')
_SLICE_PHASES: Final = frozenset((b"X", b"B", b"b"))
_FEWEST_EVENT_BYTES: Final = 60
"""No event with a name, a thread and times is shorter."""
_GZIP_COUNT: Final = 1 << 32
_LEAST_PACKING: Final = 4
"""Recordings pack at least this many times; a gzip file that seems not to has lost count."""
_SURELY_COUNTED_BYTES: Final = 64 * BYTES_PER_MIB
"""A packed file up to this size cannot hold so much that gzip's 32-bit count of it starts anew."""
_MEMORY_INFO: Final = Path("/proc/meminfo")
_OWN_GROUPS: Final = Path("/proc/self/cgroup")
_GROUP_ROOT: Final = Path("/sys/fs/cgroup")


def memory_need(n_slices: int) -> int:
    """Return how many bytes of memory reading and looking at a trace takes at its peak."""
    return _BASE_BYTES + _BYTES_PER_SLICE * n_slices


def shortage(path: str | Path, *, use_cache: bool = True) -> Shortage | None:
    """Return what is short where the whole file will not fit into memory, else ``None``.

    ``None`` also where that cannot be known, and where the cache holds the file: its columns stay on
    disk. A file that cannot be read has no shortage; reading it tells what is wrong with it.
    """
    path = Path(path)
    try:
        source = ByteSource(path, LoadReport())
        n_text_bytes = text_bytes(source)
        free = available_bytes()
        if n_text_bytes is None or free is None:
            return None
        if memory_need(n_text_bytes // _FEWEST_EVENT_BYTES) <= free:
            return None
        n_events, n_slices = _contents(source, n_text_bytes)
        if memory_need(n_slices) <= free or (use_cache and cache.lookup(path) is not None):
            return None
        fitting_ratio = max(free - _BASE_BYTES, 0) / (memory_need(n_slices) - _BASE_BYTES)
        return Shortage(
            n_file_bytes=source.n_bytes_total,
            n_needed_bytes=memory_need(n_slices),
            n_free_bytes=free,
            n_events_that_fit=_rounded_down(int(n_events * fitting_ratio)),
        )
    except (OSError, TraceFormatError):
        return None


def _rounded_down(amount: int) -> int:
    """Return a number with two figures that are not zero, at most."""
    unit: int = 10 ** max(len(str(amount)) - 2, 0)
    return amount // unit * unit


def text_bytes(source: ByteSource) -> int | None:
    """Return about how long the unpacked text is; ``None`` where nothing tells."""
    if source.is_zip:
        try:
            with zipfile.ZipFile(source.path) as archive:
                return max((member.file_size for member in archive.infolist()), default=0)
        except zipfile.BadZipFile:
            return None
    n_bytes = source.n_text_bytes
    if n_bytes is None or not source.is_gzip or source.n_bytes_total <= _SURELY_COUNTED_BYTES:
        return n_bytes
    while n_bytes < source.n_bytes_total * _LEAST_PACKING:
        n_bytes += _GZIP_COUNT
    return n_bytes


def _contents(source: ByteSource, n_text_bytes: int) -> tuple[int, int]:
    """Return about how many events and slices a text holds; packed text is looked at only in front."""
    size, n_events, n_slices = 0, 0, 0
    for place in _SAMPLED_AT[:1] if source.is_compressed else _SAMPLED_AT:
        sample = b""
        for block in source.blocks(int(place * n_text_bytes)):
            sample += block
            if len(sample) >= _SAMPLE_BYTES:
                break
        phases = _EVENT.findall(sample)
        size += len(sample)
        n_events += len(phases)
        n_slices += sum(phase in _SLICE_PHASES for phase in phases)
    scale = n_text_bytes / size if size else 0
    return round(n_events * scale), round(n_slices * scale)


def available_bytes() -> int | None:
    """Return how much memory this process may still take; ``None`` where the system does not say."""
    amounts = list(_group_rooms())
    system = _system_bytes()
    if system is not None:
        amounts.append(system)
    return min(amounts, default=None)


def _system_bytes() -> int | None:
    """Return what Linux would give without swapping."""
    try:
        match = re.search(r"^MemAvailable:\s*(\d+) kB", _MEMORY_INFO.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if match is None else int(match.group(1)) * BYTES_PER_KIB


def _group_rooms() -> Iterator[int]:
    """Yield the room in each control group around this process that has a limit.

    The second version has one hierarchy, the first one for memory alone. A group of a container may
    be mounted as the root: the path that the process knows it by does not exist there then.
    """
    try:
        lines = _OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            files = ("memory.max", "memory.current", "inactive_file")
            root = _GROUP_ROOT
        elif "memory" in controllers.split(","):
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            root = _GROUP_ROOT / "memory"
        else:
            continue
        place = root / name.strip("/")
        for group in dict.fromkeys((place, *place.parents)):
            room = _group_room(group, *files) if group.is_relative_to(root) else None
            if room is not None:
                yield room


def _group_room(group: Path, limit_name: str, usage_name: str, cached_name: str) -> int | None:
    try:
        limit = int((group / limit_name).read_text())
        used = int((group / usage_name).read_text())
        statistics = (group / "memory.stat").read_text()
    except (OSError, ValueError):
        # No limit is written as the word "max", and the root group has no such files.
        return None
    cached = re.search(rf"^{cached_name} (\d+)$", statistics, re.MULTILINE)
    # Pages of files that nobody looks at are given back under pressure.
    return max(limit - used + (int(cached.group(1)) if cached else 0), 0)
