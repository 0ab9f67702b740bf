"""What a capture says of itself while it runs: its events as lines of text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracetui.format import duration, size
from tracetui.model.strings import clean_text

Event = Mapping[str, Any]
_NS_PER_S: Final = 1_000_000_000
NOT_MEASURED: Final = "–"


def _swept_text(swept: Mapping[str, Any]) -> str:
    """Return those parameters that take several values, as they were set."""
    return " ".join(f"{name}={value}" for name, value in swept.items())


def _where(event: Event) -> str:
    parts = [str(event.get("variant", "")), _swept_text(event.get("swept", {}))]
    if event.get("repeat"):
        parts.append(f"repeat {event['repeat'] + 1}")
    return clean_text(" ".join(part for part in parts if part))


def time_left(left_s: float | None) -> str:
    """Return an estimate of the time left, or nothing while there is none."""
    if left_s is None:
        return ""
    if left_s < 90:
        return f"about {max(1, round(left_s))} s left"
    return f"about {round(left_s / 60)} min left"


def stage_line(event: Event) -> str:
    """Return what is being done now, such as ``compiled: compiling · about 20 s left``."""
    parts = [f"{_where(event)}: {event['stage']}", time_left(event.get("left_s"))]
    return " · ".join(part for part in parts if part)


def equality_text(equality: Mapping[str, Any] | None) -> str:
    """Return whether results agree with the reference, with how far they are off."""
    if equality is None:
        return "nothing to compare"
    word = "equal" if equality["is_equal"] else "NOT EQUAL"
    error = f"{equality['norm_relative_error']:.1e}"
    return f"{word} ({error} of {clean_text(str(equality['reference']))})"


def finished_line(event: Event) -> str:
    """Return one result: variant, median with its spread, agreement, file."""
    spread = f"{duration(event['p10_ns'])} to {duration(event['p90_ns'])}"
    return (
        f"{_where(event):<24} {duration(event['median_ns'])} ({spread})"
        f"  {equality_text(event['equality'])}"
        f"  {clean_text(str(event['path']))} ({size(event['bytes'])})"
    )


def unavailable_line(event: Event) -> str:
    """Return a variant that could not run, with torch's reason."""
    return f"{_where(event):<24} {NOT_MEASURED} cannot run: {clean_text(str(event['reason']))}"


def note_line(event: Event) -> str:
    """Return something that the user should know."""
    return f"{_where(event)}: {clean_text(str(event['note']))}"


def plan_lines(plan: Mapping[str, Any]) -> Sequence[str]:
    """Return what would run: the Python and device, each trace, and what cannot be."""
    head = (
        f"{plan['workload']} on {plan['device']} with torch {plan['torch']},"
        f" Python {plan['python']}, into {plan['out']}"
    )
    lines = [clean_text(head)]
    lines += [clean_text(f"  {each['file']:<44} {each['variant']}") for each in plan["traces"]]
    lines += [f"  {unavailable_line(each)}" for each in plan["unavailable"]]
    return lines
