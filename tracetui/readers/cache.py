"""The columns on disk, reopened by memory mapping: a second opening takes no parsing.

One file for each trace: a magic word, the header's length and digest, a JSON header, then the
columns, each at a multiple of 64 bytes. It is trusted only if format version, the trace's size,
time of change and the digest of its head and tail all match; anything else is as good as no file.
"""

import contextlib
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from platformdirs import user_cache_path

from tracetui.model.counters import CounterTable, InstantTable, MemoryTable
from tracetui.model.details import ArgumentSource
from tracetui.model.device import DeviceSpec, Geometry, OccupancyLimits
from tracetui.model.flows import FlowTable
from tracetui.model.load_report import LoadReport
from tracetui.model.slices import SliceTable
from tracetui.model.strings import StringTable
from tracetui.model.trace import Origin, Trace
from tracetui.model.tracks import Track, TrackKind
from tracetui.units import BYTES_PER_GIB, BYTES_PER_KIB

VERSION: Final = 7
"""Raised whenever a column, its meaning or the reader's judgement changes."""

MIN_BYTES: Final = 1_000_000
"""Smaller files are read faster than anyone notices."""

MAX_TOTAL_BYTES: Final = 4 * BYTES_PER_GIB
"""The cache folder's bound; the entries unused for longest go first."""

_MAGIC: Final = b"tracetui"
_SAMPLE_BYTES: Final = 64 * BYTES_PER_KIB
_ALIGNMENT: Final = 64
_PREFIX_BYTES: Final = len(_MAGIC) + 8 + 32
_TABLES: Final = {
    "slices": SliceTable,
    "flows": FlowTable,
    "counters": CounterTable,
    "instants": InstantTable,
    "memory": MemoryTable,
}


@dataclass(frozen=True, slots=True)
class _Identity:
    """What a file must still be for its entry to hold."""

    version: int
    n_bytes: int
    mtime_ns: int
    digest: str


def _identity(path: Path) -> _Identity:
    status = path.stat()
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        digest.update(file.read(_SAMPLE_BYTES))
        file.seek(max(status.st_size - _SAMPLE_BYTES, 0))
        digest.update(file.read(_SAMPLE_BYTES))
    return _Identity(VERSION, status.st_size, status.st_mtime_ns, digest.hexdigest())


def cache_folder() -> Path:
    """Return where entries lie; safe to delete at any time."""
    return user_cache_path("tracetui") / "traces"


def _entry(path: Path) -> Path:
    name = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=16).hexdigest()
    return cache_folder() / f"{name}.columns"


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def _columns(trace: Trace) -> Iterator[tuple[str, Any]]:
    for table_name, table in _TABLES.items():
        for column in fields(table):
            yield f"{table_name}.{column.name}", getattr(getattr(trace, table_name), column.name)


def _is_alike(column: Any) -> bool:
    """Return whether one value stands for all of them; it is written once, in the header."""
    return len(column) > 0 and column.strides == (0,)


def store(trace: Trace, path: Path, argument_state: dict[str, Any]) -> bool:
    """Write the entry of a completely read file; return whether that was possible.

    ``argument_state`` is what the argument source needs to find events again, as JSON values.
    A full disk or a read-only home costs the cache, never the trace.
    """
    columns: list[dict[str, Any]] = []
    offset = 0
    for name, column in _columns(trace):
        place = {"name": name, "dtype": column.dtype.str, "n": len(column), "at": offset}
        columns.append(place)
        if _is_alike(column):
            place["alike"] = column[0].item()
        else:
            offset = _aligned(offset + column.nbytes)
    report = asdict(trace.report)
    try:
        header = orjson.dumps(
            {
                "identity": asdict(_identity(path)),
                "columns": columns,
                "n_column_bytes": offset,
                "tracks": [asdict(track) for track in trace.tracks],
                "names": trace.names.texts,
                "categories": trace.categories.texts,
                "shapes": trace.shapes.texts,
                "signatures": trace.signatures.texts,
                "geometries": [asdict(geometry) for geometry in trace.geometries],
                "devices": [asdict(device) for device in trace.devices],
                "metadata": trace.metadata,
                "origin": asdict(trace.origin),
                "origin_ns": trace.origin_ns,
                "report": report,
                "arguments": argument_state,
            }
        )
        _write_entry(trace, _entry(path), header)
        _prune(keep=_entry(path))
    except (OSError, orjson.JSONEncodeError):
        return False
    return True


