"""An operator that copies its whole input first, only to change it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.autograd import backward_of
from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import OPERATORS, Need
from tracetui.diagnosis.scope import BACKWARD, not_inside, outermost, share_of
from tracetui.format import count, duration, percent, size
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.trace import Trace

_PREFIX = "aten::"
_COPIES = ("aten::clone", "aten::copy_")


@dataclass(frozen=True, slots=True)
class HiddenCopy:
    """Fires when an out-of-place operator is a copy and then its own in-place form.

    ``aten::masked_fill`` that calls ``aten::clone`` and ``aten::masked_fill_`` is the model. Where
    a backward pass belongs to the operator the rule is silent, for the input may be needed again;
    and so it is inside a backward pass, which nobody can change.
    """

    name: str = "hidden-copy"
    about: str = "an out-of-place operator that first copies its whole input"
    needs: tuple[Need, ...] = (OPERATORS,)
    min_share_ratio: float = 0.005
    """Copies below this share of the time are not worth a line."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each operator that copies so."""
        for name_id, name in enumerate(trace.names):
            in_place_id = trace.names.find(f"{name}_") if name.startswith(_PREFIX) else NO_ID
            if in_place_id != NO_ID:
                copies = _copies_below(trace, name_id, in_place_id)
                if len(copies):
                    yield from self._judged(trace, name, copies)

    def _judged(self, trace: Trace, name: str, copies: Int64s) -> Iterator[Finding]:
        slices = trace.slices
        share = share_of(trace, copies)
        evidence = share.slices
        if not len(evidence) or share.ratio < self.min_share_ratio:
            return
        n_bytes = int(np.maximum(slices.n_bytes[evidence], 0).sum())
        moved = f" of {size(n_bytes // len(evidence))}" if n_bytes else ""
        times = "copy" if len(evidence) == 1 else "copies"
        base = name.removeprefix(_PREFIX)
        yield Finding(
            self.name,
            severity_of(share.ratio),
            f"{name} copies its whole input first: {count(len(evidence))} {times}{moved} took"
            f" {duration(share.cost_ns)}, {percent(share.ratio)} of {share.of_what}",
            evidence,
            f"Call {base}_ in place of {base} where nothing else reads its input"
            f" (under torch.no_grad()), or let torch.compile fuse it",
            Saving.of_slices(trace, evidence, "all of the copies: in place there are none"),
        )


def _copies_below(trace: Trace, name_id: int, in_place_id: int) -> Int64s:
    """Return the copies that operators of a name make before their own in-place form."""
    slices = trace.slices
    child = np.flatnonzero(slices.parent_id >= 0)
    child = child[slices.name_id[slices.parent_id[child]] == name_id]
    changed = slices.parent_id[child[slices.name_id[child] == in_place_id]]
    changed = changed[backward_of(trace).backward_id[changed] == NO_ID]
    changed = not_inside(trace, changed, BACKWARD)
    copy_ids = [trace.names.find(name) for name in _COPIES]
    is_copy = np.isin(slices.name_id[child], copy_ids) & np.isin(slices.parent_id[child], changed)
    return outermost(trace, child[is_copy])
