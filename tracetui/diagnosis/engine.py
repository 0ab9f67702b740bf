"""Runs the rules, ranks what they find, and outlives a rule that fails."""

from collections.abc import Iterable
from dataclasses import dataclass

from tracetui.analysis.memo import once_per_trace
from tracetui.diagnosis.finding import Finding, Rule
from tracetui.diagnosis.rules import RULES
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Abstention:
    """A rule that could not judge."""

    rule: str
    reason: str
    flag: str = ""
    """The profiler flag that would bring what it lacks; empty where none would."""


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What the rules said of one trace."""

    found: tuple[Finding, ...]
    """The gravest first; of equals the one that saves most, those without an estimate last."""
    abstained: tuple[Abstention, ...]
    """In the order of the rules."""
    n_rules: int

    def __len__(self) -> int:
        return len(self.found)


@once_per_trace
def findings(trace: Trace) -> Findings:
    """Return what all rules find in a trace."""
    return checked(trace, RULES)


def checked(trace: Trace, rules: Iterable[Rule]) -> Findings:
    """Return what some rules find in a trace."""
    found: list[Finding] = []
    abstained: list[Abstention] = []
    n_rules = 0
    for rule in rules:
        n_rules += 1
        lacking = next((need for need in rule.needs if not need.is_met(trace)), None)
        if lacking is not None:
            abstained.append(Abstention(rule.name, f"no {lacking.what}", lacking.flag))
            continue
        try:
            found.extend(rule.check(trace))
        except Exception as error:  # noqa: BLE001 - one rule's fault must not hide the others' findings
            abstained.append(Abstention(rule.name, f"failed: {type(error).__name__}: {error}"))
    found.sort(key=_rank)
    return Findings(tuple(found), tuple(abstained), n_rules)


def _rank(finding: Finding) -> tuple[int, int, str]:
    # Severity is the share of the time at stake, so that this is the order of gain as well; what
    # cannot be estimated would otherwise stand last, however much it is about.
    return (int(finding.severity), -(finding.gain_ns or 0), finding.rule)
