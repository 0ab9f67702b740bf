"""Constants that are made anew on every call."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import CONCRETE_INPUTS, OPERATORS, Need
from tracetui.diagnosis.scope import share_of, top_operators
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.trace import Trace

_CONSTANTS: Final = re.compile(
    r"^aten::(arange|linspace|logspace|eye|tril_indices|triu_indices|(?:bartlett|blackman|hamming"
    r"|hann|kaiser)_window)$"
)
"""Operators whose result their numbers decide alone. What zeros, ones and full make is often
written into, so that it must be new."""


@dataclass(frozen=True, slots=True)
class RebuiltConstant:
    """Fires when the same series of numbers is made again and again from the same arguments."""

    name: str = "rebuilt-constant"
    about: str = "arange, linspace, eye or a window made anew from the same arguments"
    needs: tuple[Need, ...] = (OPERATORS, CONCRETE_INPUTS)
    min_calls: int = 3
    min_share_ratio: float = 0.01

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each constant."""
        slices = trace.slices
        name_ids = [row for row, name in enumerate(trace.names) if _CONSTANTS.search(name)]
        calls = top_operators(trace)
        calls = calls[np.isin(slices.name_id[calls], name_ids)]
        keys = np.column_stack((slices.name_id[calls], slices.signature_id[calls]))
        for name_id, signature_id in np.unique(keys, axis=0).tolist():
            own = calls[(keys == (name_id, signature_id)).all(axis=1)]
            if signature_id != NO_ID and len(own) >= self.min_calls:
                yield from self._judged(trace, own)

    def _judged(self, trace: Trace, calls: Int64s) -> Iterator[Finding]:
        share = share_of(trace, calls)
        if not len(share.slices) or share.ratio < self.min_share_ratio:
            return
        yield Finding(
            self.name,
            severity_of(share.ratio),
            f"{trace.name_of(int(calls[0]))} makes the same numbers {count(len(calls))} times:"
            f" {duration(share.cost_ns)}, {percent(share.ratio)} of {share.of_what}",
            share.slices,
            "Make them once and keep them with register_buffer(persistent=False)",
            Saving.of_slices(trace, share_of(trace, calls[1:]).slices, "all but the first of them"),
        )
