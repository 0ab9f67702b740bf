"""A report as one JSON object for scripts."""

from typing import Any

import orjson

from tracetui.reports.report import SCHEMA, Time, TraceReport


def _exact(value: Any) -> orjson.Fragment:
    """Write a time from its integer: three decimals, never through a float."""
    if isinstance(value, Time):
        return orjson.Fragment(str(value))
    raise TypeError(f"no JSON for {type(value).__name__}")


def to_json(document: dict[str, Any]) -> bytes:
    """Return a document of plain values and times as indented JSON with a line end."""
    return orjson.dumps(
        document, default=_exact, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )


def json_report(report: TraceReport, limit: int = 0) -> bytes:
    """Return the whole report; ``limit`` rows of each table, 0 for all."""
    tables = report.tables(limit)
    devices, idle = tables.pop("devices"), tables.pop("idle")
    return to_json(
        {
            "schema": SCHEMA,
            **report.summary(),
            "devices": devices,
            "gpu": report.gpu(),
            "host": report.host(),
            **tables,
            "roofs": report.roofs(),
            "uncosted": report.uncosted(),
            "memory": report.memory(),
            "collectives": [],
            "idle": idle,
            "findings": report.findings(),
            "abstained": report.abstentions(),
        }
    )
