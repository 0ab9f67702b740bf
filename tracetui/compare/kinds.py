"""What became of each piece of work: the kinds of matches, and why."""

from enum import Enum
from typing import Final, NamedTuple

from tracetui.analysis.kernel_names import NameDifference, decode, name_differences
from tracetui.compare.grouping import Group, Proof
from tracetui.compare.spread import SAME_RATIO, differ_by_t
from tracetui.compare.units import Unit
from tracetui.compare.words import stable_name
from tracetui.format import middle_ellipsis
from tracetui.model.slices import SliceKind

_SHAPE_WIDTH: Final = 60
_ONE_INSTANCE_RATIO: Final = 0.02
"""A single run that differs by less than this says nothing."""


class MatchKind(Enum):
    """What the candidate made of the baseline's work."""

    SAME = "same"
    SLOWER = "slower"
    FASTER = "faster"
    FUSED = "fused"
    SPLIT = "split"
    SWAPPED = "swapped"
    ONLY_BASELINE = "only-baseline"
    ONLY_CANDIDATE = "only-candidate"
    MOVED_TO_HOST = "moved-to-host"
    NEW_COPY = "new-copy"


TIMED_KINDS: Final = frozenset((MatchKind.SAME, MatchKind.SLOWER, MatchKind.FASTER))
"""One piece of work by the same kernel on both sides."""


class Match(NamedTuple):
    """Pieces of work of the baseline and what stands for them in the candidate."""

    kind: MatchKind
    baseline: tuple[Unit, ...]
    candidate: tuple[Unit, ...]
    is_sure: bool
    proof: Proof
    why: str
    """What differs, in words."""
    differences: tuple[NameDifference, ...] = ()
    """What the names of the two kernels say differently, where one took the other's place."""

    @property
    def baseline_ns(self) -> int:
        """Return the baseline's time; 0 where it has none of this."""
        return sum(unit.dur_ns for unit in self.baseline)

    @property
    def candidate_ns(self) -> int:
        """Return the candidate's time; 0 where it has none of this."""
        return sum(unit.dur_ns for unit in self.candidate)

    @property
    def delta_ns(self) -> int:
        """Return candidate less baseline."""
        return self.candidate_ns - self.baseline_ns

    @property
    def is_comm(self) -> bool:
        """Return whether it is communication."""
        return any(unit.sort.is_comm for unit in (*self.baseline, *self.candidate))

    @property
    def is_copy(self) -> bool:
        """Return whether all of it only moves or fills memory."""
        return all(unit.sort.is_copy for unit in (*self.baseline, *self.candidate))


def classified(group: Group, host_only: frozenset[str]) -> Match:
    """Return what became of a group of work; ``first`` is the baseline's.

    Args:
        group: The group.
        host_only: Operators of the candidate that ran without launching anything, by name.
    """
    kind, why = _kind(group, host_only)
    differences: tuple[NameDifference, ...] = ()
    if kind is MatchKind.SWAPPED and len(group.first) == 1:
        differences = name_differences(decode(group.first[0].name), decode(group.second[0].name))
        glosses = "; ".join(difference.gloss for difference in differences)
        why = f"{why}; {glosses}" if glosses else why
    if not group.is_sure:
        why = f"not sure: {why}"
    return Match(kind, group.first, group.second, group.is_sure, group.proof, why, differences)


def _kind(group: Group, host_only: frozenset[str]) -> tuple[MatchKind, str]:
    first, second = group.first, group.second
    if not second:
        moved = first[0].kind != SliceKind.OPERATOR and first[0].operator in host_only
        if moved:
            return MatchKind.MOVED_TO_HOST, f"{first[0].operator} launches nothing in the candidate"
        return MatchKind.ONLY_BASELINE, _alone(first[0], "candidate")
    if not first:
        is_copy = second[0].is_copy and not second[0].is_fill
        kind = MatchKind.NEW_COPY if is_copy else MatchKind.ONLY_CANDIDATE
        return kind, _alone(second[0], "baseline")
    if len(first) > len(second):
        return MatchKind.FUSED, f"{_counted(first)} became {_counted(second)}: {group.proof.value}"
    if len(first) < len(second):
        return MatchKind.SPLIT, f"{_counted(first)} became {_counted(second)}: {group.proof.value}"
    noun = "operator" if first[0].kind == SliceKind.OPERATOR else "kernel"
    if len(first) > 1 or not _same_name(first[0], second[0]):
        return MatchKind.SWAPPED, f"same work, other {noun}: {group.proof.value}"
    return _timed(first[0], second[0])


def _timed(first: Unit, second: Unit) -> tuple[MatchKind, str]:
    """Return whether the same work takes longer, by all its runs on both sides."""
    shape = ""
    if (
        first.shape != second.shape
        and comparable_shapes(first, second)
        and not same_inputs(first, second)
    ):
        before, after = (middle_ellipsis(unit.shape, _SHAPE_WIDTH) for unit in (first, second))
        shape = f"; shapes {before} became {after}"
    noun = "operator" if first.kind == SliceKind.OPERATOR else "kernel"
    delta_ns = second.dur_ns - first.dur_ns
    changed = MatchKind.SLOWER if delta_ns > 0 else MatchKind.FASTER
    if delta_ns == 0:
        return MatchKind.SAME, f"same {noun}, same time{shape}"
    least_ns = min(first.dur_ns, second.dur_ns)
    if min(len(first.samples), len(second.samples)) < 2:
        if abs(delta_ns) > _ONE_INSTANCE_RATIO * least_ns:
            return changed, f"same {noun}; one instance, so it may be noise{shape}"
        return MatchKind.SAME, f"same {noun}; one instance{shape}"
    is_apart = (
        first.samples.max() < second.samples.min() or second.samples.max() < first.samples.min()
    )
    is_real = abs(delta_ns) > SAME_RATIO * least_ns and is_apart
    if is_real and differ_by_t(first.samples, second.samples):
        return changed, f"same {noun}, beyond the spread of its runs{shape}"
    return MatchKind.SAME, f"same {noun}, within the spread of its runs{shape}"


def _same_name(first: Unit, second: Unit) -> bool:
    return first.name == second.name or stable_name(first.name) == stable_name(second.name)


def comparable_shapes(first: Unit, second: Unit) -> bool:
    """Return whether both sides know the shapes of the same operator's inputs."""
    is_same = stable_name(first.operator) == stable_name(second.operator)
    return is_same and bool(first.shape and second.shape)


def same_inputs(first: Unit, second: Unit) -> bool:
    """Return whether one list of shapes begins with the other: an out= tensor is listed too."""
    a, b = (unit.shape.removesuffix("]") for unit in (first, second))
    return a.startswith(b) or b.startswith(a)


def _alone(unit: Unit, other: str) -> str:
    by = f" of {unit.operator}" if unit.operator and unit.operator != unit.name else ""
    sort = "copy or fill" if unit.is_copy else "work"
    return f"no such {sort}{by} in the {other}"


def _counted(units: tuple[Unit, ...]) -> str:
    word = "operator" if units[0].kind == SliceKind.OPERATOR else "kernel"
    return f"{len(units)} {word}{'s' if len(units) != 1 else ''}"
