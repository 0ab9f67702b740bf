"""Events on a stream, and the time left from the pace so far."""

import io
import json

import pytest

from tracetui.capture import progress
from tracetui.capture.progress import Progress


def test_events_are_one_json_object_a_line():
    out = io.StringIO()

    Progress(out).tell("note", variant="a", note='two\nlines "quoted"')

    (line,) = out.getvalue().splitlines()
    assert json.loads(line) == {"event": "note", "variant": "a", "note": 'two\nlines "quoted"'}


def test_time_left_follows_the_pace(monkeypatch: pytest.MonkeyPatch):
    clock = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])
    told = Progress(io.StringIO(), n_units=10)
    assert [told.left_s] == [None]

    told._start_s = 100.0
    clock[0] = 106.0
    told.advance(4)
    # Four of ten units took 6 s, so the other six take 9 s.
    assert told.left_s == 9.0

    told.advance(8)
    assert told.left_s == 0.0


def test_stage_tells_where_and_how_long():
    out = io.StringIO()

    Progress(out).stage(progress.COMPILING, {"variant": "compiled"})

    assert json.loads(out.getvalue()) == {
        "event": "stage",
        "stage": "compiling",
        "variant": "compiled",
        "left_s": None,
    }
