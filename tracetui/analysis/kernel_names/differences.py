"""What two kernels' names say differently, in plain words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName


@dataclass(frozen=True, slots=True)
class NameDifference:
    """One fact on which two names differ; the values are text, ``None`` where a name is silent."""

    field: str
    baseline: str | None
    candidate: str | None
    gloss: str


_WHATEVER_THE_WORK: Final = (
    ("kind", "kind of work"),
    ("origin", "library"),
    ("inductor_kind", "generated loop"),
)
_OF_THE_SAME_WORK: Final = (
    ("backend", "attention backend"),
    ("direction", "direction"),
    ("arch", "architecture"),
    ("dtype_in", "inputs"),
    ("dtype_acc", "accumulation"),
    ("mma", "matrix instruction"),
    ("tile", "tile"),
    ("stages", "pipeline stages"),
    ("layout", "layout"),
    ("cluster", "cluster"),
    ("alignment", "load width"),
    ("epilogue", "epilogue"),
)
_BITS: Final = {
    "fp64": 64, "fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16,
    "fp8_e4m3": 8, "fp8_e5m2": 8, "int8": 8, "fp4_e2m1": 4,
}  # fmt: skip
_SPLIT: Final = {None: None, False: "no", True: "yes"}


def name_differences(baseline: KernelName, candidate: KernelName) -> tuple[NameDifference, ...]:
    """Return the facts on which two names differ, the most telling first.

    A fact counts only where both names give it, except what a name can only add: split K, an
    epilogue, fused operators. Tiles and the like are compared between kernels of one kind. Two
    names that say the same give ``()``.
    """
    return tuple(_differences(baseline, candidate))


def _differences(a: KernelName, b: KernelName) -> Iterator[NameDifference]:
    is_same_work = a.kind == b.kind
    cores = _tensor_core_difference(a, b) if is_same_work else None
    if cores is not None:
        yield cores
    for field, title in (*_WHATEVER_THE_WORK, *(_OF_THE_SAME_WORK if is_same_work else ())):
        before, after = _text(getattr(a, field)), _text(getattr(b, field))
        if before == after or (None in (before, after) and field != "epilogue"):
            continue
        if field == "dtype_in":
            gloss = _bytes_gloss(a, b) if cores is not None else _inputs_gloss(a, b)
        else:
            gloss = _gloss(field, title, before, after)
        if gloss:
            yield NameDifference(field, before, after, gloss)
    if is_same_work and bool(a.split_k) != bool(b.split_k):
        word = "added: the parts are summed up afterwards" if b.split_k else "gone"
        yield NameDifference("split_k", _SPLIT[a.split_k], _SPLIT[b.split_k], f"split-k {word}")
    yield from _operator_difference(a, b)


def _tensor_core_difference(a: KernelName, b: KernelName) -> NameDifference | None:
    if a.tensor_cores == b.tensor_cores or "unknown" in (a.tensor_cores, b.tensor_cores):
        return None
    gloss = "tensor cores lost" if b.tensor_cores == "no" else "tensor cores gained"
    if a.dtype_in and b.dtype_in and a.dtype_in != b.dtype_in:
        gloss += f": {_became(a, b)}"
    return NameDifference("tensor_cores", a.tensor_cores, b.tensor_cores, gloss)


def _became(a: KernelName, b: KernelName) -> str:
    match (a.dtype_in, b.dtype_in):
        case ("fp32", "tf32"):
            return "fp32 inputs are rounded to tf32"
        case ("tf32", "fp32"):
            return "fp32 inputs are no longer rounded to tf32"
        case _:
            return f"inputs became {b.dtype_in}"


def _bytes_gloss(a: KernelName, b: KernelName) -> str:
    """Return what another format does to memory, "" where that is nothing."""
    before, after = _BITS.get(a.dtype_in or "", 0), _BITS.get(b.dtype_in or "", 0)
    return f"{after} bits an element, not {before}" if before and after and before != after else ""


def _inputs_gloss(a: KernelName, b: KernelName) -> str:
    effect = _bytes_gloss(a, b)
    return f"{_became(a, b)}: {effect}" if effect else _became(a, b)


def _operator_difference(a: KernelName, b: KernelName) -> Iterator[NameDifference]:
    added = [name for name in b.operators if name not in a.operators]
    gone = [name for name in a.operators if name not in b.operators]
    parts = []
    if added:
        parts.append(f"{'also fuses' if a.operators else 'fuses'} {', '.join(added)}")
    if gone:
        parts.append(f"no longer fuses {', '.join(gone)}")
    if parts:
        before, after = (" ".join(each.operators) or None for each in (a, b))
        yield NameDifference("operators", before, after, "; ".join(parts))


def _gloss(field: str, title: str, before: str | None, after: str | None) -> str:
    if field == "layout":
        return f"operands lie differently in memory: {before} became {after}"
    if field == "epilogue" and before is None:
        return f"{after} is done in the epilogue"
    if field == "epilogue" and after is None:
        return f"{before} is no longer done in the epilogue"
    if field == "origin" and after is not None and after.startswith("inductor"):
        return f"generated by torch.compile instead of {before}'s"
    return f"other {title}: {before} became {after}"


def _text(value: object) -> str | None:
    return None if value is None else str(value)
