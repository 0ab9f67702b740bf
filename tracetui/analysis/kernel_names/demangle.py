"""Mangled C++ names read back, as far as a kernel's name and template arguments go.

Follows the grammar of the Itanium C++ ABI (section 5.1). The parameter list is left out: a
kernel's name is told by its path and template arguments. What the grammar allows but kernels'
names do not use, such as most expressions, is not read: such a name stays as it is.
"""

import re
from typing import Final

_MOST_DEPTH: Final = 60
_MOST_LETTERS: Final = 1_000_000
"""A name that repeats its parts grows without bound when they are written out: read no further."""

_BUILTINS: Final = {
    "v": "void",
    "w": "wchar_t",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "z": "...",
}
_TWO_LETTER_BUILTINS: Final = {
    "Dh": "half",
    "Di": "char32_t",
    "Ds": "char16_t",
    "Du": "char8_t",
    "Dn": "std::nullptr_t",
    "Da": "auto",
}
_SIZED_FLOAT: Final = re.compile(r"DF([0-9]+)(_|b)")
_SIZED_FLOATS: Final = {"16b": "__bf16", "16_": "_Float16", "32_": "float", "64_": "double"}
_STANDARD: Final = {
    "Sa": "std::allocator",
    "Sb": "std::basic_string",
    "Ss": "std::string",
    "Si": "std::istream",
    "So": "std::ostream",
    "Sd": "std::iostream",
}
_OPERATORS: Final = {
    "cl": "()",
    "pl": "+",
    "mi": "-",
    "ml": "*",
    "dv": "/",
    "rm": "%",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
    "ix": "[]",
    "aS": "=",
    "nt": "!",
    "aa": "&&",
    "oo": "||",
}
_POINTERS: Final = {"P": "*", "R": "&", "O": "&&"}
_NUMBER: Final = re.compile(r"[0-9]+")
_SEQUENCE: Final = re.compile(r"([0-9A-Z]{0,4})_")
_LITERAL: Final = re.compile(r"n?[0-9a-f]*")
_SUFFIXES: Final = {"unsigned int": "u", "long": "l", "unsigned long": "ul"}


class _UnreadError(Exception):
    """The name uses something that is not read here, or is not a mangled name at all."""


def demangled(name: str) -> str | None:
    """Return a mangled name's path and template arguments; ``None`` if it cannot be read.

    ``_ZN5aiter6kernelIfLi64EEEvPT_`` gives ``aiter::kernel<float, 64>``.
    """
    if not name.startswith("_Z"):
        return None
    try:
        return _Name(name, 2).encoding() or None
    except (_UnreadError, IndexError, RecursionError):
        return None


