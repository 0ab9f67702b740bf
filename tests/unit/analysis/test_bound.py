"""Overhead-bound or compute-bound, with the figures that say so."""

import pytest

from tests.literal import Row, kernel, launch, trace_of
from tracetui.analysis.bound import BoundKind, bound, bounds, device_bound
from tracetui.analysis.utilization import utilization


def queued(n, work_ns, *, name="gemm"):
    """Return calls of 1 us, one after the other from 0, and work that follows without a gap."""
    rows = []
    for number in range(n):
        rows.append(launch(number * 1_000, 1_000, number + 1))
        rows.append(kernel(name, 1_000 + number * work_ns, work_ns, number + 1))
    return rows


def test_a_device_that_never_waits_is_compute_bound_and_the_host_runs_ahead():
    trace = trace_of(*queued(10, 10_000))

    found = bound(trace)

    assert found is not None
    assert found.kind == BoundKind.COMPUTE
    assert (found.busy_ratio, found.overhead_ratio, found.sync_ratio) == (1.0, 0.0, 0.0)
    assert found.ahead_ratio == 1.0
    # The n-th work starts at 1 + 10 n and its call ends at 1 + n: 0, 9, … 81 us in the queue.
    assert found.queued_ns == 40_500
    # Each waits 1 + 9 n us from its call's start: 10 + 9 * 45 in 100 us.
    assert found.mean_depth == pytest.approx(4.15)


def test_a_device_that_waits_for_launches_is_overhead_bound():
    rows: list[Row | tuple[str, int, int]] = []
    for number in range(10):
        at = number * 20_000
        rows += [
            ("aten::add", at, 9_000),
            launch(at + 5_000, 3_000, number + 1),
            kernel("add", at + 9_000, 2_000, number + 1),
        ]

    found = bound(trace_of(*rows))

    assert found is not None
    assert found.kind == BoundKind.OVERHEAD
    # From 9 to 191 us: nine gaps of 18, of which 14 before the call, 3 in it, 1 after it.
    assert found.overhead_ratio == pytest.approx(9 * 17_000 / 182_000)
    assert found.other_ratio == pytest.approx(9 * 1_000 / 182_000)
    assert found.busy_ratio == pytest.approx(20_000 / 182_000)
    assert (found.ahead_ratio, found.queued_ns) == (0.0, 1_000)


def test_a_host_that_waits_for_its_results_is_bound_by_synchronising():
    rows: list[Row | tuple[str, int, int]] = []
    for number in range(5):
        at = number * 20_000
        rows += [
            launch(at, 1_000, number + 1),
            kernel("k", at + 1_000, 4_000, number + 1),
            Row("cudaStreamSynchronize", at + 2_000, 17_500, "cuda_runtime"),
        ]

    found = bound(trace_of(*rows))

    assert found is not None
    assert found.kind == BoundKind.SYNC
    # Four gaps of 16 us: 14.5 in the call, 1.5 until and in the next launch.
    assert found.sync_ratio == pytest.approx(4 * 14_500 / 84_000)


def test_a_synchronise_call_over_queued_work_stalls_nothing():
    rows = queued(4, 10_000)
    late = [kernel(row.name, row.ts_ns * 2, row.dur_ns, row.correlation) for row in rows[1::2]]
    trace = trace_of(*rows[::2], *late, Row("cudaDeviceSynchronize", 4_000, 99_000, "cuda_runtime"))

    found = bound(trace)

    assert found is not None
    assert found.kind == BoundKind.OTHER
    assert (found.sync_ratio, found.overhead_ratio) == (0.0, 0.0)


def test_several_reasons_of_which_none_is_most_are_a_balance():
    # Busy 0 to 40 and 100 to 140: of 60 us between, 20 in the call, 20 synchronising, 20 after.
    trace = trace_of(
        kernel("a", 0, 40_000),
        Row("cudaStreamSynchronize", 40_000, 20_000, "cuda_runtime"),
        launch(60_000, 20_000, 2),
        kernel("b", 100_000, 40_000, 2),
    )

    found = bound(trace)

    assert found is not None
    assert found.kind == BoundKind.BALANCED
    thirds = (found.overhead_ratio, found.sync_ratio, found.other_ratio)
    assert thirds == pytest.approx((20 / 140,) * 3)


@pytest.mark.parametrize(
    ("busy", "kind"),
    [
        ([kernel("ncclDevKernel_AllReduce", 0, 60), kernel("gemm", 60, 40)], BoundKind.COMMUNICATION),
        ([Row("Memcpy HtoD", 0, 60, "gpu_memcpy", "0", "7"), kernel("gemm", 60, 40)], BoundKind.COPY),
        ([kernel("ncclDevKernel_AllReduce", 0, 40), kernel("gemm", 40, 60)], BoundKind.COMPUTE),
        # Communication that computing hides costs nothing.
        ([kernel("ncclDevKernel", 0, 90, stream=9), kernel("gemm", 0, 100)], BoundKind.COMPUTE),
    ],
)  # fmt: skip
def test_a_busy_device_is_bound_by_what_fills_it(busy, kind):
    found = bound(trace_of(*busy))

    assert found is not None
    assert found.kind == kind
    assert (found.ahead_ratio, found.queued_ns, found.mean_depth) == (None, None, None)


def test_a_waiting_device_is_bound_by_what_takes_more_than_its_waiting():
    def found(copy_ns, wait_ns):
        end = 30_000 + copy_ns + wait_ns
        return bound(
            trace_of(
                kernel("gemm", 0, 30_000),
                Row("Memcpy HtoD", 30_000, copy_ns, "gpu_memcpy", "0", "7"),
                launch(30_000 + copy_ns, wait_ns, 2),
                kernel("gemm", end, 1_000, 2),
            )
        )

    for copy_ns, wait_ns, kind in (
        (60_000, 50_000, BoundKind.COPY),
        (50_000, 60_000, BoundKind.OVERHEAD),
        # More than it waits, and less than it computes.
        (25_000, 24_000, BoundKind.OVERHEAD),
    ):
        verdict = found(copy_ns, wait_ns)
        assert verdict is not None
        assert verdict.kind == kind
        assert verdict.comm_ratio == 0


def test_the_busiest_device_speaks_for_the_trace():
    trace = trace_of(kernel("a", 0, 10), kernel("a", 90, 10), kernel("b", 0, 100, device=1))

    found = bound(trace)

    assert found is not None
    assert (found.device, found.kind) == (1, BoundKind.COMPUTE)
    assert [each.device for each in bounds(trace)] == [0, 1]


def test_artefacts_can_be_counted_too():
    trace = trace_of(
        kernel("a", 0, 1_000),
        Row("Activity Buffer Request", 1_000, 8_000, "overhead", "-1", "0"),
        kernel("b", 9_000, 1_000),
    )
    (use,) = utilization(trace)

    assert device_bound(trace, use).busy_ratio == 1.0
    assert device_bound(trace, use, with_artefacts=True).busy_ratio == pytest.approx(0.2)


def test_without_a_device_there_is_no_verdict():
    assert bound(trace_of(("aten::mm", 0, 10))) is None
