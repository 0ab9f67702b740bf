"""Which traces there are: those below a folder, and those opened lately with their place."""

import importlib.util
import json
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final

from tracetui.model.strings import clean_text

SNIFF_BYTES: Final = 4096
"""How much of a file is read to tell whether it is a trace."""
DEFAULT_DEPTH: Final = 3
DEFAULT_BUDGET_S: Final = 0.3
_SUFFIXES: Final = (".json", ".gz", ".zip")
_N_RECENT: Final = 20
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_ZIP_HEADER_BYTES: Final = 30
_UTF8_BOM: Final = b"\xef\xbb\xbf"
_SECONDS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file that looks like a trace."""

    path: str
    n_bytes: int
    modified_s: float
    producer: str

    @property
    def shown_path(self) -> str:
        """Return the path with its control characters made visible."""
        return clean_text(self.path)


@dataclass(frozen=True, slots=True)
class Search:
    """What a walk found."""

    files: tuple[TraceFile, ...]
    is_complete: bool
    """Whether the walk saw everything; it stops when its time is up."""


@dataclass(slots=True)
class Place:
    """Where the user was in a file, so that opening it again leads back."""

    view: str = "overview"
    selection: int = -1
    window: tuple[int, int] | None = None
    n_bytes: int = -1
    """The file's size then; a file that changed has no place to come back to."""
    marks: list[tuple[str, int]] = field(default_factory=list)
    layouts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """How each view was laid out, by its name: order, columns, tree or table."""


def _unpacked_start(head: bytes) -> bytes:
    """Return the first bytes of the text, whatever it is packed in."""
    if head.startswith(_GZIP):
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, SNIFF_BYTES)
    if head.startswith(_ZIP) and len(head) > _ZIP_HEADER_BYTES:
        method = int.from_bytes(head[8:10], "little")
        start = _ZIP_HEADER_BYTES + sum(
            int.from_bytes(head[at : at + 2], "little") for at in (26, 28)
        )
        if method == 0:
            return head[start:]
        return zlib.decompressobj(wbits=-zlib.MAX_WBITS).decompress(head[start:], SNIFF_BYTES)
    return head


def producer_of(head: bytes) -> str | None:
    """Return what wrote a file that starts with ``head``, or ``None`` if it is no trace."""
    try:
        text = _unpacked_start(head)
    except zlib.error:
        return None
    text = text.removeprefix(_UTF8_BOM).lstrip()
    if not text.startswith((b"{", b"[")):
        return None
    if any(word in text for word in (b'"schemaVersion"', b'"deviceProperties"', b'"traceName"')):
        return "PyTorch profiler"
    if b'"cpu_op"' in text or b'"kernel"' in text or b'"user_annotation"' in text:
        return "PyTorch profiler"
    if b'"traceEvents"' in text or (b'"ph"' in text and text.startswith(b"[")):
        return "Chrome trace"
    return None


def trace_file(path: str | Path) -> TraceFile | None:
    """Return what a path holds if its first bytes look like a trace; never follows a link."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
            return None
        with Path(path).open("rb") as file:
            producer = producer_of(file.read(SNIFF_BYTES))
    except OSError:
        return None
    if producer is None:
        return None
    return TraceFile(os.fspath(path), status.st_size, status.st_mtime, producer)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _candidates(root: str, max_depth: int, is_over: Callable[[], bool]) -> Iterator[str]:
    """Yield files that may be traces, nearest first, on the root's file system alone."""
    try:
        file_system = Path(root).stat().st_dev
    except OSError:
        return
    level = [root]
    for depth in range(max_depth + 1):
        below: list[str] = []
        for folder in level:
            for entry in _entries(folder):
                if is_over():
                    return
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder and entry.stat(follow_symlinks=False).st_dev != file_system:
                        continue
                except OSError:
                    continue
                if is_folder and depth < max_depth:
                    below.append(entry.path)
                elif not is_folder and entry.name.lower().endswith(_SUFFIXES):
                    yield entry.path
        level = below


