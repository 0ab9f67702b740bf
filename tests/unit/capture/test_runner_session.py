"""The recording of a run without torch: what happens at which boundary, whoever reports it."""

import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tracetui.capture import runner_session
from tracetui.capture.runner_session import EXPLICIT, MODULE, OPTIMIZER, Session, State, Words
from tracetui.capture.runner_window import StepClock, Window
from tracetui.errors import CaptureError
from tracetui.units import NS_PER_MS


@dataclass
class Profiler:
    """Stands where torch's profiler does and keeps what it was told."""

    told: list[Any] = field(default_factory=list)
    metadata: Any = None
    trouble: Exception | None = None
    device: str = "cpu"

    def warm_up(self):
        self.told.append("warm up")

    def start(self):
        if self.trouble is not None:
            raise self.trouble
        self.told.append("start")

    def begin_step(self, number):
        self.told.append(number)

    def drop_step(self):
        self.told.append("drop")

    def stop(self, metadata):
        self.told.append("stop")
        self.metadata = metadata

    def write(self, path: Path):
        self.told.append("write")
        path.write_text("a trace")
        return SimpleNamespace(path=path, notes=("a note",))


@pytest.fixture
def profiler(monkeypatch):
    monkeypatch.setattr(runner_session, "used_device", lambda: "cpu")
    return Profiler()


def session_of(profiler, tmp_path, **window):
    return Session(Window(**window), lambda: profiler, lambda: tmp_path / "t.json.gz")


def test_a_whole_run_starts_with_torch_and_ends_with_the_script(profiler, tmp_path):
    session = session_of(profiler, tmp_path)

    session.torch_loaded()
    session.step_zero()
    session.boundary(OPTIMIZER)
    session.boundary(OPTIMIZER)
    session.finish()

    assert profiler.told == ["start", 0, 1, 2, "drop", "stop", "write"]
    assert session.outcome.n_steps == 2
    assert session.outcome.trace == str(tmp_path / "t.json.gz")
    assert session.outcome.notes == ["a note"]
    assert session.outcome.is_ended


def test_a_run_without_boundaries_has_no_step(profiler, tmp_path):
    session = session_of(profiler, tmp_path)

    session.torch_loaded()
    session.finish()

    assert profiler.told == ["start", "drop", "stop", "write"]
    assert session.outcome.n_steps == 0


def test_a_window_prepares_one_step_ahead_and_stops_after_its_steps(profiler, tmp_path):
    session = session_of(profiler, tmp_path, start_after=3, n_steps=2)

    session.torch_loaded()
    told = []
    for _ in range(6):
        session.boundary(OPTIMIZER)
        told.append(list(profiler.told))

    assert told[0] == []
    assert told[1] == ["warm up"]
    assert told[2] == ["warm up", "start", 3]
    assert told[3] == ["warm up", "start", 3, 4]
    assert told[4] == told[5] == ["warm up", "start", 3, 4, "stop", "write"]
    # Between the first and the second boundary: the cold step and the prepared one are not timed.
    assert len(session.outcome.timing["runs_ns"]) == 1
    assert profiler.metadata["steps"] == 2
    assert profiler.metadata["timing"] == session.outcome.timing


def test_without_a_start_ten_steps_are_timed_after_the_cold_one():
    assert Window().first_step == 0
    assert Window(n_steps=3).first_step == 12
    assert Window(n_steps=3, n_timed=0).first_step == 2
    assert Window(n_steps=3, start_after=0).first_step == 0
    assert Window(n_steps=3, on_signal=True).first_step is None


def test_a_module_begins_steps_so_the_last_one_lasts_to_the_end(profiler, tmp_path):
    session = session_of(profiler, tmp_path, start_after=1)

    for _ in range(3):
        session.boundary(MODULE)
    session.finish()

    assert profiler.told == ["start", 1, 2, "stop", "write"]
    assert session.outcome.n_steps == 2


def test_an_explicit_step_takes_over_and_the_others_no_longer_count(profiler, tmp_path):
    session = session_of(profiler, tmp_path, start_after=2, n_steps=1)

    session.boundary(OPTIMIZER)
    session.boundary(EXPLICIT)
    session.boundary(OPTIMIZER)
    assert profiler.told == ["warm up"]
    session.boundary(EXPLICIT)

    assert profiler.told == ["warm up", "start", 2]
    assert session.outcome.boundary == "tracetui.step"


