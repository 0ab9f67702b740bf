"""Tables of a report that say what held things back: verdict, idle time, critical path, compiling."""

import numpy as np

from tracetui.analysis.artefacts import ArtefactKind, artefacts
from tracetui.analysis.bound import bounds
from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.critical_path import PathClass, critical_path, path_shares
from tracetui.analysis.idle import idle_holders
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.reports.time import Row, Time


def bound_rows(trace: Trace) -> list[Row]:
    """Return the verdict on each device; shares are of ``counted_us``, artefacts left out."""
    return [
        {
            "device": each.device,
            "bound": each.kind.value,
            "counted_us": Time(each.counted.span_ns),
            "cold_step_us": Time(each.counted.cold_ns),
            "profiler_us": Time(each.counted.overhead_ns),
            "busy_ratio": each.busy_ratio,
            "overhead_ratio": each.overhead_ratio,
            "sync_ratio": each.sync_ratio,
            "other_ratio": each.other_ratio,
            "launched_ahead_ratio": each.ahead_ratio,
            "queued_median_us": None if each.queued_ns is None else Time(each.queued_ns),
            "queue_mean": each.mean_depth,
        }
        for each in bounds(trace)
    ]


def artefact_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return what in the recording is the profiler's own doing, in time order."""
    found = artefacts(trace)
    return [
        {
            "kind": ArtefactKind(kind).name.lower(),
            "name": trace.name_of(slice_id),
            "start_us": Time(start_ns),
            "total_us": Time(end_ns - start_ns),
        }
        for kind, slice_id, start_ns, end_ns in zip(
            found.kind[:limit].tolist(),
            found.slice_id[:limit].tolist(),
            found.start_ns[:limit].tolist(),
            found.end_ns[:limit].tolist(),
            strict=True,
        )
    ]


def holder_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return who held idle time, the most first."""
    return [
        {
            "cause": each.cause.name.lower(),
            "name": each.name or None,
            "frame": each.frame or None,
            "gaps": each.n_gaps,
            "total_us": Time(each.total_ns),
            "longest_us": Time(each.longest_ns),
            "longest_start_us": Time(each.longest_start_ns),
        }
        for each in idle_holders(trace)[:limit]
    ]


def path_rows(trace: Trace) -> list[Row]:
    """Return the critical path by class, the longest first; classes without time are left out."""
    path = critical_path(trace)
    by_class, total_ns = path.class_ns(), path.total_ns
    return [
        {
            "class": PathClass(place).name.lower(),
            "total_us": Time(int(by_class[place])),
            "ratio": int(by_class[place]) / total_ns,
        }
        for place in np.argsort(-by_class, kind="stable").tolist()
        if by_class[place]
    ]


def path_slice_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return what the critical path is made of, by class and name, the longest first."""
    starts = trace.slices.ts_ns
    return [
        {
            "class": each.path_class.name.lower(),
            "name": each.name or None,
            "pieces": each.n_pieces,
            "total_us": Time(each.total_ns),
            "first_us": None if each.first_id == NO_ID else Time(int(starts[each.first_id])),
        }
        for each in path_shares(trace)[:limit]
    ]


def compile_rows(trace: Trace, limit: int | None) -> list[Row]:
    """Return what each function that ``torch.compile`` compiled costs, the most first."""
    tax = compile_tax(trace)
    return [
        {
            "frame": each.name,
            "calls": each.n_calls,
            "tax_median_us": Time(each.median_tax_ns),
            "tax_us": Time(each.total_tax_ns),
            "total_us": Time(each.total_ns),
            "variants": len(each.variants),
            "recompiles": each.n_recompiles,
        }
        for each in (tax.frames[:limit] if tax is not None else ())
    ]
