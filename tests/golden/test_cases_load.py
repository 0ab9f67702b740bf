"""How each shared case loads: status, and what is skipped, repaired and flagged."""

import json
from pathlib import Path

import pytest

from tests.conftest import SHARED
from tracetui.errors import TraceFormatError
from tracetui.readers import read_trace


def _cases():
    for folder in sorted((SHARED / "cases").glob("*/")):
        expect = folder / "expect.json"
        if expect.exists():
            expected = json.loads(expect.read_text())
            for path in sorted(folder.iterdir()):
                if path.suffix not in {".md", ".py"} and path.is_file() and path != expect:
                    yield pytest.param(path, expected, id=f"{folder.name}/{path.name}")


CASES = list(_cases()) if SHARED.is_dir() else []
pytestmark = pytest.mark.skipif(not CASES, reason="the shared cases are not beside this checkout")


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_case_loads_as_expected(path: Path, expected):
    allowed = expected["load"].split("-or-")
    try:
        trace = read_trace(path, use_cache=False)
    except TraceFormatError as error:
        assert "error" in allowed, error
        assert "\n" not in str(error)
        return
    report = trace.report
    assert report.status in allowed
    skipped, repaired = sum(report.skipped.values()), sum(report.repaired.values())
    if "events_X" in expected:
        assert report.n_complete == expected["events_X"]
    assert report.n_complete >= expected.get("events_X_min", 0)
    if "skipped" in expected:
        assert skipped == expected["skipped"], report.skipped
    assert expected.get("skipped_min", 0) <= skipped
    assert skipped <= expected.get("skipped_max", skipped)
    if "repaired_plus_skipped" in expected:
        assert skipped + repaired == expected["repaired_plus_skipped"]
    if "flagged" in expected:
        assert sum(report.flagged.values()) == expected["flagged"]
    if "good_prefix" in expected:
        slices = trace.slices
        names = {trace.name_of(row) for row in range(len(slices))}
        assert {f"op_{i:05}" for i in range(expected["good_prefix"])} <= names
