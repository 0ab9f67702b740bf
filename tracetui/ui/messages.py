"""The messages that cross views; the main screen answers them with the next workspace."""

from dataclasses import dataclass

from textual.message import Message


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
