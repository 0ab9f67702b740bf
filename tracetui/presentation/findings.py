"""The findings as lines: what is wrong, what it costs, what to try, and what-if."""

from dataclasses import dataclass, replace
from typing import Final

from tracetui.analysis.work_class import short_kernel_name
from tracetui.diagnosis.engine import Abstention, Findings, findings
from tracetui.diagnosis.finding import Finding
from tracetui.diagnosis.rules import RULES
from tracetui.diagnosis.what_if import gain_in_step_ns, n_judged_steps, prediction
from tracetui.format import TimeUnit, count, duration, with_unit
from tracetui.model.arrays import NO_ID
from tracetui.model.slices import SliceKind
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.table import cut_off, shortened

_PICK_WIDTH: Final = 4
_SEVERITY_WIDTH: Final = 9
_GAIN_WIDTH: Final = 12
_ABOUT: Final = {rule.name: rule.about for rule in RULES}


@dataclass(frozen=True, slots=True)
class WorthALook:
    """One finding as the overview lists it."""

    text: str
    gain: str
    """What it would save in a step, or in the recording; empty if not estimated."""
    slice_id: int


def worth_a_look(trace: Trace, most: int, unit: TimeUnit = TimeUnit.AUTO) -> tuple[WorthALook, ...]:
    """Return the first findings, those that save most."""
    found = findings(trace).found[:most]
    gains_ns = (gain_in_step_ns(trace, each) for each in found)
    return tuple(
        WorthALook(
            with_unit(clean_text(each.summary), unit),
            "" if gain_ns is None else f"−{duration(gain_ns, unit)}",
            each.first_slice,
        )
        for each, gain_ns in zip(found, gains_ns, strict=True)
    )


def gain_title(trace: Trace) -> str:
    """Return the title of the column of gains: a mean step's, or the recording's."""
    return "a step saves" if n_judged_steps(trace) else "saves"


def verdict(trace: Trace) -> str:
    """Return how many findings there are, of how many rules, and how many could not judge."""
    result = findings(trace)
    n_silent = len(result.abstained)
    found = {0: "Nothing found", 1: "1 finding"}.get(len(result), f"{count(len(result))} findings")
    judged = f"{_rules(result.n_rules - n_silent)} looked"
    return (
        f"{found}: {judged}, {count(n_silent)} could not judge"
        if n_silent
        else f"{found}: {judged}"
    )


@dataclass(frozen=True, slots=True)
class Lacking:
    """One thing that keeps rules from judging."""

    reason: str
    flag: str
    rules: tuple[str, ...]


