"""What a capture wrote into its trace: times taken without the profiler, and whether results agree."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tracetui.model.arrays import Int64s
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace

KEY: Final = "tracetui"
"""The trace file's top-level member: base64 of a JSON object."""
_WHAT_RAN: Final = ("workload", "variant", "parameters", "dtype", "device_kind", "backward")
_LONGEST_TEXT: Final = 200
_MOST_NS: Final = 10**18


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """The record beside one trace; ``None`` and nothing where it does not say."""

    workload: str | None
    variant: str | None
    unprofiled_ns: Int64s
    """One run of the workload each, without the profiler."""
    is_equal: bool | None
    """Whether the results agree with those of the reference variant."""


def captured(trace: Trace) -> Captured | None:
    """Return the record in a trace, or ``None`` if it has none that can be read."""
    record = record_of(trace)
    if record is None:
        return None
    timing, equality = record.get("timing"), record.get("equality")
    runs = timing.get("runs_ns") if isinstance(timing, Mapping) else None
    equal = equality.get("is_equal") if isinstance(equality, Mapping) else None
    return Captured(
        workload=_text(record.get("workload")),
        variant=_text(record.get("variant")),
        unprofiled_ns=_nanoseconds(runs),
        is_equal=equal if isinstance(equal, bool) else None,
    )


def captures(traces: Sequence[Trace]) -> tuple[tuple[int, ...], ...]:
    """Return traces by their place, repeated captures of one variant together.

    Captures are repeats where their records agree in all but the number of the repeat. Where all
    are of one variant they stay apart: then it is the repeats that are compared.
    """
    groups: dict[object, list[int]] = {}
    for place, trace in enumerate(traces):
        record = record_of(trace) or {}
        is_repeat = isinstance(record.get("repeat"), int)
        what = [record.get(key) for key in _WHAT_RAN]
        key = json.dumps(what, sort_keys=True) if is_repeat else place
        groups.setdefault(key, []).append(place)
    if len(groups) == 1:
        return tuple((place,) for place in range(len(traces)))
    return tuple(tuple(places) for places in groups.values())


def record_of(trace: Trace) -> Mapping[str, Any] | None:
    """Return the capture's record as it was written, or ``None`` if there is none or it is damaged."""
    text = trace.metadata.get(KEY)
    if not isinstance(text, str):
        return None
    try:
        record = json.loads(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return record if isinstance(record, Mapping) else None


def _text(value: object) -> str | None:
    return clean_text(value[:_LONGEST_TEXT]) if isinstance(value, str) else None


def _nanoseconds(values: object) -> Int64s:
    """Return the whole positive numbers of a list; nothing if any member is none."""
    if not isinstance(values, list):
        return np.empty(0, np.int64)
    whole = [
        value
        for value in values
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_NS
    ]
    return np.array(whole if len(whole) == len(values) else [], np.int64)
