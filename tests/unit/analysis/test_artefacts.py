"""What the profiler did is marked, and left out of a device's shares."""

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.artefacts import ArtefactKind, artefacts, counted_use
from tracetui.analysis.utilization import IdleCauses, utilization


def overhead(name, ts_ns, dur_ns):
    return Row(name, ts_ns, dur_ns, "overhead", "-1", "0")


def sync(ts_ns, dur_ns, tid="1"):
    return Row("cudaDeviceSynchronize", ts_ns, dur_ns, "cuda_runtime", tid=tid)


def marked(trace):
    found = artefacts(trace)
    return [
        (ArtefactKind(kind).name, trace.name_of(slice_id), start, end)
        for kind, slice_id, start, end in zip(
            found.kind.tolist(),
            found.slice_id.tolist(),
            found.start_ns.tolist(),
            found.end_ns.tolist(),
            strict=True,
        )
    ]


@pytest.fixture
def stepped():
    """Three steps of 10 us after a cold one of 100; each has a kernel of 4 us at its end."""
    rows: list[Row | tuple[str, int, int]] = []
    for number, (at, width) in enumerate(((0, 100_000), (100_000, 10_000), (110_000, 10_000))):
        rows += [
            annotation(f"ProfilerStep#{number}", at, width),
            ("aten::mm", at + 1_000, 2_000),
            launch(at + 1_500, 500, 2 * number + 1),
            kernel("first", at + 2_000, 1_000, 2 * number + 1),
            ("aten::mm", at + width - 6_000, 2_000),
            launch(at + width - 5_500, 500, 2 * number + 2),
            kernel("second", at + width - 4_000, 4_000, 2 * number + 2),
        ]
    return trace_of(*rows, sync(119_000, 1_500))


def test_cold_step_and_final_synchronise_are_marked(stepped):
    assert marked(stepped) == [
        ("COLD_STEP", "ProfilerStep#0", 0, 100_000),
        ("FINAL_SYNC", "cudaDeviceSynchronize", 119_000, 120_500),
    ]


def test_shares_leave_the_cold_step_out(stepped):
    (use,) = utilization(stepped)

    counted = counted_use(stepped, use)
    everything = counted_use(stepped, use, with_artefacts=True)

    # From 100 to 120 us: two times 5 us of work in 10.
    assert (counted.span_ns, counted.busy_ns, counted.idle_ns) == (20_000, 10_000, 10_000)
    assert counted.busy_ratio == 0.5
    assert (counted.cold_ns, counted.overhead_ns) == (98_000, 0)
    # In each: 1.5 us until the first call, then 2 us (idle since 103) until the second, whose
    # work starts a microsecond after it returned, as the first work starts with its call's end.
    assert counted.idle.launch_ns == 2 * (500 + 500)
    assert counted.idle.host_wait_ns == 2 * (1_500 + 1_500)
    assert counted.idle.kernel_wait_ns == 2 * 1_000
    assert (everything.span_ns, everything.busy_ns) == (118_000, 15_000)
    assert everything.excluded_ns == 0


def test_shares_leave_idle_time_of_the_profiler_out_and_keep_busy_time():
    trace = trace_of(
        kernel("a", 0, 1_000),
        overhead("Activity Buffer Request", 500, 1_500),
        launch(2_000, 500, 2),
        kernel("b", 3_000, 1_000, 2),
    )
    (use,) = utilization(trace)

    counted = counted_use(trace, use)

    assert (counted.span_ns, counted.busy_ns, counted.overhead_ns) == (3_000, 2_000, 1_000)
    assert counted.idle == IdleCauses(0, 0, 500, 0, 500, 0)
    assert marked(trace) == [("OVERHEAD", "Activity Buffer Request", 500, 2_000)]


def test_a_synchronise_call_before_a_launch_is_the_programs_own():
    trace = trace_of(
        launch(0, 10, 1), sync(20, 100), launch(200, 10, 2), sync(300, 50), sync(400, 50),
        sync(500, 10, tid="2"), kernel("k", 20, 50, 1), kernel("k", 220, 50, 2),
    )  # fmt: skip

    assert [row[2] for row in marked(trace)] == [300, 500]


def test_where_nothing_else_is_left_artefacts_count():
    trace = trace_of(
        annotation("ProfilerStep#0", 0, 100_000),
        launch(10, 10, 1),
        kernel("k", 50, 1_000, 1),
        annotation("ProfilerStep#1", 100_000, 10),
        annotation("ProfilerStep#2", 100_020, 10),
    )
    (use,) = utilization(trace)

    assert counted_use(trace, use).span_ns == 1_000


def test_a_plain_trace_has_no_artefacts():
    assert marked(trace_of(("aten::mm", 0, 10), kernel("k", 0, 5))) == []
