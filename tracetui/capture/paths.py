"""Names for the files of a recording that take nobody else's place."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tracetui.errors import CaptureError

_SUFFIX: Final = ".json.gz"


def rank_suffix(environment: Mapping[str, str] = os.environ) -> str:
    """Return what tells the ranks of a distributed run apart, nothing outside of one."""
    rank = environment.get("RANK", "")
    return f"_rank{rank}" if rank.isdecimal() else ""


def free_path(folder: Path, stem: str, suffix: str = "") -> Path:
    """Return a path that is nobody's yet, and take it: an empty file holds the place.

    Raises:
        CaptureError: The folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # Told apart from a file of that name inside it, which only means the next number.
        raise CaptureError(f"{folder}: {reason_of(error)}: the trace was not written") from error
    number = 1
    while True:
        counted = stem if number == 1 else f"{stem}_{number}"
        path = folder / f"{counted}{suffix}{_SUFFIX}"
        try:
            path.open("x").close()
        except FileExistsError:
            number += 1
        except OSError as error:
            raise CaptureError(f"{path}: {reason_of(error)}: the trace was not written") from error
        else:
            return path


def reason_of(error: OSError) -> str:
    """Return why a folder or a file in it cannot be made."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "not a directory"
    return (error.strerror or type(error).__name__).lower()
