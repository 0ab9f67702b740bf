"""The answer in a sentence or two, and what has to be known to believe it."""

from typing import Final

from tracetui.analysis.work_class import short_kernel_name
from tracetui.compare.comparison import Comparison
from tracetui.compare.kinds import Match, MatchKind
from tracetui.compare.spread import Spread, Verdict
from tracetui.compare.units import Unit
from tracetui.compare.waterfall import COMPILE_TAX
from tracetui.format import count, duration, percent
from tracetui.model.slices import SliceKind

_MOST_NAMED: Final = 4
_TELLING_SHARE: Final = 0.1
"""A part smaller than this of the whole difference is no reason for it."""
_NOTABLE_RATIO: Final = 0.05


def answer(compared: Comparison) -> str:
    """Return what the candidate, B, is against the baseline, A, and why."""
    sentences = [_first(compared)]
    if compared.gpu is not None:
        sentences += _about_host(compared)
    return " ".join(sentences)


def _first(compared: Comparison) -> str:
    if compared.unprofiled is not None:
        subject = compared.unprofiled
        where = "without the profiler"
    elif compared.gpu is not None:
        subject, where = compared.gpu, "on the GPU"
    else:
        subject, where = compared.host, "on the host"
    return f"{_verdict(compared, subject, where)}{_reason(compared, subject)}."


def _verdict(compared: Comparison, subject: Spread, where: str) -> str:
    per = "" if compared.scope.per == "total" else f" per {compared.scope.per}"
    if subject is compared.unprofiled:
        per = " per run"
    base, delta = duration(subject.baseline_ns), signed(subject.delta_ns)
    ratio = subject.ratio
    if subject.delta_ns == 0:
        return f"No change {where}: {base}{per} on both sides"
    if ratio is None or subject.candidate_ns == 0:
        return f"{where.capitalize()} {base} became {duration(subject.candidate_ns)}{per}"
    change = f"{delta} of {base}{per}"
    if subject.ci is not None:
        low, high = (signed_percent(bound - 1) for bound in subject.ci)
        change += f", 95 % between {low} and {high}"
    if subject.verdict is Verdict.NO_CHANGE:
        return f"No change {where} ({change})"
    if subject.verdict is Verdict.FASTER:
        return f"B is {1 / ratio:.2f}x faster {where} ({change})"
    if subject.verdict is Verdict.SLOWER:
        return f"B is {ratio:.2f}x slower {where} ({change})"
    if subject.ci is None:
        return (
            f"B differs by {change} {where}, and one instance on a side cannot tell that from noise"
        )
    return f"It is open whether B is faster or slower {where} ({change})"


def _reason(compared: Comparison, subject: Spread) -> str:
    """Return what moved most time in the direction of the difference, or nothing."""
    if subject.verdict is Verdict.NO_CHANGE and subject.delta_ns == 0:
        return ""
    sign = 1 if subject.delta_ns > 0 else -1
    least = _TELLING_SHARE * abs(subject.delta_ns)
    reasons = [
        phrase(compared.matches[place])
        for place in compared.differences
        if compared.matches[place].delta_ns * sign > least
        and compared.matches[place].kind is not MatchKind.SAME
        and compared.matches[place].is_sure
    ]
    distinct = list(dict.fromkeys(reasons))[:2]
    return f": {'; '.join(distinct)}" if distinct else ""


def _about_host(compared: Comparison) -> list[str]:
    found = []
    per = {"step": "a step", "call": "a call", "total": "in total"}[compared.scope.per]
    launches = compared.launches
    if all(compared.host_runs_ahead):
        found.append("The host runs ahead of the GPU on both sides, so the step time is the GPU's.")
    elif any(compared.host_runs_ahead):
        ahead = "A" if compared.host_runs_ahead[0] else "B"
        found.append(f"In {ahead} the host runs ahead of the GPU, so its step time is the GPU's.")
    if launches.delta:
        word = "fall" if launches.delta < 0 else "rise"
        found.append(
            f"Launches {word} from {count(launches.baseline)} to {count(launches.candidate)} {per}."
        )
    host = compared.host
    notable = _NOTABLE_RATIO * max(host.baseline_ns, 1)
    if not all(compared.host_runs_ahead) and abs(host.delta_ns) > notable:
        word = {
            Verdict.FASTER: "is faster",
            Verdict.SLOWER: "is slower",
        }.get(host.verdict, "may differ")
        tax = next((p for p in compared.host_waterfall.parts if p.name == COMPILE_TAX), None)
        why = ""
        if tax is not None and abs(tax.delta_ns) > _TELLING_SHARE * abs(host.delta_ns):
            why = f", of that {signed(tax.delta_ns)} compile tax"
        found.append(f"Its host side {word} ({signed(host.delta_ns)}{why}).")
    return found


def phrase(match: Match) -> str:
    """Return what became of some work, in a few words."""
    own, new = named(match.baseline), named(match.candidate)
    noun = "operator" if _is_operator(match) else "kernel"
    match match.kind:
        case MatchKind.FUSED | MatchKind.SPLIT:
            return f"{own} became {numbered(len(match.candidate), noun)}"
        case MatchKind.SWAPPED:
            return _swap(match, own, new)
        case MatchKind.ONLY_BASELINE:
            return f"{own} is gone"
        case MatchKind.MOVED_TO_HOST:
            return f"{own} moved to the host"
        case MatchKind.NEW_COPY:
            return f"a new copy, {new}"
        case MatchKind.ONLY_CANDIDATE:
            return f"{new} is new"
        case MatchKind.SLOWER | MatchKind.FASTER:
            return f"{own} is {match.kind.value}"
        case _:
            return f"{own} is the same"


def _swap(match: Match, own: str, new: str) -> str:
    """Return which kernel took which place; the operator alone says nothing where it is the same."""
    if own != new:
        return f"{new} took the place of {own}"
    kernels = [
        " and ".join(dict.fromkeys(short_kernel_name(unit.name) for unit in units))
        for units in (match.candidate, match.baseline)
    ]
    return f"{own} runs {kernels[0]} and no longer {kernels[1]}"


def named(units: tuple[Unit, ...]) -> str:
    """Return what some work is called: its operators, or its kernels where none is known."""
    names = list(dict.fromkeys(unit_name(unit) for unit in units))
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[: _MOST_NAMED - 1])} and {len(names) - _MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def unit_name(unit: Unit) -> str:
    """Return one piece of work's operator without ``aten::``, or its kernel."""
    if unit.operator and not unit.is_fused:
        return unit.operator.removeprefix("aten::")
    return short_kernel_name(unit.name)


def numbered(amount: int, noun: str) -> str:
    """Return an amount with its noun."""
    if amount == 1:
        return f"one {noun}"
    return f"{count(amount)} {noun}{'es' if noun.endswith('ch') else 's'}"


def _is_operator(match: Match) -> bool:
    return any(unit.kind == SliceKind.OPERATOR for unit in (*match.baseline, *match.candidate))


def signed(ns: int) -> str:
    """Return a difference of times with its sign."""
    return f"{'+' if ns > 0 else '−' if ns < 0 else '±'}{duration(abs(ns))}"


def signed_percent(ratio: float) -> str:
    """Return a relative difference with its sign."""
    sign = "+" if ratio > 0 else "−" if ratio < 0 else "±"
    return f"{sign}{percent(abs(ratio))}"
