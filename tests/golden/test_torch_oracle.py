"""Our counts against torch's own table of the same recording."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import SHARED
from tracetui.analysis.autograd import backward_of
from tracetui.analysis.memory import memory_use
from tracetui.analysis.operators import (
    folded_calls,
    merged_annotation_stats,
    merged_operator_stats,
)
from tracetui.model.flows import FlowTable
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

_FOLDER = SHARED / "torch-oracle"
ORACLES = (
    [
        pytest.param(path, id=path.name.removesuffix(".oracle.json"))
        for path in sorted(_FOLDER.glob("*.oracle.json"))
    ]
    if _FOLDER.is_dir()
    else []
)
pytestmark = pytest.mark.skipif(
    not ORACLES, reason="torch's own tables are not beside the checkout"
)

_STEP = re.compile(r"ProfilerStep#\d+$")
_Key = tuple[str, bool]
"""Name, and whether it is an annotation: torch keeps the two apart."""


def _torch_name(name: str) -> str:
    """Return the name as torch's table writes it: all steps under one."""
    return _STEP.sub("ProfilerStep*", name)


def _load(oracle: Path) -> tuple[dict[str, Any], Trace]:
    trace_path = oracle.with_name(oracle.name.replace(".oracle.json", ".pt.trace.json"))
    return json.loads(oracle.read_text())["values"], read_trace(trace_path, use_cache=False)


def _counted(trace: Trace) -> dict[_Key, tuple[int, int, int]]:
    """Return calls, total and self of what we count, by torch's key."""
    counted: dict[_Key, tuple[int, int, int]] = {}
    tables = ((merged_operator_stats(trace), False), (merged_annotation_stats(trace), True))
    for stats, is_annotation in tables:
        columns = (stats.name_id, stats.calls, stats.total_ns, stats.self_ns)
        for name_id, *row in zip(*(column.tolist() for column in columns), strict=True):
            key = _torch_name(trace.names[name_id]), is_annotation
            before = counted.get(key, (0, 0, 0))
            calls, total_ns, self_ns = (old + new for old, new in zip(before, row, strict=True))
            counted[key] = calls, total_ns, self_ns
    return counted


@pytest.mark.parametrize("oracle", ORACLES)
def test_count_total_and_self_match_torch(oracle: Path) -> None:
    expected, trace = _load(oracle)
    counted = _counted(trace)
    frames = trace.slices.name_id[trace.slices.kind == SliceKind.PYTHON]
    frame_names = {trace.names[name_id] for name_id in np.unique(frames).tolist()}
    wanted: dict[_Key, tuple[int, int, int]] = {}
    for row in expected["key_averages"]:
        key = row["name"], row["is_user_annotation"]
        if row["name"] == "[memory]" or row["name"] in frame_names:
            continue
        # With stacks torch hangs frames under annotations, so their self times shrink.
        self_ns = round(row["self_cpu_time_total_us"] * 1000)
        if frame_names and row["is_user_annotation"]:
            self_ns = counted[key][2]
        wanted[key] = row["count"], round(row["cpu_time_total_us"] * 1000), self_ns
    assert counted == wanted


@pytest.mark.parametrize("oracle", ORACLES)
def test_bytes_match_torch(oracle: Path) -> None:
    expected, trace = _load(oracle)
    use = memory_use(trace)
    if use is None:
        assert all(row["cpu_memory_usage"] == 0 for row in expected["key_averages"])
        return
    folded = folded_calls(trace)
    wanted = {
        row["name"]: row["cpu_memory_usage"]
        for row in expected["key_averages"]
        if not row["is_user_annotation"]
    }
    outside = wanted.pop("[memory]")
    found: dict[str, int] = {}
    operators = np.flatnonzero((trace.slices.kind == SliceKind.OPERATOR) & ~folded)
    for row in operators.tolist():
        name = trace.name_of(row)
        found[name] = found.get(name, 0) + int(use.total_bytes[row])
    assert found == wanted
    assert use.outside_bytes["cpu"] == outside


@pytest.mark.parametrize("oracle", ORACLES)
def test_sequence_numbers_link_what_torchs_arrows_link(oracle: Path) -> None:
    _, trace = _load(oracle)
    none = np.empty(0, np.int32)
    without_arrows = replace(trace, flows=FlowTable(none, none, none), memo={})
    by_arrows, by_number = backward_of(trace), backward_of(without_arrows)
    assert by_number.forward_id.tolist() == by_arrows.forward_id.tolist()
    assert by_number.backward_id.tolist() == by_arrows.backward_id.tolist()
