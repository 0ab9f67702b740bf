"""The answer in a sentence or two, and what has to be known to believe it."""

from collections import Counter
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
_UNCHANGED: Final = (MatchKind.SAME, MatchKind.SLOWER, MatchKind.FASTER)


def answer(compared: Comparison) -> str:
    """Return what the candidate, B, is against the baseline, A, and why."""
    subject, where = _subject(compared)
    if not (compared.matches or subject.baseline_ns or subject.candidate_ns):
        return "Nothing to compare: neither side holds an operator or device work."
    reasons = _reasons(compared, subject)
    sentences = [f"{_verdict(compared, subject, where)}{_because(subject, reasons)}."]
    sentences += _about_structure(compared, reasons)
    if compared.gpu is not None:
        sentences += _about_wall(compared, compared.gpu)
        sentences += _about_host(compared)
    else:
        sentences += _about_tax(compared)
    return " ".join(sentences)


def _subject(compared: Comparison) -> tuple[Spread, str]:
    """Return the time that decides, and where it was taken."""
    if compared.unprofiled is not None:
        return compared.unprofiled, "without the profiler"
    if compared.gpu is not None:
        return compared.gpu, "on the GPU"
    return compared.host, "on the host"


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
    if not subject.ci[0] <= 1 <= subject.ci[1]:
        n_runs = len(subject.baseline_samples), len(subject.candidate_samples)
        word = "slower" if subject.delta_ns > 0 else "faster"
        return (
            f"B looks {word} {where} ({change}), which {n_runs[0]} and {n_runs[1]} runs are too few"
            " to be sure of"
        )
    return f"It is open whether B is faster or slower {where} ({change})"


def _reasons(compared: Comparison, subject: Spread) -> tuple[str, ...]:
    """Return what moved most time in the direction of the difference."""
    sign = 1 if subject.delta_ns > 0 else -1
    least = _TELLING_SHARE * abs(subject.delta_ns)
    found = [
        phrase(compared.matches[place])
        for place in compared.differences
        if compared.matches[place].delta_ns * sign > least
        and compared.matches[place].kind is not MatchKind.SAME
        and compared.matches[place].is_sure
    ]
    return tuple(dict.fromkeys(found))[:2] if subject.delta_ns else ()


def _because(subject: Spread, reasons: tuple[str, ...]) -> str:
    if not reasons:
        return ""
    if subject.verdict is Verdict.NO_CHANGE:
        return f"; the largest difference: {reasons[0]}"
    return f": {'; '.join(reasons)}"


def _about_structure(compared: Comparison, said: tuple[str, ...]) -> list[str]:
    """Return the largest change of what runs, where it is no reason already given."""
    for place in compared.differences:
        match = compared.matches[place]
        if match.kind in _UNCHANGED or not match.is_sure:
            continue
        text = phrase(match)
        if text in said:
            return []
        # A name keeps its case: the sentence begins with a word of its own.
        return [f"Changed: {text} ({signed(match.delta_ns)})."]
    return []


def _about_tax(compared: Comparison) -> list[str]:
    """Return what compiled calls cost the host, where that is a part worth naming."""
    tax = next((p for p in compared.host_waterfall.parts if p.name == COMPILE_TAX), None)
    if tax is None or abs(tax.delta_ns) < _NOTABLE_RATIO * compared.host.baseline_ns:
        return []
    return [f"The compile tax is {signed(tax.delta_ns)}: guards and wrappers on every call."]


def _about_wall(compared: Comparison, gpu: Spread) -> list[str]:
    """Return how the time of a step or call changed, where the device's work does not tell it."""
    wall, waterfall = compared.wall, compared.wall_waterfall
    if wall is None or waterfall is None or all(compared.host_runs_ahead):
        return []
    decided = (Verdict.FASTER, Verdict.SLOWER)
    if wall.verdict not in decided or wall.verdict is gpu.verdict or wall.ratio is None:
        return []
    noun = {"step": "A step", "call": "A call", "total": "The whole"}[compared.scope.per]
    factor = wall.ratio if wall.verdict is Verdict.SLOWER else 1 / wall.ratio
    part = max(waterfall.parts, key=lambda each: abs(each.delta_ns))
    return [
        (
            f"{noun} is {factor:.2f}x {wall.verdict.value} all the same ({signed(wall.delta_ns)} of"
            f" {duration(wall.baseline_ns)}): {part.name} {signed(part.delta_ns)}."
        )
    ]


def _about_host(compared: Comparison) -> list[str]:
    found = []
    per = {"step": "a step", "call": "a call", "total": "in total"}[compared.scope.per]
    launches = compared.launches
    sides = (compared.baseline, compared.candidate)
    has_period = compared.scope.per != "step" or min(len(side.labels) for side in sides) > 1
    if all(compared.host_runs_ahead) and not has_period:
        found.append(
            "The host runs ahead of the GPU on both sides; one step alone has no period to tell whose"
            " its time is."
        )
    elif all(compared.host_runs_ahead):
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
        case _:
            return _timed(match, own)


def _timed(match: Match, own: str) -> str:
    """Return how the time of the same work changed."""
    if match.is_comm and match.kind is not MatchKind.SAME:
        longer = "longer" if match.kind is MatchKind.SLOWER else "shorter"
        return f"{own} communicates, or waits for other ranks, {longer}"
    return f"{own} is {'the ' if match.kind is MatchKind.SAME else ''}{match.kind.value}"


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
    counted = Counter(unit_name(unit) for unit in units)
    names = [name if amount == 1 else f"{amount} {name}" for name, amount in counted.items()]
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
