"""One event's whole record, read again from the file when somebody looks at it."""

import bisect
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import IO, Any, Final

import msgspec
import orjson

from tracetui.model.load_report import LoadReport
from tracetui.readers.decode import RAW_EVENTS
from tracetui.readers.forgiving import parsed
from tracetui.readers.source import ByteSource

MAX_SPOOL_BYTES: Final = 8 << 30
"""Unpacked text beyond this is not kept; its events have no arguments to show."""


@dataclass(slots=True)
class ChunkTable:
    """Where each run of events stands in the unpacked text."""

    offset: list[int] = field(default_factory=list)
    n_bytes: list[int] = field(default_factory=list)
    first_event: list[int] = field(default_factory=list)

    def add(self, offset: int, n_bytes: int, first_event: int) -> None:
        """Note one run."""
        self.offset.append(offset)
        self.n_bytes.append(n_bytes)
        self.first_event.append(first_event)

    def extend(self, later: "ChunkTable") -> None:
        """Add the runs of a later part of the text."""
        self.offset += later.offset
        self.n_bytes += later.n_bytes
        self.first_event += later.first_event

    def drained(self) -> "ChunkTable":
        """Return the runs so far, and hold none any more."""
        taken = ChunkTable(list(self.offset), list(self.n_bytes), list(self.first_event))
        for column in (self.offset, self.n_bytes, self.first_event):
            column.clear()
        return taken


class FileArguments:
    """Finds events in the file, or in its unpacked text; gives up where the file has changed."""

    def __init__(self, path: Path, chunks: ChunkTable, *, is_compressed: bool) -> None:
        self._path = path
        self._chunks = chunks
        self._is_compressed = is_compressed
        self._lock = Lock()
        status = path.stat()
        self._identity = (status.st_size, status.st_mtime_ns)
        self._text: IO[bytes] | None = None
        """The unpacked text, in a temporary file that goes with the process."""

    def state(self) -> dict[str, Any]:
        """Return what ``from_state`` needs, as JSON values."""
        chunks = self._chunks
        return {
            "offset": chunks.offset,
            "n_bytes": chunks.n_bytes,
            "first_event": chunks.first_event,
            "is_compressed": self._is_compressed,
        }

    @classmethod
    def from_state(cls, path: Path, state: Mapping[str, Any]) -> "FileArguments":
        """Return the source that ``state`` was taken from."""
        chunks = ChunkTable(state["offset"], state["n_bytes"], state["first_event"])
        return cls(path, chunks, is_compressed=state["is_compressed"])

    def event(self, event_id: int) -> Mapping[str, Any] | None:
        """Return one event's record, or ``None`` if the file is gone or has changed."""
        row = bisect.bisect_right(self._chunks.first_event, event_id) - 1
        if row < 0:
            return None
        with self._lock:
            chunk = self._chunk(self._chunks.offset[row], self._chunks.n_bytes[row])
        if chunk is None:
            return None
        try:
            members = RAW_EVENTS.decode(b"[" + chunk + b"]")
        except (msgspec.DecodeError, RecursionError):
            return parsed(chunk)[0]
        place = event_id - self._chunks.first_event[row]
        if place >= len(members):
            return None
        raw = bytes(members[place])
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return parsed(raw)[0]
        return record if isinstance(record, dict) else None

    def _chunk(self, offset: int, n_bytes: int) -> bytes | None:
        try:
            status = self._path.stat()
            if (status.st_size, status.st_mtime_ns) != self._identity:
                return None
            if not self._is_compressed:
                with self._path.open("rb") as file:
                    file.seek(offset)
                    return file.read(n_bytes)
            if self._text is None:
                self._text = self._unpacked()
                weakref.finalize(self, self._text.close)
            self._text.seek(offset)
            return self._text.read(n_bytes)
        except OSError:
            return None

    def _unpacked(self) -> IO[bytes]:
        text: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the trace
        written = 0
        for block in ByteSource(self._path, LoadReport()).blocks():
            text.write(block)
            written += len(block)
            if written > MAX_SPOOL_BYTES:
                break
        return text
