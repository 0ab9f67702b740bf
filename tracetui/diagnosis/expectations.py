"""Expectations of a trace: what was hoped for, what was found, and the slices that show it."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from tracetui.diagnosis.expressions import (
    Arithmetic,
    Call,
    Comparison,
    Expectation,
    ExpectationError,
    Negative,
    Number,
    Question,
    Text,
    Value,
    near,
    parsed,
    shown,
)
from tracetui.diagnosis.measured import Measured
from tracetui.diagnosis.measures import MEASURES, measured
from tracetui.format import NOT_MEASURED, microseconds
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace

Found = Fraction | str | bool | None

_COMPARE: Final[dict[str, Callable[[Fraction, Fraction], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_MOST: Final = 10**80
"""Beyond this no quantity of a trace lies."""
_COMMENT: Final = "#"


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One expectation held against a trace."""

    expectation: Expectation
    is_met: bool
    found: tuple[Found, ...]
    """What each part that is not written out in the expectation came to; ``None``: not measured."""
    units: tuple[str, ...]
    slices: Int64s
    """The slices of the trace that show it; none where only the baseline was asked."""
    telling_id: int
    """The slice to look at first, or ``NO_ID``."""
    remark: str

    @property
    def found_text(self) -> str:
        """Return what was found, in the units that the expectation is written in."""
        pairs = zip(self.found, self.units, strict=True)
        return " against ".join(found_text(value, unit) for value, unit in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """A value once evaluated."""

    value: Found
    unit: str
    is_written: bool
    """Whether it stands in the expectation itself, so that nothing was found."""
    measured: tuple[Measured, ...] = ()
    """What was asked of the trace itself, not of the baseline."""
    remarks: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """Every text that the value can be, where these are few."""


def parsed_expectation(text: str) -> Expectation:
    """Return what an expectation says.

    Raises:
        ExpectationError: If it cannot be read.
    """
    return parsed(text, tuple(MEASURES))


def expectation_lines(text: str, name: str) -> tuple[Expectation, ...]:
    """Return the expectations of a file: one a line, with ``#`` before a comment.

    Args:
        text: The file's content.
        name: What messages call the file.

    Raises:
        ExpectationError: If a line cannot be read; the message names it by its number.
    """
    found = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        stripped = _without_comment(line).strip()
        if not stripped:
            continue
        try:
            found.append(parsed_expectation(stripped))
        except ExpectationError as error:
            raise ExpectationError(f"{clean_text(name)}:{number}: {error}") from error
    return tuple(found)


def _without_comment(line: str) -> str:
    """Return a line up to the ``#`` that begins a comment: at its start or behind a space.

    Between quotes it is part of a name, as in ``calls("## forward ##")``.
    """
    at = 0
    while at < len(line):
        mark = line[at]
        if mark == _COMMENT and not line[:at][-1:].strip():
            return line[:at]
        closing = line.find(mark, at + 1) if mark in "\"'" else -1
        at = max(at, closing) + 1
    return line


def outcomes(
    expectations: Sequence[Expectation], trace: Trace, baseline: Trace | None = None
) -> tuple[Outcome, ...]:
    """Return what became of each expectation, in their order.

    Args:
        expectations: What was hoped for.
        trace: The recording to hold them against.
        baseline: What ``baseline.`` means, if anything.

    Raises:
        ExpectationError: If one asks for something that is not there.
    """
    return tuple(outcome(each, trace, baseline) for each in expectations)


def outcome(expectation: Expectation, trace: Trace, baseline: Trace | None = None) -> Outcome:
    """Return what became of one expectation.

    Raises:
        ExpectationError: If it asks for something that is not there, or compares unlike things.
    """
    sides = _Sides(expectation.text, trace, baseline)
    condition = expectation.condition
    if isinstance(condition, Question):
        terms = [sides.term(condition.call)]
        value = terms[0].value
        if value is not None and not isinstance(value, bool):
            raise sides.error("it compares nothing: write a comparison such as == 5")
        is_met = value is condition.is_hoped
    else:
        terms = [sides.term(value) for value in condition.values]
        is_met = sides.holds(condition, terms)
        if all(term.is_written for term in terms):
            raise sides.error("it asks nothing of the trace")
    return _outcome(expectation, terms, is_met=is_met)


def _outcome(expectation: Expectation, terms: list[_Term], *, is_met: bool) -> Outcome:
    asked = [each for term in terms for each in term.measured]
    slices = [each.slices for each in asked if len(each.slices)]
    remarks = [remark for term in terms for remark in term.remarks if remark]
    return Outcome(
        expectation,
        is_met,
        tuple(term.value for term in terms if not term.is_written),
        tuple(term.unit for term in terms if not term.is_written),
        np.unique(np.concatenate(slices)) if slices else np.empty(0, np.int64),
        next((each.telling_id for each in asked if each.telling_id != NO_ID), NO_ID),
        "; ".join(dict.fromkeys(remarks)),
    )


class _Sides:
    """Evaluates the values of one expectation on its traces."""

    def __init__(self, text: str, trace: Trace, baseline: Trace | None) -> None:
        self._text = text
        self._trace = trace
        self._baseline = baseline

    def error(self, what: str) -> ExpectationError:
        """Return an error that names the expectation."""
        return ExpectationError(f"expectation {shown(self._text)!r}: {what}")

    def term(self, value: Value) -> _Term:
        """Return what a value comes to."""
        match value:
            case Number():
                return _Term(value.value, "ratio" if value.is_percent else "", is_written=True)
            case Text():
                return _Term(value.value, "text", is_written=True)
            case Call():
                return self._called(value)
            case Negative():
                return self._arithmetic(Arithmetic("-", Number(Fraction(0)), value.value))
            case Arithmetic():
                return self._arithmetic(value)

    def _called(self, call: Call) -> _Term:
        trace = self._baseline if call.of_baseline else self._trace
        if trace is None:
            raise self.error("it speaks of a baseline; give that trace too")
        try:
            found = measured(trace, call.function, call.argument)
        except ExpectationError as error:
            raise self.error(str(error)) from error
        remark = found.remark
        if call.of_baseline and remark and found.value is None:
            remark = f"baseline: {remark}"
        elif call.of_baseline:
            remark = ""
        measure = MEASURES[call.function]
        own = () if call.of_baseline else (found,)
        return _Term(
            found.value,
            measure.unit,
            is_written=False,
            measured=own,
            remarks=(remark,),
            answers=measure.answers,
        )

    def _arithmetic(self, value: Arithmetic) -> _Term:
        left, right = self.term(value.left), self.term(value.right)
        terms = (left, right)
        result: Fraction | None = None
        if left.value is not None and right.value is not None:
            result = self._result(value.operator, self._number(left), self._number(right))
        unit = left.unit or right.unit
        if value.operator in ("*", "/") and left.unit and right.unit:
            unit = ""
        return _Term(
            result,
            unit,
            is_written=left.is_written and right.is_written,
            measured=tuple(each for term in terms for each in term.measured),
            remarks=tuple(remark for term in terms for remark in term.remarks),
        )

    def _result(self, sign: str, left: Fraction, right: Fraction) -> Fraction | None:
        if sign == "/":
            # A share of nothing is not measured, which is not the same as 0.
            result = left / right if right else None
        else:
            result = _ARITHMETIC[sign](left, right)
        if result is not None and abs(result) > _MOST:
            raise self.error("its numbers are out of range")
        return result

    def _number(self, term: _Term) -> Fraction:
        if isinstance(term.value, Fraction):
            return term.value
        if isinstance(term.value, bool):
            raise self.error("a yes-or-no function stands alone, or behind 'not'")
        raise self.error(
            f"{shown(str(term.value))!r} is no number and no function"
            f"{near(str(term.value), tuple(MEASURES))}"
        )

    def holds(self, condition: Comparison, terms: list[_Term]) -> bool:
        """Return whether every neighbouring pair fits; nothing fits what was not measured."""
        fits = [
            self._fits(left, right, sign, condition.margin)
            for (left, right), sign in zip(pairwise(terms), condition.operators, strict=True)
        ]
        return all(fits)

    def _check_answer(self, asked: _Term, hoped: _Term) -> None:
        """Raise if a text is hoped for that can never be found: a slip would pass behind ``!=``."""
        if not (asked.answers and hoped.is_written and isinstance(hoped.value, str)):
            return
        if not any(fnmatchcase(answer, hoped.value) for answer in asked.answers):
            raise self.error(
                f"{shown(hoped.value)!r} is none of {', '.join(asked.answers)}"
                f"{near(hoped.value, asked.answers)}"
            )

    def _fits(self, left: _Term, right: _Term, sign: str, margin: Value | None) -> bool:
        self._check_answer(left, right)
        self._check_answer(right, left)
        if isinstance(left.value, str) and isinstance(right.value, str):
            return self._texts_fit(left, right, sign, margin)
        if left.value is None or right.value is None:
            return False
        first, second = self._number(left), self._number(right)
        if margin is None:
            return _COMPARE[sign](first, second)
        allowed = self.term(margin)
        if allowed.value is None:
            return False
        width = self._number(allowed)
        if isinstance(margin, Number) and margin.is_percent:
            width *= abs(second)
        return (abs(first - second) <= width) is (sign == "==")

    def _texts_fit(self, left: _Term, right: _Term, sign: str, margin: Value | None) -> bool:
        if sign not in ("==", "!=") or margin is not None:
            raise self.error("texts are compared by == and != alone")
        if left.is_written and right.is_written:
            self._number(left)
        found, wanted = (right, left) if left.is_written else (left, right)
        is_same = found.value == wanted.value or fnmatchcase(str(found.value), str(wanted.value))
        return is_same is (sign == "==")


def found_text(value: Found, unit: str) -> str:
    """Return a value as a line of output shows it."""
    match value:
        case None:
            return NOT_MEASURED
        case bool():
            return "yes" if value else "no"
        case str():
            return shown(value)
    if unit == "us":
        return f"{microseconds(round(value * 1_000))} us"
    if value.denominator == 1:
        return f"{int(value):,}" if unit != "ratio" else f"{int(value)}"
    return f"{float(value):.4g}" if abs(value) < 1_000 else f"{float(value):,.1f}"
