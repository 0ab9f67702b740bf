"""A torch profiler from its start to a file that is known to be whole.

Imports torch, so it runs in a child alone. ``Recording`` is the one place that starts, stops and
exports a profiler; what goes wrong there in silence or by a crash is turned into a
``CaptureError`` or into a note:

- a profiler started inside the recording ends it, and exporting what is left crashes the process;
- metadata given before the start or after the stop is dropped, and quotes, backslashes and other
  characters in it damage the file: it travels as base64 of JSON, added just before the stop;
- the export neither raises for a missing folder nor for a full disk: the file is read back;
- a quote in the name of an annotation makes the file invalid, other characters turn the name into
  ``unknown``: names of ours are safe (``safe_name``), quotes in those of others are escaped;
- a device that was asked for and left no kernel usually means that reading its counters is forbidden.
"""

import base64
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tracetui.capture.device import synchronise
from tracetui.capture.exported_file import check_folder, name_itself, notes_on, pack, reason_of
from tracetui.capture.reasons import reason
from tracetui.capture.step_names import STEP_PREFIX, rename_dropped_steps
from tracetui.errors import CaptureError

METADATA_KEY: Final = "tracetui"
METADATA_SCHEMA: Final = 1
OTHER: Final = "a torch profiler already runs in this process: stop it first"
NO_ACTIVITY: Final = "torch's profiler records nothing of {device}: the trace holds the host alone"
LOST: Final = (
    "another torch profiler was started inside the recording, which ended it: nothing could be"
    " written. Remove the inner profiler, or capture without tracetui and open its file"
)


def encoded_metadata(metadata: Mapping[str, Any]) -> str:
    """Return a JSON string that the exporter cannot damage: base64 of the metadata's JSON."""
    text = json.dumps({"schema": METADATA_SCHEMA, **metadata}, default=str)
    return f'"{base64.b64encode(text.encode()).decode()}"'


def decoded_metadata(encoded: str) -> dict[str, Any]:
    """Return the metadata of a trace from the value that it has under ``METADATA_KEY``."""
    found: dict[str, Any] = json.loads(base64.b64decode(encoded))
    return found


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """What a profiler collects. Shapes are cheap; memory and stacks are not."""

    record_shapes: bool = True
    profile_memory: bool = False
    with_stack: bool = False
    with_modules: bool = False
    all_threads: bool = False
    """Record every thread, those that already run too; without it the one that starts."""
    device: str = "cpu"
    """``cpu`` records the host alone; else all that this torch supports."""


@dataclass(frozen=True, slots=True)
class WrittenTrace:
    """A file that was written, read back and found whole."""

    path: Path
    n_bytes: int
    notes: tuple[str, ...]
    """What the user should know: no kernels, names that damaged the file."""


