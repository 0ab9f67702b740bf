"""Fewer bytes for the same picture: a style is sent where it changes, and only what of it changes."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_TOKEN: Final = re.compile(
    r"\x1b\[(?P<style>[0-9;]*)m|(?P<move>\x1b\[\d+;\d+H)|(?P<end>\r?\n)|[^\x1b\r\n]+|(?P<other>.)",
    re.DOTALL,
)
_MOVE: Final = re.compile(r"\x1b\[\d+;\d+H")
_ATTRIBUTES: Final = {1: 22, 2: 22, 3: 23, 4: 24, 5: 25, 7: 27, 8: 28, 9: 29}
"""What turns each attribute off again; bold and dim go together."""
_EXTENDED: Final = {38: "text", 48: "ground"}
_RESET: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class _Look:
    """How text is drawn: attributes by their numbers, colours as the terminal is told them."""

    attributes: frozenset[int] = frozenset()
    text: str = ""
    ground: str = ""


_PLAIN: Final = _Look()


@lru_cache(4096)
def _look(before: _Look, codes: str) -> _Look | None:
    """Return the look after a style sequence, or ``None`` of one that says something else."""
    attributes, colours = set(before.attributes), {"text": before.text, "ground": before.ground}
    numbers = iter([int(each or 0) for each in codes.split(";")])
    for number in numbers:
        if number == 0:
            attributes.clear()
            colours = {"text": "", "ground": ""}
        elif number in _ATTRIBUTES:
            attributes.add(number)
        elif number in _ATTRIBUTES.values():
            attributes -= {each for each, off in _ATTRIBUTES.items() if off == number}
        elif number in _EXTENDED:
            kind = next(numbers, -1)
            n_more = {5: 1, 2: 3}.get(kind, 0)
            values = [next(numbers, -1) for _ in range(n_more)]
            if not values or -1 in values:
                return None
            colours[_EXTENDED[number]] = ";".join(map(str, (number, kind, *values)))
        elif 30 <= number <= 37 or 90 <= number <= 97:
            colours["text"] = str(number)
        elif 40 <= number <= 47 or 100 <= number <= 107:
            colours["ground"] = str(number)
        elif number in (39, 49):
            colours["text" if number == 39 else "ground"] = ""
        else:
            return None
    return _Look(frozenset(attributes), **colours)


@lru_cache(4096)
def _change(before: _Look, after: _Look) -> str:
    """Return the shortest sequence that leads from one look to another."""
    if after == before:
        return ""
    if after == _PLAIN:
        return _RESET
    ended = {_ATTRIBUTES[each] for each in before.attributes - after.attributes}
    begun = {
        each
        for each in after.attributes
        if each not in before.attributes or _ATTRIBUTES[each] in ended
    }
    codes = [str(each) for each in (*sorted(ended), *sorted(begun))]
    if after.text != before.text:
        codes.append(after.text or "39")
    if after.ground != before.ground:
        codes.append(after.ground or "49")
    anew = ["0", *map(str, sorted(after.attributes)), after.text, after.ground]
    return f"\x1b[{min(';'.join(codes), ';'.join(filter(None, anew)), key=len)}m"


def compact(data: str) -> str:
    """Return a shorter text that draws the same on a terminal whose style is plain; it leaves it plain.

    Args:
        data: Text with escape sequences, of whole sequences; those that it does not know stay as they
            are, in the style that they had.
    """
    pieces: list[str] = []
    sent = wanted = _PLAIN
    for token in _TOKEN.finditer(data):
        kind = token.lastgroup
        if kind == "style":
            look = _look(wanted, token["style"])
            if look is not None:
                wanted = look
                continue
            pieces += (_change(sent, wanted), token[0])
            # Whatever it did, only what follows a reset is known.
            return "".join(pieces) + data[token.end() :]
        if kind == "end" and _MOVE.match(data, token.end()):
            # Leads to the next line, and from there the cursor is moved in any case.
            continue
        if kind not in ("move", "end"):
            pieces.append(_change(sent, wanted))
            sent = wanted
        pieces.append(token[0])
    pieces.append(_change(sent, wanted))
    return "".join(pieces)
