import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.model.strings import clean_text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("aten::mm", "aten::mm"),
        ("\x1b]0;pwn\x07", "␛]0;pwn␇"),
        ("a\x9b31m", "a\\x9b31m"),
        ("k[/]", "k[/]"),
        ("\u202eevil", "\\u202eevil"),
        ("矩阵", "矩阵"),
        ("\ud800", "\\ud800"),
        ("del\x7f", "del␡"),
    ],
)
def test_steering_characters_get_visible_stand_ins(raw, clean):
    assert clean_text(raw) == clean


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_control_byte_survives(raw):
    clean = clean_text(raw)

    assert not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in clean)
    clean.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("C:\temp\new\bin\foo\run.py(3): build", r"C:\temp\new\bin\foo\run.py(3): build"),
        ('File "d:\\src\the.py"', r'File "d:\src\the.py"'),
        # No path: a tab after a word's colon, or before any drive.
        ("loss:\t3", "loss:␉3"),
        ("a\tC:\temp", "a␉C:\\temp"),
        ("12:\tnoon", "12:␉noon"),
        # Other control characters are no separator and a letter.
        ("C:\temp\x1b[2J\x07", "C:\\temp␛[2J␇"),
    ],
)
def test_windows_path_gets_its_separators_back(text: str, shown: str) -> None:
    assert clean_text(text) == shown
