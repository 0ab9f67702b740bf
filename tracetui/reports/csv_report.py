"""A report as one CSV file for each table."""

import csv
from pathlib import Path
from typing import Any, Final

from tracetui.reports.report import Row, TraceReport

_SEPARATOR: Final = "; "
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def _cell(value: Any) -> str:
    """Return a cell's text; nothing where nothing was measured."""
    if value is None:
        return ""
    if isinstance(value, str):
        # A spreadsheet would run such a name as a formula.
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    if isinstance(value, list):
        return _SEPARATOR.join(_cell(each) for each in value)
    return str(value)


def _is_flat(value: Any) -> bool:
    return not isinstance(value, list) or not any(isinstance(each, dict) for each in value)


def _spread(row: Row) -> Row:
    """Return a row with a column for each part of a value that has named parts."""
    spread: Row = {}
    for name, value in row.items():
        if isinstance(value, dict):
            spread |= {f"{name}_{part}": own for part, own in value.items()}
        else:
            spread[name] = value
    return spread


def _write(path: Path, rows: list[Row]) -> None:
    rows = [_spread(row) for row in rows]
    columns = [name for name, value in rows[0].items() if _is_flat(value)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(row[name]) for name in columns] for row in rows)


def _streams(devices: list[Row]) -> list[Row]:
    """Return the streams of all devices as a table of their own."""
    return [
        {
            "device": device["device"],
            **{name: value for name, value in stream.items() if not isinstance(value, dict)},
        }
        for device in devices
        for stream in device["streams"]
    ]


def write_csv_files(report: TraceReport, folder: Path, limit: int = 0) -> list[Path]:
    """Write each table that has a row into ``folder`` and return the files.

    Args:
        report: What to write.
        folder: Made when it does not exist.
        limit: How many rows each table has at most; 0 is all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = report.tables(limit)
    tables["streams"] = _streams(tables["devices"])
    written = []
    for name, rows in tables.items():
        if rows:
            path = folder / f"{name}.csv"
            _write(path, rows)
            written.append(path)
    return written
