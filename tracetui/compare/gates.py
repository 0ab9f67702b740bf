"""Bounds on a comparison for CI: ``gpu_us > +5%`` breaks when the candidate takes that much more."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tracetui.compare.comparison import Comparison, Counts
from tracetui.compare.spread import Spread
from tracetui.compare.waterfall import compile_tax_ns
from tracetui.errors import UsageError
from tracetui.format import microseconds
from tracetui.units import NS_PER_MS, NS_PER_S, NS_PER_US

_BOUND: Final = re.compile(
    r"\s*(?P<metric>\w+)\s*(?P<compare>>=|<=|>|<)\s*(?P<sign>[+-])?\s*(?P<number>\d+(?:\.\d+)?)"
    r"\s*(?P<unit>%|ns|us|µs|ms|s|)\s*",
)
_NS_OF_UNIT: Final = {
    "ns": 1,
    "us": NS_PER_US,
    "µs": NS_PER_US,
    "ms": NS_PER_MS,
    "s": NS_PER_S,
}
_COMPARES: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": lambda found, bound: found > bound,
    ">=": lambda found, bound: found >= bound,
    "<": lambda found, bound: found < bound,
    "<=": lambda found, bound: found <= bound,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """One bound; it breaks where what it says is true."""

    text: str
    metric: str
    compare: str
    bound: float
    """A ratio for a relative bound, nanoseconds for a time, a count otherwise."""
    is_change: bool
    """Whether the change is bounded, and not the candidate's own value."""
    is_relative: bool


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found."""

    gate: Gate
    is_broken: bool
    summary: str


def _spread(field: str) -> Callable[[Comparison], tuple[int, int] | None]:
    def values(compared: Comparison) -> tuple[int, int] | None:
        found: Spread | None = getattr(compared, field)
        return None if found is None else (found.baseline_ns, found.candidate_ns)

    return values


def _counts(field: str) -> Callable[[Comparison], tuple[int, int] | None]:
    def values(compared: Comparison) -> tuple[int, int] | None:
        if not (compared.baseline.has_device and compared.candidate.has_device):
            return None
        found: Counts = getattr(compared, field)
        return found.baseline, found.candidate

    return values


def _peaks(compared: Comparison) -> tuple[int, int] | None:
    baseline, candidate = compared.peak_bytes
    return None if baseline is None or candidate is None else (baseline, candidate)


def _taxes(compared: Comparison) -> tuple[int, int] | None:
    return compile_tax_ns(compared.baseline), compile_tax_ns(compared.candidate)


METRICS: Final[dict[str, Callable[[Comparison], tuple[int, int] | None]]] = {
    "gpu_us": _spread("gpu"),
    "host_us": _spread("host"),
    "wall_us": _spread("wall"),
    "unprofiled_us": _spread("unprofiled"),
    "compile_tax_us": _taxes,
    "kernels_per_call": _counts("kernels"),
    "launches_per_call": _counts("launches"),
    "copies_per_call": _counts("copies"),
    "peak_bytes": _peaks,
}
"""What can be bounded: baseline and candidate, or ``None`` where it was not measured."""


def gate(text: str) -> Gate:
    """Return the bound that a text states.

    ``gpu_us > +5%`` and ``wall_us > +2us`` bound the change, ``kernels_per_call > 5`` the candidate.

    Raises:
        UsageError: If the text states none.
    """
    found = _BOUND.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--fail-if {text!r}: write it as 'gpu_us > +5%' or 'kernels_per_call > 5'"
        )
    metric, unit = found["metric"], found["unit"]
    if metric not in METRICS:
        raise UsageError(f"--fail-if {text!r}: no such figure; there are {', '.join(METRICS)}")
    is_time = metric.endswith("_us")
    if unit in _NS_OF_UNIT and not is_time:
        raise UsageError(f"--fail-if {text!r}: {metric} is no time")
    is_relative = unit == "%"
    scale = 1 / 100 if is_relative else _NS_OF_UNIT.get(unit, NS_PER_US if is_time else 1)
    size = float(found["number"]) * scale
    return Gate(
        text=text.strip(),
        metric=metric,
        compare=found["compare"],
        bound=-size if found["sign"] == "-" else size,
        is_change=is_relative or found["sign"] is not None,
        is_relative=is_relative,
    )


def gate_result(bound: Gate, compared: Comparison) -> GateResult:
    """Return whether a gate holds, and what was found.

    Raises:
        UsageError: If the figure was not measured on a side: a gate that cannot be judged must not
            pass in silence.
    """
    values = METRICS[bound.metric](compared)
    if values is None:
        raise UsageError(f"--fail-if {bound.text!r}: {bound.metric} was not measured on both sides")
    baseline, candidate = values
    if bound.is_relative and baseline == 0:
        found = 0.0 if candidate == 0 else float("inf")
    elif bound.is_relative:
        found = candidate / baseline - 1
    else:
        found = float(candidate - baseline if bound.is_change else candidate)
    is_broken = _COMPARES[bound.compare](found, bound.bound)
    return GateResult(bound, is_broken, _summary(bound, baseline, candidate, found))


def _summary(bound: Gate, baseline: int, candidate: int, found: float) -> str:
    def text(value: int) -> str:
        return microseconds(value) if bound.metric.endswith("_us") else str(value)

    change = candidate - baseline
    sign = "+" if change > 0 else ""
    share = f", {(candidate / baseline - 1) * 100:+.2f} %" if baseline else ""
    beyond = found - bound.bound
    if bound.is_relative:
        margin = f"{beyond * 100:+.2f} percentage points"
    else:
        margin = text(round(beyond)) if beyond < 0 else f"+{text(round(beyond))}"
    return (
        f"{bound.text}: {bound.metric} {text(baseline)} → {text(candidate)}"
        f" ({sign}{text(change)}{share}); {margin} against the bound"
    )
