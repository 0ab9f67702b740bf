"""Filter expressions such as ``dur>20us cat:gemm name:relu -name:triton``."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.errors import UsageError
from tracetui.model.arrays import Bools, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_MS, NS_PER_S, NS_PER_US

_UNITS: Final = {
    "": NS_PER_US,
    "ns": 1,
    "us": NS_PER_US,
    "µs": NS_PER_US,
    "ms": NS_PER_MS,
    "s": NS_PER_S,
}
_DURATION: Final = re.compile(r"(>=|<=|>|<|=)([0-9]{1,15}(?:\.[0-9]{1,9})?)(ns|us|µs|ms|s)?")
_COMPARE: Final[dict[str, Callable[[Int64s, int], Bools]]] = {
    ">": lambda value, limit: value > limit,
    "<": lambda value, limit: value < limit,
    ">=": lambda value, limit: value >= limit,
    "<=": lambda value, limit: value <= limit,
    "=": lambda value, limit: value == limit,
}


@dataclass(frozen=True, slots=True)
class Term:
    """One condition; all of an expression's conditions have to hold."""

    field: str
    """``dur``, ``cat`` or ``name``."""
    text: str
    is_negated: bool = False
    operator: str = ""
    limit_ns: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed expression; one without terms keeps everything."""

    terms: tuple[Term, ...]

    def slice_mask(self, trace: Trace) -> Bools:
        """Return which slices it keeps."""
        slices = trace.slices
        keep = np.ones(len(slices), bool)
        for term in self.terms:
            if term.field == "dur":
                found = _COMPARE[term.operator](slices.dur_ns, term.limit_ns)
            elif term.field == "cat":
                found = _in_category(trace, term.text)
            else:
                found = _contains(trace.names, term.text)[slices.name_id]
            keep &= ~found if term.is_negated else found
        return keep


def parse_query(text: str) -> Query:
    """Return the conditions of an expression; a bare word is part of a name.

    Raises:
        UsageError: A word is no condition; the message says which and what would be one.
    """
    return Query(tuple(_term(word) for word in text.split()))


def _term(word: str) -> Term:
    is_negated = word.startswith("-")
    body = word[1:] if is_negated else word
    if not body:
        raise UsageError("filter: - needs a condition behind it, as in -name:triton")
    if re.match(r"dur[<>=:]", body):
        match = _DURATION.fullmatch(body[3:])
        if match is None:
            raise UsageError(f"filter: {word} is not a duration; write dur>20us")
        operator, amount, unit = match.groups()
        limit_ns = int(Decimal(amount) * _UNITS[unit or ""])
        return Term("dur", body, is_negated, operator, limit_ns)
    field, colon, value = body.partition(":")
    if colon and field in ("cat", "name"):
        if not value:
            raise UsageError(f"filter: {word} needs a text, as in {field}:gemm")
        return Term(field, value.lower(), is_negated)
    if colon and field.isidentifier() and not value.startswith(":"):
        raise UsageError(f"filter: no field {field}; there are name:, cat: and dur>")
    return Term("name", body.lower(), is_negated)


def _in_category(trace: Trace, part: str) -> Bools:
    """Return the slices of a category of the file, a kind, or a class of device work."""
    slices = trace.slices
    in_file = _contains(trace.categories, part)[slices.category_id]
    of_kind = np.isin(slices.kind, [kind for kind in SliceKind if part in kind.name.lower()])
    classes = [each for each in WorkClass if part in each.name.lower()]
    of_class = slices.is_device_work() & np.isin(slice_classes(trace), classes)
    return np.asarray(in_file | of_kind | of_class, bool)


def _contains(texts: StringTable, part: str) -> Bools:
    return np.array([part in text.lower() for text in texts], bool)
