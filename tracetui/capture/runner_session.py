"""The recording of a script that runs: when it starts and stops, and where it is written.

It is told of step boundaries by whoever sees them (``runner_hooks``, ``tracetui.step``) and of
signals; it never looks at the script. Every method may be called from any thread.
"""

import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from tracetui.capture.device import (
    chosen_devices,
    is_capturing,
    recorded_device,
    synchronise,
    used_device,
)
from tracetui.capture.measure import timing
from tracetui.capture.reasons import reason
from tracetui.capture.runner_window import StepClock, Window
from tracetui.errors import CaptureError

OPTIMIZER: Final = "optimizer"
MODULE: Final = "module"
EXPLICIT: Final = "tracetui.step"
_GRACE_S: Final = 5.0
"""How long a recording that is due waits for a step to end before it stops in the midst of one."""
_PREPARE_AT_LEAST: Final = 2
"""A recording that starts after so many steps or more is prepared at the one before."""


class State(Enum):
    """What the recording does."""

    WAITING = "waiting"
    PREPARED = "prepared"
    RECORDING = "recording"
    OVER = "over"


@dataclass(slots=True)
class Outcome:
    """What came of a run, for whoever started it."""

    trace: str | None = None
    n_steps: int = 0
    timing: Mapping[str, Any] = field(default_factory=dict)
    boundary: str | None = None
    notes: list[str] = field(default_factory=list)
    is_ended: bool = False
    """Whether the script came to an end that could be seen."""


@dataclass(frozen=True, slots=True)
class Words:
    """How the user asked for the recording, for what is said of it."""

    start: str = "start_after={}"
    """What lets so many steps pass."""
    unseen: str = "recording.step() was not called"
    """Why no step was seen where none was."""
    remedy: str = "call it at the end of each step, or leave steps and start_after out"
    """What brings a trace where no step was seen."""


def new_recording(options: Mapping[str, Any]) -> Any:
    """Return a recording of all threads with the given ``RecordingOptions``; torch is loaded."""
    from tracetui.capture.export import Recording, RecordingOptions

    device = recorded_device(options["device"])
    return Recording(RecordingOptions(all_threads=True, **{**options, "device": device}))


Params = ParamSpec("Params")
Result = TypeVar("Result")


