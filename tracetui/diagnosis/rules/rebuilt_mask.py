"""A mask that is built anew on every call, though it never changes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import OPERATORS, SHAPES, Need
from tracetui.diagnosis.scope import named, not_inside, outermost, share_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_TRIANGLE: Final = re.compile(r"^aten::(tril|triu)_?$")
_ATTENTION: Final = re.compile(r"^aten::_?scaled_dot_product")


@dataclass(frozen=True, slots=True)
class RebuiltMask:
    """Fires when ``tril`` or ``triu`` of one shape runs again and again.

    A triangle of a fixed shape is a constant. What ``scaled_dot_product_attention`` builds itself
    is its own affair.
    """

    name: str = "rebuilt-mask"
    about: str = "a triangular mask of one shape that is built anew on every call"
    needs: tuple[Need, ...] = (OPERATORS, SHAPES)
    min_calls: int = 3
    min_share_ratio: float = 0.005

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each shape that is built so."""
        slices = trace.slices
        calls = outermost(trace, named(trace, _TRIANGLE, SliceKind.OPERATOR))
        calls = not_inside(trace, calls, _ATTENTION)
        for shape_id in np.unique(slices.shape_id[calls]).tolist():
            own = calls[slices.shape_id[calls] == shape_id]
            if shape_id != NO_ID and len(own) >= self.min_calls:
                yield from self._judged(trace, own)

    def _judged(self, trace: Trace, calls: Int64s) -> Iterator[Finding]:
        share = share_of(trace, calls)
        if not len(share.slices) or share.ratio < self.min_share_ratio:
            return
        yield Finding(
            self.name,
            severity_of(share.ratio),
            f"{trace.name_of(int(calls[0]))} builds the same mask {count(len(calls))} times:"
            f" {duration(share.cost_ns)}, {percent(share.ratio)} of {share.of_what}",
            share.slices,
            "Build it once and keep it with register_buffer, or pass is_causal=True to"
            " scaled_dot_product_attention",
            Saving.of_slices(trace, share.slices, "all of the building"),
        )
