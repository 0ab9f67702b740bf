"""Runs the user's script or module under the profiler, in the user's own Python.

``bootstrap.py tracetui.capture.runner SPEC`` reads what to run from a JSON file. What the script
prints, raises and returns is its own; the file named ``outcome`` tells whoever started us the rest.
"""

import builtins
import importlib.util
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, NoReturn

from tracetui.capture import runner_session
from tracetui.capture.bootstrap import EXIT_UNUSABLE
from tracetui.capture.environment import noted_variables, prepare_environment, versions
from tracetui.capture.paths import free_path, rank_suffix
from tracetui.capture.runner_children import ChildProcesses
from tracetui.capture.runner_exits import watch_exits
from tracetui.capture.runner_hooks import (
    mark_modules,
    watch_module,
    watch_optimizers,
    when_torch_is_loaded,
)
from tracetui.capture.runner_session import Outcome, Session, Words, new_recording
from tracetui.capture.runner_window import Window

_EXIT_INTERRUPTED: Final = 128 + signal.SIGINT
_PR_SET_PDEATHSIG: Final = 1
_EXIT_TERMINATED: Final = 128 + signal.SIGTERM


class NothingToRunError(Exception):
    """The script or module cannot be started."""


def _keep(outcome: Outcome, path: Path) -> None:
    """Store what is known so far; a reader sees the old or the new, never half of it."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    part.replace(path)


def _script(path: str) -> tuple[ModuleType, CodeType]:
    """Return a fresh ``__main__`` and the code of a script, as Python itself would run it."""
    from pkgutil import read_code

    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise NothingToRunError(f"{path}: {(error.strerror or '').lower()}") from error
    path = str(Path(path).absolute())
    module = ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins, __cached__=None)
    with Path(path).open("rb") as file:
        compiled = read_code(file)
    return module, compiled or compile(source, path, "exec", dont_inherit=True)


def _module(name: str) -> tuple[ModuleType, CodeType]:
    """Return a fresh ``__main__`` and the code of a module, or of a package's ``__main__``."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ModuleNotFoundError, ValueError) as error:
        raise NothingToRunError(f"-m {name}: {error}") from error
    code = getattr(spec.loader, "get_code", lambda _: None)(spec.name) if spec else None
    if spec is None or code is None:
        raise NothingToRunError(f"-m {name}: no module of that name can be run here")
    module = ModuleType("__main__")
    vars(module).update(
        __file__=spec.origin,
        __builtins__=builtins,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )
    sys.argv[0] = spec.origin or name
    return module, code


def _traceback_of_script(error: BaseException) -> None:
    """Print an exception as the script alone would have: our own frames are not part of it."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    sys.excepthook(type(error), error.with_traceback(frames), frames)


def _outlive_nobody() -> None:
    """Ask Linux to end us with whoever started us: killed, it could not pass that on."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _terminated(*_: object) -> NoReturn:
    """End the script as ``sys.exit`` does, so that what was recorded can be written."""
    raise SystemExit(_EXIT_TERMINATED)


def _words(spec: Mapping[str, Any]) -> Words:
    """Return how this run was asked for, by the options of the command line."""
    if spec["step_module"]:
        unseen = f"no forward of a {spec['step_module']} was called"
    elif spec["follows_optimizer"]:
        unseen = "no optimizer made one and tracetui.step() was not called"
    else:
        unseen = "tracetui.step() was not called"
    return Words(
        start="--start-after {}",
        unseen=unseen,
        remedy="name a module with --step-module, or leave --steps and --start-after out",
    )


