"""Attention that fell back to the backend that writes out every intermediate."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.cost.inputs import Inputs
from tracetui.analysis.links import links
from tracetui.analysis.work_class import WorkClass, slice_classes
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, Need
from tracetui.diagnosis.scope import (
    device_busy_ns,
    device_work_in,
    holder_of,
    named,
    outermost,
    recorded_ns,
)
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Bools, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_MATH: Final = re.compile(r"^aten::_scaled_dot_product_attention_math$")
_PRODUCTS: Final = re.compile(r"^aten::(bmm|baddbmm|mm|addmm)$")
_DROPOUT_INPUT: Final = 4
"""Where the backend takes the probability of dropout."""
_CHANGE_ON_HOST: Final = (
    "Pin the fused backend, with sdpa_kernel(SDPBackend.FLASH_ATTENTION): it says which input it"
    " cannot take (often the mask or the layout)"
)
_CHANGE: Final = (
    "Pin a fused backend, with sdpa_kernel(SDPBackend.FLASH_ATTENTION) or EFFICIENT_ATTENTION: it"
    " says which input it cannot take (often the dtype, the mask or the head dimension)"
)


@dataclass(frozen=True, slots=True)
class MathAttention:
    """Fires when ``scaled_dot_product_attention`` runs its math backend for a share of the time.

    Where no fused kernel exists it is silent: on the host for calls with dropout, on a device for
    those in fp64.
    """

    name: str = "math-attention"
    about: str = "scaled_dot_product_attention on its math backend, where fused kernels exist"
    needs: tuple[Need, ...] = (OPERATORS,)
    min_share_ratio: float = 0.02

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such calls."""
        calls = outermost(trace, named(trace, _MATH, SliceKind.OPERATOR))
        if not len(calls):
            return
        if links(trace).has_device:
            yield from self._on_device(trace, calls)
        else:
            yield from self._on_host(trace, calls)

    def _on_device(self, trace: Trace, calls: Int64s) -> Iterator[Finding]:
        is_double = [_is_double(trace, each) for each in calls.tolist()]
        work, holder = device_work_in(trace, calls[~np.array(is_double, bool)])
        cost_ns, busy_ns = int(trace.slices.dur_ns[work].sum()), device_busy_ns(trace)
        if not len(work) or cost_ns < self.min_share_ratio * busy_ns:
            return
        n_calls = len(np.unique(holder))
        other = work[slice_classes(trace)[work] != WorkClass.GEMM]
        yield Finding(
            self.name,
            severity_of(cost_ns / busy_ns),
            f"scaled_dot_product_attention fell back to its math backend: {_calls(n_calls)} of"
            f" {len(work) / n_calls:.3g} kernels took {duration(cost_ns)},"
            f" {percent(cost_ns / busy_ns)} of device time",
            in_time_order(trace, work),
            _CHANGE,
            Saving.of_slices(
                trace, other, "all but the matrix products, which a fused kernel speeds up besides"
            ),
        )

    def _on_host(self, trace: Trace, calls: Int64s) -> Iterator[Finding]:
        slices = trace.slices
        calls = calls[~_drops_out(trace, calls)]
        cost_ns, whole_ns = int(slices.dur_ns[calls].sum()), recorded_ns(trace)
        if not len(calls) or cost_ns < self.min_share_ratio * whole_ns:
            return
        products = outermost(trace, named(trace, _PRODUCTS, SliceKind.OPERATOR))
        holder = holder_of(trace, products, calls)
        inside = holder != NO_ID
        saved_ns = slices.dur_ns[calls].copy()
        np.subtract.at(saved_ns, holder[inside], slices.dur_ns[products[inside]])
        start_ns = slices.ts_ns[calls]
        yield Finding(
            self.name,
            severity_of(cost_ns / whole_ns),
            f"scaled_dot_product_attention fell back to its math backend: {_calls(len(calls))} took"
            f" {duration(cost_ns)}, {percent(cost_ns / whole_ns)} of the recording",
            in_time_order(trace, calls),
            _CHANGE_ON_HOST,
            Saving(
                start_ns,
                start_ns + slices.dur_ns[calls],
                np.maximum(saved_ns, 0),
                "all but the matrix products inside",
            ),
        )


def _drops_out(trace: Trace, calls: Int64s) -> Bools:
    """Return which calls have dropout, as far as the file has their inputs' values."""
    ids = trace.slices.signature_id[calls]
    known = {each: _dropout(trace.signatures[each]) > 0 for each in np.unique(ids[ids != NO_ID])}
    return np.array([known.get(each, False) for each in ids.tolist()], bool)


def _is_double(trace: Trace, call: int) -> bool:
    return any(each.precision == "fp64" for each in tensors_of(trace, call))


def _dropout(signature: str) -> float:
    values = Inputs.from_signature(signature).values
    try:
        return float(values[_DROPOUT_INPUT])
    except (IndexError, TypeError, ValueError):
        return 0.0


def _calls(n_calls: int) -> str:
    return "1 call" if n_calls == 1 else f"{count(n_calls)} calls"
