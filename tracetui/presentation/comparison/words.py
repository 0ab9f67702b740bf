"""What pages of a comparison say alike."""

from typing import Final

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.work_class import WorkClass, work_class
from tracetui.compare.comparison import Comparison
from tracetui.compare.kinds import Match, MatchKind
from tracetui.compare.sentence import signed, unit_name
from tracetui.compare.units import Unit
from tracetui.format import NOT_MEASURED, duration, percent, size
from tracetui.model.slices import SliceKind
from tracetui.presentation.lit import LitText, differing, joined

KIND_WIDTH: Final = 7
_WORD_OF_KIND: Final = {
    MatchKind.SAME: "same",
    MatchKind.SLOWER: "slower",
    MatchKind.FASTER: "faster",
    MatchKind.FUSED: "fused",
    MatchKind.SPLIT: "split",
    MatchKind.SWAPPED: "other",
    MatchKind.ONLY_BASELINE: "A only",
    MatchKind.ONLY_CANDIDATE: "B only",
    MatchKind.MOVED_TO_HOST: "host",
    MatchKind.NEW_COPY: "copy",
}


def kind_word(match: Match) -> str:
    """Return what became of some work in one word; a doubtful match has a question mark."""
    word = _WORD_OF_KIND[match.kind]
    return word if match.is_sure else f"{word[: KIND_WIDTH - 2]}?"


def unit_text(unit: Unit) -> str:
    """Return one piece of work: its operator and, where that is another, its kernel."""
    kernel, name = kernel_text(unit), unit_name(unit)
    return name if unit.kind == SliceKind.OPERATOR or kernel == name else f"{name}: {kernel}"


def kernel_text(unit: Unit) -> str:
    """Return the short name of a kernel, the name of anything else."""
    return decode(unit.name).short_name if unit.kind == SliceKind.KERNEL else unit.name


def kernel_texts(match: Match) -> tuple[LitText, LitText] | None:
    """Return both kernels of a match by their short names, with the words lit that differ.

    ``None`` where the match is not of one piece of work and another that took its place.
    """
    if not is_swap(match):
        return None
    return differing(kernel_text(match.baseline[0]), kernel_text(match.candidate[0]))


def is_swap(match: Match) -> bool:
    """Return whether one piece of work took the place of another."""
    is_pair = len(match.baseline) == len(match.candidate) == 1
    return is_pair and match.kind is MatchKind.SWAPPED


def unit_class(unit: Unit) -> int | None:
    """Return the class of work that colours a kernel; operators have none."""
    if unit.kind == SliceKind.OPERATOR:
        return None
    return int(work_class(unit.name) if unit.kind == SliceKind.KERNEL else WorkClass.COPY)


def change(baseline_ns: int, candidate_ns: int) -> str:
    """Return a difference with its share of the baseline, where there is one."""
    delta_ns = candidate_ns - baseline_ns
    if not baseline_ns or not delta_ns:
        return signed(delta_ns)
    sign = "+" if delta_ns > 0 else "−"
    return f"{signed(delta_ns)} ({sign}{percent(abs(delta_ns) / baseline_ns)})"


def match_details(compared: Comparison, place: int) -> list[str]:
    """Return all that is known of one match."""
    match = compared.matches[place]
    doubt = "" if match.is_sure else "  (not sure)"
    lines = [
        f"{kind_word(match)}: {change(match.baseline_ns, match.candidate_ns)}{doubt}",
        f"Why: {match.why}",
    ]
    names: list[list[str]] = [
        [unit.name for unit in units] for units in (match.baseline, match.candidate)
    ]
    if is_swap(match):
        names = [[name] for name in differing(names[0][0], names[1][0])]
    for side, units, own in zip("AB", (match.baseline, match.candidate), names, strict=True):
        if not units:
            lines.append(f"{side}: nothing")
        for unit, name in zip(units, own, strict=True):
            lines += ["", joined(f"{side}: ", name), f"   {_unit_facts(unit)}"]
    if match.differences:
        lines += ["", "What the names say differently:"]
        for each in match.differences:
            lines.append(f"   {each.field}: {each.baseline or '–'} → {each.candidate or '–'}")
            if each.gloss:
                lines.append(f"      {each.gloss}")
    return lines


def _unit_facts(unit: Unit) -> str:
    facts = [duration(unit.dur_ns)]
    if len(unit.samples) > 1:
        low, high = int(unit.samples.min()), int(unit.samples.max())
        facts.append(f"median of {len(unit.samples)}, {duration(low)} to {duration(high)}")
    if unit.operator and unit.kind != SliceKind.OPERATOR:
        facts.append(f"of {unit.operator}")
    if unit.shape:
        facts.append(f"inputs {unit.shape}")
    if unit.n_bytes > 0:
        facts.append(size(unit.n_bytes))
    return " · ".join(facts)


def time_or_dash(ns: int | None) -> str:
    """Return a time for a column."""
    return NOT_MEASURED if ns is None else duration(ns)
