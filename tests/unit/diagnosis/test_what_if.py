import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.finding import Finding, Saving, Severity
from tracetui.diagnosis.what_if import prediction

_US = 1_000


def _finding(*spans_us: tuple[int, int, int], rule: str = "by-hand") -> Finding:
    start, end, saved = (np.array(each, np.int64) * _US for each in zip(*spans_us, strict=True))
    where = np.array([0], np.int64)
    return Finding(
        rule,
        Severity.LOW,
        "Something is wrong",
        where,
        "Change it",
        Saving(start, end, saved, "by hand"),
    )


def _trace():
    """Two steps of 100 us: a gemm of 50, softmax of 30, 20 idle; the host works 10 in each."""
    rows: list[Row | tuple[str, int, int]] = []
    for step in range(2):
        t = step * 100 * _US
        rows += [
            annotation(f"ProfilerStep#{step + 1}", t, 100 * _US),
            ("aten::mm", t, 10 * _US),
            launch(t, 2 * _US, 2 * step + 1),
            launch(t + 2 * _US, 2 * _US, 2 * step + 2),
            kernel("ampere_sgemm_128x64_nn", t + 20 * _US, 50 * _US, 2 * step + 1),
            kernel("softmax_warp_forward", t + 70 * _US, 30 * _US, 2 * step + 2),
        ]
    return trace_of(*rows)


def test_nothing_chosen_changes_nothing():
    now = prediction(_trace(), ())

    assert (now.n_steps, now.now_ns, now.then_ns, now.saved_ns) == (2, 100 * _US, 100 * _US, 0)
    assert (now.bottleneck, now.bottleneck_ns) == ("gemm kernels", 50 * _US)
    assert now.speedup == 1


def test_a_faster_product_makes_the_softmax_the_next_thing():
    faster = _finding((20, 70, 40), (120, 170, 40))
    then = prediction(_trace(), (faster,))

    assert then.then_ns == 60 * _US
    assert (then.bottleneck, then.bottleneck_ns) == ("norm kernels", 30 * _US)
    assert not then.is_host_bound


def test_two_findings_about_the_same_kernel_do_not_add_up():
    then = prediction(_trace(), (_finding((20, 70, 25)), _finding((20, 70, 40))))

    assert then.saved_ns == 20 * _US


def test_what_is_saved_outside_the_steps_does_not_count():
    assert prediction(_trace(), (_finding((300, 400, 100)),)).then_ns == 100 * _US


def test_a_step_gets_no_shorter_than_the_host_needs():
    everything = _finding((0, 200, 198))
    then = prediction(_trace(), (everything,))

    assert then.then_ns == 10 * _US
    assert then.is_host_bound
    assert then.bottleneck.startswith("the host")
    graphed = _finding((0, 200, 198), rule="overhead-bound")
    assert prediction(_trace(), (graphed,)).then_ns == 1 * _US


def test_without_steps_or_device_it_is_the_recording():
    trace = trace_of(("aten::bmm", 0, 60), ("aten::clone", 60, 40))
    then = prediction(trace, ())

    assert (then.n_steps, then.now_ns, then.bottleneck) == (0, 100, "aten::bmm")
    assert prediction(trace_of(), ()).speedup is None


_SPANS = st.lists(
    st.tuples(st.integers(0, 250), st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=5
)


@given(st.lists(_SPANS, max_size=4))
def test_more_changes_never_make_it_slower_and_never_save_more_than_their_sum(groups):
    trace = _trace()
    chosen = [
        _finding(*((start, start + length, int(length * part)) for start, length, part in group))
        for group in groups
    ]
    times = [prediction(trace, chosen[:n]).then_ns for n in range(len(chosen) + 1)]

    assert times == sorted(times, reverse=True)
    assert times[-1] >= 0
    alone = sum(prediction(trace, (each,)).saved_ns for each in chosen)
    assert prediction(trace, chosen).saved_ns <= alone + len(chosen) + 1
