"""The outcome of a check: a line for each expectation, or JSON."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tracetui.diagnosis.expectations import Found, Outcome
from tracetui.diagnosis.expressions import shown
from tracetui.format import count, microseconds
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.reports.json_report import to_json
from tracetui.reports.report import SCHEMA, Row, Time

_MET: Final = {True: "met    ", False: "NOT MET"}


def first_slice(outcome: Outcome, trace: Trace) -> int:
    """Return the earliest of the slices that show an outcome, or ``NO_ID``."""
    if not len(outcome.slices):
        return NO_ID
    return int(outcome.slices[int(np.argmin(trace.slices.ts_ns[outcome.slices]))])


def _evidence_text(outcome: Outcome, trace: Trace) -> str:
    first = first_slice(outcome, trace)
    if first == NO_ID:
        return ""
    n_slices = len(outcome.slices)
    start = microseconds(int(trace.slices.ts_ns[first]))
    amount = "1 slice" if n_slices == 1 else f"{count(n_slices)} slices, first"
    return f"{amount} at {start} us: {shown(trace.name_of(first))}"


def outcome_line(outcome: Outcome, trace: Trace) -> str:
    """Return one expectation in one line."""
    parts = [f"{_MET[outcome.is_met]}  {shown_whole(outcome)}", f"found {outcome.found_text}"]
    parts += [text for text in (outcome.remark, _evidence_text(outcome, trace)) if text]
    return " · ".join(parts)


def shown_whole(outcome: Outcome) -> str:
    """Return the expectation as written, safe for a terminal, in one line."""
    return " ".join(clean_text(outcome.expectation.text).split())


def text_outcomes(outcomes: Sequence[Outcome], trace: Trace) -> str:
    """Return one line for each expectation."""
    return "".join(f"{outcome_line(each, trace)}\n" for each in outcomes)


def _json_value(value: Found, unit: str) -> Any:
    if not isinstance(value, Fraction):
        return value
    if unit == "us":
        return Time(round(value * 1_000))
    return int(value) if value.denominator == 1 else float(value)


def _row(outcome: Outcome, trace: Trace) -> Row:
    first = first_slice(outcome, trace)
    found = [
        _json_value(value, unit) for value, unit in zip(outcome.found, outcome.units, strict=True)
    ]
    return {
        "expectation": outcome.expectation.text,
        "met": outcome.is_met,
        "found": found[0] if len(found) == 1 else found,
        "evidence": {
            "slices": len(outcome.slices),
            "first_us": None if first == NO_ID else Time(int(trace.slices.ts_ns[first])),
            "first_name": None if first == NO_ID else trace.name_of(first),
        },
        "remark": outcome.remark or None,
    }


def json_outcomes(
    outcomes: Sequence[Outcome], trace: Trace, baseline: Trace | None = None
) -> bytes:
    """Return the outcomes as one JSON object."""
    return to_json(
        {
            "schema": SCHEMA,
            "file": trace.origin.path,
            "baseline": None if baseline is None else baseline.origin.path,
            "met": sum(each.is_met for each in outcomes),
            "not_met": sum(not each.is_met for each in outcomes),
            "expectations": [_row(each, trace) for each in outcomes],
        }
    )
