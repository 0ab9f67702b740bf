"""Results computed once for each trace."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from tracetui.model.trace import Trace

_Result = TypeVar("_Result")
_MISSING: Final[Any] = object()


def once_per_trace(analysis: Callable[[Trace], _Result]) -> Callable[[Trace], _Result]:
    """Return ``analysis`` with its result kept in the trace, for as long as the trace lives.

    Threads that ask at the same moment wait for one computation.
    """

    @wraps(analysis)
    def remembered(trace: Trace) -> _Result:
        with trace.lock:
            result: _Result = trace.memo.get(analysis, _MISSING)
            if result is _MISSING:
                result = trace.memo[analysis] = analysis(trace)
            return result

    return remembered


def forget(trace: Trace) -> None:
    """Let go of all results of a trace that a fuller one has replaced; asking again computes anew.

    Results know their trace: without this they keep each other until the cycle collector comes, and
    while a file loads it does not.
    """
    trace.memo.clear()
