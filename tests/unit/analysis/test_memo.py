"""Results are kept with their trace, and go with it."""

import gc

from tests.literal import kernel, trace_of
from tracetui.analysis.memo import forget, once_per_trace
from tracetui.model.trace import Trace


def test_a_result_is_computed_once_until_it_is_forgotten():
    calls = []

    @once_per_trace
    def answer(trace: Trace) -> int:
        calls.append(trace)
        return len(trace.slices)

    trace = trace_of(kernel("a", 0, 10))
    assert (answer(trace), answer(trace), len(calls)) == (1, 1, 1)
    forget(trace)
    assert (answer(trace), len(calls)) == (1, 2)


def test_nothing_is_a_result_too():
    calls = []

    @once_per_trace
    def nothing(trace: Trace) -> None:
        calls.append(trace)

    trace = trace_of(kernel("a", 0, 10))
    nothing(trace)
    nothing(trace)
    assert len(calls) == 1


def test_what_is_forgotten_goes_without_the_cycle_collector():
    class Watched:
        is_gone = False

        def __del__(self) -> None:
            Watched.is_gone = True

    @once_per_trace
    def itself(trace: Trace) -> tuple[Trace, Watched]:
        return trace, Watched()

    trace = trace_of(kernel("a", 0, 10))
    itself(trace)
    gc.disable()
    try:
        forget(trace)
        assert Watched.is_gone
    finally:
        gc.enable()
