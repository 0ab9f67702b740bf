"""Functions about the calls of one name: what hangs below them, how often, how long."""

from fractions import Fraction
from typing import Final

import numpy as np

from tracetui.analysis.call_counts import CallCounts, call_counts, copying_slices
from tracetui.analysis.links import links
from tracetui.analysis.work_class import short_kernel_name
from tracetui.diagnosis.expressions import ExpectationError, shown
from tracetui.diagnosis.measured import NO_DEVICE, NO_SLICES, Measured, mean, not_measured, us
from tracetui.diagnosis.named_slices import NamedSlices, named_slices, required_slices
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_MOST_LISTED: Final = 4


def kernels_per_call(trace: Trace, name: str) -> Measured:
    """Return the mean number of device slices below a call."""
    found = _of_host_calls(trace, name)
    if found is None:
        return not_measured(NO_DEVICE)
    named, counts = found
    one = int(named.slice_ids[int(np.argmax(counts.n_kernels))])
    copies = counts.device_ids[copying_slices(trace)[counts.device_ids]]
    telling = int(copies[0]) if len(copies) else NO_ID
    text = _composition(trace, links(trace).device_slices_of(one)) or "launches nothing"
    if telling != NO_ID:
        text = f"among them {_work_text(trace, telling)}; {text}"
    return Measured(
        mean(counts.n_kernels),
        counts.device_ids if len(counts.device_ids) else named.slice_ids,
        _range_text(counts.n_kernels) + text,
        telling,
    )


def copies_per_call(trace: Trace, name: str) -> Measured:
    """Return the mean number of copies below a call."""
    found = _of_host_calls(trace, name)
    if found is None:
        return not_measured(NO_DEVICE)
    named, counts = found
    copies = counts.device_ids[trace.slices.kind[counts.device_ids] == SliceKind.MEMCPY]
    remark = _range_text(counts.n_copies)
    if len(copies):
        first = int(copies[np.argmin(trace.slices.ts_ns[copies])])
        remark += _work_text(trace, first)
    shown_by = copies if len(copies) else named.slice_ids
    return Measured(mean(counts.n_copies), shown_by, remark.removesuffix("; "))


def launches_per_call(trace: Trace, name: str) -> Measured:
    """Return the mean number of calls below one that put work on a stream."""
    found = _of_host_calls(trace, name)
    if found is None:
        return not_measured(NO_DEVICE)
    named, counts = found
    launch = links(trace).launch_id[counts.device_ids]
    calls: Int64s = np.unique(launch[launch != NO_ID]).astype(np.int64)
    remark = _range_text(counts.n_launches).removesuffix("; ")
    return Measured(mean(counts.n_launches), calls if len(calls) else named.slice_ids, remark)


def calls(trace: Trace, name: str) -> Measured:
    """Return how often slices of a name ran; 0 where there is none."""
    named = named_slices(trace, name)
    if named is None:
        return Measured(Fraction(0), NO_SLICES, "no slice of this name")
    return Measured(Fraction(len(named.slice_ids)), named.slice_ids)


def total_us(trace: Trace, name: str) -> Measured:
    """Return their durations added up."""
    rows = required_slices(trace, name).slice_ids
    return Measured(us(trace.slices.dur_ns[rows].sum()), rows)


def self_us(trace: Trace, name: str) -> Measured:
    """Return the same less what runs inside."""
    named = required_slices(trace, name)
    own_ns = trace.slices.dur_ns if named.is_device_work else links(trace).self_ns
    return Measured(us(own_ns[named.slice_ids].sum()), named.slice_ids)


def device_us(trace: Trace, name: str) -> Measured:
    """Return the device time launched below them, added up."""
    named = required_slices(trace, name)
    if named.is_device_work:
        return Measured(us(trace.slices.dur_ns[named.slice_ids].sum()), named.slice_ids)
    if not links(trace).has_device:
        return not_measured(NO_DEVICE)
    counts = call_counts(trace, named.slice_ids)
    slices = counts.device_ids if len(counts.device_ids) else named.slice_ids
    return Measured(us(counts.device_ns.sum()), slices)


def _of_host_calls(trace: Trace, name: str) -> tuple[NamedSlices, CallCounts] | None:
    """Return the calls of a name and what hangs below them; ``None`` without device activity."""
    named = required_slices(trace, name)
    if named.is_device_work:
        raise ExpectationError(
            f"{shown(name)!r} is device work; name the operator or annotation that launches it"
        )
    if not links(trace).has_device:
        return None
    return named, call_counts(trace, named.slice_ids)


def _composition(trace: Trace, device_ids: Int64s) -> str:
    """Return what one call's device work is, in few words and in order of launch."""
    names = [short_kernel_name(trace.name_of(int(row))) for row in device_ids.tolist()]
    counted = {name: names.count(name) for name in dict.fromkeys(names)}
    listed = [
        shown(name) + (f" ×{number}" if number > 1 else "")
        for name, number in list(counted.items())[:_MOST_LISTED]
    ]
    rest = len(counted) - len(listed)
    return ", ".join(listed) + (f" and {rest} more" if rest > 0 else "")


def _work_text(trace: Trace, device_id: int) -> str:
    """Return a piece of device work with the operator that launched it."""
    owner = int(links(trace).owner_id[device_id])
    name = shown(short_kernel_name(trace.name_of(device_id)))
    return f"{name} under {shown(trace.name_of(owner))}" if owner != NO_ID else name


def _range_text(values: Int64s) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low} to {high} by call; " if low != high else ""
