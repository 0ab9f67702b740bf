"""Counts, unions and sums of real recordings against independent exact values."""

from collections import Counter

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.golden.recordings import SKIPPED_WITHOUT, goldens, nanoseconds
from tracetui.analysis.kernels import kernel_stats, memop_stats
from tracetui.analysis.launches import launch_stats
from tracetui.analysis.steps import steps
from tracetui.analysis.utilization import utilization
from tracetui.model.slices import SliceKind
from tracetui.readers import read_trace

pytestmark = SKIPPED_WITHOUT


@pytest.fixture(scope="module", params=goldens("raw"))
def recording(request):
    """Return a trace and its golden values, read once for all tests of it."""
    name, golden = request.param
    return read_trace(SHARED / "traces" / name, use_cache=False), golden


def test_every_complete_event_is_kept_in_its_category(recording):
    trace, golden = recording

    ids, counts = np.unique(trace.slices.category_id, return_counts=True)

    expected = {category: n for category, n in golden["X_by_cat"].items() if category != "None"}
    found = {trace.categories[i]: n for i, n in zip(ids.tolist(), counts.tolist(), strict=True)}
    assert {category: found.get(category, 0) for category in expected} == expected


def test_the_recording_lasts_from_its_first_slice_to_its_last(recording):
    trace, golden = recording
    slices = trace.slices
    counted = slices.kind != SliceKind.PROFILER

    span_ns = int(slices.end_ns[counted].max() - slices.ts_ns[counted].min())

    assert span_ns == nanoseconds(golden["span_us_excl_Trace_cat"])


def test_each_device(recording):
    trace, golden = recording
    uses = {str(use.device): use for use in utilization(trace)}
    expected_devices = (golden.get("gpu") or {}).get("per_device", {})

    assert uses.keys() == expected_devices.keys()
    for device, expected in expected_devices.items():
        use = uses[device]
        for attribute in ("n_kernels", "n_memcpys", "n_memsets"):
            assert getattr(use, attribute) == expected[attribute.removesuffix("s")], attribute
        for attribute, key in {
            "sum_ns": "sum_durations_us",
            "busy_ns": "busy_union_us",
            "idle_ns": "idle_us",
            "span_ns": "span_us",
            "compute_ns": "compute_kernel_union_us",
            "comm_ns": "comm_kernel_union_us",
            "comm_overlap_ns": "comm_compute_overlap_us",
            "comm_exposed_ns": "comm_exposed_us",
            "memcpy_exposed_ns": "mem_exposed_us",
        }.items():
            assert getattr(use, attribute) == nanoseconds(expected[key]), attribute


def test_each_stream(recording):
    trace, golden = recording

    for use in utilization(trace):
        expected_streams = golden["gpu"]["per_device"][str(use.device)]["per_stream"]
        assert {str(stream.stream) for stream in use.streams} == expected_streams.keys()
        for stream in use.streams:
            expected = expected_streams[str(stream.stream)]
            assert stream.n_slices == expected["n"]
            assert stream.sum_ns == nanoseconds(expected["sum_us"])
            assert stream.busy_ns == nanoseconds(expected["union_us"])
            assert stream.span_ns == nanoseconds(expected["span_us"])
            assert stream.idle_ns == nanoseconds(expected["gap_us"])


def test_kernels_by_name(recording):
    trace, golden = recording
    gpu = golden.get("gpu") or {}
    stats = kernel_stats(trace)
    row_of = {trace.names[i]: row for row, i in enumerate(stats.name_id.tolist())}

    assert len(stats) == gpu.get("n_distinct_kernel_names", 0)
    assert int(stats.total_ns.sum()) == nanoseconds(gpu.get("sum_kernel_us", 0))
    for expected in gpu.get("kernels_top20_by_total", []):
        row = row_of[expected["name"]]
        assert stats.calls[row] == expected["count"]
        assert stats.total_ns[row] == nanoseconds(expected["total_us"])
        assert stats.min_ns[row] == nanoseconds(expected["min_us"])
        assert stats.max_ns[row] == nanoseconds(expected["max_us"])
        assert stats.mean_ns[row] == pytest.approx(float(expected["mean_us"]) * 1000, abs=0.1)


def test_copies_and_memsets_by_name(recording):
    trace, golden = recording
    stats = memop_stats(trace)

    # The golden values have 0 bytes where the file gives none.
    found = {
        trace.names[name_id]: (calls, total_ns, n_bytes)
        for name_id, calls, total_ns, n_bytes in zip(
            stats.name_id.tolist(),
            stats.calls.tolist(),
            stats.total_ns.tolist(),
            np.maximum(stats.n_bytes, 0).tolist(),
            strict=True,
        )
    }

    assert found == {
        expected["name"]: (expected["count"], nanoseconds(expected["total_us"]), expected["bytes"])
        for expected in (golden.get("gpu") or {}).get("memops", [])
    }


def test_work_with_a_known_launch(recording):
    trace, golden = recording

    expected = golden["correlation"]["gpu_events_with_matching_runtime"]

    assert len(launch_stats(trace)) == expected


def test_steps_are_those_of_the_host(recording):
    trace, golden = recording

    found = Counter((trace.name_of(step.slice_id), step.wall_ns) for step in steps(trace))

    assert found == Counter(
        (step["name"], nanoseconds(step["dur_us"]))
        for step in golden["profiler_steps"]
        if step["cat"] != "gpu_user_annotation"
    )
