"""The lines of the capture's form, and what the texts in them mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tracetui.capture.spec import MOST_DIGITS, Value
from tracetui.errors import UsageError
from tracetui.presentation.table import cut_off, padded

WORKLOAD: Final = "workload"
VARIANT: Final = "variant"
PARAMETER: Final = "parameter"
SETTINGS: Final = "settings"
BACKWARD: Final = "backward"
DEVICE: Final = "device"
REPEATS: Final = "repeats"
STEPS: Final = "steps"
OUT: Final = "out"
PYTHON: Final = "python"
START: Final = "start"

_GROUP_WIDTH: Final = 12
_LEAST_VALUE_WIDTH: Final = 18
_MOST_VALUE_WIDTH: Final = 34
_YES: Final = ("yes", "y", "true", "on")
_NO: Final = ("no", "n", "false", "off")


@dataclass(frozen=True, slots=True)
class FormRow:
    """One line of the form."""

    kind: str
    name: str
    """Of the parameter or the variant; else empty."""
    group: str
    """What stands at the left; empty where the line above says it."""
    value: str
    meaning: str
    is_grey: bool = False
    """Whether it cannot be had here; ``meaning`` says why."""

    def line(self, width: int) -> str:
        """Return the row in ``width`` cells."""
        room = max(min(width * 35 // 100, _MOST_VALUE_WIDTH), _LEAST_VALUE_WIDTH)
        value = padded(self.value, room)
        return cut_off(f" {padded(self.group, _GROUP_WIDTH)}{value}  {self.meaning}", width)


def yes_or_no(*, is_so: bool) -> str:
    """Return a truth value as it stands in the form."""
    return "yes" if is_so else "no"


def answer(text: str) -> bool | None:
    """Return what a text answers, or ``None`` where it leaves it to the workload.

    Raises:
        UsageError: It is neither yes nor no.
    """
    lowered = text.lower()
    if not lowered:
        return None
    if lowered not in (*_YES, *_NO):
        raise UsageError(f"backward {text!r}: yes or no")
    return lowered in _YES


def whole_number(name: str, text: str, least: int) -> int:
    """Return a text as a number, the least one for no text.

    Raises:
        UsageError: It is no whole number from ``least``.
    """
    if not text:
        return least
    is_number = text.isdecimal() and len(text) <= MOST_DIGITS
    if not is_number or int(text) < least:
        raise UsageError(f"{name} {text[:MOST_DIGITS]!r}: a whole number from {least}")
    return int(text)


def values_text(values: Sequence[Value]) -> str:
    """Return a parameter's values as they are typed."""
    return ",".join(str(each).lower() if isinstance(each, bool) else str(each) for each in values)


def settings_text(settings: Mapping[str, tuple[Value, ...]]) -> str:
    """Return the settings of a file of the user's as they are typed."""
    return " ".join(f"{name}={values_text(values)}" for name, values in settings.items())


def neighbour(names: Sequence[str], name: str, direction: int) -> str:
    """Return the next name around the end; from one that is not among them, the first."""
    if name not in names:
        return names[0]
    return names[(names.index(name) + direction) % len(names)]
