"""What holds a device back, as sentences: the verdict, its scope, and the evidence for it."""

from typing import Final

from tracetui.analysis.bound import BUSY_RATIO, Bound, BoundKind, device_bound
from tracetui.analysis.idle import IdleHolder, idle_holders
from tracetui.analysis.utilization import DeviceUse, GapCause
from tracetui.format import TimeUnit, count, duration, percent
from tracetui.model.trace import Trace
from tracetui.presentation.table import cell_width, shortened

CAUSE_NAMES: Final = {
    GapCause.ARTEFACT: "profiler",
    GapCause.SYNC: "sync",
    GapCause.LAUNCH: "launch",
    GapCause.HOST_WAIT: "host wait",
    GapCause.KERNEL_WAIT: "between kernels",
    GapCause.OTHER: "other",
}
"""What each cause of idle time is called, everywhere."""
_HOLDER_WIDTH: Final = 90
_LEAST_NAME: Final = 12
_GPU_KINDS: Final = ("cuda", "hip")
_WORTH_ADDING: Final = 0.05
"""Exposed communication of this share of the time belongs into the first sentence."""
_WORTH_NAMING: Final = 0.02
"""A holder of less than this share of the time that counts is not worth a line."""


def device_title(use: DeviceUse) -> str:
    """Return a device's name as the lanes and columns have it: a GPU, whoever made it."""
    word = "GPU" if use.kind in _GPU_KINDS else use.kind.upper()
    return f"{word} {use.device}"


def _idle_sentence(found: Bound, name: str) -> str:
    idle_ratio = 1 - found.busy_ratio
    idle = f"{name} is idle {percent(idle_ratio)} of the time"

    def share(part: float) -> str:
        return percent(part / idle_ratio)

    match found.kind:
        case BoundKind.OVERHEAD:
            part = share(found.overhead_ratio)
            return f"Overhead-bound: {idle}, {part} of that waiting for the host to launch"
        case BoundKind.SYNC:
            part = share(found.sync_ratio)
            return f"Synchronising: {idle}, {part} of that while the host waits for it"
        case BoundKind.OTHER:
            part = share(found.other_ratio)
            return f"Not kept busy: {idle}, {part} of that for reasons that the trace does not show"
        case _:
            return (
                f"Balanced: {name} is busy {percent(found.busy_ratio)} of the time, waits"
                f" {percent(found.overhead_ratio)} for launches and"
                f" {percent(found.sync_ratio + found.other_ratio)} otherwise"
            )


def _busy_sentence(found: Bound, use: DeviceUse, name: str) -> str:
    busy = f"{name} is busy {percent(found.busy_ratio)} of the time"
    busy_ns = max(use.busy_ns, 1)
    idle = ""
    if found.busy_ratio < BUSY_RATIO:
        waits = percent(found.overhead_ratio / (1 - found.busy_ratio))
        idle = f"; it is idle {percent(1 - found.busy_ratio)}, {waits} of that for the host"
    if found.kind == BoundKind.COMMUNICATION:
        part = percent(use.comm_exposed_ns / busy_ns)
        doing = f"{part} of that communicating with no kernel beside it"
        return f"Communication-bound: {busy}, {doing}{idle}"
    if found.kind == BoundKind.COPY:
        part = percent(use.memcpy_exposed_ns / busy_ns)
        return f"Copy-bound: {busy}, {part} of that copying with no kernel beside it{idle}"
    waits = "never waits for the host"
    if found.overhead_ratio >= 0.0005:
        waits = f"waits {percent(found.overhead_ratio)} for the host"
    return f"Compute-bound: {busy} and {waits}"


def excluded_text(found: Bound, unit: TimeUnit = TimeUnit.AUTO) -> str:
    """Return what the shares leave out, or nothing."""
    parts = []
    if found.counted.cold_ns:
        parts.append(f"{duration(found.counted.cold_ns, unit)} of the cold first step")
    if found.counted.overhead_ns:
        parts.append(f"{duration(found.counted.overhead_ns, unit)} of the profiler itself")
    return " and ".join(parts)


def bound_sentence(
    trace: Trace,
    uses: tuple[DeviceUse, ...],
    *,
    with_artefacts: bool = False,
    unit: TimeUnit = TimeUnit.AUTO,
) -> str:
    """Return what holds the busiest device back, and over what range.

    Args:
        trace: The recording.
        uses: Its devices, at least one.
        with_artefacts: Count the profiler's own doing and the cold first step too.
        unit: How times are written.
    """
    use = max(uses, key=lambda each: each.busy_ns)
    name = device_title(use) if len(uses) > 1 else "the device"
    found = device_bound(trace, use, with_artefacts=with_artefacts)
    is_busy = found.kind in (BoundKind.COMPUTE, BoundKind.COMMUNICATION, BoundKind.COPY)
    sentence = _busy_sentence(found, use, name) if is_busy else _idle_sentence(found, name)
    if found.kind != BoundKind.COMMUNICATION and found.comm_ratio >= _WORTH_ADDING:
        sentence += f"; {percent(found.comm_ratio)} of the time goes to communication with no kernel beside it"
    scope = f"from its first to its last device work ({duration(use.span_ns, unit)})"
    left_out = excluded_text(found, unit)
    without = f", without {left_out}" if left_out else ""
    others = f"; {len(uses)} devices in this file" if len(uses) > 1 else ""
    return f"{sentence}, {scope}{without}{others}"


def evidence(found: Bound, unit: TimeUnit = TimeUnit.AUTO) -> tuple[str, ...]:
    """Return how far the host runs ahead: what makes the verdict more than a share."""
    parts = []
    if found.ahead_ratio is not None:
        parts.append(f"launched ahead {percent(found.ahead_ratio)}")
    if found.queued_ns is not None:
        parts.append(f"queued {duration(found.queued_ns, unit)} (median)")
    if found.mean_depth is not None:
        parts.append(f"{found.mean_depth:.1f} in the queue")
    return tuple(parts)


def holder_text(
    holder: IdleHolder, unit: TimeUnit = TimeUnit.AUTO, width: int = _HOLDER_WIDTH
) -> str:
    """Return who held idle time, in one line of at most ``width`` cells, names shortened first."""
    name = holder.name or holder.frame or "nothing recorded"
    gaps = "1 gap" if holder.n_gaps == 1 else f"{count(holder.n_gaps)} gaps"
    head = f"{CAUSE_NAMES[holder.cause]}: "
    rest = f" {duration(holder.total_ns, unit)} in {gaps}"
    room = max(width - cell_width(head) - cell_width(rest), _LEAST_NAME)
    return f"{head}{_where(name, holder.frame if holder.name else '', room)}{rest}"


def _where(name: str, frame: str, room: int) -> str:
    """Return a name and its frame, whose folders go before anything else is shortened."""
    forms = [f"{name} in {each}" for each in (frame, frame.rpartition("/")[2])] if frame else [name]
    return next((form for form in forms if cell_width(form) <= room), shortened(forms[-1], room))


def worth_naming(trace: Trace, span_ns: int, n_most: int = 2) -> tuple[IdleHolder, ...]:
    """Return the holders of so much idle time that it is worth a line, the most first."""
    return tuple(
        holder
        for holder in idle_holders(trace)
        if (holder.name or holder.frame) and holder.total_ns >= _WORTH_NAMING * span_ns
    )[:n_most]
