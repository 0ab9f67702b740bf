"""Everything about one slice, as lines of text."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.links import links
from tracetui.analysis.work_class import short_kernel_name
from tracetui.format import TimeUnit, count, duration
from tracetui.model.arrays import NO_ID
from tracetui.model.strings import clean_text
from tracetui.model.trace import Trace
from tracetui.presentation.kernel_names import name_facts
from tracetui.presentation.work_facts import work_lines

_LINES_SHOWN: Final = 3
_LETTERS_SHOWN: Final = 200
_LINKS_SHOWN: Final = 5
_PARENTS_SHOWN: Final = 12
_STACK: Final = "Call stack"


def detail_lines(trace: Trace, slice_id: int, unit: TimeUnit = TimeUnit.AUTO) -> list[str]:
    """Return what is known of a slice: times, parents, links and the file's own arguments."""
    if not 0 <= slice_id < len(trace.slices):
        return ["Nothing is selected."]
    slices = trace.slices
    track = trace.tracks[int(slices.track_id[slice_id])]
    lines = [
        trace.name_of(slice_id),
        f"start     {duration(int(slices.ts_ns[slice_id]), unit)}",
        f"duration  {duration(int(slices.dur_ns[slice_id]), unit)}",
    ]
    if slices.is_device_work()[slice_id]:
        facts = name_facts(decode(trace.name_of(slice_id)))
        lines += [f"says      {facts}"] if facts else []
    else:
        lines.append(f"self      {duration(int(links(trace).self_ns[slice_id]), unit)}")
    lines += [f"category  {trace.categories[int(slices.category_id[slice_id])]}", track.title]
    lines += work_lines(trace, slice_id)
    lines += _parent_lines(trace, slice_id)
    lines += _link_lines(trace, slice_id, unit)
    lines += _argument_lines(trace.details.event(int(slices.event_id[slice_id])))
    return lines


def brief_lines(trace: Trace, slice_id: int, unit: TimeUnit = TimeUnit.AUTO) -> list[str]:
    """Return what is known of a slice without any analysis of the trace."""
    if not 0 <= slice_id < len(trace.slices):
        return ["Nothing is selected."]
    slices = trace.slices
    return [
        trace.name_of(slice_id),
        f"start     {duration(int(slices.ts_ns[slice_id]), unit)}",
        f"duration  {duration(int(slices.dur_ns[slice_id]), unit)}",
        f"category  {trace.categories[int(slices.category_id[slice_id])]}",
        trace.tracks[int(slices.track_id[slice_id])].title,
    ]


def prepare_details(trace: Trace) -> None:
    """Make the analyses that details draw on, which takes long once; for a thread to call."""
    _, first = np.unique(trace.slices.kind, return_index=True)
    for slice_id in first.tolist():
        detail_lines(trace, slice_id)


def _parent_lines(trace: Trace, slice_id: int) -> Iterator[str]:
    chain = []
    parent = int(trace.slices.parent_id[slice_id])
    while parent != NO_ID:
        chain.append(parent)
        parent = int(trace.slices.parent_id[parent])
    for above in chain[:_PARENTS_SHOWN]:
        yield f"in        {trace.name_of(above)}"
    if len(chain) > _PARENTS_SHOWN:
        yield f"          … {count(len(chain) - _PARENTS_SHOWN)} more above"


def _link_lines(trace: Trace, slice_id: int, unit: TimeUnit) -> Iterator[str]:
    link = links(trace)
    for title, found in (
        ("launch", int(link.launch_id[slice_id])),
        ("operator", int(link.owner_id[slice_id])),
    ):
        if found != NO_ID:
            yield f"{title:<9} {trace.name_of(found)}"
    launch = int(link.launch_id[slice_id])
    if launch != NO_ID:
        slices = trace.slices
        yield f"launching {duration(int(slices.dur_ns[launch]), unit)}"
        queued_ns = int(slices.ts_ns[slice_id] - slices.ts_ns[launch] - slices.dur_ns[launch])
        if queued_ns >= 0:
            yield f"queued    {duration(queued_ns, unit)}"
    launched = link.device_slices_of(slice_id)
    for below in launched[:_LINKS_SHOWN].tolist():
        name = short_kernel_name(trace.name_of(below))
        yield f"launches  {name}  {duration(int(trace.slices.dur_ns[below]), unit)}"
    if len(launched) > _LINKS_SHOWN:
        yield f"          … {count(len(launched) - _LINKS_SHOWN)} more"


def _argument_lines(event: Any) -> Iterator[str]:
    arguments = None if event is None else event.get("args")
    if not isinstance(arguments, dict):
        yield "no arguments" if event is not None else "the file's arguments are out of reach"
        return
    for key, value in arguments.items():
        yield from _value_lines(clean_text(str(key)), str(value))


def _value_lines(key: str, value: str) -> Iterator[str]:
    separator = ";" if key == _STACK else "\n"
    # Cut before cleaning: a value of megabytes costs no more than what is shown of it.
    parts = value.split(separator, _LINES_SHOWN)
    for number, part in enumerate(parts[:_LINES_SHOWN]):
        text = clean_text(part[:_LETTERS_SHOWN].strip())
        if len(part) > _LETTERS_SHOWN:
            text += f"… {count(len(part))} letters"
        yield f"{key}: {text}" if not number else f"  {text}"
    if len(parts) > _LINES_SHOWN:
        unit = "frames" if key == _STACK else "lines"
        yield f"  … {count(value.count(separator) + 1)} {unit} in all"
