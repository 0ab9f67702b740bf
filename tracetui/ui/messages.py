"""The messages that cross views; the main screen answers them with the next workspace."""

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from tracetui.model.trace import Trace


@dataclass
class SliceSelected(Message):
    """The user moved the cursor to a slice; every view follows."""

    slice_id: int


@dataclass
class WindowChanged(Message):
    """The user zoomed or panned; ``None`` is the whole trace."""

    window: tuple[int, int] | None


@dataclass
class RangeChosen(Message):
    """The user chose a range of time, or dropped it."""

    chosen_range: tuple[int, int] | None


@dataclass
class ViewRequested(Message):
    """The user wants to see a thing elsewhere: a view by name, with a slice selected."""

    view: str
    slice_id: int = -1


@dataclass
class PairChosen(Message):
    """The user wants other traces compared, by their place among those that are open."""

    baseline: int
    candidate: int


@dataclass
class EvidenceRequested(Message):
    """The user wants to see a slice of one of the traces that are compared."""

    trace: Trace
    slice_id: int
    view: str = "timeline"


@dataclass
class ChoiceRequested(Message):
    """A view wants the user to choose from a short list."""

    title: str
    rows: tuple[str, ...]
    chosen: Callable[[int], None]
    """Called with the row, unless the user wants none."""


@dataclass
class CaptureRequested(Message):
    """The user wants to record a workload, or to see how far that is."""


@dataclass
class KeysChanged(Message):
    """Other keys work in a view now."""


@dataclass
class TextRequested(Message):
    """A view wants the user to type a line."""

    label: str
    value: str
    typed: Callable[[str], None]
    """Called with the line, unless the user wants to type none."""


@dataclass
class Told(Message):
    """A view has something to say in the footer's place."""

    text: str


@dataclass
class TraceNamed(Message):
    """The user calls a trace something, by its place among those that are open."""

    place: int
    tag: str
    """Empty goes back to the file's name."""


@dataclass
class BaselineNamed(Message):
    """The user makes a trace the baseline, now and when its folder is opened again."""

    place: int
