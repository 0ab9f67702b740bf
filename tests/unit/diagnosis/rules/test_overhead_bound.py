from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.rules.overhead_bound import OverheadBound

_US = 1_000


def _turns(n: int, kernel_us: int, turn_us: int, first_gap_us: int = 0):
    """Turns in which the host works, launches at half time, and the kernel starts 2 us later."""
    rows = []
    for turn in range(n):
        t = turn * turn_us * _US + (first_gap_us * _US if turn else 0)
        half = t + turn_us * _US // 2
        rows += [
            launch(half, 2 * _US, turn + 1),
            kernel("small", half + 2 * _US, kernel_us * _US, turn + 1),
        ]
    return rows


def test_short_kernels_that_are_waited_for():
    trace = trace_of(*_turns(101, kernel_us=5, turn_us=20))
    (found,) = OverheadBound().check(trace)

    # From the first to the last start 100 turns of 20 us; 15 us of each is waiting: 13 for the
    # call to begin and 2 for it to launch. 1,500 of 2,005 us.
    assert found.summary == (
        "The device waits 74.8 % of its time for the host to launch short kernels: 1.500 ms"
        " before 100 of them"
    )
    assert found.gain_ns == 1_500 * _US
    assert "CUDA graph" in found.change
    assert len(found.slices) == 100


def test_what_waits_for_the_device_keeps_a_graph_from_being_captured():
    waits = [
        row
        for turn in range(3)
        for row in (
            Row("aten::item", (turn * 20 + 1) * _US, 5 * _US),
            launch((turn * 20 + 2) * _US, 2 * _US, 0, name="cudaStreamSynchronize"),
        )
    ]
    (found,) = OverheadBound().check(trace_of(*_turns(101, kernel_us=5, turn_us=20), *waits))

    assert found.change.startswith("Do more in each launch")
    assert found.change.endswith("but without aten::item, which waits for the device here")


def test_a_device_whose_queue_is_full_waits_for_nobody():
    rows = [launch(turn * 3 * _US, 2 * _US, turn + 1) for turn in range(100)]
    rows += [kernel("small", (10 + turn * 6) * _US, 5 * _US, turn + 1) for turn in range(100)]
    assert not list(OverheadBound().check(trace_of(*rows)))


def test_long_kernels_are_not_bound_by_launches():
    assert not list(OverheadBound().check(trace_of(*_turns(101, kernel_us=300, turn_us=500))))


def test_one_long_wait_is_no_launch_overhead():
    # 100 ms of start-up, then 10 us of waiting in 20.
    rows = _turns(20, kernel_us=18, turn_us=20, first_gap_us=100_000)
    assert not list(OverheadBound().check(trace_of(*rows)))


def test_a_cold_first_step_is_not_judged():
    # The first step waits, the others keep the device busy.
    rows = [annotation("ProfilerStep#1", 0, 4_000 * _US)]
    rows += _turns(100, kernel_us=5, turn_us=20)
    for step in range(3):
        t = (4_000 + step * 1_000) * _US
        rows += [
            annotation(f"ProfilerStep#{step + 2}", t, 1_000 * _US),
            launch(t - 100 * _US, 2 * _US, 1000 + step),
            kernel("gemm", t, 990 * _US, 1000 + step),
        ]
    assert not list(OverheadBound().check(trace_of(*rows)))
