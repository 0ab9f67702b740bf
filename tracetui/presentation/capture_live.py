"""A capture while it runs: its events gathered to a line for each variant, and one for the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tracetui.capture import progress
from tracetui.capture.spec import CaptureSpec, Point
from tracetui.format import duration
from tracetui.model.strings import clean_text
from tracetui.presentation.capture_progress import (
    NOT_MEASURED,
    Event,
    equality_text,
    note_line,
    stage_line,
)
from tracetui.presentation.comparison.scores import Awaited
from tracetui.presentation.table import cell_width, cut_off, padded

_MARK_WIDTH: Final = 3
_LONGEST_NAME: Final = 40
_FIGURE_WIDTH: Final = 11
_DONE: Final = "✓"
_RUNNING: Final = "▸"
_WAITING: Final = "·"


@dataclass(slots=True, eq=False)
class LiveRow:
    """One variant at one point of the parameters."""

    name: str
    repeats: int
    stem: str = ""
    """What its traces are called, but for the repeat."""
    stage: str = ""
    """What is being done with it now; empty while others have their turn."""
    prepared: Event | None = None
    finished: list[Event] = field(default_factory=list)
    reason: str = ""
    """Why it cannot run."""
    notes: list[str] = field(default_factory=list)
    is_over: bool = False
    """Whether nothing more will be done with it."""

    @property
    def mark(self) -> str:
        """Return the state as one character."""
        if self.reason and not self.finished:
            return NOT_MEASURED
        if self.stage:
            return _RUNNING
        return _DONE if len(self.finished) == self.repeats else _WAITING

    @property
    def text(self) -> str:
        """Return what it does, how it went, or why it does not."""
        if self.stage:
            return self.stage
        if self.reason:
            return f"cannot run: {self.reason}" if not self.finished else self.reason
        parts = []
        if self.finished:
            last = self.finished[-1]
            parts.append(f"{duration(last['p10_ns'])} to {duration(last['p90_ns'])}")
        if self.prepared is not None:
            parts.append(equality_text(self.prepared["equality"]))
            if not self.finished:
                first = duration(self.prepared["first_run_ns"])
                parts.append(f"first run {first}, {self._turn}")
        if 0 < len(self.finished) < self.repeats:
            parts.append(f"{len(self.finished)} of {self.repeats} traces")
        return " · ".join(parts) or self._turn

    @property
    def _turn(self) -> str:
        return "no trace was made" if self.is_over else "waits for its turn"

    @property
    def awaited(self) -> Awaited | None:
        """Return it as a row of the scoreboard; none where all its traces are there."""
        if len(self.finished) == self.repeats or (self.finished and (self.is_over or self.reason)):
            return None
        text = f"running: {self.stage}" if self.stage else self.text
        return Awaited(self.stem, text, not self.is_over and not self.reason)

    @property
    def n_expected(self) -> int:
        """Return how many traces it will have when all goes well from here on."""
        return len(self.finished) if self.reason else self.repeats

    def line(self, name_width: int, width: int) -> str:
        """Return the row in ``width`` cells."""
        figure = duration(self.finished[-1]["median_ns"]) if self.finished else ""
        head = f" {self.mark} {padded(self.name, name_width)}{figure:>{_FIGURE_WIDTH}}  "
        return cut_off(head + self.text, width)

    @property
    def details(self) -> str:
        """Return all that is known of it."""
        parts = [self.name, self.text]
        if self.finished:
            parts.append(f"{duration(self.finished[-1]['median_ns'])} without the profiler")
            parts += [clean_text(str(each["path"])) for each in self.finished]
        return " · ".join([*parts, *self.notes])


@dataclass(slots=True, eq=False)
class LiveCapture:
    """What a capture has told so far."""

    spec: CaptureSpec
    variants: Sequence[str] = ()
    """Those that are tried; for a file of the user's they are told when it starts."""
    rows: list[LiveRow] = field(init=False, default_factory=list)
    paths: list[str] = field(init=False, default_factory=list)
    """The traces that are complete."""
    notes: list[str] = field(init=False, default_factory=list)
    is_stopping: bool = False
    _stage: Event | None = field(init=False, default=None)
    _end: Event | None = field(init=False, default=None)
    _places: dict[tuple[str, tuple[tuple[str, Any], ...]], LiveRow] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        """List what waits for its turn."""
        for point in self.spec.points:
            swept = {name: point[name] for name in self.spec.swept}
            for variant in self.variants:
                self._row(variant, swept)

    def _row(self, variant: str, swept: Point) -> LiveRow:
        key = (variant, tuple(swept.items()))
        row = self._places.get(key)
        if row is None:
            words = [variant, *(f"{name}={value}" for name, value in swept.items())]
            stem = clean_text(replace(self.spec, repeats=1).stem(swept, variant, 0))
            row = LiveRow(clean_text(" ".join(words)), self.spec.repeats, stem)
            self._places[key] = row
            self.rows.append(row)
        return row

    def take(self, event: Event) -> None:
        """Note what the capture tells."""
        kind = event["event"]
        if kind == progress.STARTED:
            for point in self.spec.points:
                for variant in event["variants"]:
                    self._row(variant, {name: point[name] for name in self.spec.swept})
        elif kind in (progress.DONE, progress.FAILED):
            self._end = event
            self._rest()
            for row in self.rows:
                row.is_over = True
        elif "variant" in event:
            self._take_of_row(kind, event, self._row(event["variant"], event["swept"]))
        elif kind == progress.NOTE:
            self.notes.append(note_line(event))

    def _rest(self) -> None:
        """Note that nothing is being done now."""
        self._stage = None
        for row in self.rows:
            row.stage = ""

    def _take_of_row(self, kind: str, event: Event, row: LiveRow) -> None:
        if kind == progress.STAGE:
            self._rest()
            self._stage = event
            row.stage = _stage_text(event, self.spec.repeats)
        elif kind == progress.PREPARED:
            row.prepared = event
            row.stage = ""
        elif kind == progress.FINISHED:
            row.finished.append(event)
            row.stage = ""
            self.paths.append(str(event["path"]))
        elif kind == progress.UNAVAILABLE:
            row.reason = clean_text(str(event["reason"]))
            row.stage = ""
        elif kind == progress.NOTE:
            row.notes.append(clean_text(str(event["note"])))

    @property
    def awaited(self) -> tuple[Awaited, ...]:
        """Return what runs, waits for its turn or cannot run, as rows of the scoreboard."""
        return tuple(each for row in self.rows if (each := row.awaited) is not None)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be told."""
        return self._end is not None

    @property
    def is_whole(self) -> bool:
        """Whether it ran to its end with at least one trace."""
        return self._end is not None and self._end["event"] == progress.DONE and bool(self.paths)

    @property
    def n_refused(self) -> int:
        """Return how many of the rows could not run."""
        return sum(bool(row.reason) for row in self.rows)

    @property
    def n_unequal(self) -> int:
        """Return how many of the rows do not agree with the reference."""
        return sum(_is_unequal(row.prepared) for row in self.rows)

    @property
    def summary(self) -> str:
        """Return how far it is, or how it ended."""
        n = len(self.paths)
        kept = f"{n} {'trace is' if n == 1 else 'traces are'} complete"
        if self._end is not None:
            return f"{self._ending(self._end)}: {kept}{self._lacks()}"
        expected = sum(row.n_expected for row in self.rows)
        parts = [f"{n} of {expected} traces complete" if expected else kept]
        if self.is_stopping:
            parts.append("stopping; K again kills it")
        elif self._stage is None:
            parts.append("starting torch")
        else:
            parts.append(stage_line(self._stage))
        return " · ".join(parts)

    def _ending(self, end: Event) -> str:
        if end["event"] == progress.DONE:
            return "Done" if self.paths else "No variant could run"
        reason = clean_text(str(end["reason"]))
        return "Stopped" if reason == "interrupted" else f"Failed: {reason}"

    def _lacks(self) -> str:
        parts = []
        if self.n_refused:
            parts.append(f"{self.n_refused} could not run")
        if self.n_unequal:
            parts.append(f"{self.n_unequal} NOT EQUAL to the reference")
        return "".join(f", {part}" for part in parts)

    def line(self, place: int, width: int) -> str:
        """Return a row in ``width`` cells."""
        longest = max((cell_width(row.name) for row in self.rows), default=0) + 1
        return self.rows[place].line(min(longest, _LONGEST_NAME, width // 3), width)

    def text(self, width: int) -> str:
        """Return all of it as text."""
        lines = [self.line(place, width) for place in range(len(self.rows))]
        return "\n".join([self.summary, *lines, *self.notes])


def _stage_text(event: Event, repeats: int) -> str:
    parts = [str(event["stage"])]
    if "repeat" in event and repeats > 1:
        parts.append(f"repeat {event['repeat'] + 1} of {repeats}")
    if "round" in event:
        parts.append(f"round {event['round'] + 1}")
    return clean_text(" · ".join(parts))


def _is_unequal(prepared: Event | None) -> bool:
    equality: Mapping[str, Any] | None = None if prepared is None else prepared["equality"]
    return equality is not None and not equality["is_equal"]
