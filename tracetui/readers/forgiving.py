"""One event after another out of text that is not quite JSON, counting what was mended."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_SEPARATORS: Final = re.compile(rb"[\s,]*")
_SCALAR: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[^,\]\[{}\s"]+', re.DOTALL)
_TOP_KEYS: Final = "ph|name|cat|pid|tid|ts|dur|args|id|bp|s|tts|cname"
_BOUNDARY: Final = re.compile(
    rb'\}(?=\s*,\s*\{\s*"(?:' + _TOP_KEYS.encode() + rb')"\s*:|\s*,?\s*\]\s*(?:,\s*"|\}|$))'
)
_BARE_WORD: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|-?\b(?:inf|nan|infinity)\b', re.IGNORECASE | re.DOTALL
)
# Whether the search that respects strings, which takes longer, can find anything.
_MAYBE_BARE_WORD: Final = re.compile(r"inf|nan", re.IGNORECASE)
_MAYBE_EMPTY_VALUE: Final = re.compile(r":\s*[,}\]]")
_EMPTY_VALUE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|:(?=\s*[,}\]])', re.DOTALL)
_MAYBE_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""A pair of surrogates, one alone, or any other escape."""
_LONE_BACKSLASH: Final = re.compile(r'\\\\|\\(?!")|\\"')
_QUOTED_FIELD: Final = re.compile(
    r'("(?:name|cat)"\s*:\s*")(.*?)("\s*(?:,\s*"(?:' + _TOP_KEYS + r')"\s*:|\}\s*$))', re.DOTALL
)
_MAX_OBJECT_BYTES: Final = 16 << 20
_MAX_MENDED_BYTES: Final = 64 << 10
"""Longer text is not searched for lone quotes, which would take time beyond its worth."""
_MAX_TRIES: Final = 4
"""How many event boundaries a damaged event may reach over."""


@dataclass(frozen=True, slots=True)
class LooseEvent:
    """One member of the list, or what stood in its place."""

    start: int
    end: int
    record: dict[str, Any] | None
    """The event, every number as its text; ``None`` if it was not readable."""
    skipped: str | None = None
    repaired: str | None = None


@dataclass(slots=True)
class LooseScan:
    """Where a scan came to."""

    position: int = 0
    is_list_over: bool = False
    is_cut_off: bool = False
    ends: dict[int, int | None] = field(default_factory=dict)
    """Where the brackets that were met on the way are closed; ``None`` where they never are."""


def object_end(text: bytes, start: int, known: dict[int, int | None]) -> int | None:
    """Return the place after the bracket that closes the one at ``start``, strings respected.

    Args:
        text: Brackets, strings, and anything else.
        start: Where the bracket stands.
        known: What was found in this text before. It takes what is found now: in damaged text, where
            nothing is ever closed, each bracket would lead to the text's end anew.
    """
    if start in known:
        return known[start]
    limit = start + _MAX_OBJECT_BYTES
    opened: list[int] = []
    for token in _TOKEN.finditer(text, start, limit):
        first = text[token.start()]
        if first in b"{[":
            opened.append(token.start())
        elif first in b"}]":
            known[opened.pop()] = token.end()
            if not opened:
                return token.end()
    if limit >= len(text):
        known.update(dict.fromkeys(opened))
    return None


def loose_events(text: bytes, scan: LooseScan, *, is_last: bool) -> Iterator[LooseEvent]:
    """Yield the members of a list whose text starts at ``scan.position``.

    Stops at the list's end, or before a member that is not complete yet; at the end of the file
    such a member is the cut-off one.
    """
    while True:
        separators = _SEPARATORS.match(text, scan.position)
        scan.position = separators.end() if separators else scan.position
        start = scan.position
        if start >= len(text):
            return
        if text[start : start + 1] == b"]":
            scan.position, scan.is_list_over = start + 1, True
            return
        event = _member(text, start, scan.ends, is_last=is_last)
        if event is None:
            if is_last:
                scan.is_cut_off, scan.position = True, len(text)
                yield LooseEvent(start, len(text), None, skipped="event cut off at the end")
            return
        scan.position = event.end
        yield event


