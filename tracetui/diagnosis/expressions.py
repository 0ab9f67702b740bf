"""The little language of expectations: ``kernels_per_call(mlp_fwd) == 5`` as a tree.

An expectation compares two values, or three (``4 <= kernels() <= 6``), or is one yes-or-no question,
``not`` before it or not. A value is a number, a text, a function of a trace, or a sum, difference,
product or quotient of those. Numbers may carry a unit (``1.9 ms``, ``80 %``, ``2 GiB``); times are
microseconds and sizes bytes. ``==`` and ``!=`` take a range: ``gpu_us == 1930 ± 5 %``. A function
without an argument needs no parentheses, and one that starts with ``baseline.`` is about the other
trace. What stands between a function's parentheses is one name, letter for letter.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Final

from tracetui.errors import TraceTuiError
from tracetui.format import middle_ellipsis
from tracetui.model.strings import clean_text

MAX_LENGTH: Final = 2_000
"""Longer expressions are refused; it also bounds how deep one can nest."""
BASELINE: Final = "baseline"
CANDIDATE: Final = "candidate"
_MAX_DEPTH: Final = 40
_SHOWN: Final = 60

_UNITS: Final = {
    "": Fraction(1),
    "%": Fraction(1, 100),
    "ns": Fraction(1, 1_000),
    "us": Fraction(1),
    "µs": Fraction(1),
    "μs": Fraction(1),
    "ms": Fraction(1_000),
    "s": Fraction(1_000_000),
    "B": Fraction(1),
    "KiB": Fraction(1 << 10),
    "MiB": Fraction(1 << 20),
    "GiB": Fraction(1 << 30),
}
_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<text>"[^"]*"|'[^']*')
    |(?P<compare>==|!=|<=|>=|<|>|≤|≥|≠)
    |(?P<range>±|\+-|\+/-)
    |(?P<word>[^\W\d]\w*(?:(?:::|\.|\#)\w+)*)
    |(?P<sign>[-+*/()%])
    )""",
    re.VERBOSE,
)
_UNIT: Final = re.compile(r"[ ]?(%|[nuµμm]?s\b|[KMG]iB\b|B\b)")
_NUMBER: Final = re.compile(r"[\d.]{1,40}(?:[eE][+-]?0*[12]?\d)?")
"""What an exact fraction can hold without growing beyond reason."""
_SAME: Final = {"≤": "<=", "≥": ">=", "≠": "!="}


class ExpectationError(TraceTuiError):
    """An expectation that cannot be read, or that asks for something that is not there."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, its unit multiplied in."""

    value: Fraction
    is_percent: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text: quoted, or a word that is the name of no function."""

    value: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one of the traces."""

    function: str
    argument: str | None
    of_baseline: bool


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two values joined by ``+``, ``-``, ``*`` or ``/``."""

    operator: str
    left: "Value"
    right: "Value"


@dataclass(frozen=True, slots=True)
class Negative:
    """A value with a minus before it."""

    value: "Value"


Value = Number | Text | Call | Arithmetic | Negative


@dataclass(frozen=True, slots=True)
class Comparison:
    """``values[0] operators[0] values[1] …``; every neighbouring pair has to hold."""

    values: tuple[Value, ...]
    operators: tuple[str, ...]
    margin: Value | None = None
    """How far ``==`` may be off on either side; a percentage is one of the right value."""


@dataclass(frozen=True, slots=True)
class Question:
    """A function that says yes or no, and the answer hoped for."""

    call: Call
    is_hoped: bool


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation as written and as understood."""

    text: str
    condition: Comparison | Question


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def near(word: str, words: tuple[str, ...]) -> str:
    """Return what ``word`` may have been meant to be, as the end of a sentence."""
    by_fold = {each.casefold(): each for each in reversed(words)}
    found = get_close_matches(word.casefold(), list(by_fold), n=3, cutoff=0.5)
    within = [each for each in by_fold if word and word.casefold() in each]
    names = list(dict.fromkeys([*found, *sorted(within, key=len)[:3]]))[:4]
    return f" (near: {', '.join(shown(by_fold[each]) for each in names)})" if names else ""


def shown(text: str) -> str:
    """Return text from a file or a command line as it may stand within a line of output."""
    return middle_ellipsis(clean_text(text), _SHOWN)


def parsed(text: str, functions: tuple[str, ...]) -> Expectation:
    """Return what an expectation says.

    Args:
        text: The expectation as written.
        functions: The names that are functions; any other word is a text.

    Raises:
        ExpectationError: If it cannot be read; the message is one line.
    """
    return _Parser(text.strip(), functions).expectation()


