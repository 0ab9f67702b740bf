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
    number = 1
    while True:
        counted = stem if number == 1 else f"{stem}_{number}"
        path = folder / f"{counted}{suffix}{_SUFFIX}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.open("x").close()
        except FileExistsError:
            number += 1
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise CaptureError(f"{path}: {reason}: the trace was not written") from error
        else:
            return path
