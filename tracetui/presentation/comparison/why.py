"""The answer of a comparison: one sentence, what the difference is made of, and what differs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tracetui.compare.comparison import Comparison
from tracetui.compare.kinds import TIMED_KINDS, Match
from tracetui.compare.notes import notes
from tracetui.compare.sentence import answer, named, signed, signed_percent
from tracetui.compare.spread import Spread
from tracetui.compare.waterfall import Part, Waterfall
from tracetui.diagnosis.engine import Findings
from tracetui.diagnosis.finding import Finding
from tracetui.format import duration, size
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.presentation.comparison.page import PageLine
from tracetui.presentation.comparison.words import (
    KIND_WIDTH,
    change,
    kernel_texts,
    kind_word,
    match_details,
    unit_text,
)
from tracetui.presentation.lit import LitText, joined, lit_shortened
from tracetui.presentation.table import cell_width, cut_off, padded, shortened, wrapped

MOST_DIFFERENCES: Final = 40
"""The page of pieces of work lists the others too."""
_MOST_FINDINGS: Final = 8
_TIME_WIDTH: Final = 11
_LEAST_BAR: Final = 8
_MOST_BAR: Final = 30
_PART_WIDTH: Final = 36
_LEAST_NAMES: Final = 8
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class DifferingFindings:
    """What the rules say of one side and not of the other."""

    only_baseline: tuple[Finding, ...]
    only_candidate: tuple[Finding, ...]

    @classmethod
    def of(cls, baseline: Findings, candidate: Findings) -> "DifferingFindings":
        """Return the findings whose rule found nothing on the other side."""
        rules_baseline = {each.rule for each in baseline.found}
        rules_candidate = {each.rule for each in candidate.found}
        return cls(
            tuple(each for each in baseline.found if each.rule not in rules_candidate),
            tuple(each for each in candidate.found if each.rule not in rules_baseline),
        )


@dataclass(slots=True, eq=False)
class WhyPage:
    """The first page: what is slower, by how much, and why."""

    compared: Comparison
    differing: DifferingFindings
    _lines: dict[int, list[PageLine]] = field(default_factory=dict)

    def n_lines(self, width: int) -> int:
        """Return how many lines there are at a width."""
        return len(self._laid_out(width))

    def line(self, row: int, width: int) -> PageLine:
        """Return one line."""
        return self._laid_out(width)[row]

    def titles(self, width: int) -> str:
        """Return nothing: the page speaks in sentences."""
        del width
        return ""

    def details(self, row: int, width: int) -> list[str]:
        """Return all that is known of the match on a line."""
        lines = self._laid_out(width)
        place = lines[row].match if row < len(lines) else NO_ID
        if place == NO_ID:
            return ["} and { walk the differences by size; enter leads to the evidence."]
        return match_details(self.compared, place)

    def row_of_match(self, match: int, width: int) -> int | None:
        """Return the line of a difference; the first of a part's has its line further up too."""
        lines = self._laid_out(width)
        rows = [row for row, line in enumerate(lines) if line.match == match]
        return rows[-1] if rows else None

    def _laid_out(self, width: int) -> list[PageLine]:
        found = self._lines.get(width)
        if found is None:
            self._lines.clear()
            found = self._lines[width] = [*self._write(width)]
        return found

    def _write(self, width: int) -> Iterator[PageLine]:
        for text in wrapped(answer(self.compared), width):
            yield PageLine(text)
        yield PageLine("")
        yield from self._times(width)
        yield from self._differences(width)
        yield from self._findings(width)
        yield PageLine("")
        for note in notes(self.compared):
            for text in wrapped(f"· {note}", width):
                yield PageLine(text)

    def _times(self, width: int) -> Iterator[PageLine]:
        compared = self.compared
        sides = (
            ("device", compared.gpu, compared.gpu_waterfall),
            ("host", compared.host, compared.host_waterfall),
            ("wall", compared.wall, compared.wall_waterfall),
        )
        if compared.unprofiled is not None:
            yield from _spread_lines("unprofiled", compared.unprofiled, width)
        for name, spread, waterfall in sides:
            if spread is None or waterfall is None:
                continue
            yield from _spread_lines(name, spread, width)
            yield from _waterfall_lines(waterfall, width)
        before, after = compared.peak_bytes
        if before is not None and after is not None:
            delta = after - before
            sign = "+" if delta > 0 else "−" if delta < 0 else "±"
            text = f"peak memory  A {size(before)} → B {size(after)}   {sign}{size(abs(delta))}"
            yield PageLine(cut_off(text, width))

    def _differences(self, width: int) -> Iterator[PageLine]:
        compared = self.compared
        places = compared.differences
        yield PageLine("")
        if not compared.matches:
            return
        if not places:
            yield PageLine("Nothing differs: every piece of work is the same on both sides.")
            return
        yield PageLine(f"What differs, the largest first ({len(places)}):")
        for place in places[:MOST_DIFFERENCES]:
            match = compared.matches[place]
            baseline_id, candidate_id = slices_of(match)
            yield PageLine(_difference_text(match, width), baseline_id, candidate_id, place)
        if len(places) > MOST_DIFFERENCES:
            yield PageLine(
                f"  and {len(places) - MOST_DIFFERENCES} more on the page of pieces of work"
            )

    def _findings(self, width: int) -> Iterator[PageLine]:
        sides = (
            ("A", self.differing.only_baseline),
            ("B", self.differing.only_candidate),
        )
        if not any(found for _, found in sides):
            return
        yield PageLine("")
        yield PageLine("Findings on one side only:")
        for name, found in sides:
            for each in found[:_MOST_FINDINGS]:
                text = cut_off(f"  only {name}: {clean_text(each.summary)}", width)
                own = int(each.first_slice)
                yield PageLine(text, *((own, NO_ID) if name == "A" else (NO_ID, own)))


