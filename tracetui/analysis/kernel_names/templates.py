"""C++ names taken apart: the qualified name, its template arguments, and the types among them."""

import re
from functools import lru_cache
from typing import Final

from tracetui.analysis.kernel_names.fields import dtype_of

_ANGLE: Final = re.compile(r"[<>]")
_ANGLE_OR_CALL: Final = re.compile(r"[<>(]")
_BRACKET_OR_COMMA: Final = re.compile(r"[<>(){},]")
_INTEGER: Final = re.compile(r"^(-?\d+)(?:u|l|ul|ll|ull)?$")


@lru_cache(maxsize=256)
def split_template(text: str) -> tuple[str, str]:
    """Return a qualified name and its template arguments, without the parameter list.

    ``a::f<int, b<2> >(float*)`` gives ``("a::f", "int, b<2> ")``; of ``a<int>::f<2>(float*)`` the
    arguments are those of ``f``. A name whose brackets never close keeps what there is.
    """
    depth, opened, closed = 0, -1, -1
    for bracket in _ANGLE_OR_CALL.finditer(text):
        letter, position = bracket.group(), bracket.start()
        if letter == "<":
            if depth == 0:
                opened = position
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
            closed = position
        elif letter == "(" and depth == 0:
            text = text[:position]
            break
    if opened < 0:
        return text, ""
    if depth:
        return text[:opened], text[opened + 1 :]
    if text[closed + 1 :].strip():
        return text, ""
    return text[:opened], text[opened + 1 : closed]


def top_level(arguments: str) -> list[str]:
    """Return template arguments as a list, commas inside brackets left alone."""
    parts, depth, start = [], 0, 0
    for mark in _BRACKET_OR_COMMA.finditer(arguments):
        letter, position = mark.group(), mark.start()
        if letter in "<({":
            depth += 1
        elif letter in ">)}":
            depth -= 1
        elif depth == 0:
            parts.append(arguments[start:position].strip())
            start = position + 1
    parts.append(arguments[start:].strip())
    return parts


@lru_cache(maxsize=256)
def template_parts(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a C++ name's last word and its template arguments."""
    path, arguments = split_template(text.strip())
    return last_word(path), tuple(top_level(arguments)) if arguments.strip() else ()


def last_word(path: str) -> str:
    """Return the name at the end of a qualified one, without the type it may return."""
    return path.rsplit("::", 1)[-1].strip().rpartition(" ")[2]


def head_of(text: str) -> str:
    """Return a C++ name with its template arguments and without its parameters."""
    path, arguments = split_template(text)
    return f"{path}<{arguments}>" if arguments else path.rstrip()


def arguments_of(text: str, template: str) -> list[str]:
    """Return the arguments of the first use of a template inside a name; none without it."""
    start = text.find(template + "<")
    if start < 0:
        return []
    start += len(template) + 1
    depth = 1
    for bracket in _ANGLE.finditer(text, start):
        depth += 1 if bracket.group() == "<" else -1
        if not depth:
            return top_level(text[start : bracket.start()])
    return top_level(text[start:])


def dtypes_among(arguments: tuple[str, ...] | list[str]) -> list[str]:
    """Return the number formats among template arguments, in their order."""
    return [dtype for argument in arguments if (dtype := dtype_of(argument)) is not None]


def integers_among(arguments: tuple[str, ...] | list[str]) -> list[int]:
    """Return the whole numbers among template arguments, in their order."""
    found = (_INTEGER.match(argument) for argument in arguments)
    return [int(match.group(1)) for match in found if match is not None]