class _Name:
    """A mangled name and how far it has been read."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self._at = position
        self._seen: list[str] = []
        self._arguments: list[str] = []
        self._depth = 0
        self._letters = 0

    def encoding(self) -> str:
        """Read ``<name>`` and leave the parameters alone."""
        return self._name()

    def _looking_at(self, start: str) -> bool:
        return self._text.startswith(start, self._at)

    def _taken(self, start: str) -> bool:
        if not self._looking_at(start):
            return False
        self._at += len(start)
        return True

    def _remembered(self, text: str) -> str:
        self._letters += len(text)
        if self._letters > _MOST_LETTERS:
            raise _UnreadError
        self._seen.append(text)
        return text

    def _name(self) -> str:
        if self._looking_at("N"):
            return self._nested()
        if self._taken("Z"):
            return self._local()
        if self._looking_at("S") and not self._looking_at("St"):
            text = self._substitution()
        else:
            text = f"std::{self._unqualified()}" if self._taken("St") else self._unqualified()
            if self._looking_at("I"):
                self._remembered(text)
        return text + self._template_arguments() if self._looking_at("I") else text

    def _nested(self) -> str:
        self._at += 1
        while self._text[self._at] in "rVKRO":
            self._at += 1
        path = ""
        while not self._taken("E"):
            if self._looking_at("St"):
                self._at += 2
                path = f"std::{self._unqualified()}"
                self._remembered(path)
            elif self._looking_at("S"):
                path = self._substitution()
            elif self._looking_at("I"):
                path += self._template_arguments()
                self._remembered(path)
            elif self._looking_at("T"):
                path = self._remembered(self._template_parameter())
            elif not self._taken("M"):
                word = self._unqualified(path.rpartition("::")[2])
                path = f"{path}::{word}" if path else word
                self._remembered(path)
        # The whole name is no substitution, only its prefixes are; as a type it becomes one.
        if self._seen and self._seen[-1] == path:
            self._seen.pop()
        return path

    def _local(self) -> str:
        function = self._name()
        types = []
        while not self._taken("E"):
            types.append(self._type())
        # A template's own result comes before its parameters.
        parameters = types[1:] if function.endswith(">") else types
        inside = f"{function}({'' if parameters == ['void'] else ', '.join(parameters)})"
        if self._taken("s"):
            return inside
        if self._taken("d"):
            self._number_to_underscore()
        return f"{inside}::{self._name()}"

    def _number_to_underscore(self) -> None:
        end = self._text.find("_", self._at)
        if end < 0:
            raise _UnreadError
        self._at = end + 1

    def _unqualified(self, parent: str = "") -> str:
        self._taken("L")
        if self._looking_at("Ul"):
            return self._lambda()
        if self._taken("Ut"):
            self._number_to_underscore()
            return "{unnamed}"
        letter = self._text[self._at]
        if letter in "0123456789":
            word = self._source_name()
        elif letter in "CD" and self._text[self._at + 1] in "012345":
            self._at += 2
            word = parent.partition("<")[0]
        else:
            word = self._operator()
        while self._taken("B"):
            self._source_name()
        return word

    def _source_name(self) -> str:
        found = _NUMBER.match(self._text, self._at)
        if found is None or len(found.group()) > 4:
            raise _UnreadError
        end = found.end() + int(found.group())
        word = self._text[found.end() : end]
        if not word or end > len(self._text):
            raise _UnreadError
        self._at = end
        return "(anonymous namespace)" if word.startswith("_GLOBAL__N") else word

    def _operator(self) -> str:
        code = self._text[self._at : self._at + 2]
        if code not in _OPERATORS:
            raise _UnreadError
        self._at += 2
        return f"operator{_OPERATORS[code]}"

    def _lambda(self) -> str:
        self._at += 2
        parameters = []
        while not self._taken("E"):
            parameters.append(self._type())
        found = _NUMBER.match(self._text, self._at)
        number = int(found.group()) + 2 if found else 1
        self._number_to_underscore()
        inside = "" if parameters == ["void"] else ", ".join(parameters)
        return f"{{lambda({inside})#{number}}}"

    def _substitution(self) -> str:
        pair = self._text[self._at : self._at + 2]
        if pair in _STANDARD:
            self._at += 2
            return _STANDARD[pair]
        return self._entry(self._seen, self._sequence_number(36))

    def _template_parameter(self) -> str:
        place = self._sequence_number(10)
        return self._arguments[place] if place < len(self._arguments) else f"T{place}"

    def _sequence_number(self, base: int) -> int:
        """Read what follows an S or T: ``_`` is the first, ``0_`` the second."""
        found = _SEQUENCE.match(self._text, self._at + 1)
        if found is None:
            raise _UnreadError
        self._at = found.end()
        digits = found.group(1)
        try:
            return int(digits, base) + 1 if digits else 0
        except ValueError as error:
            raise _UnreadError from error

    def _entry(self, entries: list[str], place: int) -> str:
        if place >= len(entries):
            raise _UnreadError
        text = entries[place]
        self._letters += len(text)
        if self._letters > _MOST_LETTERS:
            raise _UnreadError
        return text

    def _template_arguments(self) -> str:
        self._at += 1
        arguments: list[str] = []
        while not self._taken("E"):
            arguments += self._template_argument()
        self._arguments = arguments
        return f"<{', '.join(arguments)}>"

    def _template_argument(self) -> list[str]:
        if self._taken("J"):
            pack: list[str] = []
            while not self._taken("E"):
                pack += self._template_argument()
            return pack
        if self._taken("Tn"):
            self._type()
            return self._template_argument()
        if self._taken("X"):
            text = self._expression()
            if not self._taken("E"):
                raise _UnreadError
            return [text]
        if self._looking_at("L"):
            return [self._literal()]
        return [self._type()]

    def _expression(self) -> str:
        if self._taken("ad"):
            return f"&{self._expression()}"
        if self._looking_at("L"):
            return self._literal()
        if self._looking_at("T"):
            return self._template_parameter()
        raise _UnreadError

    def _literal(self) -> str:
        self._at += 1
        if self._taken("_Z"):
            text = self._name()
            while not self._taken("E"):
                self._type()
            return text
        kind = self._type()
        found = _LITERAL.match(self._text, self._at)
        value = found.group() if found else ""
        self._at += len(value)
        if not self._taken("E"):
            raise _UnreadError
        value = value.replace("n", "-", 1)
        if kind == "bool":
            return "true" if value == "1" else "false"
        if kind in ("int", *_SUFFIXES):
            return value + _SUFFIXES.get(kind, "")
        return f"({kind}){value}"

    def _type(self) -> str:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise _UnreadError
        text = self._type_by_first_letter(self._text[self._at])
        self._depth -= 1
        return text

    def _type_by_first_letter(self, letter: str) -> str:
        if letter in _BUILTINS:
            self._at += 1
            return _BUILTINS[letter]
        if letter == "D":
            return self._d_type()
        if letter == "S" and not self._looking_at("St"):
            text = self._substitution()
            if not self._looking_at("I"):
                return text
            return self._remembered(text + self._template_arguments_of_type())
        if letter in "NZSLI" or letter in "0123456789":
            return self._remembered(self._name_of_type())
        return self._remembered(self._compound(letter))

    def _compound(self, letter: str) -> str:
        if letter == "T":
            return self._template_parameter()
        if letter == "F":
            return self._function()
        self._at += 1
        if letter in "PRO":
            return f"{self._type()}{_POINTERS[letter]}"
        if letter in "KVr":
            return f"{self._type()} const" if letter == "K" else self._type()
        if letter == "A":
            self._number_to_underscore()
            return f"{self._type()}[]"
        if letter in "uU":
            word = self._source_name()
            return word if letter == "u" else f"{self._type()} {word}"
        raise _UnreadError

    def _name_of_type(self) -> str:
        outer, text = self._arguments, self._name()
        self._arguments = outer
        return text

    def _template_arguments_of_type(self) -> str:
        outer, text = self._arguments, self._template_arguments()
        self._arguments = outer
        return text

    def _d_type(self) -> str:
        sized = _SIZED_FLOAT.match(self._text, self._at)
        if sized is not None:
            self._at = sized.end()
            return _SIZED_FLOATS.get("".join(sized.groups()), f"_Float{sized.group(1)}")
        code = self._text[self._at : self._at + 2]
        self._at += 2
        if code in _TWO_LETTER_BUILTINS:
            return _TWO_LETTER_BUILTINS[code]
        if code == "Dp":
            return self._remembered(self._type())
        raise _UnreadError

    def _function(self) -> str:
        self._at += 1
        self._taken("Y")
        parts = []
        while not self._taken("E"):
            parts.append(self._type())
        return f"{parts[0]} ({', '.join(parts[1:])})" if parts else "()"
