"""How the shared cases load: status, kept events, and what was skipped, mended and flagged."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED
from tracetui.errors import TraceFormatError
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

_SUFFIXES = {".json", ".gz", ".zip", ".JSON", ".tmp", ""}


def _cases() -> Iterator[Any]:
    for expect in sorted((SHARED / "cases").glob("*/expect.json")):
        for path in sorted(expect.parent.iterdir()):
            if path.is_file() and path != expect and path.suffix in _SUFFIXES:
                expected = json.loads(expect.read_text(encoding="utf-8"))
                yield pytest.param(path, expected, id=f"{expect.parent.name}/{path.name}")


CASES = list(_cases()) if SHARED.is_dir() else []
pytestmark = pytest.mark.skipif(not CASES, reason="the shared cases are not beside this checkout")


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_case_loads_as_expected(path: Path, expected: dict[str, Any]) -> None:
    allowed = {
        "ok": {"ok"},
        "error": {"error"},
        "ok-or-error": {"ok", "error"},
        "ok-with-warnings": {"ok-with-warnings"},
        "ok-with-warnings-or-error": {"ok-with-warnings", "error"},
    }[expected["load"]]
    try:
        trace = read_trace(path, use_cache=False)
    except TraceFormatError as error:
        message = str(error)
    else:
        message = ""
        _check(trace, expected, allowed)
    if message:
        assert "error" in allowed, message
        assert "\n" not in message


def _check(trace: Trace, expected: dict[str, Any], allowed: set[str]) -> None:
    report = trace.report
    skipped, repaired = sum(report.skipped.values()), sum(report.repaired.values())
    assert report.status in allowed
    if "events_X" in expected:
        assert report.n_complete == expected["events_X"]
    assert report.n_complete >= expected.get("events_X_min", 0)
    if "skipped" in expected:
        assert skipped == expected["skipped"]
    assert expected.get("skipped_min", 0) <= skipped <= expected.get("skipped_max", skipped)
    if "repaired_plus_skipped" in expected:
        assert repaired + skipped == expected["repaired_plus_skipped"]
    if "flagged" in expected:
        assert sum(report.flagged.values()) == expected["flagged"]
    if "slices" in expected:
        assert len(trace.slices) == expected["slices"]
    if "damaged" in expected:
        assert report.is_damaged
