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


_TITLES: Final = (
    ("kind", "kind of work"),
    ("origin", "library"),
    ("backend", "attention backend"),
    ("direction", "direction"),
    ("inductor_kind", "generated loop"),
    ("arch", "built for"),
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
_SPLIT: Final = {None: None, False: "no", True: "yes"}
_WIDTHS: Final = {
    "fp64": 64, "fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16,
    "fp8_e4m3": 8, "fp8_e5m2": 8, "int8": 8, "fp4_e2m1": 4,
}  # fmt: skip


def name_differences(baseline: KernelName, candidate: KernelName) -> tuple[NameDifference, ...]:
    """Return the facts on which two names differ, the most telling first.

    A fact counts only where both names give it, except what a name can only add: split K and an
    epilogue. Two names that say the same give ``()``.
    """
    return tuple(_differences(baseline, candidate))


def _differences(a: KernelName, b: KernelName) -> Iterator[NameDifference]:
    yield from _tensor_core_difference(a, b)
    for field, title in _TITLES:
        before, after = getattr(a, field), getattr(b, field)
        if before == after or (None in (before, after) and field != "epilogue"):
            continue
        yield NameDifference(
            field, _text(before), _text(after), _gloss(field, title, _text(before), _text(after))
        )
    if bool(a.split_k) != bool(b.split_k) and a.kind == b.kind:
        gloss = (
            "split-k added: partial sums are added up afterwards" if b.split_k else "split-k gone"
        )
        yield NameDifference("split_k", _SPLIT[a.split_k], _SPLIT[b.split_k], gloss)
    yield from _operator_difference(a, b)


def _tensor_core_difference(a: KernelName, b: KernelName) -> Iterator[NameDifference]:
    if a.tensor_cores == b.tensor_cores or "unknown" in (a.tensor_cores, b.tensor_cores):
        return
    if a.kind != b.kind:
        return
    gloss = "tensor cores lost" if b.tensor_cores == "no" else "tensor cores gained"
    if a.dtype_in != b.dtype_in and a.dtype_in and b.dtype_in:
        gloss += f": inputs became {b.dtype_in}"
    yield NameDifference("tensor_cores", a.tensor_cores, b.tensor_cores, gloss)


def _operator_difference(a: KernelName, b: KernelName) -> Iterator[NameDifference]:
    if a.operators == b.operators or not (a.operators and b.operators):
        return
    added = [name for name in b.operators if name not in a.operators]
    gone = [name for name in a.operators if name not in b.operators]
    parts = []
    if added:
        parts.append(f"also fuses {', '.join(added)}")
    if gone:
        parts.append(f"no longer fuses {', '.join(gone)}")
    if not parts:
        parts.append("same operators in another order")
    yield NameDifference(
        "operators", " ".join(a.operators), " ".join(b.operators), "; ".join(parts)
    )


def _gloss(field: str, title: str, before: str | None, after: str | None) -> str:
    if field == "dtype_in":
        return _format_gloss(before, after)
    if field == "tile":
        return f"other tile: {before} became {after}"
    if field == "layout":
        return f"operands lie differently in memory: {before} became {after}"
    if field == "epilogue":
        if before is None:
            return f"{after} done in the product's epilogue"
        if after is None:
            return f"{before} no longer in the epilogue"
    return f"other {title}: {before} became {after}"


def _format_gloss(before: str | None, after: str | None) -> str:
    narrow, wide = _WIDTHS.get(after or ""), _WIDTHS.get(before or "")
    gloss = f"inputs became {after}"
    if narrow and wide and narrow != wide:
        gloss += f": {'more' if narrow > wide else 'fewer'} bytes for each element"
    return gloss


def _text(value: object) -> str | None:
    return None if value is None else str(value)
