"""``session.json``: every trace of a folder, and every variant that could not run, with the reason.

Entries of earlier captures into the same folder stay until a trace of the same name replaces them.
The file is replaced as a whole, after each trace, so that whatever ends a capture loses nothing.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tracetui.errors import CaptureError

FILE_NAME: Final = "session.json"
SCHEMA: Final = 1


@dataclass(slots=True)
class Session:
    """What a folder's ``session.json`` says; changed as traces come, and saved each time."""

    folder: Path
    captures: dict[str, Any] = field(default_factory=dict)
    """By id: command, time, versions, device, environment."""
    traces: list[dict[str, Any]] = field(default_factory=list)
    """For each trace its file, workload, variant, parameters, timing and equality."""
    unavailable: list[dict[str, Any]] = field(default_factory=list)
    """For each variant that could not run: workload, variant, parameters and torch's reason."""

    def add_capture(self, capture_id: str, members: Mapping[str, Any]) -> None:
        """Note where and with what a capture runs."""
        self.captures[capture_id] = dict(members)

    def add_trace(self, entry: Mapping[str, Any]) -> None:
        """Add a trace, in the place of one of the same name."""
        self.traces = [each for each in self.traces if each["file"] != entry["file"]]
        self.traces.append(dict(entry))
        self.unavailable = [each for each in self.unavailable if not _is_same(each, entry)]

    def add_unavailable(self, entry: Mapping[str, Any]) -> None:
        """Add a variant that could not run, in the place of what was said of it before."""
        self.unavailable = [each for each in self.unavailable if not _is_same(each, entry)]
        self.unavailable.append(dict(entry))

    def save(self) -> Path:
        """Write the file, whole or not at all, and return its path.

        Raises:
            CaptureError: It cannot be written.
        """
        used = {entry.get("capture") for entry in (*self.traces, *self.unavailable)}
        document = {
            "schema": SCHEMA,
            "captures": {name: each for name, each in self.captures.items() if name in used},
            "traces": self.traces,
            "unavailable": self.unavailable,
        }
        path = self.folder / FILE_NAME
        part = self.folder / f".{FILE_NAME}.{os.getpid()}.part"
        try:
            part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            reason = (error.strerror or type(error).__name__).lower()
            raise CaptureError(f"{path}: {reason}: the session was not written") from error
        return path


def _is_same(entry: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    keys = ("workload", "variant", "parameters", "device")
    return all(entry.get(key) == other.get(key) for key in keys)


def _entries(document: Mapping[str, Any], name: str) -> Iterable[dict[str, Any]]:
    found = document.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def read_session(folder: Path) -> Session:
    """Return what a folder's session says of traces that are still there.

    A file that is missing or damaged gives an empty session: it only repeats what the traces hold.
    """
    try:
        document = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Session(folder)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return Session(folder)
    captures = document.get("captures")
    traces = [
        each for each in _entries(document, "traces") if (folder / str(each.get("file"))).is_file()
    ]
    return Session(
        folder,
        dict(captures) if isinstance(captures, dict) else {},
        traces,
        list(_entries(document, "unavailable")),
    )