def _member(
    text: bytes, start: int, ends: dict[int, int | None], *, is_last: bool
) -> LooseEvent | None:
    first = text[start : start + 1]
    if first == b"[":
        end = object_end(text, start, ends)
        return None if end is None else LooseEvent(start, end, None, skipped="not an object")
    if first != b"{":
        scalar = _SCALAR.match(text, start)
        if scalar is None:
            return LooseEvent(start, start + 1, None, skipped="not an object")
        if scalar.end() == len(text) and not is_last:
            return None
        return LooseEvent(start, scalar.end(), None, skipped="not an object")
    return _object(text, start, ends)


def _object(text: bytes, start: int, ends: dict[int, int | None]) -> LooseEvent | None:
    """Return the object at ``start``, or what stands in its place.

    The next place that looks like an event's end is tried first: in damaged text the brackets
    and quotes lead astray, and following them for each event would cost the square of the size.
    """
    boundaries = _BOUNDARY.finditer(text, start)
    first = next(boundaries, None)
    if first is not None:
        record, reason = parsed(text[start : first.end()])
        if record is not None:
            return LooseEvent(start, first.end(), record, repaired=reason)
    end = object_end(text, start, ends)
    if end is not None:
        record, reason = parsed(text[start:end])
        if record is not None:
            return LooseEvent(start, end, record, repaired=reason)
    if first is None:
        return None
    for _, boundary in zip(range(_MAX_TRIES), boundaries, strict=False):
        record, reason = parsed(text[start : boundary.end()])
        if record is not None:
            return LooseEvent(start, boundary.end(), record, repaired=reason)
    return LooseEvent(start, first.end(), None, skipped="malformed event")


def parsed(raw: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """Return a record, numbers as text, and what had to be mended to read it."""
    reason = None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text, reason = raw.decode("utf-8", "replace"), "text that is not valid UTF-8"
    if _MAYBE_HALF.search(text):
        whole = _ESCAPE.sub(_whole_character, text)
        text, reason = whole, reason if whole == text else "half a surrogate pair"
    record = _loads(text)
    if record is not None:
        return record, reason
    for mend, why in _MENDS:
        mended = mend(text)
        if mended == text:
            continue
        text = mended
        record = _loads(text)
        if record is not None:
            return record, why or reason
    return None, None


def _loads(text: str) -> dict[str, Any] | None:
    try:
        record = json.loads(text, strict=False, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _whole_character(match: re.Match[str]) -> str:
    return "\\ufffd" if match.group("half") else match.group()


def _quote_words(text: str) -> str:
    return _BARE_WORD.sub(_null_word, text) if _MAYBE_BARE_WORD.search(text) else text


def _null_word(match: re.Match[str]) -> str:
    word = match.group()
    return word if word.startswith('"') else f'"{word}"'


def _fill_values(text: str) -> str:
    if not _MAYBE_EMPTY_VALUE.search(text):
        return text
    return _EMPTY_VALUE.sub(lambda m: m.group() if m.group() != ":" else ": null", text)


def _double_backslashes(text: str) -> str:
    if "\\" not in text:
        return text
    return _LONE_BACKSLASH.sub(lambda m: m.group() if len(m.group()) > 1 else "\\\\", text)


def _escape_quotes(text: str) -> str:
    if len(text) > _MAX_MENDED_BYTES:
        return text

    def escaped(match: re.Match[str]) -> str:
        inner = re.sub(r'(?<!\\)"', r"\"", match.group(2))
        return f"{match.group(1)}{inner}{match.group(3)}"

    return _QUOTED_FIELD.sub(escaped, text)


_MENDS: Final = (
    (_quote_words, None),
    (_fill_values, "a key without a value"),
    (_double_backslashes, "single backslashes"),
    (_escape_quotes, "quotes that are not escaped"),
)