class _Parser:
    """Reads one expectation from left to right."""

    def __init__(self, text: str, functions: tuple[str, ...]) -> None:
        self._text = text
        self._functions = functions
        self._at = 0
        self._depth = 0

    def expectation(self) -> Expectation:
        """Return the whole expectation."""
        if not self._text:
            raise self._error("it is empty")
        if len(self._text) > MAX_LENGTH:
            raise self._error(f"it is longer than {MAX_LENGTH} characters")
        condition = self._condition()
        rest = self._next()
        if rest is not None:
            raise self._error(f"{shown(rest.text)!r} is not expected there")
        return Expectation(self._text, condition)

    def _condition(self) -> Comparison | Question:
        token = self._next()
        is_negated = token is not None and token.text == "not"
        if token is not None and is_negated:
            self._at = token.end
        values = [self._sum()]
        operators: list[str] = []
        while (token := self._next()) is not None and token.kind == "compare":
            self._at = token.end
            operators.append(_SAME.get(token.text, token.text))
            values.append(self._sum())
        if not operators:
            if isinstance(values[0], Call):
                return Question(values[0], not is_negated)
            raise self._error("it compares nothing: write a comparison such as == 5")
        if is_negated:
            raise self._error("'not' goes with a yes-or-no function; turn the comparison around")
        return Comparison(tuple(values), tuple(operators), self._margin(operators))

    def _margin(self, operators: list[str]) -> Value | None:
        token = self._next()
        if token is None or token.kind != "range":
            return None
        self._at = token.end
        if operators not in (["=="], ["!="]):
            raise self._error("± goes with one == or !=")
        return self._product()

    def _sum(self) -> Value:
        value = self._product()
        while (token := self._next()) is not None and token.text in ("+", "-"):
            self._at = token.end
            value = Arithmetic(token.text, value, self._product())
        return value

    def _product(self) -> Value:
        value = self._single()
        while (token := self._next()) is not None and token.text in ("*", "/"):
            self._at = token.end
            value = Arithmetic(token.text, value, self._single())
        return value

    def _single(self) -> Value:
        token = self._next()
        if token is None:
            raise self._error("it ends where a value is expected")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error("it is nested too deep")
        self._at = token.end
        value = self._after(token)
        self._depth -= 1
        return value

    def _after(self, token: _Token) -> Value:
        if token.kind == "number":
            return self._number(token)
        if token.kind == "text":
            return Text(token.text[1:-1], is_quoted=True)
        if token.kind == "word":
            return self._word(token)
        if token.text == "-":
            return Negative(self._single())
        if token.text == "(":
            value = self._sum()
            closing = self._next()
            if closing is None or closing.text != ")":
                raise self._error("a ) is missing")
            self._at = closing.end
            return value
        raise self._error(f"{shown(token.text)!r} stands where a value is expected")

    def _number(self, token: _Token) -> Number:
        unit = _UNIT.match(self._text, self._at)
        name = unit.group(1) if unit else ""
        if unit:
            self._at = unit.end()
        elif re.match(r"[^\W\d]", self._text[self._at :]):
            raise self._error(
                f"{shown(token.text + self._text[self._at : self._at + 8])!r} is no number"
            )
        if not _NUMBER.fullmatch(token.text):
            raise self._error(f"the number {shown(token.text)} is out of range")
        return Number(Fraction(token.text) * _UNITS[name], is_percent=name == "%")

    def _word(self, token: _Token) -> Value:
        side, dot, rest = token.text.partition(".")
        has_side = bool(dot) and side in (BASELINE, CANDIDATE)
        name = rest if has_side else token.text
        argument = self._argument()
        if name in self._functions:
            return Call(name, argument, of_baseline=has_side and side == BASELINE)
        if argument is not None or has_side:
            raise self._error(f"{shown(name)!r} is no function{near(name, self._functions)}")
        return Text(token.text, is_quoted=False)

    def _argument(self) -> str | None:
        """Return what stands in the parentheses that follow, ``None`` for nothing."""
        if not self._text.startswith("(", self._at):
            return None
        end, depth, quote = self._at, 0, ""
        for end in range(self._at, len(self._text)):
            letter = self._text[end]
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'" and not self._text[self._at + 1 : end].strip():
                quote = letter
            else:
                depth += (letter == "(") - (letter == ")")
            if depth == 0:
                break
        if depth:
            raise self._error("a ) is missing")
        inner = self._text[self._at + 1 : end].strip()
        self._at = end + 1
        if len(inner) >= 2 and inner[0] in "\"'" and inner[-1] == inner[0]:
            return inner[1:-1]
        return inner or None

    def _next(self) -> _Token | None:
        """Return the token that comes next without going past it."""
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            rest = self._text[self._at :].strip()
            if rest:
                raise self._error(f"{shown(rest[:12])!r} cannot be read")
            return None
        kind = str(match.lastgroup)
        return _Token(kind, match.group(kind), match.start(kind), match.end())

    def _error(self, what: str) -> ExpectationError:
        return ExpectationError(f"expectation {shown(self._text)!r}: {what}")
