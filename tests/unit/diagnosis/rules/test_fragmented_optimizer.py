from tests.literal import annotation, kernel, launch, trace_of
from tracetui.diagnosis.rules.fragmented_optimizer import FragmentedOptimizer

_US = 1_000


def _step(name: str, n_kernels: int = 120):
    """An optimizer step whose kernels of 2 us are launched every 10 us."""
    rows = [annotation("Optimizer.step#Adam.step", 0, n_kernels * 10 * _US)]
    for turn in range(n_kernels):
        t = turn * 10 * _US
        rows += [launch(t, 2 * _US, turn + 1), kernel(name, t + 5 * _US, 2 * _US, turn + 1)]
    return trace_of(*rows)


def test_a_kernel_for_each_parameter_is_too_many():
    trace = _step("vectorized_elementwise_kernel")
    (found,) = FragmentedOptimizer().check(trace)

    # 1,200 us on the host; the device spans 5 us to 1,197 us.
    assert found.summary == (
        "Each optimizer step launches 120 kernels of 2.00 µs on average; launching them takes the"
        " host 100.7 % of the time"
    )
    assert "fused=True" in found.change
    assert len(found.slices) == 120


def test_kernels_over_many_parameters_are_well():
    assert not list(FragmentedOptimizer().check(_step("multi_tensor_apply_kernel<FusedAdam>")))


def test_a_few_parameters_are_no_trouble():
    assert not list(FragmentedOptimizer().check(_step("vectorized_elementwise_kernel", 20)))
