"""What to capture: frozen, checked when made, and the same on both sides of the child's pipe."""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from tracetui.errors import UsageError

MIN_STEPS: Final = 3
MOST_DIGITS: Final = 18
"""Of a whole number that somebody types; any such number fits 64 bits."""
Value = str | int | float | bool
Point = Mapping[str, Value]
"""One choice of every parameter."""


def value_of(text: str) -> Value:
    """Return what a parameter's text means: a truth value, a number, or the text itself."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if re.fullmatch(rf"[+-]?\d{{1,{MOST_DIGITS}}}", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def parsed_settings(texts: Sequence[str]) -> dict[str, tuple[Value, ...]]:
    """Return the values of each parameter from texts such as ``seq=512,2048``.

    Raises:
        UsageError: A text has no ``=``, no value, or names a parameter twice.
    """
    found: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        parts = [part.strip() for part in values.split(",")]
        if not equals or not name or not all(parts):
            raise UsageError(f"--set {text!r}: write NAME=VALUE or NAME=VALUE,VALUE")
        if name in found:
            raise UsageError(f"--set {name}: given twice; write {name}=VALUE,VALUE")
        found[name] = tuple(dict.fromkeys(value_of(part) for part in parts))
    return found


def file_part(text: str) -> str:
    """Return a text as a part of a file's name: letters, digits, dots and underscores."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", text).strip("_")


@dataclass(frozen=True, slots=True)
class CaptureSpec:
    """One request: a workload in some variants, at every combination of the parameters."""

    workload: str
    """A name of the catalog, or ``FILE.py:FUNCTION``."""
    out: str
    """The folder that the traces go to."""
    variants: tuple[str, ...] = ()
    """In this order; none means all that the workload has."""
    settings: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    """The values of each parameter; more than one value is swept."""
    device: str = "auto"
    repeats: int = 1
    backward: bool | None = None
    """Whether the backward runs too; none leaves it to the workload."""
    steps: int = MIN_STEPS
    """How many steps each trace holds."""
    seed: int = 0
    has_oracle: bool = False
    """Whether torch's own table is written beside each trace."""
    threads: int | None = None
    """How many threads torch computes with on the host; none leaves it to torch."""
    timed_runs: int | None = None
    """How many runs are timed without the profiler; none chooses by how long one takes."""

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise UsageError(f"--repeats {self.repeats}: at least 1")
        if self.steps < MIN_STEPS:
            raise UsageError(f"--steps {self.steps}: a trace holds at least {MIN_STEPS}")

    @property
    def points(self) -> tuple[Point, ...]:
        """Every combination of the values that were set."""
        names = [name for name, _ in self.settings]
        lists = [values for _, values in self.settings]
        return tuple(dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*lists))

    @property
    def swept(self) -> tuple[str, ...]:
        """The parameters that take several values."""
        return tuple(name for name, values in self.settings if len(values) > 1)

    @property
    def name(self) -> str:
        """The workload as a part of files' names."""
        path, colon, _ = self.workload.rpartition(":")
        return file_part(Path(path).stem if colon else self.workload)

    def stem(self, point: Point, variant: str, repeat: int) -> str:
        """Return a trace's name without its ending: swept parameters and repeats only if any."""
        parts = [self.name, file_part(variant)]
        parts += [_point_part(name, point[name]) for name in self.swept]
        if self.repeats > 1:
            parts.append(f"r{repeat + 1}")
        return "_".join(parts)

    def to_json(self) -> str:
        """Return the request as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "CaptureSpec":
        """Return the request that ``to_json`` wrote."""
        members = json.loads(text)
        members["variants"] = tuple(members["variants"])
        members["settings"] = tuple((name, tuple(values)) for name, values in members["settings"])
        return cls(**members)


def _point_part(name: str, value: Value) -> str:
    """Return one swept value in a file's name; words that speak for themselves stand alone."""
    if isinstance(value, bool):
        return name if value else f"no_{name}"
    if isinstance(value, str):
        return file_part(value)
    return f"{file_part(name)}{file_part(str(value))}"


@dataclass(frozen=True, slots=True)
class Resumption:
    """What a child need not do, or must not try, since another that died came so far."""

    finished: frozenset[str] = frozenset()
    """The names of complete traces, without their ending."""
    against: tuple[tuple[str, str, str], ...] = ()
    """Variant, point as JSON, and how it ended the process."""

    def reason_against(self, variant: str, point: Point) -> str | None:
        """Return why a variant must not be tried at a point, or none."""
        here = (variant, json.dumps(dict(point)))
        return next((why for *where, why in self.against if tuple(where) == here), None)

    def without(self, variant: str, point: Point, why: str) -> "Resumption":
        """Return the same with one more variant that must not be tried."""
        return replace(self, against=(*self.against, (variant, json.dumps(dict(point)), why)))

    def with_finished(self, stem: str) -> "Resumption":
        """Return the same with one more trace that is complete."""
        return replace(self, finished=self.finished | {stem})

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps({"finished": sorted(self.finished), "against": self.against})

    @classmethod
    def from_json(cls, text: str) -> "Resumption":
        """Return what ``to_json`` wrote."""
        members = json.loads(text)
        return cls(
            frozenset(members["finished"]), tuple(tuple(each) for each in members["against"])
        )