def slices_of(match: Match) -> tuple[int, int]:
    """Return the first slice of each side of a match, or ``NO_ID``."""
    return (
        match.baseline[0].slice_id if match.baseline else NO_ID,
        match.candidate[0].slice_id if match.candidate else NO_ID,
    )


def _spread_lines(name: str, spread: Spread, width: int) -> Iterator[PageLine]:
    """Yield both medians with their difference and verdict, and the interval where there is room."""
    text = (
        f"{name:<11}A {duration(spread.baseline_ns)} → B {duration(spread.candidate_ns)}   "
        f"{change(spread.baseline_ns, spread.candidate_ns)}   {spread.verdict.value}"
    )
    interval = ""
    if spread.ci is not None:
        low, high = (signed_percent(bound - 1) for bound in spread.ci)
        interval = f"{low} … {high}"
    if interval and cell_width(f"{text}   [{interval}]") <= width:
        text, interval = f"{text}   [{interval}]", ""
    yield PageLine(cut_off(text, width))
    if interval:
        yield PageLine(cut_off(f"{'':<11}95 % interval {interval}", width))


def _waterfall_lines(waterfall: Waterfall, width: int) -> Iterator[PageLine]:
    parts = [part for part in waterfall.parts if part.delta_ns]
    rows = [(part.name, part.delta_ns, part) for part in parts]
    largest = max((abs(delta_ns) for _, delta_ns, _ in rows), default=0)
    bar = max(min(width - _PART_WIDTH - _TIME_WIDTH - 4, _MOST_BAR), _LEAST_BAR)
    for name, delta_ns, part in rows:
        text = (
            f"  {padded(name, _PART_WIDTH)}{signed(delta_ns):>{_TIME_WIDTH}}  "
            f"{_bar(delta_ns, largest, bar)}"
        )
        yield PageLine(cut_off(text, width), match=_first_match(part))
    if waterfall.residual_ns:
        text = f"  {'residual':<{_PART_WIDTH}}{signed(waterfall.residual_ns):>{_TIME_WIDTH}}"
        yield PageLine(cut_off(text, width))


def _first_match(part: Part) -> int:
    return part.matches[0] if part.matches else NO_ID


def _bar(delta_ns: int, largest_ns: int, width: int) -> str:
    """Return a bar whose length is the difference's share of the largest, to an eighth of a cell."""
    eighths = max(abs(delta_ns) * width * 8 // largest_ns, 1) if largest_ns else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _difference_text(match: Match, width: int) -> LitText:
    head = f"  {kind_word(match):<{KIND_WIDTH}}{signed(match.delta_ns):>{_TIME_WIDTH}}  "
    room = max(width - cell_width(head), _LEAST_NAMES)
    own, new = named(match.baseline), named(match.candidate)
    kernels = kernel_texts(match)
    if match.kind in TIMED_KINDS:
        # An operator may stand in many lines, under another name on each side: its kernel is the same.
        return joined(head, shortened(unit_text(match.baseline[0]), room))
    if own != new or not match.baseline:
        return joined(head, shortened(f"{own or 'nothing'} → {new or 'nothing'}", room))
    if kernels is None:
        return joined(head, shortened(own, room))
    parts = [f"{own}: " if own != kernels[0] else "", kernels[0], " → ", kernels[1]]
    half = max((room - cell_width(parts[0]) - cell_width(parts[2])) // 2, _LEAST_NAMES // 2)
    return joined(
        head, parts[0], lit_shortened(parts[1], half), parts[2], lit_shortened(parts[3], half)
    )
