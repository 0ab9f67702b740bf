"""Which part of a file a trace is to hold, where all of it would be too much."""

from dataclasses import dataclass
from typing import Final

from tracetui.format import count, duration


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of a file; where several limits are given, what is read is within all of them."""

    n_events: int | None = None
    """How many events, from the file's first on."""
    is_device_only: bool = False
    """Kernels, copies, memsets and the device's annotations, and nothing of the host."""
    window_ns: tuple[int, int] | None = None
    """Nanoseconds after the trace's first event: from the first on, up to and without the second."""
    steps: tuple[int, int] | None = None
    """Numbers of the profiler's steps, first and last."""
    n_steps: int | None = None
    """How many of the profiler's steps, from the first recorded on."""

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is left out."""
        return self == WHOLE

    @property
    def needs_survey(self) -> bool:
        """Return whether the file must be read once before it is known what belongs to the part."""
        return any(each is not None for each in (self.window_ns, self.steps, self.n_steps))

    def __str__(self) -> str:
        """Return what it holds, in words."""
        words = []
        if self.n_events is not None:
            words.append(f"the first {count(self.n_events)} events")
        if self.is_device_only:
            words.append("device rows only, nothing of what launched them")
        if self.window_ns is not None:
            first, last = map(duration, self.window_ns)
            words.append(f"what starts or is launched from {first} to {last}")
        if self.steps is not None:
            first_step, last_step = self.steps
            which = (
                f"step {first_step}"
                if first_step == last_step
                else f"steps {first_step} to {last_step}"
            )
            words.append(f"what starts or is launched in {which}")
        if self.n_steps is not None:
            which = "step" if self.n_steps == 1 else f"{count(self.n_steps)} steps"
            words.append(f"what starts or is launched in the first {which}")
        return ", ".join(words) or "the whole file"


WHOLE: Final = Portion()


@dataclass(frozen=True, slots=True)
class Shortage:
    """A file that needs more memory than there is."""

    n_file_bytes: int
    n_needed_bytes: int
    """What reading and looking at all of it takes at the peak."""
    n_free_bytes: int
    n_events_that_fit: int
    """About how many events from the first on would fit, in a round number; 0 where none would."""
