"""Whole gaps of real recordings against independent exact values."""

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.golden.recordings import SKIPPED_WITHOUT, goldens, nanoseconds
from tracetui.analysis.critical_path import PathClass, critical_path
from tracetui.analysis.idle import idle_gaps, idle_holders
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.readers import read_trace

pytestmark = SKIPPED_WITHOUT


@pytest.fixture(scope="module", params=goldens("reference_gpu"))
def recording(request):
    """Return a trace and its golden values, read once for all tests of it."""
    name, golden = request.param
    return read_trace(SHARED / "traces" / name, use_cache=False), golden


def test_gaps_are_what_busy_time_leaves_of_the_span(recording):
    trace, golden = recording
    for use in utilization(trace):
        expected = golden["per_device"][str(use.device)]
        idle_ns = int(idle_gaps(trace)[use.device].dur_ns.sum())
        assert use.span_ns - idle_ns == nanoseconds(expected["gpu_union_us"])


def test_causes_of_whole_gaps_add_up_to_their_pieces(recording):
    trace, _ = recording
    for use in utilization(trace):
        whole, pieces = idle_gaps(trace)[use.device], gaps(trace, use.device)
        assert np.array_equal(whole.cause_ns.sum(axis=1), whole.dur_ns)
        for cause in GapCause:
            assert int(whole.cause_ns[:, cause].sum()) == pieces.total_ns(cause)
        assert np.array_equal(trace.slices.end_ns[whole.previous_slice_id], whole.start_ns)
        assert np.array_equal(trace.slices.ts_ns[whole.next_slice_id], whole.end_ns)


def test_holders_hold_no_more_than_each_cause_has(recording):
    trace, _ = recording
    for cause in GapCause:
        held_ns = sum(each.total_ns for each in idle_holders(trace) if each.cause == cause)
        assert held_ns <= sum(gaps(trace, use.device).total_ns(cause) for use in utilization(trace))


def test_a_stream_alone_on_its_device_waits_for_the_host_as_the_golden_says(recording):
    """A gap whose next call began after the stream ran dry is one that the host held."""
    trace, golden = recording
    key = next(key for key in golden if key.startswith("idle_by_stream"))
    for use in utilization(trace):
        works = trace.slices.is_device_work()
        # Work without length parts a gap for the golden and not for a union of times.
        if (
            len(use.streams) != 1
            or use.busy_ns != use.sum_ns
            or not trace.slices.dur_ns[works].all()
        ):
            continue
        expected = golden[key][f"{use.device}/{use.streams[0].stream}"].get("host_wait", {"n": 0})
        found = idle_gaps(trace)[use.device]
        launch = found.launch_id
        called_late = (launch >= 0) & (trace.slices.ts_ns[launch] > found.start_ns)
        assert int((called_late & (found.dur_ns > 0)).sum()) == expected["n"]


def test_the_critical_path_covers_the_recording_and_no_more_device_time_than_there_is(recording):
    trace, golden = recording
    path = critical_path(trace)

    assert np.array_equal(path.start_ns[1:], path.end_ns[:-1])
    by_class = path.class_ns()
    device_ns = by_class[[PathClass.COMPUTE, PathClass.COMMUNICATION, PathClass.COPY]].sum()
    busy_ns = sum(nanoseconds(each["gpu_union_us"]) for each in golden["per_device"].values())
    assert device_ns <= busy_ns
