"""Each distinct name once, cleaned when it enters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


_DRIVE: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:(?=[\\\b\t\n\f\r])")
"""Where a Windows path begins, its separators intact or swallowed."""
_SWALLOWED: Final = {
    ord(code): f"\\{letter}" for code, letter in zip("\b\t\n\f\r", "btnfr", strict=True)
}


def _with_separators(text: str) -> str:
    r"""Return a text with the separators of a Windows path put back.

    Old torch wrote such paths into JSON as they are. Where a folder's name begins with one of five
    letters, what was written is a legal escape: ``C:\temp`` reads as ``C:``, a tab, ``emp``.
    """
    drive = _DRIVE.search(text)
    if drive is None:
        return text
    return text[: drive.end()] + text[drive.end() :].translate(_SWALLOWED)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def clean_text(text: str) -> str:
    """Return ``text`` with a visible stand-in for each character that could steer a terminal.

    Control bytes, bidirectional overrides, zero-width characters, variation selectors and lone
    surrogates are replaced; everything else stays letter for letter. Behind a drive's letter, what
    a separator and a letter were mistaken for becomes both again.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_visible, _with_separators(text))


@dataclass(frozen=True, slots=True, eq=False)
class StringTable:
    """Distinct cleaned strings; a string's id is its position."""

    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, string_id: int) -> str:
        return self.texts[string_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def find(self, text: str) -> int:
        """Return the id of ``text``, or -1 if no string equals it."""
        try:
            return self.texts.index(text)
        except ValueError:
            return -1
