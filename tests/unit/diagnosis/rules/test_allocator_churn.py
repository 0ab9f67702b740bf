from tests.literal import annotation, kernel, launch, trace_of
from tracetui.diagnosis.rules.allocator_churn import AllocatorChurn

_US = 1_000


def _steps(*, call_at: int, churning: tuple[int, ...], free: str = "cudaFree"):
    """Four steps of 100 us, the device busy for the first 60 of each.

    In the churning ones a free of 20 us and a malloc of 10 follow at ``call_at``.
    """
    rows = []
    for step in range(4):
        t = step * 100 * _US
        rows += [
            annotation(f"ProfilerStep#{step}", t, 100 * _US),
            launch(t + 1 * _US, 2 * _US, step + 1),
            kernel("gemm", t + 4 * _US, 60 * _US, step + 1),
        ]
        if step in churning:
            rows += [
                launch(t + call_at * _US, 20 * _US, 0, name=free),
                launch(t + (call_at + 20) * _US, 10 * _US, 0, name="cudaMalloc"),
            ]
    return trace_of(*rows)


def test_memory_from_the_driver_in_each_step():
    trace = _steps(call_at=66, churning=(0, 1, 2, 3))
    (found,) = AllocatorChurn().check(trace)

    # Steps 1 to 3: 30 us each, those of the last after the last kernel, when nothing waits.
    # The device's span goes from 4 to 364 us.
    assert found.summary == (
        "cudaMalloc and cudaFree are called 6 times in 3 steps after the first; the device stood"
        " still for 60.00 µs of it, 16.7 % of its time"
    )
    assert found.gain_ns == 60 * _US
    assert {trace.name_of(each) for each in found.slices} == {"cudaMalloc", "cudaFree"}


def test_the_first_step_may_fill_the_cache():
    assert not list(AllocatorChurn().check(_steps(call_at=66, churning=(0,))))


def test_one_step_that_grows_is_no_churn():
    assert not list(AllocatorChurn().check(_steps(call_at=66, churning=(0, 1))))


def test_calls_behind_which_the_device_works_cost_nothing():
    assert not list(AllocatorChurn().check(_steps(call_at=10, churning=(0, 1, 2, 3))))


def test_calls_that_a_stream_orders_do_not_wait():
    rows = _steps(call_at=66, churning=(1, 2, 3), free="cudaFreeAsync")
    (found,) = AllocatorChurn().check(rows)
    # What is left are the mallocs: 10 us in each of two steps before the device's end.
    assert found.gain_ns == 20 * _US
