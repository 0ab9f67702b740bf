"""What the interface writes to files: the report, and the view as it stood on the screen."""

from collections.abc import Sequence
from typing import Final

from tracetui.compare.comparison import Comparison
from tracetui.compare.scoreboard import scoreboard
from tracetui.model.trace import Trace
from tracetui.reports.compare_report import CompareReport, compare_json, compare_markdown
from tracetui.reports.json_report import json_report
from tracetui.reports.markdown_report import escaped, markdown_report
from tracetui.reports.report import TraceReport

_ROWS: Final = 50
"""How many rows each table of the Markdown has; the JSON has all."""


def export_files(trace: Trace, view_title: str, view_text: str) -> dict[str, bytes]:
    """Return the files that say what a trace holds, by the end of their name.

    Args:
        trace: The trace.
        view_title: The view that was shown.
        view_text: Its text; it ends the Markdown as it stood on the screen.
    """
    report = TraceReport(trace)
    markdown = markdown_report(report, _ROWS).rstrip("\n")
    if view_text:
        lines = "\n".join(f"    {line}".rstrip() for line in view_text.splitlines())
        markdown += f"\n\n## {view_title}, as it was shown\n\n{lines}"
    return {".md": f"{markdown}\n".encode(), ".json": json_report(report)}


def comparison_files(compared: Comparison, notes: Sequence[str]) -> dict[str, bytes]:
    """Return the files that say how two traces differ, by the end of their name.

    Args:
        compared: The comparison.
        notes: What the user noted, a line each.
    """
    traces = (compared.baseline.trace, compared.candidate.trace)
    scope = compared.scope
    report = CompareReport((compared,), scoreboard(traces, scope.within, scope.per))
    markdown = compare_markdown(report)
    if notes:
        lines = "\n".join(f"- {escaped(note)}" for note in notes)
        markdown += f"\n## Notes\n\n{lines}\n"
    return {".md": markdown.encode(), ".json": compare_json(report, notes)}
