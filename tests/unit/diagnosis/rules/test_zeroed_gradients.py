from tests.literal import annotation, kernel, launch, trace_of
from tracetui.diagnosis.rules.zeroed_gradients import ZeroedGradients

_US = 1_000


def _training(n_fills: int):
    """Fills of 2 us under zero_grad, then 1 ms of other work."""
    rows = [annotation("Optimizer.zero_grad#SGD.zero_grad", 0, n_fills * 10 * _US)]
    for turn in range(n_fills):
        t = turn * 10 * _US
        rows += [launch(t, 2 * _US, turn + 1), kernel("fill", t + 5 * _US, 2 * _US, turn + 1)]
    return trace_of(*rows, kernel("gemm", 10_000 * _US, 1_000 * _US))


def test_a_fill_for_each_parameter_is_found():
    (found,) = ZeroedGradients().check(_training(50))

    # 100 of 1,100 us.
    assert found.summary == (
        "Each zero_grad fills gradients with 50 kernels: together 100.00 µs, 9.1 % of device time"
    )
    assert found.gain_ns == 100 * _US
    assert "set_to_none=True" in found.change


def test_a_few_fills_are_no_trouble():
    assert not list(ZeroedGradients().check(_training(10)))


def test_dropping_gradients_launches_nothing():
    trace = trace_of(annotation("Optimizer.zero_grad#SGD.zero_grad", 0, 10), kernel("k", 20, 10))
    assert not list(ZeroedGradients().check(trace))