def test_a_script_that_ends_early_is_told_when_the_recording_would_have_started(
    profiler, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    session = session_of(profiler, tmp_path, start_after=5, n_steps=1)

    session.boundary(OPTIMIZER)
    session.finish()

    assert session.outcome.trace is None
    assert session.outcome.notes == [
        (
            "nothing was recorded: the script made 1 step, and the recording would have begun"
            " after 5; start_after=0 begins sooner"
        )
    ]


def test_a_script_that_makes_fewer_steps_than_asked_for_keeps_those(profiler, tmp_path):
    session = session_of(profiler, tmp_path, start_after=2, n_steps=10)

    for _ in range(6):
        session.boundary(OPTIMIZER)
    session.finish()

    assert profiler.told == ["warm up", "start", 2, 3, 4, 5, 6, "drop", "stop", "write"]
    assert session.outcome.trace is not None
    assert session.outcome.notes == [
        "a note",
        "the script made 4 of the 10 steps to record after the first 2",
    ]


def test_steps_that_nobody_marks_leave_the_whole_run_and_say_how_to_mark_them(profiler, tmp_path):
    words = Words(unseen="no horn blew", remedy="blow one")
    session = Session(
        Window(start_after=0, n_steps=3),
        lambda: profiler,
        lambda: tmp_path / "t.json.gz",
        words=words,
    )

    session.torch_loaded()
    session.finish()

    assert profiler.told == ["start", "drop", "stop", "write"]
    assert session.outcome.notes[-1] == (
        "no step was seen, since no horn blew: the trace goes on to the end of the script; blow one"
    )


def test_where_steps_should_pass_and_nobody_marks_them_nothing_is_recorded(
    profiler, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    session = session_of(profiler, tmp_path, n_steps=3)

    session.torch_loaded()
    session.finish()

    assert session.outcome.notes == [
        (
            "nothing was recorded: no step was seen, since recording.step() was not called;"
            " call it at the end of each step, or leave steps and start_after out"
        )
    ]


@pytest.mark.parametrize(
    ("window", "n_made", "start"),
    [({"n_steps": 5}, 8, 3), ({"n_steps": 9}, 4, 0), ({"start_after": 100}, 7, 6)],
)
def test_the_advice_to_begin_sooner_would_record_what_was_asked_for(
    profiler, tmp_path, monkeypatch, window, n_made, start
):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    session = session_of(profiler, tmp_path, **window)

    for _ in range(n_made):
        session.boundary(OPTIMIZER)
    session.finish()

    assert session.outcome.notes[0].endswith(f"; start_after={start} begins sooner")


def test_trouble_with_the_profiler_never_reaches_the_script(profiler, tmp_path):
    profiler.trouble = RuntimeError("broken")
    session = session_of(profiler, tmp_path)

    session.torch_loaded()
    session.boundary(OPTIMIZER)
    session.finish()

    assert session.outcome.notes == ["the recording broke off: RuntimeError: broken"]
    assert profiler.told == []


def test_a_profiler_of_the_script_is_named_in_the_note(profiler, tmp_path):
    profiler.trouble = CaptureError("a profiler runs")
    session = session_of(profiler, tmp_path)

    session.torch_loaded()

    assert session.outcome.notes == ["nothing was recorded: a profiler runs"]
    assert session.state is State.OVER


def test_a_file_that_could_not_be_written_leaves_nothing_behind(profiler, tmp_path, monkeypatch):
    def full(path):
        path.write_text("half")
        raise CaptureError("disk full")

    monkeypatch.setattr(profiler, "write", full)
    session = session_of(profiler, tmp_path)

    session.torch_loaded()
    session.finish()

    assert session.outcome.notes == ["disk full"]
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_the_trace_is_written_waits_until_it_is(profiler, tmp_path, monkeypatch):
    write = profiler.write

    def interrupted(path):
        signal.raise_signal(signal.SIGINT)
        return write(path)

    monkeypatch.setattr(profiler, "write", interrupted)
    session = session_of(profiler, tmp_path, n_steps=1, start_after=1)
    session.boundary(OPTIMIZER)

    with pytest.raises(KeyboardInterrupt):
        session.boundary(OPTIMIZER)

    assert session.outcome.trace is not None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_forked_child_has_no_part_in_the_recording(profiler, tmp_path, monkeypatch):
    session = session_of(profiler, tmp_path)
    session.torch_loaded()

    monkeypatch.setattr(os, "getpid", lambda: session.pid + 1)
    session.boundary(OPTIMIZER)
    session.finish()

    assert profiler.told == ["start"]
    assert not session.outcome.is_ended


def test_boundaries_from_many_threads_are_each_counted_once(profiler, tmp_path):
    session = session_of(profiler, tmp_path, start_after=1_000)
    threads = [
        threading.Thread(target=lambda: [session.boundary(OPTIMIZER) for _ in range(50)])
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert session.n_passed == 400


def test_the_clock_keeps_the_last_periods_and_reads_a_devices_own(monkeypatch):
    moments = iter([0, 10, 30, 60, 100])
    monkeypatch.setattr("time.perf_counter_ns", lambda: next(moments))
    clock = StepClock(2)
    for _ in range(5):
        clock.mark()

    assert clock.times_ns() == [30, 40]

    event = SimpleNamespace(elapsed_time=lambda _: 1.5)  # milliseconds, as torch's events have it
    moments = iter([0, 10])
    monkeypatch.setattr("time.perf_counter_ns", lambda: next(moments))
    monkeypatch.setattr("tracetui.capture.runner_window.timing_event", lambda: event)
    clock.clear()
    clock.mark()
    clock.mark()

    assert clock.times_ns() == [NS_PER_MS * 3 // 2]
