"""Fewer bytes, the same picture: held to a terminal that draws both."""

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.ui.compact import compact
from tracetui.ui.cropped import CroppedUpdate

_COLUMNS, _LINES = 12, 4
_COLOURS = ("", "31", "97", "38;5;214", "38;2;1;2;3", "39")
_GROUNDS = ("", "44", "48;5;233", "48;2;9;8;7", "49")
_ATTRIBUTES = ("", "1", "3", "4", "7", "9", "1;4", "22", "24", "27")


@st.composite
def _pieces(draw):
    """Return a piece of a picture: a style, a text and a reset; a move; or what steers otherwise."""
    kind = draw(st.sampled_from(("styled", "styled", "plain", "move", "line", "erase")))
    text = draw(st.text("ab ▇é", min_size=1, max_size=3))
    if kind == "styled":
        parts = (_ATTRIBUTES, _COLOURS, _GROUNDS)
        codes = ";".join(filter(None, (draw(st.sampled_from(part)) for part in parts)))
        return f"\x1b[{codes}m{text}\x1b[0m"
    return {
        "plain": text,
        "move": f"\x1b[{draw(st.integers(1, _LINES))};{draw(st.integers(1, _COLUMNS - 4))}H",
        # Never on the last line, where it would scroll.
        "line": f"\x1b[{draw(st.integers(1, _LINES - 1))};2H{text}\r\n\x1b[1;1H",
        "erase": "\x1b[2K",
    }[kind]


def _drawn(data: str) -> list[list[pyte.screens.Char]]:
    screen = pyte.Screen(_COLUMNS, _LINES)
    pyte.Stream(screen).feed(data)
    return [[screen.buffer[y][x] for x in range(_COLUMNS)] for y in range(_LINES)]


@given(st.lists(_pieces(), max_size=12).map("".join))
def test_the_picture_stays_and_costs_no_more(data):
    shorter = compact(data)
    assert _drawn(shorter) == _drawn(data)
    assert len(shorter) <= len(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # One style for neighbours, and a reset at the end alone.
        ("\x1b[31ma\x1b[0m\x1b[31mb\x1b[0m", "\x1b[31mab\x1b[0m"),
        # Only the colour of the text changes; the ground stays.
        (
            "\x1b[38;5;1;48;5;233ma\x1b[0m\x1b[38;5;2;48;5;233mb\x1b[0m",
            "\x1b[38;5;1;48;5;233ma\x1b[38;5;2mb\x1b[0m",
        ),
        # Bold ends, colours stay.
        (
            "\x1b[1;38;5;1;48;5;233ma\x1b[0m\x1b[38;5;1;48;5;233mb\x1b[0m",
            "\x1b[1;38;5;1;48;5;233ma\x1b[22mb\x1b[0m",
        ),
        # A line's end before a move is nothing.
        ("a\r\n\x1b[3;1Hb", "a\x1b[3;1Hb"),
        # What it does not know stays, and all that comes after.
        ("\x1b[58;5;3ma\x1b[0m\x1b[31m\x1b[0m", "\x1b[58;5;3ma\x1b[0m\x1b[31m\x1b[0m"),
        ("\x1b]2;title\x07\x1b[?25l", "\x1b]2;title\x07\x1b[?25l"),
    ],
)
def test_what_is_sent(data, expected):
    assert compact(data) == expected


def test_an_update_begins_where_its_part_begins():
    line = Strip([Segment("name", Style(bold=True)), Segment("     21 ms")])
    console = Console(color_system="256", force_terminal=True)
    update = CroppedUpdate([{0: line, 14: Strip([Segment("beyond")])}], [(0, 9, 14)], [[14, 20]])
    assert update.render_segments(console) == "\x1b[1;10H21 ms"