def find_traces(
    root: str,
    *,
    max_depth: int = DEFAULT_DEPTH,
    budget_s: float = DEFAULT_BUDGET_S,
    stop: Event | None = None,
) -> Search:
    """Return the traces below a folder, newest first.

    Args:
        root: The folder.
        max_depth: How many levels of folders below it are entered.
        budget_s: When the walk stops, done or not.
        stop: Ends the walk early when set.
    """
    deadline = time.monotonic() + budget_s

    def is_over() -> bool:
        return time.monotonic() > deadline or (stop is not None and stop.is_set())

    files = [
        file
        for path in _candidates(root, max_depth, is_over)
        if not is_over() and (file := trace_file(path)) is not None
    ]
    files.sort(key=lambda file: (-file.modified_s, file.path))
    return Search(tuple(files), is_complete=not is_over())


def age(seconds: float) -> str:
    """Return how long ago something was, in its largest whole unit."""
    for unit, name in _SECONDS:
        if seconds >= unit:
            return f"{int(seconds // unit)} {name}"
    return "now"


@dataclass(slots=True)
class StateStore:
    """Recent files and places, in one small JSON file; a damaged or missing one is empty."""

    folder: Path

    @property
    def path(self) -> Path:
        """Return where the file lies."""
        return self.folder / "recent.json"

    def _load(self) -> dict[str, dict[str, Any]]:
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(content, dict):
            return {}
        return {path: place for path, place in content.items() if isinstance(place, dict)}

    def recent(self) -> tuple[TraceFile, ...]:
        """Return the files opened lately that still exist, the last one first."""
        found = (trace_file(path) for path in reversed(self._load()))
        return tuple(file for file in found if file is not None)

    def place_of(self, path: str) -> Place:
        """Return where the user was in a file, or the start if it is new or has changed."""
        known = self._load().get(_key(path))
        start = Place()
        if known is None or known.get("n_bytes") != _n_bytes(path):
            return start
        try:
            window = known.get("window")
            return Place(
                view=str(known.get("view", start.view)),
                selection=int(known.get("selection", -1)),
                window=None if window is None else (int(window[0]), int(window[1])),
                n_bytes=int(known["n_bytes"]),
                marks=[(str(view), int(slice_id)) for view, slice_id in known.get("marks", [])],
                layouts={
                    str(view): dict(layout) for view, layout in known.get("layouts", {}).items()
                },
            )
        except (AttributeError, TypeError, ValueError, IndexError):
            return start

    def remember(self, path: str, place: Place) -> bool:
        """Keep a file's place as the most recent one; say whether it could be written."""
        content = self._load()
        content.pop(_key(path), None)
        place.n_bytes = _n_bytes(path)
        content[_key(path)] = asdict(place)
        kept = dict(list(content.items())[-_N_RECENT:])
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            draft = self.path.with_suffix(f".{os.getpid()}.tmp")
            draft.write_text(json.dumps(kept), encoding="utf-8")
            draft.replace(self.path)
        except (OSError, UnicodeError):
            return False
        return True


def _key(path: str) -> str:
    return str(Path(path).resolve())


def _n_bytes(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return -1


def has_torch(python: str) -> bool:
    """Return whether a Python can import torch, judged by its folders: nothing is started."""
    if Path(python) == Path(sys.executable):
        return importlib.util.find_spec("torch") is not None
    # The link to the program lies in its environment, what it points to does not.
    prefix = Path(python).absolute().parent.parent
    patterns = ("lib/python3*/site-packages/torch", "Lib/site-packages/torch")
    return any(any(prefix.glob(pattern)) for pattern in patterns)


def torch_lines(python: str) -> tuple[str, ...]:
    """Return which Python has no torch and how to name one that has."""
    return (
        f"  No torch in {clean_text(python)}: recording needs one, everything else works.",
        "  Name another: ctrl+r, or tracetui capture --python /path/to/python …",
    )
