"""Operators of real traces against exact values that were computed by other means."""

import json
from typing import Any

import numpy as np
import pytest

from tests.conftest import SHARED
from tracetui.analysis.links import links
from tracetui.analysis.operators import merged_operator_stats, operator_stats
from tracetui.model.arrays import Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

_SUFFIX = ".golden.json"


def _goldens() -> list[Any]:
    traces = {path.name: path for path in (SHARED / "traces").rglob("*") if path.is_file()}
    return [
        pytest.param((golden, traces[name]), id=name)
        for golden in sorted((SHARED / "goldens").glob(f"*{_SUFFIX}"))
        if (name := golden.name.removesuffix(_SUFFIX)) in traces
    ]


GOLDENS = _goldens() if SHARED.is_dir() else []
pytestmark = pytest.mark.skipif(not GOLDENS, reason="the golden values are not beside the checkout")


def _ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def _found(trace: Trace) -> dict[str, dict[str, int]]:
    """Return what we count, by operator and by the golden's word for it; times in nanoseconds."""
    plain, merged, link = operator_stats(trace), merged_operator_stats(trace), links(trace)
    operators = np.flatnonzero(trace.slices.kind == SliceKind.OPERATOR)
    n_owned = np.zeros(len(trace.names), np.int64)
    np.add.at(n_owned, trace.slices.name_id[operators], link.n_device_self[operators])
    columns: dict[str, tuple[Any, Int64s | None]] = {
        "calls": (merged, merged.calls),
        "calls_before_merge": (plain, plain.calls),
        "host_total_us": (merged, merged.total_ns),
        "host_total_us_before_merge": (plain, plain.total_ns),
        "host_total_us_outermost_only": (plain, plain.outer_total_ns),
        "host_self_us": (merged, merged.self_ns),
        "device_total_us": (merged, merged.device_total_ns),
        "device_self_us": (merged, merged.device_self_ns),
    }
    found: dict[str, dict[str, int]] = {}
    for word, (stats, column) in columns.items():
        for row, name_id in enumerate(stats.name_id.tolist()):
            value = 0 if column is None else int(column[row])
            own = found.setdefault(trace.names[name_id], {})
            own[word] = value
            own["gpu_events_self"] = int(n_owned[name_id])
    return found


@pytest.fixture(scope="module", params=GOLDENS)
def recording(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Trace]:
    """Return the golden values of a trace and the trace, read once for all tests of it."""
    golden, path = request.param
    expected: dict[str, Any] = json.loads(golden.read_text())["values"]["reference_ops"]
    return expected, read_trace(path, use_cache=False)


def test_operators_match_the_golden(recording: tuple[dict[str, Any], Trace]) -> None:
    expected, trace = recording
    found = _found(trace)
    wanted = {
        row["name"]: {
            word: _ns(value) if word.endswith("_us") or "_us_" in word else value
            for word, value in row.items()
            if word != "name"
        }
        for row in expected["ops"]
    }
    assert found == wanted


def test_attribution_matches_the_golden(recording: tuple[dict[str, Any], Trace]) -> None:
    expected, trace = recording
    slices = trace.slices
    work = np.flatnonzero(slices.is_device_work())
    owner = links(trace).owner_id[work]
    by_operator = (owner >= 0) & (slices.kind[owner] == SliceKind.OPERATOR)
    assert len(work) == expected["gpu_events"]
    assert np.count_nonzero(by_operator) == expected["gpu_events_attributed_to_an_op"]
    left_ns = int(slices.dur_ns[work[~by_operator]].sum())
    assert left_ns == _ns(expected["gpu_us_not_attributed"])
