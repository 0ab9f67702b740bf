from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.stalling_sync import StallingSync

_US = 1_000


def _reads(next_launch_us: int):
    """Three turns of 200 us: the device works 100 us, the host waits from 20 to 100 us.

    It launches the next kernel ``next_launch_us`` into the turn; that one starts with the next.
    """
    rows: list[Row | tuple[str, int, int]] = [launch(0, 2 * _US, 1)]
    for turn in range(3):
        t = 10 * _US + turn * 200 * _US
        rows += [
            kernel("gemm", t, 100 * _US, turn + 1),
            ("aten::item", t + 19 * _US, 83 * _US),
            ("aten::_local_scalar_dense", t + 19 * _US, 82 * _US),
            launch(t + 20 * _US, 80 * _US, 0, name="cudaStreamSynchronize"),
            launch(
                t + next_launch_us * _US,
                2 * _US,
                turn + 2,
                tid="1" if next_launch_us > 102 else "2",
            ),
        ]
    rows.append(kernel("gemm", 610 * _US, 100 * _US, 4))
    return trace_of(*rows)


def test_item_that_drains_the_device_costs_what_it_delays():
    trace = _reads(next_launch_us=130)
    (found,) = StallingSync().check(trace)

    # Each wait took 80 us and the device stood still for 100: the launch could come 80 us earlier.
    assert found.summary == (
        "cudaStreamSynchronize in aten::item drained the device 3 times; it then stood still for"
        " 240.00 µs, 34.3 % of its time"
    )
    assert found.gain_ns == 240 * _US
    assert [trace.name_of(each) for each in found.slices] == ["cudaStreamSynchronize"] * 3


def test_a_wait_with_work_queued_behind_it_stalls_nothing():
    # Another thread has launched the next kernel while this one waits.
    assert not list(StallingSync().check(_reads(next_launch_us=50)))


def test_a_wait_that_begins_when_the_device_is_idle_already_costs_nothing():
    rows = [launch(0, 2 * _US, 1)]
    for turn in range(4):
        t = 10 * _US + turn * 200 * _US
        rows += [
            kernel("gemm", t, 50 * _US, turn + 1),
            launch(t + 60 * _US, 5 * _US, 0, name="cudaStreamSynchronize"),
            launch(t + 180 * _US, 2 * _US, turn + 2),
        ]
    assert not list(StallingSync().check(trace_of(*rows, kernel("gemm", 810 * _US, 50 * _US, 5))))


def test_the_wait_at_the_end_of_a_recording_is_no_trouble():
    trace = trace_of(
        launch(0, 2 * _US, 1),
        kernel("gemm", 10 * _US, 100 * _US, 1),
        launch(20 * _US, 90 * _US, 0, name="cudaDeviceSynchronize"),
    )
    assert not list(StallingSync().check(trace))


def test_outside_an_operator_it_is_the_program_that_waits():
    rows = [launch(0, 2 * _US, 1)]
    for turn in range(3):
        t = 10 * _US + turn * 200 * _US
        rows += [
            kernel("gemm", t, 100 * _US, turn + 1),
            launch(t + 20 * _US, 85 * _US, 0, name="cudaDeviceSynchronize"),
            launch(t + 130 * _US, 2 * _US, turn + 2),
        ]
    (found,) = StallingSync().check(trace_of(*rows, kernel("gemm", 610 * _US, 100 * _US, 4)))

    assert found.summary.startswith("cudaDeviceSynchronize, outside any operator, drained")
    assert "out of the loop" in found.change
