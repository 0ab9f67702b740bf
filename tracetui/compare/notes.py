"""What has to be known to believe a comparison, one line each."""

from typing import Final

from tracetui.compare.comparison import Comparison
from tracetui.compare.kinds import comparable_shapes, same_inputs
from tracetui.compare.sentence import numbered
from tracetui.format import middle_ellipsis
from tracetui.model.arrays import NO_ID

_SHAPE_WIDTH: Final = 60


def notes(compared: Comparison) -> tuple[str, ...]:
    """Return what limits the comparison, one line each."""
    return (
        *_about_parts(compared),
        *_about_instances(compared),
        *_about_times(compared),
        *_about_devices(compared),
        *_about_shapes(compared),
        *_about_doubts(compared),
    )


def _about_parts(compared: Comparison) -> list[str]:
    return [
        f"{name} is a part of its file, as was asked: its totals are of that part."
        for name, side in (("A", compared.baseline), ("B", compared.candidate))
        if side.trace.report.is_part
    ]


def _about_instances(compared: Comparison) -> list[str]:
    found = []
    sides = (("A", compared.baseline), ("B", compared.candidate))
    totals = [len(side.labels) for _, side in sides]
    per = compared.scope.per
    if per != "total" and totals[0] != totals[1]:
        found.append(
            f"A has {numbered(totals[0], per)}, B has {numbered(totals[1], per)}: shown is the median"
            f" per {per}, not the total."
        )
    left_out = [f"{label} of {name}" for name, side in sides for label in side.left_out[:2]]
    if left_out:
        found.append(f"Left out as cold: {', '.join(left_out)}.")
    for (name, _), n_captures in zip(sides, compared.n_captures, strict=True):
        if n_captures > 1:
            found.append(
                f"{name} is {n_captures} captures: all their {per}s count; what runs is shown of the"
                " first."
            )
    if (
        per != "total"
        and min(len(compared.host.baseline_samples), len(compared.host.candidate_samples)) == 1
    ):
        found.append("One instance on a side: nothing can be said of its spread.")
    for name, given in (("A", compared.baseline_work), ("B", compared.candidate_work)):
        if given.n_alike < len(given.side.kept):
            found.append(
                f"{given.n_alike} of {numbered(len(given.side.kept), per)} of {name} have the form"
                " that is shown; the others differ in what they run."
            )
    return found


def _about_times(compared: Comparison) -> list[str]:
    if compared.unprofiled is None:
        return ["Profiled times only: the profiler slows the host and may turn a close order."]
    n_runs = [
        len(samples)
        for samples in (compared.unprofiled.baseline_samples, compared.unprofiled.candidate_samples)
    ]
    return [
        f"Times taken without the profiler decide: the median of {n_runs[0]} and {n_runs[1]} runs."
    ]


def _about_devices(compared: Comparison) -> list[str]:
    found = []
    traces = (compared.baseline.trace, compared.candidate.trace)
    names = [trace.devices[0].name if trace.devices else "" for trace in traces]
    if names[0] != names[1] and all(names):
        found.append(f"Different devices: {names[0]} and {names[1]}.")
    has_device = [compared.baseline.has_device, compared.candidate.has_device]
    if has_device[0] != has_device[1]:
        only = "A" if has_device[0] else "B"
        found.append(f"Only {only} has device work: operators of the host are compared.")
    for name, side in (("A", compared.baseline), ("B", compared.candidate)):
        slices = side.trace.slices
        lost = int((slices.is_device_work() & (side.instance_of == NO_ID)).sum())
        if lost and side.scope.within is None:
            belong = "belongs" if lost == 1 else "belong"
            found.append(
                f"{numbered(lost, 'piece')} of device work of {name} {belong} to no {side.scope.per}"
                " (launched outside, or their launch is not in the file)."
            )
    return found


def _about_shapes(compared: Comparison) -> list[str]:
    known = [
        (match.baseline[0], match.candidate[0])
        for match in compared.matches
        if len(match.baseline) == len(match.candidate) == 1
        and comparable_shapes(match.baseline[0], match.candidate[0])
    ]
    other = [pair for pair in known if not same_inputs(*pair)]
    if other and 2 * len(other) > len(known):
        first, second = other[0]
        shapes = [middle_ellipsis(unit.shape, _SHAPE_WIDTH) for unit in (first, second)]
        return [
            (
                f"Other input sizes: {first.operator} {shapes[0]} in A, {shapes[1]} in B;"
                " the times are not of the same amount of work."
            )
        ]
    return []


def _about_doubts(compared: Comparison) -> list[str]:
    doubtful = sum(not match.is_sure for match in compared.matches)
    if not doubtful:
        return []
    return [f"{numbered(doubtful, 'match')} of {len(compared.matches)} are not sure and say so."]
