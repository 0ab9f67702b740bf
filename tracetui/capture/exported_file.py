"""A file that torch exported: whether it is whole, what it lacks, and how it is kept."""

import contextlib
import gzip
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tracetui.errors import CaptureError

_WHOLE_BYTES: Final = 64 << 20
"""Up to this size the file is parsed whole; beyond it only both its ends are looked at."""
_END_BYTES: Final = 1 << 16
_BLOCK_BYTES: Final = 1 << 20
_NAME_LINE: Final = re.compile(rb'^(\s*"name": ")(.*)(",\s*)$', re.MULTILINE)
_WORK_MARKS: Final = (b'"cat": "kernel"', b'"cat": "gpu_memcpy"', b'"cat": "gpu_memset"')
NO_KERNELS: Final = (
    "{device} was recorded and left no kernel and no copy: reading its counters may be forbidden. On NVIDIA"
    " load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN; and"
    " see that no other profiler is attached"
)


def safe_name(text: str) -> str:
    """Return a name that the exporter writes as it is: printable ASCII, no quote or backslash.

    Distinct names stay distinct as far as possible: other characters become their code point.
    """
    replaced = {'"': "'", "\\": "/"}
    return "".join(
        replaced.get(letter, letter) if " " <= letter <= "~" else f"<U+{ord(letter):04X}>"
        for letter in text
    )


def check_folder(path: Path) -> None:
    """See that a file can be written where the exporter would only print that it cannot.

    Raises:
        CaptureError: The folder is missing or read-only.
    """
    folder = path.parent
    if not folder.is_dir():
        raise CaptureError(f"{folder}: no such folder: the trace was not written")
    if not os.access(folder, os.W_OK):
        raise CaptureError(f"{folder}: permission denied: the trace was not written")


def reason_of(error: OSError) -> str:
    """Return what the system says, in a few words."""
    return (error.strerror or type(error).__name__).lower()


def notes_on(raw: Path, device: str) -> Iterator[str]:
    """Yield what the user should know of an exported file; repair what can be.

    Raises:
        CaptureError: It is missing or cut off.
    """
    if not raw.exists():
        free = shutil.disk_usage(raw.parent).free
        raise CaptureError(
            f"{raw.parent}: torch wrote no file and gave no reason; {free:,} bytes are free there"
        )
    n_bytes = raw.stat().st_size
    with raw.open("rb") as file:
        head = file.read(_END_BYTES)
        file.seek(max(0, n_bytes - _END_BYTES))
        tail = file.read(_END_BYTES)
    if not head.lstrip().startswith(b"{") or not tail.rstrip().endswith(b"}"):
        free = shutil.disk_usage(raw.parent).free
        raise CaptureError(
            f"{raw.parent}: torch wrote {n_bytes:,} bytes and no end of the trace;"
            f" {free:,} bytes are free there"
        )
    if n_bytes <= _WHOLE_BYTES and not _is_json(raw.read_bytes()):
        raw.write_bytes(_NAME_LINE.sub(_with_escaped_quotes, raw.read_bytes()))
        if _is_json(raw.read_bytes()):
            yield "names in the trace hold quotes, which torch does not escape: they are now"
        else:
            yield "a text in the trace damaged its JSON; not every tool will read all of it"
    if device != "cpu" and not _holds_any(raw, _WORK_MARKS):
        yield NO_KERNELS.format(device=device)


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def _with_escaped_quotes(line: re.Match[bytes]) -> bytes:
    """Return an event's line of its name with the quotes inside escaped.

    The exporter has turned backslashes into slashes, so that none of them are escaped yet.
    """
    return line[1] + line[2].replace(b'"', b'\\"') + line[3]


def name_itself(raw: Path, name: str) -> None:
    """Put the file's own name in the place of that of the temporary file it was exported to."""
    mark = b'"traceName": "'
    n_bytes = raw.stat().st_size
    with raw.open("r+b") as file:
        start = max(0, n_bytes - _END_BYTES)
        file.seek(start)
        tail = file.read()
        at = tail.rfind(mark)
        if at < 0 or not re.fullmatch(rb'"[^"\n]*"\s*}\s*', tail[at + len(mark) - 1 :]):
            return
        file.seek(start + at)
        file.truncate()
        file.write(mark + safe_name(name).encode() + b'" }\n')


def _holds_any(path: Path, marks: Sequence[bytes]) -> bool:
    """Return whether a file holds one of some marks, reading it block by block."""
    rest = b""
    n_kept = max(map(len, marks)) - 1
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            seen = rest + block
            if any(mark in seen for mark in marks):
                return True
            rest = seen[-n_kept:]
    return False


def pack(raw: Path, packed: Path) -> None:
    """Compress without a time stamp: the same trace gives the same bytes."""
    with raw.open("rb") as source, packed.open("wb") as target:
        with gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as out:
            shutil.copyfileobj(source, out, _BLOCK_BYTES)
        target.flush()
        with contextlib.suppress(OSError):  # not every file system can
            os.fsync(target.fileno())
