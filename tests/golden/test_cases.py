"""The shared cases: what each small input from a public bug report has to give."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import SHARED
from tracetui.analysis.links import links
from tracetui.analysis.memory import memory_use
from tracetui.analysis.operators import (
    annotation_stats,
    operator_stats,
    other_stats,
    python_stats,
    runtime_stats,
)
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import host_use, utilization
from tracetui.errors import TraceFormatError
from tracetui.model.slices import SliceKind
from tracetui.model.tracks import TrackKind
from tracetui.readers import read_trace


def _cases():
    for folder in sorted((SHARED / "cases").glob("*/")):
        expect = folder / "expect.json"
        if not expect.exists():
            continue
        expected = json.loads(expect.read_text())
        if expected["load"].startswith("ok"):
            for path in sorted(folder.glob("*")):
                readable = path.suffix in {".json", ".gz", ".zip", ".JSON", ".tmp", ""}
                if readable and path.name != "expect.json" and path.is_file():
                    yield pytest.param(path, expected, id=f"{folder.name}/{path.name}")


CASES = list(_cases()) if SHARED.is_dir() else []
pytestmark = pytest.mark.skipif(not CASES, reason="the shared cases are not beside this checkout")


def _ns(text: str) -> int:
    return int(Decimal(text) * 1000)


def _by_name(trace, column):
    found: dict[str, int] = {}
    for analysis in (operator_stats, annotation_stats, python_stats, runtime_stats, other_stats):
        stats = analysis(trace)
        for name_id, value in zip(
            stats.name_id.tolist(), getattr(stats, column).tolist(), strict=True
        ):
            found[trace.names[name_id]] = found.get(trace.names[name_id], 0) + value
    return found


def _check_tree(trace, expected):
    slices = trace.slices
    for name, parent in expected.get("parent", {}).items():
        name_id = trace.names.find(name)
        rows = np.flatnonzero(
            (slices.name_id == name_id)
            & ~slices.is_device_work()
            & (slices.kind != SliceKind.DEVICE_ANNOTATION)
        ).tolist()
        found = {trace.name_of(p) if p >= 0 else None for p in slices.parent_id[rows].tolist()}
        assert found == {parent}, name
    if "depth" in expected:
        assert int(slices.depth.max()) + 1 == expected["depth"]
    if "root_total_us" in expected:
        assert int(slices.dur_ns[slices.depth == 0].sum()) == _ns(expected["root_total_us"])
    if "sum_self_us" in expected:
        assert int(links(trace).self_ns.sum()) == _ns(expected["sum_self_us"])
    if "sum_us" in expected:
        assert int(slices.dur_ns.sum()) == _ns(expected["sum_us"])


def _check_device(trace, expected):
    uses = utilization(trace)

    def total(attribute):
        return sum(getattr(use, attribute) for use in uses)

    for key, attribute in {
        "gpu_sum_us": "sum_ns",
        "gpu_busy_us": "busy_ns",
        "overlap_us": "comm_overlap_ns",
        "exposed_us": "comm_exposed_ns",
        "comm_us": "comm_ns",
        "gpu_unattributed_us": "unattributed_ns",
    }.items():
        if key in expected:
            assert total(attribute) == _ns(expected[key]), key
    if "gpu_sum_us_any" in expected:
        assert total("sum_ns") in [_ns(text) for text in expected["gpu_sum_us_any"]]
    if "gpu_by_op_us" in expected:
        found: dict[str, int] = {}
        owner = links(trace).owner_id
        for row in np.flatnonzero(trace.slices.is_device_work() & (owner >= 0)).tolist():
            name = trace.name_of(int(owner[row]))
            found[name] = found.get(name, 0) + int(trace.slices.dur_ns[row])
        wanted = {name: _ns(text) for name, text in expected["gpu_by_op_us"].items()}
        assert found == wanted


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_case(path: Path, expected):
    try:
        trace = read_trace(path, use_cache=False)
    except TraceFormatError:
        assert "error" in expected["load"]
        return

    total, own = _by_name(trace, "total_ns"), _by_name(trace, "self_ns")
    for key, found in (
        ("total_us", total),
        ("self_us", own),
        ("host_self_us", own),
        ("total_us_host", total),
    ):
        for name, text in expected.get(key, {}).items():
            assert found.get(name) == _ns(text), (key, name)
    _check_tree(trace, expected)
    _check_device(trace, expected)
    host = host_use(trace)
    if "host_threads" in expected:
        assert host.n_threads == expected["host_threads"]
    if "host_busy_us" in expected:
        assert host.busy_ns == _ns(expected["host_busy_us"])
    if "overhead_us" in expected:
        assert host.overhead_ns == _ns(expected["overhead_us"])
    if "span_us" in expected:
        assert trace.end_ns == _ns(expected["span_us"])
    if "steps" in expected:
        found_steps = {str(step.number): step.wall_ns for step in steps(trace)}
        assert found_steps == {number: _ns(us) for number, us in expected["steps"].items()}
    if "peak_bytes" in expected:
        use = memory_use(trace)
        assert use is not None
        assert dict(use.peak_bytes) == expected["peak_bytes"]
    if "fwdbwd" in expected:
        flows = trace.flows
        fwdbwd = trace.categories.find("fwdbwd")
        pairs = {
            trace.name_of(int(a)): trace.name_of(int(b))
            for c, a, b in zip(flows.category_id, flows.from_id, flows.to_id, strict=True)
            if c == fwdbwd
        }
        assert pairs == expected["fwdbwd"]
    if "slices" in expected:
        assert len(trace.slices) == expected["slices"]
    if "damaged" in expected:
        assert trace.report.is_damaged == expected["damaged"]


def test_device_lanes_are_streams_that_have_work():
    trace = read_trace(SHARED / "cases" / "60-names-and-odd-pids" / "input.json", use_cache=False)

    device = [track for track in trace.tracks if track.kind == TrackKind.DEVICE]
    assert [(track.device, track.stream) for track in device] == [(0, 7)]
