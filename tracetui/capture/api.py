"""What people's own code calls: ``tracetui.record`` around what is recorded, ``tracetui.step`` in it.

Nothing here imports torch before a recording starts, so code may keep its marks for good.
"""

import atexit
import functools
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from tracetui.capture.environment import noted_variables, prepare_environment, versions
from tracetui.capture.paths import free_path
from tracetui.capture.runner_session import EXPLICIT, Session, new_recording
from tracetui.capture.runner_window import Window
from tracetui.errors import CaptureError

_FOLDER: Final = "traces"
_CALLS_RECORDED: Final = 3
"""How many calls of a decorated function are recorded, unless the user says otherwise."""
_CALLS_BEFORE: Final = 3
"""And how many calls pass before that: the first is cold, the last prepares the profiler."""

_sessions: list[Session] = []
"""The recordings of this process, the one that steps belong to last."""

Params = ParamSpec("Params")
Result = TypeVar("Result")


def join(session: Session) -> None:
    """Make a recording the one that steps belong to."""
    _sessions.append(session)


def leave(session: Session) -> None:
    """Take a recording back."""
    if session in _sessions:
        _sessions.remove(session)


def step() -> None:
    """Say that one step has ended and the next begins; without a recording this does nothing."""
    if _sessions:
        _sessions[-1].boundary(EXPLICIT)


class record:  # noqa: N801  used as a function
    """Record what runs inside a ``with`` block, or the calls of a function, into a trace file.

    ``with tracetui.record("train") as recording:`` records the whole block; ``recording.step()``
    at the end of each iteration marks the steps, and with ``start_after`` and ``steps`` only those
    steps are recorded. ``@tracetui.record("forward")`` takes each call as a step and records three
    calls after three others, each under an annotation of that name. The steps that pass before are timed without the profiler.

    The file is ``FOLDER/NAME.json.gz``, or ``NAME_2`` where that is taken; ``path`` tells which.
    It is written when the last step or the block ends, after an exception too. What hinders the
    recording is a warning, kept in ``notes``, and never raised into the code that is recorded. Under
    ``tracetui run`` the block is an annotation in the one recording of the run.

    Args:
        name: The file's name without its ending.
        folder: Where the file goes; made if it is missing.
        steps: How many steps to record; all, unless given.
        start_after: How many steps pass before. Without it ``steps`` begins after twelve: a cold one,
            ten that are timed, and one in which the profiler is made ready.
        shapes: Whether the shapes of operators' inputs are recorded.
        memory: Whether allocations are recorded.
        stacks: Whether Python's frames are recorded.
        device: ``cpu`` to record the host alone; else all that this torch supports.

    Raises:
        CaptureError: The name is no file name, or a number is below 0.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: str | os.PathLike[str] = _FOLDER,
        steps: int | None = None,
        start_after: int | None = None,
        shapes: bool = True,
        memory: bool = False,
        stacks: bool = False,
        device: str = "auto",
    ) -> None:
        if not name or name != Path(name).name:
            raise CaptureError(f"{name!r}: give a recording a file name without a folder")
        if steps == 0 or min(steps or 1, start_after or 0) < 0:
            raise CaptureError("steps is at least 1, start_after at least 0")
        self.name = name
        self._folder = Path(folder)
        self._steps, self._start_after = steps, start_after
        self._flags: Mapping[str, Any] = {
            "record_shapes": shapes,
            "profile_memory": memory,
            "with_stack": stacks,
            "device": device,
        }
        self._session: Session | None = None
        self._mark: Any = None

    @property
    def path(self) -> Path | None:
        """The file that was written; none before, or where nothing could be written."""
        trace = self._session.outcome.trace if self._session else None
        return Path(trace) if trace else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What hindered the recording, or what its reader should know."""
        return tuple(self._session.outcome.notes) if self._session else ()

    def step(self) -> None:
        """Say that one step has ended and the next begins."""
        if self._mark is not None:
            step()
        elif self._session is not None:
            self._session.boundary(EXPLICIT)

    def _facts(self) -> dict[str, Any]:
        return {"workload": self.name, "versions": versions(), "environment": noted_variables()}

    def _new_session(self, steps: int | None, start_after: int | None) -> Session:
        return Session(
            Window(start_after=start_after, n_steps=steps),
            lambda: new_recording(self._flags),
            lambda: free_path(self._folder, self.name),
            facts=self._facts,
        )

    def __enter__(self) -> "record":
        if _sessions:
            from torch.profiler import record_function

            self._mark = record_function(self.name)
            self._mark.__enter__()
            return self
        session = self._new_session(self._steps, self._start_after)
        join(session)
        self._begin(session)
        return self

    def _begin(self, session: Session) -> None:
        prepare_environment()
        import torch  # noqa: F401  what is recorded

        self._session = session
        session.torch_loaded()
        session.step_zero()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        if self._mark is not None:
            mark, self._mark = self._mark, None
            mark.__exit__(kind, error, frames)
        elif self._session is not None:
            self._end(self._session)

    @staticmethod
    def _end(session: Session) -> None:
        leave(session)
        session.finish(is_step=not session.n_passed)
        for note in session.outcome.notes:
            warnings.warn(f"tracetui: {note}", stacklevel=3)

    def __call__(self, function: Callable[Params, Result]) -> Callable[Params, Result]:
        """Return the function with each call a step of the recording."""

        @functools.wraps(function)
        def recorded(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            if self._session is None and not _sessions:
                before = _CALLS_BEFORE if self._start_after is None else self._start_after
                session = self._new_session(self._steps or _CALLS_RECORDED, before)
                self._begin(session)
                # A program that ends sooner keeps what there is.
                atexit.register(self._end, session)
            session = self._session or _sessions[-1]
            if not session.is_recording:
                result = function(*args, **kwargs)
            else:
                from torch.profiler import record_function

                with record_function(self.name):
                    result = function(*args, **kwargs)
            if session is self._session and not session.is_over:
                session.boundary(EXPLICIT)
            return result

        return recorded
