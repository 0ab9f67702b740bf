"""Each distinct name once, cleaned when it enters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


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
    surrogates are replaced; everything else stays letter for letter.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_visible, text)


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
