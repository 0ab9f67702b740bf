"""The tensors that an operator took, parsed once for each distinct text of the file."""

from tracetui.analysis.cost.inputs import Inputs, Operand
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace

Shape = tuple[int, ...]


def tensors_of(trace: Trace, slice_id: int) -> tuple[Operand, ...]:
    """Return the tensors among an operator's inputs, numbers apart; none if none are recorded."""
    signature_id = int(trace.slices.signature_id[slice_id])
    if signature_id == NO_ID:
        return ()
    parsed = _parsed(trace)
    if signature_id not in parsed:
        given = Inputs.from_signature(trace.signatures[signature_id]).tensors()
        parsed[signature_id] = tuple(each for each in given if each.shape)
    return parsed[signature_id]


@once_per_trace
def _parsed(trace: Trace) -> dict[int, tuple[Operand, ...]]:
    del trace
    return {}


def broadcast(shapes: tuple[Shape, ...]) -> Shape | None:
    """Return the shape to which some shapes broadcast, ``None`` where they do not."""
    if not shapes:
        return None
    n_dims = max(len(shape) for shape in shapes)
    padded = [(1,) * (n_dims - len(shape)) + shape for shape in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        wide = {each for each in sizes if each != 1}
        if len(wide) > 1:
            return None
        found.append(wide.pop() if wide else 1)
    return tuple(found)
