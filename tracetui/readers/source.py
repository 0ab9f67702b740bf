"""Bytes from a file, unpacked as they come; the content decides, never the name."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from isal import isal_zlib
from isal.igzip_lib import IsalError

from tracetui.errors import TraceFormatError
from tracetui.model.load_report import LoadReport
from tracetui.model.strings import clean_text

_BLOCK: Final = 1 << 20
_PACKED_BLOCK: Final = 8 << 10
"""Small, since a damaged block gives nothing: at most this much is lost before the damage."""
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MAX_PACKING: Final = 1100
"""More than this many times deflate packs nothing."""
_GZIP_WINDOW: Final = 31
"""zlib's word for "expect a gzip header and check its sum"."""


class ByteSource:
    """One file, read once from front to back."""

    def __init__(self, path: Path, report: LoadReport) -> None:
        self.path = path
        self.report = report
        self.n_bytes_total = path.stat().st_size
        self.n_bytes_read = 0
        with path.open("rb") as file:
            head = file.read(4)
        self.is_gzip = head.startswith(_GZIP)
        self.is_zip = head.startswith(_ZIP)

    @property
    def is_compressed(self) -> bool:
        """Return whether offsets into the text are not offsets into the file."""
        return self.is_gzip or self.is_zip

    @property
    def n_text_bytes(self) -> int | None:
        """Return about how long the unpacked text is, or ``None`` where nothing tells."""
        if self.is_zip:
            return None
        if not self.is_gzip:
            return self.n_bytes_total
        with self.path.open("rb") as file:
            file.seek(max(self.n_bytes_total - 4, 0))
            # The last member's own count, modulo 2**32: too low where there are several, never high
            # unless the file is cut off.
            n_text = int.from_bytes(file.read(4), "little")
        return n_text if n_text <= self.n_bytes_total * _MAX_PACKING else None

    def blocks(self, start: int = 0) -> Iterator[bytes]:
        """Yield the text in pieces, without a byte order mark.

        Args:
            start: Where in the text to begin; what stands before is unpacked and passed over.
        """
        if start and not self.is_compressed:
            with self.path.open("rb") as file:
                file.seek(start)
                yield from self._file_blocks(file)
            return
        is_first = True
        for block in self._raw_blocks():
            if is_first:
                is_first = False
                block = block.removeprefix(_BYTE_ORDER_MARK)  # noqa: PLW2901
            if start >= len(block):
                start -= len(block)
            else:
                yield block[start:] if start else block
                start = 0

    def _raw_blocks(self) -> Iterator[bytes]:
        if self.is_zip:
            yield from self._zip_blocks()
            return
        with self.path.open("rb") as file:
            if self.is_gzip:
                yield from self._gzip_blocks(file)
            else:
                yield from self._file_blocks(file)

    def _file_blocks(self, file: IO[bytes]) -> Iterator[bytes]:
        while block := file.read(_BLOCK):
            self.n_bytes_read += len(block)
            yield block

    def _zip_blocks(self) -> Iterator[bytes]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                members = [m for m in archive.infolist() if not m.is_dir()]
                traces = [m for m in members if ".json" in m.filename.lower()] or members
                if len(traces) != 1:
                    names = ", ".join(clean_text(m.filename) for m in traces[:4])
                    raise TraceFormatError(
                        f"zip archive with {len(traces)} candidates ({names}); unzip it first"
                    )
                with archive.open(traces[0]) as file:
                    while block := file.read(_BLOCK):
                        self.n_bytes_read = self.n_bytes_total
                        yield block
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise TraceFormatError(f"zip archive that cannot be read: {error}") from error

    def _gzip_blocks(self, file: IO[bytes]) -> Iterator[bytes]:
        """Unpack member after member; the last sum is checked even after the text has ended."""
        unpacker = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
        n_members, pending = 0, b""
        while True:
            packed = pending or file.read(_PACKED_BLOCK)
            pending = b""
            if not packed:
                break
            self.n_bytes_read = file.tell()
            try:
                text = unpacker.decompress(packed)
            except (IsalError, zlib.error):  # type: ignore[misc] # isal has no types
                if n_members and not unpacker.unconsumed_tail:
                    self._note_trailing()
                else:
                    self.report.is_damaged = True
                return
            if text:
                yield text
            if unpacker.eof:
                n_members += 1
                pending = unpacker.unused_data.lstrip(b"\0")
                if not pending:
                    pending = self._next_after_padding(file)
                if pending and not pending.startswith(_GZIP):
                    self._note_trailing()
                    return
                if not pending:
                    return
                unpacker = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
        if not unpacker.eof:
            self.report.is_truncated = True

    def _next_after_padding(self, file: IO[bytes]) -> bytes:
        while block := file.read(_PACKED_BLOCK):
            self.n_bytes_read = file.tell()
            if stripped := block.lstrip(b"\0"):
                return stripped
        return b""

    def _note_trailing(self) -> None:
        self.n_bytes_read = self.n_bytes_total
        self.report.notes.append("bytes after the gzip data ignored")
