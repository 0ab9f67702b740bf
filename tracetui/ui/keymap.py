"""Every key, once: help, footer and the manual's table come from here."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

GLOBAL: Final = "global"
_ALWAYS_SHOWN: Final = ("help", "quit")
_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Key:
    """What one key, or a pair of keys that belong together, does."""

    keys: tuple[str, ...]
    """As Textual names them."""
    scope: str
    """A view's ``name_id``, or ``global``."""
    description: str
    hint: str = ""
    """One or two words for the footer; empty keeps it out of there."""
    shown: str = ""
    """How the key is written where its name is not what is on the keyboard."""

    @property
    def label(self) -> str:
        """Return how the keys are written for people."""
        return self.shown or " ".join(label_of(key) for key in self.keys)


_LABELS: Final = {
    "question_mark": "?",
    "slash": "/",
    "backslash": "\\",
    "ampersand": "&",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "apostrophe": "'",
    "full_stop": ".",
    "comma": ",",
    "minus": "-",
    "equals_sign": "=",
    "escape": "esc",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def _pair_keys(scope: str) -> tuple[Key, ...]:
    return (
        Key(("v", "V"), scope, "Pages: why, pieces of work, side by side, tree", hint="page"),
        Key(("X",), scope, "Exchange the sides", hint="swap"),
        Key(("c",), scope, "Choose another trace to compare with"),
        Key(("i",), scope, "Choose what to compare: an annotation, a module", hint="within"),
        Key(("e",), scope, "Note on this piece of work, kept beside the traces", hint="note"),
        Key(("percent_sign",), scope, "Per step, per call, in total", hint="per", shown="%"),
    )


def _list_keys(scope: str, enter: str, hint: str = "open") -> tuple[Key, ...]:
    return (
        Key(("enter",), scope, enter, hint=hint),
        Key(("j", "k", "up", "down"), scope, "Next and previous line", "line", "j k ↑ ↓"),
        Key(("pagedown", "pageup"), scope, "A page down and up"),
        Key(("g", "G", "home", "end"), scope, "First and last line", shown="g G"),
    )


KEYS: Final = (
    Key(("1",), GLOBAL, "Overview: the answer and where time goes", shown="1"),
    Key(("2",), GLOBAL, "Timeline: threads and streams over time", shown="2"),
    Key(("3",), GLOBAL, "Operators: the call tree and its sums", shown="3"),
    Key(("4",), GLOBAL, "Kernels: what ran on the device", shown="4"),
    Key(("5",), GLOBAL, "Compare: why one trace is slower than another", shown="5"),
    Key(("6",), GLOBAL, "Scoreboard: all open traces in one table", shown="6"),
    Key(("7",), GLOBAL, "Findings: known troubles, what they cost, what to try", shown="7"),
    Key(("8",), GLOBAL, "Roofline: what operators attain below their device's roofs", shown="8"),
    Key(("9",), GLOBAL, "Memory: what each device held, and who held its peak", shown="9"),
    Key(("question_mark",), GLOBAL, "Help: the keys that work here", hint="help"),
    Key(("q", "ctrl+c"), GLOBAL, "Leave tracetui, from anywhere", hint="quit", shown="q ctrl+c"),
    Key(
        ("escape",),
        GLOBAL,
        "Stop loading and keep what was read; else close the details, drop search marks, then the"
        " range; never leaves. A capture: stop it and keep what is complete, else back",
    ),
    Key(("slash",), GLOBAL, "Search a name", hint="search"),
    Key(("n", "N"), GLOBAL, "Next and previous match"),
    Key(
        ("ampersand",),
        GLOBAL,
        "Filter, as in dur>20us cat:gemm -name:triton: lists leave the rest out, the timeline"
        " draws it as thin lines",
        hint="filter",
    ),
    Key(("backslash",), GLOBAL, "Clear the filter"),
    Key(
        ("right_square_bracket", "left_square_bracket"),
        GLOBAL,
        "Follow operator, launch, kernel, next kernel; and back",
        hint="follow",
    ),
    Key(("less_than_sign", "greater_than_sign"), GLOBAL, "Back and forward in the jump list"),
    Key(
        ("right_curly_bracket", "left_curly_bracket"),
        GLOBAL,
        "Evidence of the next finding, of the one before",
    ),
    Key(("m",), GLOBAL, "Mark this place"),
    Key(("apostrophe",), GLOBAL, "List the marks and go to one"),
    Key(("y",), GLOBAL, "Copy this view as text; again: only what the cursor is on", hint="copy"),
    Key(("Y",), GLOBAL, "Write this view as text to a file"),
    Key(("E",), GLOBAL, "Export a report with this view, as Markdown and JSON"),
    Key(("o",), GLOBAL, "Switch to the next open trace"),
    Key(("tab",), GLOBAL, "To the details, shown if they were away, and back"),
    Key(("u",), GLOBAL, "Units of time: each in its own, or all in ns, in µs, in ms, in s"),
    Key(
        ("t",),
        GLOBAL,
        "Count the profiler's own doing and the cold first step in shares, or leave them out",
    ),
    Key(("ctrl+g",), GLOBAL, "Guess first, then look", hint="guess first"),
    Key(("ctrl+r",), GLOBAL, "Capture: run a workload in its variants and open what it records"),
    Key(("T",), GLOBAL, "Next theme: dark, light, 16 colours, no colour"),
    Key(("ctrl+z",), GLOBAL, "Suspend; fg comes back"),
    Key(("ctrl+p",), GLOBAL, "Command palette"),
    Key(("enter",), "start", "Open the trace"),
    Key(("j", "k", "up", "down"), "start", "Next and previous trace", shown="j k ↑ ↓"),
    *_list_keys("overview", "Go to what the line is about"),
    Key(("w", "s"), "timeline", "Zoom in and out at the cursor", hint="zoom"),
    Key(("W", "S"), "timeline", "Zoom in and out further"),
    Key(("a", "d"), "timeline", "Pan left and right", hint="pan"),
    Key(("A", "D"), "timeline", "A page left and right"),
    Key(
        ("h", "l", "left", "right"),
        "timeline",
        "Previous and next slice; while there is a filter, of those that pass it",
        "slice",
        "h l ← →",
    ),
    Key(("j", "k", "down", "up"), "timeline", "Lane below and above", "lane", "j k ↑ ↓"),
    Key(("full_stop", "comma"), "timeline", "Next and previous slice of the same name, likewise"),
    Key(("f",), "timeline", "Fit the selection, or else the range", hint="fit"),
    Key(("0",), "timeline", "The whole trace", hint="all"),
    Key(("v",), "timeline", "Start a range, end it", hint="range"),
    Key(("r",), "timeline", "The range of the selection"),
    Key(("z", "Z"), "timeline", "Next and previous step"),
    Key(("p",), "timeline", "Pin the lane to the top"),
    Key(("minus", "equals_sign"), "timeline", "Fold and unfold the track"),
    Key(("x", "X"), "timeline", "Hide the lane; show all lanes"),
    Key(("i", "I"), "timeline", "Next and previous idle gap of the device", hint="idle"),
    Key(("e",), "timeline", "Select the host slice that held the idle gap"),
    Key(("g",), "timeline", "Go to a time"),
    Key(("enter",), "timeline", "Details of the slice; where they are shown, go there to scroll"),
    *_list_keys("operators", "Show the first call in the timeline"),
    Key(
        ("l", "h", "right", "left"),
        "operators",
        "Open; close or go to the parent",
        "open",
        "l h → ←",
    ),
    Key(("e",), "operators", "Open down to the first branch"),
    Key(("equals_sign", "minus"), "operators", "Open all; close all"),
    Key(("H",), "operators", "Go to the heaviest child", hint="heaviest"),
    Key(("x",), "operators", "Hide what launches no kernel", hint="hide"),
    Key(("F",), "operators", "Tree, or flat table by name", hint="flat"),
    Key(("I",), "operators", "Call by call, or merged by path", hint="instances"),
    Key(("M",), "operators", "Equal siblings as one row, as in 12x"),
    Key(("B",), "operators", "Tell input shapes apart", hint="shapes"),
    Key(("s",), "operators", "Sort by the next column", hint="sort"),
    Key(("i",), "operators", "Turn the order round"),
    Key(("S",), "operators", "Choose the columns"),
    *_list_keys("kernels", "Show the longest run in the timeline"),
    Key(("s",), "kernels", "Sort by the next column", hint="sort"),
    Key(("i",), "kernels", "Turn the order round", hint="invert"),
    Key(("S",), "kernels", "Choose the columns", hint="columns"),
    Key(("x",), "kernels", "Hide copies and memsets, list them again", hint="copies"),
    *_list_keys("roofline", "Show the longest call in the timeline"),
    Key(("c",), "roofline", "By operator and shapes, or by class of work", hint="classes"),
    Key(("P",), "roofline", "Give the device's roofs, or measure this machine's", hint="roofs"),
    Key(("p",), "roofline", "Hide the plot, show it again", hint="plot"),
    Key(("a",), "roofline", "Where the same work stands in the other trace", hint="arrows"),
    Key(("s",), "roofline", "Sort by the next column", hint="sort"),
    Key(("i",), "roofline", "Turn the order round", hint="invert"),
    Key(("S",), "roofline", "Choose the columns", hint="columns"),
    *_list_keys("memory", "Show who asked, in the timeline"),
    Key(("v",), "memory", "Pages: operators, blocks that were there at the peak", hint="blocks"),
    Key(("d",), "memory", "Next device", hint="device"),
    Key(("p",), "memory", "Hide the chart, show it again", hint="chart"),
    Key(("s",), "memory", "Sort by the next column", hint="sort"),
    Key(("i",), "memory", "Turn the order round"),
    Key(("S",), "memory", "Choose the columns"),
    *_list_keys("compare", "Show the slice in its timeline"),
    *_pair_keys("compare"),
    Key(("exclamation_mark",), "compare", "Only differences, or everything", "only", "!"),
    Key(("space",), "compare", "Open or close a node of the tree"),
    Key(("enter",), "side by side", "Show the piece of work in its timeline", hint="open"),
    Key(
        ("h", "l", "left", "right"),
        "side by side",
        "Previous and next piece of work",
        "piece",
        "h l ← →",
    ),
    Key(("w", "s"), "side by side", "Zoom in and out", hint="zoom"),
    Key(("W", "S"), "side by side", "Zoom in and out further"),
    Key(("a", "d"), "side by side", "Pan left and right", hint="pan"),
    Key(("A", "D"), "side by side", "A page left and right"),
    Key(("0",), "side by side", "The whole stretch that is compared", hint="all"),
    Key(("f",), "side by side", "Fit the selected piece", hint="fit"),
    Key(("L",), "side by side", "Lock the sides, or let one move alone", hint="lock"),
    Key(("j", "k", "down", "up"), "side by side", "Which side moves alone", shown="j k ↑ ↓"),
    Key(
        ("at",),
        "side by side",
        "Align at the start, at the piece, or stretched",
        "align",
        "@",
    ),
    *_pair_keys("side by side"),
    *_list_keys("scoreboard", "Compare the two that are picked, or this with the baseline"),
    Key(("space",), "scoreboard", "Pick a trace for the pair", hint="pick"),
    Key(("b",), "scoreboard", "Make this trace the baseline; it stays so", hint="baseline"),
    Key(("e",), "scoreboard", "Call this trace something, kept beside it", hint="tag"),
    *_list_keys("capture", "Edit the line", "edit"),
    Key(("R",), "capture", "Start what is chosen", hint="start"),
    Key(("space",), "capture", "Choose the variant, or leave it out", hint="choose"),
    Key(("a",), "capture", "Choose all variants that can run, or none", hint="all"),
    Key(
        ("h", "l", "left", "right"),
        "capture",
        "Previous and next value: a workload, a format, half or twice a size",
        "value",
        "h l ← →",
    ),
    *_list_keys("capturing", "To the scoreboard, as 6; ctrl+r comes back", "scoreboard"),
    Key(("K",), "capturing", "Stop and keep what is complete; again: at once", hint="stop"),
    Key(("R",), "capturing", "Once it is over, start it again", hint="again"),
    *_list_keys("findings", "Show the first evidence in the timeline"),
    Key(("space",), "findings", "Suppose it mended: what would a step take?", hint="what if"),
)


def label_of(name: str) -> str:
    """Return how people write a key that Textual calls ``name``."""
    return _LABELS.get(name, name)


def keys_of(scope: str, table: Iterable[Key] = KEYS) -> tuple[Key, ...]:
    """Return the keys of one scope, in the table's order."""
    return tuple(key for key in table if key.scope == scope)


def conflicts(table: Iterable[Key] = KEYS) -> tuple[str, ...]:
    """Return each key that means two things where one view has the focus."""
    rows = tuple(table)
    scopes = {key.scope for key in rows} | {GLOBAL}
    found = []
    for scope in sorted(scopes):
        seen: set[str] = set()
        for row in rows:
            if row.scope not in (scope, GLOBAL):
                continue
            for name in row.keys:
                if name in seen:
                    found.append(f"{name} in {scope}")
                seen.add(name)
    return tuple(found)


def _footer_label(key: Key) -> str:
    parts = key.label.split()
    return "".join(parts) if all(len(part) == 1 for part in parts) else parts[0]


def footer_text(scope: str, width: int, *, is_view: bool = True) -> str:
    """Return the footer of a view: its own keys first, as many as fit, then help and quit.

    Args:
        scope: Whose keys.
        width: How many cells there are.
        is_view: Whether the keys of all views work there too.
    """
    others = keys_of(GLOBAL) if is_view else ()
    hints = [
        f"{_footer_label(key)} {key.hint}"
        for key in (*keys_of(scope), *others)
        if key.hint and key.hint not in _ALWAYS_SHOWN
    ]
    last = [f"{_footer_label(key)} {key.hint}" for key in KEYS if key.hint in _ALWAYS_SHOWN]
    text = _GAP.join(last)
    for n_shown in range(len(hints), -1, -1):
        text = _GAP.join([*hints[:n_shown], *last])
        if len(text) <= width:
            break
    return text


def manual_table(table: Iterable[Key] = KEYS) -> str:
    """Return the keys as the Markdown table of the manual."""
    lines = ["| Where | Key | What it does |", "| --- | --- | --- |"]
    for key in table:
        label = key.label.replace("|", "\\|")
        lines.append(f"| {key.scope} | `{label}` | {key.description} |")
    return "\n".join(lines)
