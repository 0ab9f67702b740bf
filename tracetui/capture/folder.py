"""The folder that traces go to: made, tried, and kept to one capture at a time."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

from tracetui.errors import CaptureError

_LOCK_NAME: Final = ".tracetui-capture.lock"


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _taken(descriptor: int) -> bool:
    """Lock an open file for as long as it stays open; return False if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows: two captures into one folder are not told apart
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _leftovers(folder: Path) -> Iterator[Path]:
    """Yield what a killed capture left half written."""
    return (path for path in folder.glob(".*.part") if path.is_file())


class FolderLock:
    """Keeps a folder to this capture; the system gives it back however the process ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1

    def __enter__(self) -> "FolderLock":
        """Make the folder, see that it can be written, and lock it.

        Raises:
            CaptureError: It cannot be made or written, or another capture is at work there.
        """
        path = self._folder / _LOCK_NAME
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise CaptureError(f"{self._folder}: cannot write there: {_reason(error)}") from error
        if not _taken(self._descriptor):
            os.close(self._descriptor)
            raise CaptureError(
                f"{self._folder}: another capture is writing there; use another --out"
            )
        for part in _leftovers(self._folder):
            part.unlink(missing_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the folder back and leave no lock file behind."""
        for part in _leftovers(self._folder):
            part.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            (self._folder / _LOCK_NAME).unlink()
        os.close(self._descriptor)
