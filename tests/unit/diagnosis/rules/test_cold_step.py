from tests.literal import annotation, kernel, launch, trace_of
from tracetui.diagnosis.finding import Severity
from tracetui.diagnosis.rules.cold_step import ColdStep


def _steps(*walls: int):
    starts = [sum(walls[:place]) for place in range(len(walls))]
    return trace_of(
        *(
            annotation(f"ProfilerStep#{number}", start, wall)
            for number, (start, wall) in enumerate(zip(starts, walls, strict=True), start=4)
        )
    )


def test_a_first_step_three_times_as_long_is_cold():
    trace = _steps(90_000, 30_000, 32_000, 28_000)
    (found,) = ColdStep().check(trace)

    assert found.summary == "The first step, #4, took 90.00 µs where the others take 30.00 µs"
    assert found.severity == Severity.LOW
    assert [trace.name_of(each) for each in found.slices] == ["ProfilerStep#4"]
    assert found.gain_ns is None


def test_steps_alike_are_well():
    assert not list(ColdStep().check(_steps(31_000, 30_000, 32_000, 28_000)))


def test_a_slow_step_later_on_is_not_cold():
    assert not list(ColdStep().check(_steps(30_000, 90_000, 30_000)))


def test_two_steps_cannot_tell():
    assert not list(ColdStep().check(_steps(90_000, 30_000)))


def test_a_slow_host_does_not_matter_where_the_device_takes_longer():
    # The host takes 90 us for the first step and 30 for the others, the device 200 for each.
    starts = (0, 90_000, 120_000, 150_000)
    rows = [
        row
        for number, (start, end) in enumerate(zip(starts, (*starts[1:], 180_000), strict=True))
        for row in (
            annotation(f"ProfilerStep#{number}", start, end - start),
            launch(start + 1_000, 1_000, number + 1),
            kernel("gemm", 10_000 + number * 200_000, 200_000, number + 1),
        )
    ]
    assert not list(ColdStep().check(trace_of(*rows)))
