"""Drawing with ASCII characters alone, for terminals without UTF-8."""

from functools import lru_cache
from typing import Final

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_PLAIN: Final = {
    **dict.fromkeys("─━═╌┄▁▔", "-"),
    **dict.fromkeys("│┃║▏▎▍▌▐╎┆", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╷╵╴╶", "+"),
    **dict.fromkeys("█▉▊▋▇▆▅▓■", "#"),
    **dict.fromkeys("▄▃▂▀▒░", ":"),
    **dict.fromkeys("●○•·▪", "*"),
    # As the timeline writes them itself.
    **dict.fromkeys("…±", "~"),
    **dict.fromkeys("⎧⎭", "/"),
    **dict.fromkeys("⎩⎫", "\\"),
    "⎨": "{",
    "⎬": "}",
    "◉": "@",
    "✎": "&",
    **dict.fromkeys("–—−", "-"),
    "▸": ">",
    "▶": ">",
    "▾": "v",
    "▼": "v",
    "▲": "^",
    "▴": "^",
    "›": ">",
    "≥": ">",
    "≤": "<",
    "≠": "!",
    "←": "<",
    "→": ">",
    "↑": "^",
    "↓": "v",
    "×": "x",
    "µ": "u",
    "μ": "u",
    "Δ": "d",
    "✓": "y",
    "✗": "n",
}
_UNKNOWN: Final = "?"


@lru_cache(maxsize=4_096)
def plain_text(text: str) -> str:
    """Return ``text`` in ASCII, as wide as it was."""
    if text.isascii():
        return text
    return "".join(
        each if each.isascii() else _PLAIN.get(each, _UNKNOWN * get_character_cell_size(each))
        for each in text
    )


class AsciiFilter(LineFilter):
    """Replaces every other character in what is about to be drawn."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII."""
        del background
        return [Segment(plain_text(text), style, control) for text, style, control in segments]
