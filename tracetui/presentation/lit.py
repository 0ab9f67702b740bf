"""Texts some of whose letters are lit, such as the words in which two names differ."""

import re
from typing import Final, TypeAlias

from tracetui.compare.align import aligned
from tracetui.presentation.table import cell_width, cut_off, shortened, wrapped

Span: TypeAlias = tuple[int, int]
"""The first letter and the one after the last."""

_WORD: Final = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]+")
_ELLIPSIS: Final = "…"
_LEAST_SHARED: Final = 1 / 3


class LitText(str):
    """A text that knows which of its letters are lit; everything else takes it for its letters.

    Whoever draws it lights the spans in a style of their own. They are places and no markup, so
    nothing in a name can pass for them.
    """

    lit: tuple[Span, ...]

    def __new__(cls, text: str, lit: tuple[Span, ...] = ()) -> "LitText":
        """Return a text with these letters lit, spans in order that do not touch."""
        made = super().__new__(cls, text)
        made.lit = lit
        return made


def lit_spans(text: str) -> tuple[Span, ...]:
    """Return which letters of a text are lit: none of one that knows of no light."""
    return text.lit if isinstance(text, LitText) else ()


def joined(*parts: str) -> LitText:
    """Return texts one after the other, each with its own light."""
    spans: list[Span] = []
    at = 0
    for part in parts:
        spans += [(at + start, at + stop) for start, stop in lit_spans(part)]
        at += len(part)
    return LitText("".join(parts), tuple(spans))


def differing(first: str, second: str) -> tuple[LitText, LitText]:
    """Return two names with the words lit that only one of them has, in order.

    Names that share less than a third of the shorter one's words are other names altogether: then
    nothing is lit, for lighting nearly everything would tell nothing.
    """
    words = [_WORD.findall(name) for name in (first, second)]
    number: dict[str, int] = {}
    keys = [[number.setdefault(word, len(number)) for word in own] for own in words]
    pairs = aligned(keys[0], keys[1])
    shared = (frozenset(a for a, _ in pairs), frozenset(b for _, b in pairs))
    n_words = min(sum(word[0].isalnum() for word in own) for own in words)
    n_shared = sum(words[0][place][0].isalnum() for place in shared[0])
    if n_shared < _LEAST_SHARED * n_words or not n_shared:
        return LitText(first), LitText(second)
    lit = [_lit(own, kept) for own, kept in zip(words, shared, strict=True)]
    return LitText(first, lit[0]), LitText(second, lit[1])


def _lit(words: list[str], dark: frozenset[int]) -> tuple[Span, ...]:
    """Return where the words lie that are not dark, signs apart; neighbours make one span."""
    spans: list[Span] = []
    at = 0
    for place, word in enumerate(words):
        stop = at + len(word)
        if place not in dark and word[0].isalnum():
            spans.append((at, stop))
        at = stop
    return tuple(spans)


def lit_shortened(text: str, width: int) -> LitText:
    """Return a text shortened to at most ``width`` cells so that what is lit stays in sight.

    What is dark gives way first, the stretches in the middle before those at the ends. Without
    light it is shortened in its middle.
    """
    if cell_width(text) <= width:
        return joined(text)
    stretches = _stretches(text)
    if not lit_spans(text):
        return LitText(shortened(text, width))
    least = [cell_width(part) if is_lit else min(cell_width(part), 1) for part, is_lit in stretches]
    room = width - sum(least)
    if room < 0:
        bright = _ELLIPSIS.join(part for part, is_lit in stretches if is_lit)
        return LitText(shortened(bright, width).replace(2 * _ELLIPSIS, _ELLIPSIS))
    last = len(stretches) - 1
    widths = list(least)
    dark = [place for place, (_, is_lit) in enumerate(stretches) if not is_lit]
    for place in sorted(dark, key=lambda place: (place not in (0, last), place)):
        more = min(cell_width(stretches[place][0]) - least[place], room)
        widths[place] += more
        room -= more
    parts: list[str] = []
    for place, (part, is_lit) in enumerate(stretches):
        if is_lit:
            parts.append(LitText(part, ((0, len(part)),)))
        elif place == 0:
            parts.append(cut_off(part, widths[place]))
        elif place == last:
            parts.append(cut_off(part[::-1], widths[place])[::-1])
        else:
            parts.append(shortened(part, widths[place]))
    return joined(*parts)


def _stretches(text: str) -> list[tuple[str, bool]]:
    """Return a text in stretches that are lit or dark."""
    found = []
    at = 0
    for start, stop in lit_spans(text):
        if start > at:
            found.append((str(text[at:start]), False))
        found.append((str(text[start:stop]), True))
        at = stop
    if at < len(text):
        found.append((str(text[at:]), False))
    return found


def lit_padded(text: str, width: int) -> LitText:
    """Return a text shortened, or filled with spaces, to ``width`` cells."""
    shown = lit_shortened(text, width)
    return joined(shown, " " * (width - cell_width(shown)))


def lit_wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of at most ``width`` cells, each with its part of the light."""
    lines: list[str] = list(wrapped(text, width))
    spans = lit_spans(text)
    if not spans:
        return lines
    found: list[str] = []
    at = 0
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip()) if number else 0
        body = line[indent:]
        start = text.index(body, at)
        at = start + len(body)
        own = tuple(
            (max(a, start) - start + indent, min(b, at) - start + indent)
            for a, b in spans
            if a < at and b > start
        )
        found.append(LitText(line, own))
    return found