class Recording:
    """One use of torch's profiler: ``start``, ``begin_step`` for each step, ``stop``, ``write``.

    Steps are named as ``torch.profiler`` names them, so that every tool finds them. The profiler
    records the thread that starts it (``all_threads`` adds the others).
    """

    def __init__(self, options: RecordingOptions | None = None) -> None:
        self.options = options or RecordingOptions()
        self.notes: list[str] = []
        self.device = self.options.device
        """The kind of device that is recorded besides the host; ``cpu`` is the host alone."""
        self._profiler = self._new_profiler()
        self._step: Any = None
        self._n_steps = 0
        self._dropped: list[str] = []
        self._is_prepared = False
        self._is_running = False
        self._is_lost = False
        self._is_written = False
        self._unwatch: Callable[[], None] = lambda: None

    @property
    def is_running(self) -> bool:
        """Whether the profiler collects now."""
        return self._is_running

    @property
    def is_lost(self) -> bool:
        """Whether another profiler took the recording away."""
        if self._is_running and not _is_profiling():
            self._is_lost = True
        return self._is_lost

    @property
    def n_steps(self) -> int:
        """How many steps have begun."""
        return self._n_steps

    def _new_profiler(self) -> Any:
        from torch.profiler import ProfilerActivity, profile, supported_activities

        activities = [ProfilerActivity.CPU]
        device = self.options.device
        if device != "cpu":
            activities = list(supported_activities())
            if device not in _kinds(activities):
                self.notes.append(NO_ACTIVITY.format(device=device))
                self.device = "cpu"
        flags = {
            "record_shapes": self.options.record_shapes,
            "profile_memory": self.options.profile_memory,
            "with_stack": self.options.with_stack,
            "with_modules": self.options.with_modules,
        }
        return profile(activities=activities, experimental_config=self._configuration(), **flags)

    def _configuration(self) -> Any:
        """Return the configuration that records all threads, or none; old versions cannot."""
        if not self.options.all_threads:
            return None
        from torch._C._profiler import _ExperimentalConfig

        try:
            return _ExperimentalConfig(profile_all_threads=True)
        except TypeError:
            self.notes.append("this torch records one thread alone: the one that started")
            return None

    def warm_up(self) -> None:
        """Start what takes long to start (about a second, once a process), recording nothing.

        Raises:
            CaptureError: Another profiler runs in this process; this would end it.
        """
        if _is_profiling():
            raise CaptureError(OTHER)
        self._unwatch()
        self._profiler.prepare_trace()
        self._is_prepared = True
        self._unwatch = _watch_other_starts(self._lose)

    def start(self) -> None:
        """Start recording.

        Raises:
            CaptureError: Another profiler runs in this process.
        """
        if not self._is_prepared:
            # Starting what another profiler ended in the meantime crashes the process.
            self.warm_up()
        elif _is_profiling():
            raise CaptureError(OTHER)
        self._unwatch()
        self._profiler.start_trace()
        self._is_running = True
        self._unwatch = _watch_other_starts(self._lose)

    def _lose(self) -> None:
        """Note that another profiler starts, which ends what this one prepared or records."""
        self._is_prepared = False
        self._is_lost = self._is_running

    def begin_step(self, number: int | None = None) -> None:
        """End the step that runs, if any, and begin the next, named ``ProfilerStep#number``."""
        from torch.profiler import record_function

        self.end_step()
        name = f"{STEP_PREFIX}{self._n_steps if number is None else number}"
        self._step = record_function(name)
        self._step.__enter__()
        self._n_steps += 1

    def end_step(self) -> None:
        """End the step that runs, if any."""
        if self._step is not None:
            step, self._step = self._step, None
            step.__exit__(None, None, None)

    def drop_step(self) -> None:
        """End what runs as a step and was none, such as what follows the last step of a loop.

        The exporter keeps it; in the file its name becomes ``Outside step#N``.
        """
        if self._step is not None:
            self._dropped.append(self._step.name)
            self._n_steps -= 1
            self.end_step()

    def stop(self, metadata: Mapping[str, Any] | None = None) -> None:
        """Synchronise the device, store the metadata in the trace and stop recording.

        Raises:
            CaptureError: Another profiler was started meanwhile, and the recording is lost.
        """
        if not self._is_running:
            return
        self.end_step()
        try:
            synchronise()
        except Exception as error:  # noqa: BLE001  a device that broke under the script raises what it likes
            self.notes.append(f"the device broke before the end: {reason(error)}")
        is_lost = self.is_lost
        self._unwatch()
        self._is_running = False
        if is_lost:
            # Stopping or exporting a profiler that lost its session crashes the process.
            raise CaptureError(LOST)
        if metadata is not None:
            self._profiler.add_metadata_json(METADATA_KEY, encoded_metadata(metadata))
        self._profiler.stop_trace()

    def averages(self) -> Iterable[Any]:
        """Return torch's own table of the run; slow and large where there are many events."""
        rows: Iterable[Any] = self._profiler.key_averages()
        return rows

    def write(self, path: Path) -> WrittenTrace:
        """Export to ``path`` (``.json`` or ``.json.gz``), whole or not at all.

        The file appears under its name only when complete.

        Raises:
            CaptureError: It could not be written; no part of it is left behind.
        """
        if self._is_running:
            raise CaptureError("the recording still runs: stop it before it is written")
        if self._is_lost:
            raise CaptureError(LOST)
        if self._is_written:
            raise CaptureError("a recording can be written once: copy its file")
        self._is_written = True
        raw = path.with_name(f".{path.name}.{os.getpid()}.raw.part")
        packed = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            check_folder(path)
            self._profiler.export_chrome_trace(str(raw))
            notes = [*self.notes, *notes_on(raw, self.device)]
            name_itself(raw, path.name)
            rename_dropped_steps(raw, self._dropped)
            if path.suffix == ".gz":
                pack(raw, packed)
                packed.replace(path)
            else:
                raw.replace(path)
            return WrittenTrace(path, path.stat().st_size, tuple(notes))
        except OSError as error:
            raise CaptureError(f"{path}: {reason_of(error)}: the trace was not written") from error
        finally:
            # The exporter writes beside its target first, and leaves that there when the disk is full.
            for part in (raw, raw.with_name(f"{raw.name}.tmp"), packed):
                part.unlink(missing_ok=True)


def _kinds(activities: Iterable[Any]) -> set[str]:
    """Return the kinds of devices that activities are of, as ``torch.device`` calls them."""
    import torch

    names = {each.name.lower() for each in activities}
    if "privateuse1" in names:
        # The place that torch keeps for devices of others; such a device has a name of its own.
        names.add(torch._C._get_privateuse1_backend_name())  # noqa: SLF001  there is no public way
    return names


def _is_profiling() -> bool:
    from torch.autograd import profiler

    # `torch._C._autograd._profiler_enabled()` stays False when all threads are recorded.
    return bool(profiler._is_profiler_enabled)  # noqa: SLF001  torch has no public test of it


def _watch_other_starts(is_called: Callable[[], None]) -> Callable[[], None]:
    """Call back when another profiler starts in this process; return what ends the watch."""
    from torch.autograd import profiler

    name = "_run_on_profiler_start"
    original = getattr(profiler, name, None)
    if original is None:
        return lambda: None

    def started() -> None:
        is_called()
        original()

    def unwatch() -> None:
        if getattr(profiler, name) is started:
            setattr(profiler, name, original)

    setattr(profiler, name, started)
    return unwatch
