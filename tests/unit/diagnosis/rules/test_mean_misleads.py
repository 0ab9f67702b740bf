from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.mean_misleads import MeanMisleads
from tracetui.model.device import Geometry

_US = 1_000
_GEOMETRY = Geometry((256, 1, 1), (128, 1, 1), 32, 0, None, None, None)


def _runs(*durations_us: int, shapes: tuple[str, ...] = ("[[4096,4096],[4096,4096]]",)):
    rows, start = [], 0
    for turn, us in enumerate(durations_us):
        host = turn * 20 * _US
        rows += [
            Row("aten::mm", host, 10 * _US, shape=shapes[turn % len(shapes)]),
            launch(host + 2 * _US, 2 * _US, turn + 1),
            Row("gemm_128x128", start, us * _US, "kernel", "0", "7", turn + 1, geometry=_GEOMETRY),
        ]
        start += us * _US
    return trace_of(*rows)


def test_two_slow_runs_of_ten_spoil_the_mean():
    trace = _runs(580, 580, 580, 580, 3000, 580, 580, 3000, 580, 580)
    (found,) = MeanMisleads().check(trace)

    # (8 x 580 + 2 x 3000) / 10 = 1064 us.
    assert found.summary == (
        "The mean of gemm_128x128 misleads: 1.064 ms, where half of its 10 runs on equal shapes"
        " take 580.00 µs or less"
    )
    assert [int(trace.slices.dur_ns[each]) for each in found.slices] == [3_000 * _US] * 2
    assert found.gain_ns is None


def test_runs_alike_are_well():
    assert not list(MeanMisleads().check(_runs(*[580, 590, 570, 585] * 3)))


def test_other_shapes_take_other_times_and_mislead_nobody():
    trace = _runs(*[100, 1000] * 10, shapes=("[[64,64],[64,64]]", "[[4096,4096],[4096,4096]]"))
    assert not list(MeanMisleads().check(trace))


def test_too_few_runs_cannot_tell():
    assert not list(MeanMisleads().check(_runs(580, 580, 580, 580, 3000)))


def test_without_shapes_runs_are_not_known_to_be_alike():
    rows = [kernel("k", turn * 1_000 * _US, (10 if turn else 900) * _US) for turn in range(20)]
    assert not list(MeanMisleads().check(trace_of(*rows)))
