"""Which part of a run is recorded, and the times of its steps without the profiler.

Imports nothing but the standard library: it runs in the user's Python.
"""

import time
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from tracetui.capture.device import timing_event
from tracetui.units import NS_PER_MS

N_TIMED: Final = 10
"""How many steps are timed without the profiler, unless the user says otherwise."""
_COLD_STEPS: Final = 1
"""The first step compiles, allocates and fills caches: it is never timed."""
_PREPARED_STEPS: Final = 1
"""The profiler is prepared one step before it records; that step is not timed either."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a run that is recorded: all of it, unless something narrows it."""

    start_after: int | None = None
    """Steps to let pass before the recording starts."""
    n_steps: int | None = None
    """Steps to record; to the end of the script without a number."""
    duration_ns: int | None = None
    on_signal: bool = False
    """Start at a signal, and stop at the next one."""
    n_timed: int = N_TIMED

    @property
    def first_step(self) -> int | None:
        """Return how many steps pass before the recording starts; ``None`` waits for a signal."""
        if self.on_signal:
            return None
        if self.start_after is not None:
            return self.start_after
        if self.n_steps is not None:
            return _COLD_STEPS + self.n_timed + _PREPARED_STEPS
        return 0


class StepClock:
    """The periods of the last steps, taken at their boundaries without the profiler.

    On an accelerator the period is that of the device: an event is put on its stream at each
    boundary and read when the recording starts, so that the host may run ahead as it always does.
    """

    def __init__(self, n_kept: int) -> None:
        self._marks: deque[tuple[int, Any]] = deque(maxlen=n_kept + 1)

    def mark(self) -> None:
        """Note a boundary between two steps."""
        self._marks.append((time.perf_counter_ns(), timing_event()))

    def clear(self) -> None:
        """Forget the boundaries so far."""
        self._marks.clear()

    def times_ns(self) -> list[int]:
        """Return the periods between the boundaries; the device must have been waited for."""
        return [
            _device_period_ns(start, end) or later_ns - earlier_ns
            for (earlier_ns, start), (later_ns, end) in pairwise(self._marks)
        ]


def _device_period_ns(start: Any, end: Any) -> int | None:
    """Return the period between two events, or none where they cannot be compared."""
    if start is None or end is None:
        return None
    try:
        return round(float(start.elapsed_time(end)) * NS_PER_MS)
    except Exception:  # noqa: BLE001  put on two devices, or lost with their graph: what torch raises differs
        return None
