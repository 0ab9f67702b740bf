"""Where a script that knows nothing of tracetui is watched: torch's import, optimizers, modules.

torch is not imported here but waited for: a script may set what torch reads when it is imported.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

_TORCH: Final = "torch"


class _TorchImport(importlib.abc.MetaPathFinder):
    """Calls back once, when torch has been imported."""

    def __init__(self, loaded: Callable[[], None]) -> None:
        self._loaded = loaded

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Leave finding to the others, and follow torch's loader to its end."""
        if fullname != _TORCH:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        loader, execute = spec.loader, spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            self._loaded()

        # The loader belongs to this import alone, and keeps its type: torch reads it.
        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def when_torch_is_loaded(loaded: Callable[[], None]) -> None:
    """Call back in the thread that imports torch, as soon as it has."""
    if _TORCH in sys.modules:
        loaded()
    else:
        sys.meta_path.insert(0, _TorchImport(loaded))


def _hush_compile() -> None:
    """Keep torch from warning the user of hooks that are ours: they fire for the wrapper once."""
    warnings.filterwarnings("ignore", message="Using `torch.compile.* global hooks on modules")


class _First:
    """The first object that came: others of its kind are no step boundary while it lives."""

    def __init__(self) -> None:
        self._chosen: Callable[[], Any] = lambda: None

    def is_it(self, thing: Any) -> bool:
        """Return whether this is the object that counts, which it becomes where there is none."""
        chosen = self._chosen()
        if chosen is None:
            self._chosen = weakref.ref(thing)
        return chosen is None or chosen is thing


def watch_optimizers(made: Callable[[], None], stepped: Callable[[], None]) -> None:
    """Call back when the first optimizer is made and after each of its steps.

    torch's own hook after a step is called inside torch's annotation of that step, which a step
    that begins there would cross. So the function that adds the annotation is wrapped where it
    exists, and the hook is what is left where it does not.
    """
    from torch.optim import optimizer

    first = _First()

    def after(stepping: Any) -> None:
        if first.is_it(stepping):
            stepped()

    # Compiled code must not look into it: it has effects that a graph cannot have.
    after._torchdynamo_disable = True  # type: ignore[attr-defined]  # noqa: SLF001
    kind = optimizer.Optimizer
    annotated = getattr(kind, "profile_hook_step", None)
    if annotated is None:
        optimizer.register_optimizer_step_post_hook(lambda stepping, *_: after(stepping))
        return

    def profile_hook_step(step: Callable[..., Any]) -> Callable[..., Any]:
        inner = annotated(step)

        @functools.wraps(inner)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            result = inner(*args, **kwargs)
            after(args[0])
            return result

        made()
        return bounded

    kind.profile_hook_step = staticmethod(profile_hook_step)


def watch_module(name: str, started: Callable[[], None], *, before_marks: bool) -> None:
    """Call back when the forward of the first module of a class starts.

    Args:
        name: The class.
        started: What to call.
        before_marks: Whether a mark may begin with the same forward, so that it lies in the step.
    """
    from torch.compiler import is_compiling
    from torch.nn.modules.module import register_module_forward_pre_hook

    first = _First()

    def before_any(module: Any, _: Any) -> None:
        if is_compiling():
            return
        # A compiled module is a wrapper around the user's.
        inner = getattr(module, "_orig_mod", module)
        if type(inner).__name__ != name or not first.is_it(module):
            return
        if not before_marks:
            # Only this one counts from here on, and no other module pays for the watch.
            handle.remove()
            module.register_forward_pre_hook(before)
        started()

    def before(*_: Any) -> None:
        started()

    before._torchdynamo_disable = True  # type: ignore[attr-defined]  # noqa: SLF001
    _hush_compile()
    handle = register_module_forward_pre_hook(before_any)


def mark_modules(is_recording: Callable[[], bool]) -> None:
    """Annotate the forward of every module, named as torch names its frames: ``nn.Module: Linear_0``.

    The number counts the modules of a class in the order in which they were first called. Inside
    compiled code there is no forward of a module, and no mark.
    """
    from torch.compiler import is_compiling
    from torch.nn.modules.module import (
        register_module_forward_hook,
        register_module_forward_pre_hook,
    )
    from torch.profiler import record_function

    names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
    counts: dict[str, int] = {}
    threads = threading.local()

    def running() -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = threads.__dict__.setdefault("marks", [])
        return found

    def name_of(module: Any) -> str:
        found = names.get(module)
        if found is None:
            kind = type(module).__name__
            number = counts[kind] = counts.get(kind, -1) + 1
            found = names[module] = f"nn.Module: {kind}_{number}"
        return found

    def before(module: Any, _: Any) -> None:
        if is_compiling() or not is_recording():
            return
        mark = record_function(name_of(module))
        mark.__enter__()
        running().append((module, mark))

    def after(module: Any, *_: Any) -> None:
        if is_compiling():
            return
        marks = running()
        if marks and marks[-1][0] is module:
            marks.pop()[1].__exit__(None, None, None)

    _hush_compile()
    register_module_forward_pre_hook(before)
    register_module_forward_hook(after, always_call=True)