def _write_entry(trace: Trace, entry: Path, header: bytes) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=entry.parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC)
            file.write(len(header).to_bytes(8, "little"))
            file.write(hashlib.blake2b(header, digest_size=32).digest())
            file.write(header)
            file.write(b"\0" * (_aligned(file.tell()) - file.tell()))
            for _, column in _columns(trace):
                if _is_alike(column):
                    continue
                file.write(np.ascontiguousarray(column).data)
                file.write(b"\0" * (_aligned(column.nbytes) - column.nbytes))
        Path(temporary).replace(entry)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _prune(keep: Path) -> None:
    """Delete the entries unused for longest until the folder is within its bound."""
    entries = []
    for entry in cache_folder().glob("*.columns"):
        with contextlib.suppress(OSError):
            status = entry.stat()
            entries.append((entry == keep, status.st_mtime_ns, status.st_size, entry))
    total = sum(size for _, _, size, _ in entries)
    for is_kept, _, size, entry in sorted(entries):
        if total <= MAX_TOTAL_BYTES or is_kept:
            break
        with contextlib.suppress(OSError):
            entry.unlink()
            total -= size


@dataclass(frozen=True, slots=True)
class CachedTrace:
    """What an entry gives back."""

    columns: dict[str, Any]
    header: dict[str, Any]

    @property
    def argument_state(self) -> dict[str, Any]:
        """Return what ``store`` was given."""
        state: dict[str, Any] = self.header["arguments"]
        return state

    def trace(self, details: ArgumentSource) -> Trace:
        """Return the trace over the mapped columns."""
        header = self.header
        tables: dict[str, Any] = {
            table_name: table(
                **{
                    column.name: self.columns[f"{table_name}.{column.name}"]
                    for column in fields(table)
                }
            )
            for table_name, table in _TABLES.items()
        }
        return Trace(
            **tables,
            tracks=tuple(_track(values) for values in header["tracks"]),
            names=StringTable(tuple(header["names"])),
            categories=StringTable(tuple(header["categories"])),
            shapes=StringTable(tuple(header["shapes"])),
            signatures=StringTable(tuple(header["signatures"])),
            geometries=tuple(_geometry(values) for values in header["geometries"]),
            devices=tuple(DeviceSpec(**values) for values in header["devices"]),
            metadata=header["metadata"],
            origin=Origin(**header["origin"]),
            origin_ns=header["origin_ns"],
            report=_report(header["report"]),
            details=details,
        )


def _track(values: dict[str, Any]) -> Track:
    values["kind"] = TrackKind(values["kind"])
    values["sort_index"] = tuple(values["sort_index"])
    return Track(**values)


def _geometry(values: dict[str, Any]) -> Geometry:
    for side in ("grid", "block"):
        values[side] = None if values[side] is None else tuple(values[side])
    limits = values["limits"]
    if limits is not None:
        values["limits"] = OccupancyLimits(**{**limits, "factors": tuple(limits["factors"])})
    return Geometry(**values)


def _report(values: dict[str, Any]) -> LoadReport:
    for reasons in ("skipped", "repaired", "flagged", "other_phases"):
        values[reasons] = Counter(values[reasons])
    return LoadReport(**values)


def lookup(path: Path) -> CachedTrace | None:
    """Return the entry of ``path`` if there is one and it still holds, else ``None``."""
    entry = _entry(path)
    try:
        with entry.open("rb") as file:
            prefix = file.read(_PREFIX_BYTES)
            n_header = int.from_bytes(prefix[len(_MAGIC) : len(_MAGIC) + 8], "little")
            if not prefix.startswith(_MAGIC) or n_header > entry.stat().st_size:
                return None
            raw = file.read(n_header)
            if hashlib.blake2b(raw, digest_size=32).digest() != prefix[len(_MAGIC) + 8 :]:
                return None
        header = orjson.loads(raw)
        if header["identity"] != asdict(_identity(path)):
            return None
        start = _aligned(_PREFIX_BYTES + n_header)
        if entry.stat().st_size != start + header["n_column_bytes"]:
            return None
        columns = _mapped(entry, start, header["columns"])
        os.utime(entry)
    except (OSError, ValueError, KeyError):
        return None
    return CachedTrace(columns, header)


def _mapped(entry: Path, start: int, columns: list[dict[str, Any]]) -> dict[str, Any]:
    mapping = np.memmap(entry, np.uint8, "r")
    return {
        column["name"]: np.broadcast_to(np.array(column["alike"], column["dtype"]), (column["n"],))
        if "alike" in column
        else np.frombuffer(mapping, np.dtype(column["dtype"]), column["n"], start + column["at"])
        for column in columns
    }
