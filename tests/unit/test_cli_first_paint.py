"""The first picture, and a terminal that is left as it was."""

import os
import pty
import termios

import pytest

from tests.ui.terminal import Terminal
from tracetui.cli.first_paint import first_lines, first_paint


def test_frame_names_the_file_and_fits_the_window():
    lines = first_lines(["/data/runs/a.json.gz"], 30, 24, ascii_only=False)

    assert lines == [" tracetui  a.json.gz", "", "─" * 30, " opening a.json.gz"]


def test_long_and_hostile_names_are_cut_and_cleaned():
    lines = first_lines(["a\x1b[31m" + "x" * 90], 30, 24, ascii_only=True)

    assert all(len(line) <= 30 for line in lines)
    assert "\x1b" not in "".join(lines)


def test_tiny_terminals_have_no_frame():
    assert first_lines(["a"], 10, 24, ascii_only=False) == []
    assert first_lines(["a"], 80, 3, ascii_only=False) == []


def test_a_failure_leaves_the_terminal_as_it_was():
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    saved = os.dup(0), os.dup(2)
    os.dup2(slave, 0)
    os.dup2(slave, 2)
    termios.tcsetwinsize(slave, (24, 80)) if hasattr(termios, "tcsetwinsize") else None
    try:
        with pytest.raises(RuntimeError), first_paint(["a"], ascii_only=True):
            raise RuntimeError
        assert termios.tcgetattr(slave) == before
    finally:
        for copy, number in zip(saved, (0, 2), strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(master)
        os.close(slave)


def test_program_draws_the_frame_before_anything_else(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(
        '{"traceEvents": [{"ph":"X","name":"op","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2}]}'
    )
    with Terminal([str(path)], XDG_STATE_HOME=str(tmp_path)) as terminal:
        terminal.wait_for("opening trace.json")
        terminal.wait_for("1 Over")
        terminal.press("q")
        assert terminal.wait_end() == 0