def _alone(
    method: Callable[Concatenate["Session", Params], Result],
) -> Callable[Concatenate["Session", Params], Result | None]:
    """Let one thread at a time in, and only in the process that the session belongs to."""

    @functools.wraps(method)
    def entered(
        session: "Session", /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Result | None:
        if os.getpid() != session.pid:
            return None  # a child made by fork: the recording is its parent's
        with session.lock:
            try:
                return method(session, *args, **kwargs)
            except CaptureError as error:
                session.give_up(f"nothing was recorded: {error}")
                return None
            except Exception as error:  # noqa: BLE001  the script must outlive our troubles
                session.give_up(f"the recording broke off: {reason(error)}")
                return None

    return entered


@contextmanager
def _signals_afterwards() -> Iterator[None]:
    """Let ``ctrl+c`` and SIGTERM wait until the block is through: half a trace is none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    kept = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in kept.items():
            if handler is not None:  # one that Python did not set cannot be set again
                signal.signal(number, handler)
        for arrived in came:
            signal.raise_signal(arrived)


class Session:
    """One recording of one process: waits for its window, records it, writes it."""

    def __init__(
        self,
        window: Window,
        new_recording: Callable[[], Any],
        free_path: Callable[[], Path],
        *,
        facts: Callable[[], Mapping[str, Any]] = dict,
        changed: Callable[[Outcome], None] = lambda _: None,
        words: Words = Words(),
    ) -> None:
        self.pid = os.getpid()
        self.lock = threading.RLock()
        self.window = window
        self.outcome = Outcome()
        self.state = State.WAITING
        self._new_recording = new_recording
        self._free_path = free_path
        self._facts = facts
        self._changed = changed
        self._words = words
        self._recording: Any = None
        self._clock = StepClock(window.n_timed)
        self._first_step = window.first_step
        self._n_boundaries = 0
        self._owner: str | None = None
        self._last_step: int | None = None
        self._is_due = False
        self._chosen_devices: Mapping[str, str | None] = {}
        self._wishes = threading.Event()

    def note(self, text: str) -> None:
        """Keep a line for the user, once."""
        if text not in self.outcome.notes:
            self.outcome.notes.append(text)
            self._changed(self.outcome)

    def give_up(self, why: str) -> None:
        """Record nothing more, and say why."""
        self.state = State.OVER
        self.note(why)

    @property
    def is_over(self) -> bool:
        """Whether everything that will be recorded is."""
        return self.state is State.OVER

    @property
    def n_passed(self) -> int:
        """How many steps have ended; a module's forward begins one."""
        is_begin = self._owner == MODULE
        return max(0, self._n_boundaries - is_begin)

    @property
    def is_recording(self) -> bool:
        """Whether the profiler collects now."""
        return self.state is State.RECORDING

    @_alone
    def torch_loaded(self) -> None:
        """Start at once where nothing has to pass before."""
        if self._first_step == 0 and self.state is State.WAITING:
            self._start()

    @_alone
    def step_zero(self) -> None:
        """Begin the first step: what ran so far made ready for it."""
        if self.is_recording and not self._n_boundaries and self._last_step is None:
            self._begin(0)

    @_alone
    def boundary(self, source: str) -> None:
        """Take note that a step has ended and the next begins.

        What runs while a CUDA graph is captured is none: nothing of it is done on the device.
        """
        if is_capturing() or not self._counts(source):
            return
        self._n_boundaries += 1
        if self.state in (State.WAITING, State.PREPARED):
            self._wait()
        if self.is_recording:
            self._next_step()

    def _counts(self, source: str) -> bool:
        """Return whether this source bounds steps; an explicit call takes over from the others."""
        if self._owner == source:
            return True
        if self._owner is not None and source != EXPLICIT:
            return False
        if self._owner is not None:
            self._n_boundaries = 0
            self._clock.clear()
        self._owner = self.outcome.boundary = source
        return True

    def _wait(self) -> None:
        first = self._first_step
        if first is not None and self.n_passed >= first:
            self._start()
            return
        if self.state is State.PREPARED:
            return
        self._clock.mark()
        if first is not None and first >= _PREPARE_AT_LEAST and self.n_passed == first - 1:
            self._prepare()

    def _next_step(self) -> None:
        if self._last_step is not None:
            self.outcome.n_steps += 1
            if self._is_due or self.outcome.n_steps == self.window.n_steps:
                self._stop()
                return
        elif self._is_due:
            self._stop()
            return
        self._begin(self.n_passed)

    def _begin(self, number: int) -> None:
        self._recording.begin_step(number)
        self._last_step = number

    def _prepare(self) -> None:
        if self._recording is None:
            self._recording = self._new_recording()
            self._recording.warm_up()
        self.state = State.PREPARED

    def _start(self) -> None:
        with _signals_afterwards():
            if used_device() != "cpu":
                synchronise()
            self._time_steps()
            if self._recording is None:
                self._recording = self._new_recording()
            self._chosen_devices = chosen_devices()
            self._recording.start()
            self.state = State.RECORDING
        self._changed(self.outcome)
        if self.window.duration_ns is not None:
            self._in_background(self._await_duration, self.window.duration_ns)

    def _time_steps(self) -> None:
        times_ns = self._clock.times_ns()
        if times_ns:
            self.outcome.timing = timing(times_ns, n_rounds=1).members()

    def _stop(self, *, is_step: bool = True) -> None:
        """End the recording and write it; ``is_step`` says that the step that runs is whole."""
        self.state = State.OVER
        try:
            with _signals_afterwards():
                self._write(is_step=is_step)
        except CaptureError as error:
            self.note(str(error))

    def _write(self, *, is_step: bool) -> None:
        recording = self._recording
        if not is_step:
            recording.drop_step()
        recording.stop(self._metadata())
        path = self._free_path()
        try:
            written = recording.write(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self.outcome.trace = str(written.path)
        self._note_late_choice()
        for line in written.notes:
            # A script that left its accelerator alone has no kernels to miss.
            if (
                not line.startswith(f"{recording.device} was recorded and left")
                or used_device() != "cpu"
            ):
                self.note(line)
        self._changed(self.outcome)

    def _note_late_choice(self) -> None:
        """Say that the script chose a device when the recording had already started them."""
        if self._recording.device == "cpu":
            return
        now = chosen_devices()
        for name, before in self._chosen_devices.items():
            if now[name] != before:
                self.note(
                    f"{name} was set after the recording had started the devices, and had no effect:"
                    f" set it before torch is imported, or record later with"
                    f" {self._words.start.format(1)}"
                )

    def _metadata(self) -> dict[str, Any]:
        return {
            **self._facts(),
            "steps": self.outcome.n_steps,
            "boundary": self.outcome.boundary,
            "device": used_device(),
            "timing": dict(self.outcome.timing),
        }

    def signalled(self) -> None:
        """Start or stop at the next boundary, or soon where there is none.

        Called by a signal handler, so it takes no lock: a thread of its own does the rest.
        """
        if os.getpid() == self.pid:
            self._wishes.set()

    def listen(self) -> None:
        """Wait for signals in a thread of its own."""
        self._in_background(self._await_wishes)

    def _in_background(self, work: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, daemon=True, name="tracetui").start()

    def _await_wishes(self) -> None:
        while self.state is not State.OVER:
            self._wishes.wait()
            self._wishes.clear()
            if "torch" not in sys.modules:
                continue
            if self.is_recording:
                self._stop_soon()
            elif self.state is State.WAITING:
                self._start_soon()

    @_alone
    def _start_soon(self) -> None:
        if self._n_boundaries:
            self._first_step = self.n_passed + _PREPARE_AT_LEAST
        elif self.state is State.WAITING:
            self._start()

    def _stop_soon(self) -> None:
        self._is_due = True
        end = time.monotonic() + _GRACE_S
        while self._n_boundaries and self.is_recording and time.monotonic() < end:
            time.sleep(_GRACE_S / 100)
        self._stop_now()

    @_alone
    def _stop_now(self) -> None:
        if self.is_recording:
            self._stop(is_step=False)

    def _await_duration(self, duration_ns: int) -> None:
        time.sleep(duration_ns / 1_000_000_000)
        self._stop_soon()

    @_alone
    def finish(self, *, is_step: bool = False) -> None:
        """Write what was recorded up to the end; ``is_step`` says that the rest is a step too."""
        if self.is_recording:
            is_step = (is_step or self._owner == MODULE) and self._last_step is not None
            self.outcome.n_steps += is_step
            self._stop(is_step=is_step)
            self._note_shortfall()
        elif self.state is not State.OVER:
            self.give_up(self._why_nothing())
        self.outcome.is_ended = True
        with suppress(OSError):
            self._changed(self.outcome)

    def _why_nothing(self) -> str:
        if "torch" not in sys.modules:
            return "the script never imported torch: there was nothing to record"
        if self.window.on_signal:
            return "no signal came: nothing was recorded"
        if self._owner is None:
            return (
                f"nothing was recorded: no step was seen, since {self._words.unseen};"
                f" {self._words.remedy}"
            )
        sooner = self._words.start.format(max(0, self.n_passed - (self.window.n_steps or 1)))
        return (
            f"nothing was recorded: the script made {_steps(self.n_passed)}, and the recording"
            f" would have begun after {self._first_step}; {sooner} begins sooner"
        )

    def _note_shortfall(self) -> None:
        """Say that the script ended before all steps that were to be recorded."""
        wanted, made = self.window.n_steps, self.outcome.n_steps
        if wanted is None or made >= wanted or self.outcome.trace is None:
            return
        if self._owner is None:
            self.note(
                f"no step was seen, since {self._words.unseen}: the trace goes on to the end of the"
                f" script; {self._words.remedy}"
            )
            return
        before = f" after the first {self._first_step}" if self._first_step else ""
        self.note(f"the script made {made} of the {_steps(wanted)} to record{before}")


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
