"""The child process: runs the variants, times them, traces them, tells how far it is.

Standard output carries one JSON object a line (``progress``); whatever else prints goes to standard
error. Started by ``client``, in a Python of the user's choice: see ``bootstrap``.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TextIO

from tracetui.capture import progress as events
from tracetui.capture.catalog import CATALOG
from tracetui.capture.environment import prepare_environment, versions
from tracetui.capture.progress import Progress
from tracetui.capture.reasons import reason
from tracetui.capture.session import FILE_NAME, read_session
from tracetui.capture.spec import CaptureSpec, Resumption
from tracetui.errors import TraceTuiError

EXIT_FINE: Final = 0
EXIT_FAILED: Final = 1
"""Not a single variant ran."""
EXIT_UNUSABLE: Final = 2
EXIT_DEVICE_LOST: Final = 3
EXIT_INTERRUPTED: Final = 130


def _private_output() -> TextIO:
    """Return a stream of our own on what is standard output; all else prints to standard error."""
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return ours


def _told_machine(progress: Progress) -> int:
    """Tell what there is to capture with, for a list of what would run."""
    packages = {each.package for entry in CATALOG for each in entry.variants if each.package}
    from tracetui.capture.machine import Machine

    progress.tell(
        events.MACHINE,
        python=sys.executable,
        versions=versions(),
        device=Machine("auto").kind,
        packages=sorted(name for name in packages if find_spec(name) is not None),
    )
    return EXIT_FINE


def _captured(spec: CaptureSpec, resumption: Resumption, progress: Progress) -> int:
    """Run every point; what is complete is in the session whatever happens."""
    import torch

    from tracetui.capture.machine import DeviceLostError, Machine
    from tracetui.capture.points import COMPILE_UNITS, Job, PointCapture
    from tracetui.capture.programs import program

    if spec.threads is not None:
        torch.set_num_threads(spec.threads)
    machine = Machine(spec.device)
    now = time.gmtime()
    capture_id = f"{time.strftime('%Y%m%dT%H%M%SZ', now)}-{os.getpid()}"
    session = read_session(Path(spec.out))
    job = Job(spec, machine, progress, session, resumption, capture_id, machine.members())
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", now)
    session.add_capture(capture_id, {"started": started, **job.environment})
    programs = [(point, program(spec, point, machine.device)) for point in spec.points]
    progress.n_units = sum(
        len(made.variants) * (1 + 2 * spec.repeats)
        + COMPILE_UNITS * len(made.compiled.intersection(made.variants))
        for _, made in programs
    )
    progress.tell(
        events.STARTED,
        workload=spec.workload,
        variants=list(programs[0][1].variants),
        points=[dict(made.parameters) for _, made in programs],
        device=job.environment["device"],
        versions=job.environment["versions"],
    )
    try:
        for point, made in programs:
            if "torch._dynamo" in sys.modules:  # loading it takes seconds
                # Shapes of another point must not make a compiled function a dynamic one.
                torch.compiler.reset()
            PointCapture(job, point, made).run()
            machine.release()
    except KeyboardInterrupt:
        session.save()
        progress.tell(events.FAILED, reason="interrupted", traces=job.n_traces)
        return EXIT_INTERRUPTED
    except DeviceLostError as error:
        # Another process goes on with the rest. This one must not clean up what is broken.
        print(error, file=sys.stderr, flush=True)
        os._exit(EXIT_DEVICE_LOST)
    session.save()
    progress.tell(events.DONE, session=str(Path(spec.out) / FILE_NAME), traces=job.n_traces)
    return EXIT_FINE if job.n_traces or resumption.finished else EXIT_FAILED


def main(arguments: Sequence[str]) -> int:
    """Run a request given as JSON, or tell what there is with ``--machine``."""
    progress = Progress(_private_output())
    # A stop that is asked for by a signal is like one by key: what is complete is kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    prepare_environment()
    try:
        import torch
    except Exception as error:  # noqa: BLE001  a broken installation raises what it likes
        progress.tell(
            events.FAILED,
            reason=f"{sys.executable} cannot import torch ({reason(error)}): install it there"
            " (pip install torch), or name another Python with --python",
        )
        return EXIT_UNUSABLE
    del torch
    try:
        if arguments[0] == "--machine":
            return _told_machine(progress)
        spec, resumption = CaptureSpec.from_json(arguments[0]), Resumption.from_json(arguments[1])
        return _captured(spec, resumption, progress)
    except TraceTuiError as error:
        progress.tell(events.FAILED, reason=str(error))
        return EXIT_UNUSABLE
    except KeyboardInterrupt:
        progress.tell(events.FAILED, reason="interrupted", traces=0)
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
