"""Which Python the child runs in."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tracetui.errors import CaptureError

BOOTSTRAP: Final = Path(__file__).with_name("bootstrap.py")
_FOLDERS: Final = ("VIRTUAL_ENV", "CONDA_PREFIX")


def _inside(folder: Path) -> Path | None:
    """Return the interpreter of an environment's folder, whichever system made it."""
    for name in ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe"):
        if (folder / name).exists():
            return folder / name
    return None


def chosen_interpreter(
    asked: str | None = None, environment: Mapping[str, str] = os.environ
) -> str:
    """Return the Python to run in: the one asked for, an active environment's, or our own.

    Raises:
        CaptureError: What was asked for is no program.
    """
    if asked:
        if Path(asked).is_dir():
            found = _inside(Path(asked))
            if found is None:
                raise CaptureError(f"{asked}: no Python in this folder")
            return str(found)
        program = shutil.which(asked)
        if program is None:
            raise CaptureError(f"{asked}: no such Python, or not executable")
        return program
    for name in _FOLDERS:
        folder = environment.get(name)
        found = _inside(Path(folder)) if folder else None
        if found is not None:
            return str(found)
    return sys.executable


def child_command(module: str, *arguments: str, python: str | None = None) -> list[str]:
    """Return the command that runs a module of ours in the chosen Python, unbuffered."""
    return [chosen_interpreter(python), "-u", str(BOOTSTRAP), module, *arguments]