@dataclass(slots=True, eq=False)
class FindingList:
    """The findings of a trace, then the rules that could not judge; some findings are picked."""

    trace: Trace
    result: Findings
    lacking: tuple[Lacking, ...]
    """What keeps rules from judging; the rows after the findings and a heading."""
    gains_ns: tuple[int | None, ...]
    """What each finding saves in a step, or in the recording; ``None`` if not estimated."""
    unit: TimeUnit = TimeUnit.AUTO
    """How times are written."""
    picked: frozenset[int] = frozenset()
    """Rows of findings whose mending is supposed, for what-if."""
    supposed: str = ""
    """What mending the picked findings would bring, once that was added up."""

    @classmethod
    def of(cls, trace: Trace) -> "FindingList":
        """Run the rules; slow on a large trace, so not on the screen's thread."""
        result = findings(trace)
        gains_ns = tuple(gain_in_step_ns(trace, each) for each in result.found)
        return cls(trace, result, _lacking(result.abstained), gains_ns)

    def __len__(self) -> int:
        return len(self.result) + (len(self.lacking) + 1 if self.lacking else 0)

    @property
    def summary(self) -> str:
        """Return the answer: what was found, or what the picked findings would bring."""
        if not self.picked:
            return verdict(self.trace)
        return self.supposed or "Adding up …"

    def supposition(self) -> str:
        """Return what mending the picked findings would bring; slow on a large trace."""
        chosen = [self.result.found[row] for row in sorted(self.picked)]
        then = prediction(self.trace, chosen)
        mended = f"With {len(chosen)} mended"
        if not any(each.gain_ns for each in chosen):
            return f"{mended}: what they save cannot be estimated"
        a_step = " a step" if then.n_steps else ""
        speedup = "" if then.speedup is None else f" ({then.speedup:.2f}x)"
        most = f", then mostly {then.bottleneck}, {self._written(then.bottleneck_ns)}"
        return (
            f"{mended}: {self._written(then.then_ns)} instead of {self._written(then.now_ns)}{a_step}{speedup}"
            f"{most if then.bottleneck_ns else ''}"
        )

    def header(self, width: int) -> str:
        """Return the column titles."""
        if not self.result.found:
            return ""
        saves = gain_title(self.trace)
        head = f"{'if':<{_PICK_WIDTH}}{'severity':<{_SEVERITY_WIDTH}}"
        return shortened(f"{head}{saves:>{self._gain_width}}  finding", width)

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        self.supposed = ""

    def _written(self, ns: int | None) -> str:
        return duration(ns, self.unit)

    def gain_at(self, row: int) -> str:
        """Return what a finding saves in a step, or in the recording."""
        return self._written(self.gains_ns[row])

    @property
    def _gain_width(self) -> int:
        longest = max((len(self._written(gain_ns)) for gain_ns in self.gains_ns), default=0)
        return max(_GAIN_WIDTH, longest + 1)

    def line(self, row: int, width: int) -> str:
        """Return one row."""
        found = self.finding_at(row)
        if found is None:
            return cut_off(self._lacking_line(row), width)
        mark = "[x]" if row in self.picked else "[ ]"
        head = (
            f"{mark:<{_PICK_WIDTH}}{found.severity.name.lower():<{_SEVERITY_WIDTH}}"
            f"{self.gain_at(row):>{self._gain_width}}  "
        )
        return cut_off(head + with_unit(clean_text(found.summary), self.unit), width)

    def _lacking_line(self, row: int) -> str:
        lacking = self.lacking_at(row)
        if lacking is None:
            return "Could not judge:"
        flag = f"; record with {lacking.flag}" if lacking.flag else ""
        return f"  {_rules(len(lacking.rules))}: {lacking.reason}{flag}"

    def finding_at(self, row: int) -> Finding | None:
        """Return the finding of a row, ``None`` for another row."""
        return self.result.found[row] if 0 <= row < len(self.result) else None

    def lacking_at(self, row: int) -> Lacking | None:
        """Return what keeps rules from judging, ``None`` for another row."""
        place = row - len(self.result) - 1
        return self.lacking[place] if 0 <= place < len(self.lacking) else None

    def slice_at(self, row: int) -> int:
        """Return the first slice that shows a finding, or ``NO_ID``."""
        found = self.finding_at(row)
        return NO_ID if found is None else found.first_slice

    def toggle(self, row: int) -> None:
        """Pick a finding for what-if, or put it back."""
        if self.finding_at(row) is not None:
            self.picked ^= {row}
            self.supposed = ""

    def copied(self) -> "FindingList":
        """Return a copy that a thread may add up while the user goes on picking."""
        return replace(self)

    def details(self, row: int) -> list[str]:
        """Return all that is known of a row."""
        found, lacking = self.finding_at(row), self.lacking_at(row)
        if found is not None:
            return self._finding_details(found, self.gain_at(row))
        if lacking is None:
            return ["These rules lack something that a recording can hold."]
        lines = [f"{_rules(len(lacking.rules))} could not judge: {lacking.reason}"]
        if lacking.flag:
            lines.append(f"Record with: {lacking.flag}")
        return [*lines, "", *(f"{rule}: {_ABOUT.get(rule, '')}" for rule in lacking.rules)]

    def _finding_details(self, found: Finding, gain: str) -> list[str]:
        trace, first = self.trace, found.first_slice
        n_slices = "1 slice" if len(found.slices) == 1 else f"{count(len(found.slices))} slices"
        lines = [
            f"{found.rule}, {found.severity.name.lower()}",
            f"{with_unit(clean_text(found.summary), self.unit)}.",
            f"Try: {found.change}.",
        ]
        if found.gain_ns is None:
            lines.append("Saves: not estimated")
        else:
            a_step = f", {gain} a step" if n_judged_steps(trace) else ""
            lines.append(f"Saves: up to {self._written(found.gain_ns)} in the recording{a_step}")
            lines.append(f"That is: {with_unit(clean_text(found.gain_how), self.unit)}")
        at, name = self._written(int(trace.slices.ts_ns[first])), trace.name_of(first)
        if trace.slices.kind[first] == SliceKind.KERNEL:
            name = short_kernel_name(name)
        lines.append(f"Evidence: {n_slices}; the first, at {at}, is {name}")
        if about := _ABOUT.get(found.rule):
            lines.append(f"Looked for: {about}")
        return [*lines, "", "enter shows the evidence, space picks it for what-if"]


def _lacking(abstained: tuple[Abstention, ...]) -> tuple[Lacking, ...]:
    rules: dict[tuple[str, str], list[str]] = {}
    for each in abstained:
        rules.setdefault((clean_text(each.reason), each.flag), []).append(each.rule)
    return tuple(Lacking(*key, tuple(names)) for key, names in rules.items())


def _rules(n_rules: int) -> str:
    return "1 rule" if n_rules == 1 else f"{count(n_rules)} rules"
