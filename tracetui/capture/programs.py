"""The variants of a request as things that run: built in, or from a file of the user's."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tracetui.capture.catalog import is_custom, workload_entry
from tracetui.capture.spec import CaptureSpec, Point, Value, file_part
from tracetui.capture.workloads.steps import DTYPES, Setting, Step
from tracetui.errors import CaptureError, UsageError

REFERENCE: Final = "reference"


@dataclass(frozen=True, slots=True)
class Program:
    """A workload at one point of its parameters: each variant built when its turn comes."""

    name: str
    """The workload's name as traces have it."""
    annotation: str
    """What its annotations begin with."""
    parameters: Mapping[str, Value]
    dtype: str | None
    backward: bool
    has_gradients: bool
    """Whether forward and backward are run apart here; a step of the user's does as it likes."""
    variants: tuple[str, ...]
    build: Callable[[str], Step]
    reference: Callable[[], Step] | None
    """What results are compared with; none takes the first variant that runs."""
    reference_name: str
    compiled: frozenset[str]
    """The variants whose first run compiles."""


def program(spec: CaptureSpec, point: Point, device: Any) -> Program:
    """Return a request's workload at one point.

    Raises:
        UsageError: The request names something that there is not.
        CaptureError: The user's file cannot be used.
    """
    if is_custom(spec.workload):
        return _custom(spec, point, device)
    entry = workload_entry(spec.workload)
    parameters = entry.complete(point, is_cpu=device.type == "cpu")
    dtype = str(parameters["dtype"])
    backward = entry.backward if spec.backward is None else spec.backward
    setting = Setting(device, DTYPES[dtype], parameters, backward, spec.seed)
    module = importlib.import_module(entry.module)
    variants = spec.variants or entry.variant_names
    for name in variants:
        entry.variant(name)
    first = entry.variant_names[0]
    exact = setting.exactly()
    return Program(
        name=entry.name,
        annotation=entry.annotation,
        parameters=parameters,
        dtype=dtype,
        backward=backward,
        has_gradients=True,
        variants=tuple(variants),
        build=lambda name: module.build(name, setting.anew()),
        reference=lambda: module.build(first, exact.anew()),
        reference_name=f"{first} in {_dtype_name(exact.computes_in)}",
        compiled=frozenset(each.name for each in entry.variants if each.is_compiled),
    )


def _dtype_name(dtype: Any) -> str:
    return next(name for name, each in DTYPES.items() if each is dtype)


def _loaded(path: Path) -> Any:
    """Return a file of the user's as a module; its folder is on the path as for a script."""
    spec = importlib.util.spec_from_file_location(file_part(path.stem), path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise CaptureError(f"{path}: no such Python file")
    sys.path.insert(0, str(path.resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise CaptureError(
            f"{path}: {_place(error, path)}{type(error).__name__}: {error}"
        ) from error
    return module


def _place(error: BaseException, path: Path) -> str:
    """Return the line of the user's file that an error passed through last."""
    line = None
    step = error.__traceback__
    while step is not None:
        if Path(step.tb_frame.f_code.co_filename).name == path.name:
            line = step.tb_lineno
        step = step.tb_next
    return f"line {line}: " if line else ""


def _custom(spec: CaptureSpec, point: Point, device: Any) -> Program:
    name, _, function_name = spec.workload.rpartition(":")
    if not name:
        name, function_name = spec.workload, "build"
    path = Path(name)
    module = _loaded(path)
    build = getattr(module, function_name, None)
    if not callable(build):
        raise CaptureError(f"{path}: has no function {function_name!r}")
    if spec.backward is not None:
        raise UsageError("--backward is for built-in workloads: a step of yours runs its own")
    given = {**point, "device": device, "seed": spec.seed}
    try:
        made = build(given)
    except Exception as error:
        where = _place(error, path)
        raise CaptureError(
            f"{path}: {function_name}: {where}{type(error).__name__}: {error}{_advice(error, given)}"
        ) from error
    steps = _checked_steps(path, function_name, made)
    reference = steps.pop(REFERENCE, None)
    variants = spec.variants or tuple(steps)
    for variant in variants:
        if variant not in steps:
            raise UsageError(f"{path}: no variant {variant!r} (it has {', '.join(steps)})")
    return Program(
        name=spec.name,
        annotation=spec.name,
        parameters=dict(point),
        dtype=str(point["dtype"]) if "dtype" in point else None,
        backward=False,
        has_gradients=False,
        variants=variants,
        build=lambda variant: Step(steps[variant]),
        reference=None if reference is None else (lambda: Step(reference)),
        reference_name=REFERENCE if reference is not None else variants[0],
        compiled=frozenset(),
    )


def _advice(error: Exception, given: Mapping[str, object]) -> str:
    """Return how to give the parameter that was missing, or nothing where it was not that."""
    name = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(name, str) or name in given:
        return ""
    return f": give it with --set {name}=VALUE"


def _checked_steps(path: Path, function_name: str, made: object) -> dict[str, Callable[[], Any]]:
    expected = "a mapping of variants' names to functions without arguments"
    if not isinstance(made, Mapping) or not made:
        raise CaptureError(f"{path}: {function_name} returns {expected}, not {type(made).__name__}")
    wrong: Sequence[object] = [
        name for name, step in made.items() if not isinstance(name, str) or not callable(step)
    ]
    if wrong or set(made) == {REFERENCE}:
        raise CaptureError(
            f"{path}: {function_name} returns {expected}; look at {wrong or REFERENCE}"
        )
    return dict(made)
