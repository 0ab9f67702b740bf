"""The real program through a pty: first paint, keys, signals, hostile names."""

import json
import os
import signal
import time

import pytest

from tests.ui.terminal import Terminal

_LEAVE_ALTERNATE_SCREEN = b"\x1b[?1049l"


def _event(name, ts, dur, category="cpu_op", **args):
    return {
        "ph": "X", "cat": category, "name": name, "pid": 4100, "tid": 4100,
        "ts": ts, "dur": dur, "args": args,
    }  # fmt: skip


@pytest.fixture
def trace_file(tmp_path):
    events = [
        _event("fwd", 0, 100, "user_annotation"),
        _event("aten::linear", 10, 60),
        _event("aten::\u001b]52;c;aGFja2Vk\u0007mm[/red]", 20, 30),
        _event("cudaLaunchKernel", 25, 5, "cuda_runtime", correlation=3),
        {**_event("ampere_sgemm_128x64_tn", 60, 30, "kernel", correlation=3), "pid": 0, "tid": 7},
    ]
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40), (200, 50)])
def test_every_view_opens_and_q_leaves(trace_file, columns, lines):
    with Terminal([str(trace_file)], columns=columns, lines=lines) as terminal:
        terminal.wait_for("1 Over")
        for key in "1234":
            terminal.press(key)
            assert "Traceback" not in terminal.text
        terminal.wait_for("sgemm")
        terminal.press("q", 0.1)
        assert terminal.wait_end() == 0
        assert _LEAVE_ALTERNATE_SCREEN in terminal.raw


def test_no_byte_of_a_hostile_name_steers_the_terminal(trace_file):
    with Terminal([str(trace_file)]) as terminal:
        terminal.wait_for("1 Over")
        for key in "1234":
            terminal.press(key)
        assert b"\x1b]52;c;aGFja2Vk" not in terminal.raw


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_restores_the_terminal(trace_file, number):
    with Terminal([str(trace_file)]) as terminal:
        terminal.wait_for("1 Over")
        terminal.signal(number)
        assert terminal.wait_end() != 0
        assert _LEAVE_ALTERNATE_SCREEN in terminal.raw


@pytest.mark.parametrize("hang_up_signal", [signal.SIG_DFL, signal.SIG_IGN])
@pytest.mark.parametrize("pattern", ["opening", "1 Over"])
def test_a_terminal_that_is_gone_ends_it(trace_file, hang_up_signal, pattern):
    before = signal.signal(signal.SIGHUP, hang_up_signal)
    try:
        terminal = Terminal([str(trace_file)])
    finally:
        signal.signal(signal.SIGHUP, before)
    with terminal:
        terminal.wait_for(pattern)
        # More pictures than the way to the terminal holds are under way.
        terminal.send("2wwwdddd1234" * 20)
        terminal.hang_up()
        assert terminal.wait_end() != 0


def test_control_c_leaves(trace_file):
    with Terminal([str(trace_file)]) as terminal:
        terminal.wait_for("1 Over")
        terminal.press("\x03", 0.1)
        terminal.wait_end()
        assert _LEAVE_ALTERNATE_SCREEN in terminal.raw


def test_resizing_to_almost_nothing_and_back_survives(trace_file):
    with Terminal([str(trace_file)]) as terminal:
        terminal.wait_for("1 Over")
        for columns, lines in [(40, 10), (10, 3), (120, 40)]:
            terminal.resize(columns, lines)
            terminal.signal(signal.SIGWINCH)
            terminal.read(0.5)
        terminal.press("2")
        terminal.wait_for("1 Over")
        terminal.press("q", 0.1)
        assert terminal.wait_end() == 0


def test_an_idle_screen_writes_nothing(trace_file):
    with Terminal([str(trace_file)]) as terminal:
        terminal.wait_for("1 Over")
        terminal.press("2", 1.0)
        assert terminal.read(1.5) == 0


def test_compare_opens_on_the_screen_where_nobody_asked_for_text(trace_file, tmp_path):
    other = tmp_path / "other.json"
    other.write_bytes(trace_file.read_bytes())
    with Terminal(["compare", str(trace_file), str(other)]) as terminal:
        text = terminal.wait_for("A small.json +B other.json")
        assert "5 Comp" in text


def test_a_lone_escape_is_taken_before_the_next_tenth_of_a_second(trace_file):
    with Terminal([str(trace_file)], columns=100, lines=30) as terminal:
        terminal.wait_for("sgemm")
        waits = []
        for _ in range(5):
            terminal.press("?")
            start, seen = time.monotonic(), len(terminal.raw)
            os.write(terminal._master, b"\x1b")
            while len(terminal.raw) == seen:
                terminal.read(0.005)
            waits.append(time.monotonic() - start)
            terminal.press("", 0.2)
        # Textual's own wait alone is 0.1 s; of five one at least meets a core that is free.
        assert min(waits) < 0.1


def test_a_lanes_cursor_sends_what_differs_and_no_more(trace_file):
    with Terminal([str(trace_file)], columns=200, lines=60) as terminal:
        terminal.wait_for("sgemm")
        terminal.press("2")
        terminal.wait_for("aten::linear")
        terminal.press("j", 1)
        costs = [terminal.press(key, 1) for key in "kjkj"]
        # Another slice's details, all of them, and four lanes: 900 letters, and where they stand.
        assert 0 < max(costs) <= 1250
