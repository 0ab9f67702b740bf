"""The functions that an expectation may use, each a question to one trace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tracetui.analysis.bound import BoundKind
from tracetui.diagnosis import call_measures as of_calls
from tracetui.diagnosis import trace_measures as of_trace
from tracetui.diagnosis.expressions import ExpectationError, near, shown
from tracetui.diagnosis.measured import Measured
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_ALL_WORK: Final = (SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET)


@dataclass(frozen=True, slots=True)
class Measure:
    """One function: what it takes, what it gives."""

    measured: Callable[[Trace, str], Measured]
    argument: str
    """What its help calls the argument; empty if it takes none, in brackets if it may be left out."""
    unit: str
    """``us``, ``bytes``, ``ratio``, ``text``, ``bool`` or nothing for a count."""
    summary: str
    answers: tuple[str, ...] = ()
    """Every text that it can give, where these are few; empty where they are not."""

    def usage(self, name: str) -> str:
        """Return how it is written."""
        return f"{name}({self.argument})"


MEASURES: Final[dict[str, Measure]] = {
    "kernels_per_call": Measure(
        of_calls.kernels_per_call,
        "NAME",
        "",
        "device work below one call, copies and memsets included",
    ),
    "copies_per_call": Measure(
        of_calls.copies_per_call, "NAME", "", "the copies between memories among it"
    ),
    "launches_per_call": Measure(
        of_calls.launches_per_call,
        "NAME",
        "",
        "runtime calls below one call that launch device work",
    ),
    "calls": Measure(
        of_calls.calls, "NAME", "", "how often it ran; 0 for a name that is not there"
    ),
    "total_us": Measure(of_calls.total_us, "NAME", "us", "durations added up"),
    "self_us": Measure(of_calls.self_us, "NAME", "us", "the same less what runs inside"),
    "device_us": Measure(of_calls.device_us, "NAME", "us", "device time launched below, added up"),
    "gpu_us": Measure(
        of_trace.gpu_us, "[NAME]", "us", "device time of the median call, or of the median step"
    ),
    "host_us": Measure(
        of_trace.host_us,
        "[NAME]",
        "us",
        "width on the host of the median call, or of the median step",
    ),
    "wall_us": Measure(of_trace.wall_us, "", "us", "median period of the steps"),
    "kernels": Measure(of_trace.n_of_kind((SliceKind.KERNEL,)), "", "", "kernels alone"),
    "device_slices": Measure(of_trace.n_of_kind(_ALL_WORK), "", "", "kernels, copies and memsets"),
    "copies": Measure(of_trace.n_of_kind((SliceKind.MEMCPY,)), "", "", "copies between memories"),
    "launches": Measure(of_trace.launches, "", "", "runtime calls that launch device work"),
    "steps": Measure(of_trace.n_steps, "", "", "profiler steps"),
    "busy_ratio": Measure(of_trace.busy_ratio, "", "ratio", "busy over span, of all devices"),
    "idle_us": Measure(
        of_trace.idle_us, "[CAUSE]", "us", "idle time of the devices, of one cause or all"
    ),
    "class_us": Measure(of_trace.class_us, "CLASS", "us", "device time of one class of work"),
    "path_us": Measure(of_trace.path_us, "CLASS", "us", "time on the critical path, of one class"),
    "bound": Measure(
        of_trace.verdict,
        "",
        "text",
        "compute, communication, copy, overhead, sync, other or balanced",
        tuple(each.value for each in BoundKind),
    ),
    "findings": Measure(of_trace.n_findings, "[RULE]", "", "findings of one rule, or of all"),
    "compile_tax_us": Measure(
        of_trace.compile_tax_us, "", "us", "what torch.compile costs the median compiled call"
    ),
    "recompiles": Measure(of_trace.recompiles, "", "", "recompilations that the trace sees"),
    "hottest": Measure(of_trace.hottest, "", "text", "operator with most device time of its own"),
    "has_kernel": Measure(
        of_trace.has_kernel, '"REGEX"', "bool", "whether any device work is named so"
    ),
    "kernel_calls": Measure(
        of_trace.kernel_calls, '"REGEX"', "", "how much device work is named so"
    ),
}
"""Every function, in the order in which help lists them."""


def measured(trace: Trace, function: str, argument: str | None) -> Measured:
    """Return what a function finds in a trace.

    Raises:
        ExpectationError: If there is no such function, if an argument is missing or too many, or
            if the name is none of the trace's.
    """
    measure = MEASURES.get(function)
    if measure is None:
        raise ExpectationError(
            f"{shown(function)!r} is no function{near(function, tuple(MEASURES))}"
        )
    if argument and not measure.argument:
        raise ExpectationError(f"{function}() takes no name, {shown(argument)!r} was given")
    if not argument and measure.argument and not measure.argument.startswith("["):
        raise ExpectationError(f"{function} needs a name: {measure.usage(function)}")
    return measure.measured(trace, argument or "")
