"""Copies from or to memory that is not pinned."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.diagnosis.scope import device_span_ns, exposed, named
from tracetui.format import count, duration, percent, size
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.units import BYTES_PER_MIB, NS_PER_US

_PAGEABLE: Final = re.compile(r"Memcpy .*Pageable")


@dataclass(frozen=True, slots=True)
class PageableCopy:
    """Fires when large copies go through pageable memory while the device does nothing else.

    Such a copy blocks the host and cannot run beside kernels of its stream. The few bytes of a
    scalar are no trouble: only copies of some size count.
    """

    name: str = "pageable-copy"
    about: str = "large copies between the device and memory that is not pinned"
    needs: tuple[Need, ...] = (DEVICE_WORK,)
    min_bytes: int = BYTES_PER_MIB // 4
    """A copy that moves less is left out."""
    min_copy_ns: int = 20 * NS_PER_US
    """The same, where the file does not say how much was moved."""
    min_share_ratio: float = 0.01
    """Of the device's span, while no kernel runs."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such copies."""
        slices = trace.slices
        copies = named(trace, _PAGEABLE, SliceKind.MEMCPY)
        n_bytes = slices.n_bytes[copies]
        is_large = np.where(
            n_bytes >= 0, n_bytes >= self.min_bytes, slices.dur_ns[copies] >= self.min_copy_ns
        )
        copies = in_time_order(trace, copies[is_large])
        spans = exposed(trace, copies)
        span_ns = device_span_ns(trace)
        if not len(copies) or spans.total_ns < self.min_share_ratio * span_ns:
            return
        moved = int(np.maximum(slices.n_bytes[copies], 0).sum())
        of_size = f" of {size(moved)}" if moved else ""
        copies_text = "1 copy" if len(copies) == 1 else f"{count(len(copies))} copies"
        yield Finding(
            self.name,
            severity_of(spans.total_ns / span_ns),
            f"{copies_text}{of_size} through pageable memory kept the device from computing for"
            f" {duration(spans.total_ns)}, {percent(spans.total_ns / span_ns)} of its time",
            copies,
            "Pin the host's memory (DataLoader(pin_memory=True) or tensor.pin_memory()) and copy"
            " with non_blocking=True",
            Saving.whole(
                spans.starts,
                spans.ends,
                "the time in which nothing but these copies ran, which pinned copies can hide",
            ),
        )
