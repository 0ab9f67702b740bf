"""All variants at one choice of the parameters: prepared, timed in turns, traced. Imports torch.

A variant that fails is told with torch's reason, and the others go on.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tracetui.capture import progress as events
from tracetui.capture.device import synchronise
from tracetui.capture.equality import equality
from tracetui.capture.export import Recording, RecordingOptions
from tracetui.capture.machine import Machine
from tracetui.capture.measure import N_ROUNDS, run_times_ns, runs_per_round, timing
from tracetui.capture.oracle import write_oracle
from tracetui.capture.programs import Program
from tracetui.capture.progress import Progress
from tracetui.capture.reasons import reason, recorded_warnings
from tracetui.capture.running import Prepared, Runner
from tracetui.capture.session import Session
from tracetui.capture.spec import CaptureSpec, Point, Resumption
from tracetui.errors import CaptureError

N_WARM_UPS: Final = 3
COMPILE_UNITS: Final = 10.0
"""What compiling costs, in units of about a second."""


@dataclass(slots=True, eq=False)
class Job:
    """What all points of one capture share."""

    spec: CaptureSpec
    machine: Machine
    progress: Progress
    session: Session
    resumption: Resumption
    capture_id: str
    environment: Mapping[str, Any] = field(default_factory=dict)
    n_traces: int = 0


class PointCapture:
    """Every variant at one point, from its build to its trace."""

    def __init__(self, job: Job, point: Point, program: Program) -> None:
        self._job = job
        self._point = point
        self._program = program
        self._runner = Runner(program)
        self._expected: list[Any] | None = None
        self._reference_name = program.reference_name

    def run(self) -> None:
        """Prepare, then for each repeat time and trace."""
        todo = [name for name in self._program.variants if self._unfinished(name)]
        if self._program.reference is None:
            self._expect_what_ran(todo)
        prepared = [each for each in map(self._prepared, todo) if each is not None]
        self._expected = None
        self._job.machine.release()
        for repeat in range(self._job.spec.repeats):
            turn = [each for each in prepared if not self._is_finished(each.variant, repeat)]
            timed = self._timed(turn, repeat)
            prepared = [each for each in timed if self._trace(each, repeat)]

    def _expect_what_ran(self, todo: Sequence[str]) -> None:
        """Compare with the variant that an earlier process compared with, if it is done already."""
        for name in self._program.variants:
            if len(self._unfinished(name)) == self._job.spec.repeats:
                continue  # it has not come so far, or could not run
            if name in todo:
                return  # its turn comes before that of those compared with it
            # It ran before; should it fail now, the next one that runs takes its place.
            with contextlib.suppress(Exception):
                self._expected = self._runner.results(self._program.build(name), [])
                self._reference_name = name
                return

    def _stem(self, variant: str, repeat: int) -> str:
        return self._job.spec.stem(self._point, variant, repeat)

    def _is_finished(self, variant: str, repeat: int) -> bool:
        return self._stem(variant, repeat) in self._job.resumption.finished

    def _unfinished(self, variant: str) -> list[int]:
        repeats = range(self._job.spec.repeats)
        return [repeat for repeat in repeats if not self._is_finished(variant, repeat)]

    def _where(self, variant: str, repeat: int | None = None) -> dict[str, Any]:
        """Return what an event says of where it happened."""
        swept = {name: self._point[name] for name in self._job.spec.swept}
        found: dict[str, Any] = {"variant": variant, "point": dict(self._point), "swept": swept}
        return found if repeat is None else {**found, "repeat": repeat}

    def _entry(self, variant: str) -> dict[str, Any]:
        """Return what is kept of a variant whether it ran or not."""
        return {
            "capture": self._job.capture_id,
            "workload": self._program.name,
            "variant": variant,
            "parameters": dict(self._program.parameters),
            "dtype": self._program.dtype,
            "device_kind": self._job.machine.kind,
            "backward": self._program.backward,
        }

    def _refuse(self, variant: str, why: str) -> None:
        """Tell why a variant does not run.

        Raises:
            DeviceLostError: It took the device with it: nothing runs in this process any more.
        """
        self._job.machine.check(why)
        self._job.progress.tell(events.UNAVAILABLE, **self._where(variant), reason=why)
        self._job.session.add_unavailable({**self._entry(variant), "reason": why})
        self._job.session.save()

    def _prepared(self, variant: str) -> Prepared | None:
        """Build, check and warm up one variant, or tell why not."""
        known = self._job.resumption.reason_against(variant, self._point)
        if known is not None:
            self._refuse(variant, known)
            return None
        why = None
        prepared = None
        with recorded_warnings() as said:
            try:
                prepared = self._first_runs(variant)
            except Exception as error:  # noqa: BLE001  whatever it is, the others go on
                why = (type(error), error)
        self._job.progress.advance(1 + COMPILE_UNITS * (variant in self._program.compiled))
        if prepared is None:
            if why is not None:
                self._refuse(variant, reason(why[1], said))
            # The error's frames held the tensors of the variant until here.
            why = None
            self._job.machine.release()
            return None
        prepared.said = tuple(dict.fromkeys(said))
        self._job.progress.tell(
            events.PREPARED,
            **self._where(variant),
            equality=prepared.equality,
            first_run_ns=prepared.first_run_ns,
        )
        return prepared

    def _first_runs(self, variant: str) -> Prepared:
        where = self._where(variant)
        self._job.progress.stage(events.BUILDING, where)
        if self._program.reference is not None and self._expected is None:
            self._expected = self._runner.results(self._program.reference(), [])
        step = self._program.build(variant)
        is_compiled = variant in self._program.compiled
        self._job.progress.stage(events.COMPILING if is_compiled else events.CHECKING, where)
        grads: list[Any] = []
        start_ns = time.perf_counter_ns()
        results = self._runner.results(step, grads)
        synchronise()
        first_run_ns = time.perf_counter_ns() - start_ns
        if self._expected is None:
            self._expected, self._reference_name = results, variant
        found = None
        if results or self._expected:
            found = equality(results, self._expected, self._reference_name).members()
        self._job.progress.stage(events.WARMING_UP, where)
        run_ns = 0
        for _ in range(N_WARM_UPS):
            start_ns = time.perf_counter_ns()
            self._runner.run(step, grads)
            synchronise()
            run_ns = time.perf_counter_ns() - start_ns
        return Prepared(variant, step, found, first_run_ns, run_ns, grads)

    def _timed(self, prepared: Sequence[Prepared], repeat: int) -> list[Prepared]:
        """Time all variants in turns, A B A B and not A A B B; return those that held out."""
        left = list(prepared)
        for each in left:
            each.runs_ns = []
        for number in range(N_ROUNDS):
            for each in list(left):
                where = {**self._where(each.variant, repeat), "round": number}
                self._job.progress.stage(events.TIMING, where)
                n_runs = runs_per_round(each.run_ns, self._job.spec.timed_runs)
                try:
                    each.runs_ns += run_times_ns(self._plain(each), synchronise, n_runs)
                except Exception as error:  # noqa: BLE001  whatever it is, the others go on
                    self._refuse(each.variant, reason(error))
                    left.remove(each)
                self._job.progress.advance(1 / N_ROUNDS)
        return left

    def _plain(self, each: Prepared) -> Callable[[], object]:
        return lambda: self._runner.run(each.step, each.grads)

    def _trace(self, each: Prepared, repeat: int) -> bool:
        """Record, export and note one trace; return whether the variant may go on.

        Raises:
            CaptureError: The file cannot be written; that ends the capture, whatever the variant.
        """
        where = self._where(each.variant, repeat)
        self._job.progress.stage(events.RECORDING, where)
        with recorded_warnings() as said:
            try:
                recording = self._recorded(each, repeat)
            except CaptureError as error:
                self._refuse(each.variant, str(error))
                return False
            except Exception as error:  # noqa: BLE001  whatever it is, the others go on
                self._refuse(each.variant, reason(error, said))
                return False
        self._job.progress.stage(events.EXPORTING, where)
        path = Path(self._job.spec.out) / f"{self._stem(each.variant, repeat)}.json.gz"
        written = recording.write(path)
        if self._job.spec.has_oracle:
            write_oracle(path, recording.averages(), self._job.spec.steps)
        entry = {**self._metadata(each, repeat), "file": path.name, "notes": list(written.notes)}
        self._job.session.add_trace(entry)
        self._job.session.save()
        self._job.n_traces += 1
        self._job.progress.advance(1)
        for note in written.notes:
            self._job.progress.tell(events.NOTE, **where, note=note)
        measured = entry["timing"]
        self._job.progress.tell(
            events.FINISHED,
            **where,
            path=str(path),
            bytes=written.n_bytes,
            median_ns=measured["median_ns"],
            p10_ns=measured["p10_ns"],
            p90_ns=measured["p90_ns"],
            equality=each.equality,
            left_s=self._job.progress.left_s,
        )
        return True

    def _recorded(self, each: Prepared, repeat: int) -> Recording:
        recording = Recording(RecordingOptions(device=self._job.machine.kind))
        recording.warm_up()
        for _ in range(N_WARM_UPS):
            self._runner.run(each.step, each.grads, is_annotated=True)
        synchronise()
        recording.start()
        try:
            for number in range(self._job.spec.steps):
                recording.begin_step(number)
                self._runner.run(each.step, each.grads, is_annotated=True)
        finally:
            recording.stop({**self._metadata(each, repeat), **self._job.environment})
        return recording

    def _metadata(self, each: Prepared, repeat: int) -> dict[str, Any]:
        """Return what a trace says of itself, but for the machine."""
        return {
            **self._entry(each.variant),
            "annotation": self._program.annotation,
            "seed": self._job.spec.seed,
            "repeat": repeat,
            "repeats": self._job.spec.repeats,
            "steps": self._job.spec.steps,
            "warm_up": N_WARM_UPS,
            "is_compiled": each.variant in self._program.compiled,
            "first_run_ns": each.first_run_ns,
            "timing": timing(each.runs_ns, N_ROUNDS).members(),
            "equality": each.equality,
            "warnings": list(each.said),
        }
