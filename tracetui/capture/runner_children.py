"""Counts the Python processes that a script starts and that its recording does not see."""

import functools
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_DATA_LOADER: Final = "_worker_loop"
"""What a DataLoader's worker runs: it prepares data and computes nothing worth a trace."""
_COMPILE_WORKER: Final = "compile_worker"


_LAUNCHERS: Final = ("torchrun", "accelerate", "deepspeed")


class ChildProcesses:
    """What was started beside the script: by fork, by ``multiprocessing``, as another Python."""

    def __init__(self) -> None:
        self.n_processes = 0
        self.n_workers = 0
        """Workers of a DataLoader: they are as they should be."""
        self._inside = threading.local()

    def watch(self) -> None:
        """Count from here on. What a script calls behaves as before."""
        from multiprocessing.process import BaseProcess

        self._wrap(BaseProcess, "start", self._process_starts)
        self._wrap(subprocess.Popen, "__init__", self._program_starts)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_parent=self._forked)

    def line(self) -> str | None:
        """Return what the user should know, in one line."""
        if not self.n_processes:
            return None
        count, were = (
            ("1 child process", "was")
            if self.n_processes == 1
            else (f"{self.n_processes} child processes", "were")
        )
        return f"{count} of the script {were} not captured: only its own process is"

    def _wrap(self, owner: type, name: str, starts: Callable[..., None]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapped(instance: Any, *args: Any, **kwargs: Any) -> Any:
            depth = getattr(self._inside, "depth", 0)
            if not depth:
                # Before it starts: afterwards a process has forgotten what it runs.
                starts(instance, *args, **kwargs)
            self._inside.depth = depth + 1
            try:
                return original(instance, *args, **kwargs)
            finally:
                self._inside.depth = depth

        setattr(owner, name, wrapped)

    def _process_starts(self, process: Any) -> None:
        target = getattr(process, "_target", None)
        if getattr(target, "__name__", "") == _DATA_LOADER:
            self.n_workers += 1
        else:
            self.n_processes += 1

    def _program_starts(self, _: Any, args: Any = (), *__: Any, **___: Any) -> None:
        if runs_python(args):
            self.n_processes += 1

    def _forked(self) -> None:
        if not getattr(self._inside, "depth", 0):
            self.n_processes += 1


def runs_python(command: Any) -> bool:
    """Return whether a command, as ``subprocess`` takes it, starts a Python that may compute.

    Those that torch starts to compile do not count.
    """
    if isinstance(command, str | bytes | os.PathLike):
        words = os.fsdecode(command).split()
    else:
        words = [os.fsdecode(word) for word in command]
    if not words or any(_COMPILE_WORKER in word for word in words):
        return False
    name = Path(words[0]).name
    return name.startswith("python") or name in _LAUNCHERS
