"""C++ names taken apart: the qualified name, its template arguments, and the types among them."""

import re
from functools import lru_cache
from typing import Final

from tracetui.analysis.kernel_names.fields import dtype_of

_ANONYMOUS: Final = re.compile(r"\(anonymous namespace\)::")
_INTEGER: Final = re.compile(r"^(?:\([\w:]+\))?(-?\d+)(?:u|l|ul|ll|ull)?$")


def split_template(text: str) -> tuple[str, str]:
    """Return a qualified name and its template arguments, without the parameter list.

    ``void a::f<int, b<2> >(float*)`` gives ``("void a::f", "int, b<2> ")``. A name whose brackets
    never close keeps what there is.
    """
    depth, opened = 0, -1
    for position, letter in enumerate(text):
        if letter == "<":
            if depth == 0 and opened < 0:
                opened = position
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
            if depth == 0:
                return text[:opened], text[opened + 1 : position]
        elif letter == "(" and depth == 0:
            return text[:position], ""
    return (text, "") if opened < 0 else (text[:opened], text[opened + 1 :])


def top_level(arguments: str) -> list[str]:
    """Return template arguments as a list, commas inside brackets left alone."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(arguments):
        if letter in "<({":
            depth += 1
        elif letter in ">)}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(arguments[start:position].strip())
            start = position + 1
    parts.append(arguments[start:].strip())
    return parts


@lru_cache(maxsize=4096)
def template_parts(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a C++ name's last word and its template arguments."""
    plain = _ANONYMOUS.sub("", text).strip().removeprefix("void ")
    path, arguments = split_template(plain)
    base = path.rsplit("::", 1)[-1].strip()
    return base, tuple(top_level(arguments)) if arguments.strip() else ()


def arguments_of(text: str, template: str) -> list[str]:
    """Return the arguments of the first use of a template inside a name; none without it."""
    position = text.find(template + "<")
    if position < 0:
        return []
    return top_level(split_template(text[position:])[1])


def dtypes_among(arguments: tuple[str, ...] | list[str]) -> list[str]:
    """Return the number formats among template arguments, in their order."""
    return [dtype for argument in arguments if (dtype := dtype_of(argument)) is not None]


def integers_among(arguments: tuple[str, ...] | list[str]) -> list[int]:
    """Return the whole numbers among template arguments, in their order."""
    found = (_INTEGER.match(argument) for argument in arguments)
    return [int(match.group(1)) for match in found if match is not None]
