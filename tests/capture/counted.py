"""What tracetui counts in a trace against what torch counted in the same run."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

from tracetui.analysis.operators import (
    NameStats,
    merged_annotation_stats,
    merged_operator_stats,
)
from tracetui.model.trace import Trace

STEP = "ProfilerStep#"
Counted = dict[str, tuple[int, int, int]]
"""Calls, total and self in nanoseconds by the name that torch's table has."""


def _key(name: str) -> str:
    return "ProfilerStep*" if name.startswith(STEP) else name


def _merged(trace: Trace, stats: NameStats) -> Counted:
    calls: Counter[str] = Counter()
    total: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for name_id, n_calls, total_ns, self_ns in zip(
        stats.name_id.tolist(),
        stats.calls.tolist(),
        stats.total_ns.tolist(),
        stats.self_ns.tolist(),
        strict=True,
    ):
        key = _key(trace.names[name_id])
        calls[key] += n_calls
        total[key] += total_ns
        own[key] += self_ns
    return {key: (calls[key], total[key], own[key]) for key in calls}


def counted_operators(trace: Trace) -> Counted:
    """Return tracetui's operators, an only child of its parent's name folded as torch does."""
    return _merged(trace, merged_operator_stats(trace))


def counted_annotations(trace: Trace) -> Counted:
    """Return tracetui's annotations in the same way."""
    return _merged(trace, merged_annotation_stats(trace))


def torch_counted(trace_file: Path, *, is_annotation: bool) -> Counted:
    """Return torch's rows of one kind from the oracle beside a trace."""
    path = trace_file.with_name(trace_file.name.replace(".json.gz", ".oracle.json"))
    rows = json.loads(path.read_text(), parse_float=Decimal)["key_averages"]
    return {
        row["name"]: (row["count"], int(row["total_us"] * 1000), int(row["self_us"] * 1000))
        for row in rows
        if row["is_annotation"] == is_annotation
    }
