"""The accelerator of a process, with a torch that only looks like one that has a GPU."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tracetui.capture import device, runner_session
from tracetui.capture.device import (
    is_capturing,
    recorded_device,
    synchronise,
    timing_event,
    used_device,
)
from tracetui.capture.runner_session import OPTIMIZER, Session
from tracetui.capture.runner_window import StepClock, Window
from tracetui.units import NS_PER_MS


class Accelerator:
    """A module of torch for a kind of device, such as ``torch.cuda``."""

    def __init__(self, *, is_started: bool = True, is_captured: bool = False) -> None:
        self.is_started = is_started
        self.is_captured = is_captured
        self.n_waits = 0
        self.events: list[Any] = []

    def is_initialized(self) -> bool:
        return self.is_started

    def is_available(self) -> bool:
        return True

    def is_current_stream_capturing(self) -> bool:
        return self.is_captured

    def synchronize(self) -> None:
        self.n_waits += 1

    def Event(self, *, enable_timing: bool) -> Any:  # noqa: N802  as torch calls it
        assert enable_timing
        number = len(self.events)
        event = SimpleNamespace(
            number=number,
            record=lambda: None,
            elapsed_time=lambda later: 2.0 * (later.number - number),
        )
        self.events.append(event)
        return event


def put(monkeypatch: pytest.MonkeyPatch, kind: str, module: Accelerator) -> None:
    """Let torch look as if it were built for a kind of device."""
    current = SimpleNamespace(type=kind)
    torch = SimpleNamespace(
        accelerator=SimpleNamespace(
            is_available=lambda: True,
            current_accelerator=lambda: current,
            synchronize=module.synchronize,
        ),
        **{kind: module},
    )
    monkeypatch.setitem(sys.modules, "torch", torch)


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mtia", "npu"])
def test_a_device_is_used_once_it_is_started_and_only_then_waited_for(monkeypatch, kind):
    module = Accelerator(is_started=False)
    put(monkeypatch, kind, module)

    assert (used_device(), recorded_device("auto")) == ("cpu", kind)
    synchronise()
    assert module.n_waits == 0  # it has been given nothing, and waiting would start it

    module.is_started = True
    assert used_device() == kind
    synchronise()
    assert module.n_waits == 1


def test_a_device_that_does_not_tell_whether_it_was_started_is_waited_for(monkeypatch):
    module = Accelerator()
    put(monkeypatch, "mps", module)
    module.is_initialized = None  # type: ignore[assignment,method-assign]

    assert used_device() == "cpu"
    synchronise()
    assert module.n_waits == 1


def test_an_old_torch_without_accelerators_records_cuda_where_there_is_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=Accelerator()))

    assert recorded_device("auto") == "cuda"
    assert recorded_device("cpu") == "cpu"


def test_a_host_alone_has_no_events_and_captures_no_graph(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)

    assert used_device() == "cpu"
    assert timing_event() is None
    assert not is_capturing()


def test_steps_are_timed_on_the_device_by_its_events(monkeypatch):
    put(monkeypatch, "cuda", Accelerator())
    clock = StepClock(3)
    for _ in range(4):
        clock.mark()

    assert clock.times_ns() == [2 * NS_PER_MS] * 3


def test_events_that_cannot_be_compared_leave_the_times_of_the_host(monkeypatch):
    def broken(_: Any) -> float:
        raise RuntimeError("Events are on different devices")

    event = SimpleNamespace(elapsed_time=broken)
    monkeypatch.setattr("tracetui.capture.runner_window.timing_event", lambda: event)
    moments = iter([0, 30, 50])
    monkeypatch.setattr("time.perf_counter_ns", lambda: next(moments))
    clock = StepClock(3)
    for _ in range(3):
        clock.mark()

    assert clock.times_ns() == [30, 20]


class Profiler:
    """Stands where torch's profiler does, with a device."""

    def __init__(self, kind: str) -> None:
        self.device = kind
        self.told: list[Any] = []

    def warm_up(self) -> None:
        self.told.append("warm up")

    def start(self) -> None:
        self.told.append("start")

    def begin_step(self, number: int) -> None:
        self.told.append(number)

    def drop_step(self) -> None:
        self.told.append("drop")

    def stop(self, _: Any) -> None:
        self.told.append("stop")

    def write(self, path: Any) -> Any:
        return SimpleNamespace(path=path, notes=())


def session_of(profiler: Profiler, tmp_path: Any, **window: Any) -> Session:
    return Session(Window(**window), lambda: profiler, lambda: tmp_path / "t.json.gz")


def test_a_step_inside_a_cuda_graph_that_is_captured_is_none(monkeypatch, tmp_path):
    module = Accelerator(is_captured=True)
    put(monkeypatch, "cuda", module)
    profiler = Profiler("cuda")
    session = session_of(profiler, tmp_path, start_after=1)

    session.boundary(OPTIMIZER)

    # To wait for the device or to put a timing event on its stream would spoil the script's graph.
    assert (session.n_passed, profiler.told) == (0, [])
    assert (module.n_waits, module.events) == (0, [])

    module.is_captured = False
    session.boundary(OPTIMIZER)
    assert profiler.told == ["start", 1]
    assert module.n_waits == 1


@pytest.mark.parametrize(("kind", "is_said"), [("cuda", True), ("cpu", False)])
def test_a_device_that_the_script_chose_too_late_is_said(monkeypatch, tmp_path, kind, is_said):
    put(monkeypatch, "cuda", Accelerator(is_started=False))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    session = session_of(Profiler(kind), tmp_path)

    session.torch_loaded()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    session.finish()

    said = [note for note in session.outcome.notes if note.startswith("CUDA_VISIBLE_DEVICES was")]
    assert len(said) == is_said


def test_a_device_chosen_before_the_recording_is_nobodys_concern(monkeypatch, tmp_path):
    put(monkeypatch, "cuda", Accelerator(is_started=False))
    session = session_of(Profiler("cuda"), tmp_path, start_after=1)

    session.torch_loaded()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    session.boundary(OPTIMIZER)
    session.finish()

    assert session.outcome.notes == []


def test_what_a_broken_device_says_is_one_line(monkeypatch, tmp_path):
    put(monkeypatch, "cuda", Accelerator())
    session = session_of(Profiler("cuda"), tmp_path)
    why = "CUDA error: device-side assert triggered\nCompile with `TORCH_USE_CUDA_DSA`\n"

    def broken() -> None:
        raise RuntimeError(why)

    monkeypatch.setattr(runner_session, "synchronise", broken)
    session.torch_loaded()

    (note,) = session.outcome.notes
    assert note.startswith("the recording broke off: RuntimeError: CUDA error: device-side assert")
    assert "\n" not in note


def test_choosers_are_what_drivers_read(monkeypatch):
    for name in device.chosen_devices():
        monkeypatch.setenv(name, "0")

    assert set(device.chosen_devices()) >= {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}
    assert set(device.chosen_devices().values()) == {"0"}