class Runner:
    """One run of a script: prepares the process, runs the script, ends the recording."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._spec = spec
        target = Path(spec["folder"])
        self.children = ChildProcesses()
        self.session = Session(
            Window(**spec["window"]),
            lambda: new_recording(spec["options"]),
            lambda: free_path(target, spec["stem"], rank_suffix()),
            facts=self._facts,
            changed=lambda outcome: _keep(outcome, Path(spec["outcome"])),
            words=_words(spec),
        )

    def _facts(self) -> dict[str, Any]:
        return {
            "workload": self._spec["stem"],
            "command": self._spec["shown"],
            "versions": versions(),
            "environment": noted_variables(),
        }

    def _torch_loaded(self) -> None:
        session, name = self.session, self._spec["step_module"]
        if name:
            watch_module(
                name,
                lambda: session.boundary(runner_session.MODULE),
                before_marks=self._spec["marks_modules"],
            )
        elif self._spec["follows_optimizer"]:
            watch_optimizers(session.step_zero, lambda: session.boundary(runner_session.OPTIMIZER))
        if self._spec["marks_modules"]:
            mark_modules(lambda: session.is_recording)
        session.torch_loaded()

    def _prepare(self) -> None:
        from tracetui.capture import api

        prepare_environment()
        api.join(self.session)
        self.children.watch()
        watch_exits(self._leave)
        previous = signal.signal(signal.SIGTERM, _terminated)
        _outlive_nobody()
        if self.session.window.on_signal and hasattr(signal, "SIGUSR2"):
            signal.signal(signal.SIGUSR2, lambda *_: self.session.signalled())
            self.session.listen()
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, previous))
        when_torch_is_loaded(self._torch_loaded)

    def _end(self) -> None:
        """Write the trace; whoever is impatient now would only lose it."""
        if os.getpid() != self.session.pid:
            return
        with suppress(ValueError):  # not the main thread: no signal comes here
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        line = self.children.line()
        if line:
            self.session.note(line)
        self.session.finish()

    def _leave(self, program: str | None) -> None:
        """Write the trace before the process ends at once, or becomes another program."""
        if os.getpid() != self.session.pid or self.session.outcome.is_ended:
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        handlers = [signal.getsignal(number) for number in numbers]
        if program is not None:
            self.session.note(f"the script became {program}: what that does is not recorded")
        self._end()
        # What is ignored here would be ignored by the other program too.
        with suppress(ValueError):
            for number, handler in zip(numbers, handlers, strict=True):
                signal.signal(number, handler or signal.SIG_DFL)

    def run(self, load: Callable[[str], tuple[ModuleType, CodeType]], name: str) -> int:
        """Run to the end and return the exit status; ``SystemExit`` passes."""
        try:
            module, code = load(name)
            self._prepare()
            sys.modules["__main__"] = module
            exec(code, vars(module))
            self._join_threads()
        except SystemExit:
            raise
        except KeyboardInterrupt as error:
            _traceback_of_script(error)
            return _EXIT_INTERRUPTED
        except NothingToRunError:
            raise
        except BaseException as error:  # noqa: BLE001  the script's own, printed as Python does
            _traceback_of_script(error)
            return 1
        finally:
            self._end()
        return 0

    @staticmethod
    def _join_threads() -> None:
        """Wait for the script's threads as Python does at its end: they are part of the run."""
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join()


def main() -> int:
    """Run what the file named by the first argument describes."""
    spec = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    name = spec["name"]
    sys.argv[:] = [name, *spec["arguments"]]
    if not sys.flags.safe_path if hasattr(sys.flags, "safe_path") else True:
        first = str(Path.cwd()) if spec["is_module"] else str(Path(name).resolve().parent)
        sys.path.insert(0, first)
    if importlib.util.find_spec("torch") is None:
        return _refused(
            spec,
            f"{sys.executable} has no torch: name a Python that has it with --python, or activate"
            " its environment",
        )
    try:
        return Runner(spec).run(_module if spec["is_module"] else _script, name)
    except NothingToRunError as error:
        return _refused(spec, str(error))


def _refused(spec: Mapping[str, Any], why: str) -> int:
    _keep(Outcome(notes=[why], is_ended=True), Path(spec["outcome"]))
    return EXIT_UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
