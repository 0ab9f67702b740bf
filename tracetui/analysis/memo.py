"""Results computed once for each trace."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from tracetui.model.trace import Trace

_Result = TypeVar("_Result")


def once_per_trace(analysis: Callable[[Trace], _Result]) -> Callable[[Trace], _Result]:
    """Return ``analysis`` with its result kept in the trace, for as long as the trace lives.

    Threads that ask at the same moment wait for one computation.
    """

    @wraps(analysis)
    def remembered(trace: Trace) -> _Result:
        with trace.lock:
            if analysis not in trace.memo:
                trace.memo[analysis] = analysis(trace)
            result: _Result = trace.memo[analysis]
            return result

    return remembered
