"""``session.json``: kept as a whole, and never losing what an earlier capture wrote."""

import json
from pathlib import Path

import pytest

from tracetui.capture.session import FILE_NAME, Session, read_session
from tracetui.errors import CaptureError


def _entry(variant: str, **members: object) -> dict[str, object]:
    return {
        "capture": "a",
        "workload": "mlp",
        "variant": variant,
        "parameters": {"seq": 8},
        "device_kind": "cpu",
        **members,
    }


def _with_trace(folder: Path, variant: str) -> dict[str, object]:
    (folder / f"mlp_{variant}.json.gz").write_bytes(b"")
    return _entry(variant, file=f"mlp_{variant}.json.gz")


def test_what_is_saved_is_read_again(tmp_path: Path):
    session = Session(tmp_path)
    session.add_capture("a", {"started": "now"})
    session.add_trace(_with_trace(tmp_path, "eager"))
    session.add_unavailable(_entry("fused", reason="RuntimeError: no"))
    session.save()

    again = read_session(tmp_path)
    assert (again.captures, again.traces, again.unavailable) == (
        session.captures,
        session.traces,
        session.unavailable,
    )
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".json"] == [FILE_NAME]


def test_later_capture_keeps_other_traces_and_replaces_its_own(tmp_path: Path):
    first = Session(tmp_path)
    first.add_capture("a", {})
    first.add_trace(_with_trace(tmp_path, "eager"))
    first.add_trace(_with_trace(tmp_path, "packed"))
    first.save()

    second = read_session(tmp_path)
    second.add_capture("b", {})
    second.add_trace({**_with_trace(tmp_path, "eager"), "capture": "b"})
    second.save()

    found = json.loads((tmp_path / FILE_NAME).read_text())
    assert [(row["variant"], row["capture"]) for row in found["traces"]] == [
        ("packed", "a"),
        ("eager", "b"),
    ]
    assert set(found["captures"]) == {"a", "b"}


def test_variant_that_runs_after_all_is_no_longer_refused(tmp_path: Path):
    session = Session(tmp_path)
    session.add_unavailable(_entry("fused", reason="no triton"))
    session.add_unavailable(_entry("fused", reason="no driver"))
    assert [row["reason"] for row in session.unavailable] == ["no driver"]

    session.add_trace(_with_trace(tmp_path, "fused"))
    assert session.unavailable == []


def test_traces_that_were_deleted_are_forgotten(tmp_path: Path):
    session = Session(tmp_path)
    session.add_trace(_with_trace(tmp_path, "eager"))
    session.save()
    (tmp_path / "mlp_eager.json.gz").unlink()

    assert read_session(tmp_path).traces == []


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", '{"schema": 99}', '{"schema": 1, "traces": 3}']
)
def test_missing_or_damaged_session_is_an_empty_one(tmp_path: Path, text: str | None):
    if text is not None:
        (tmp_path / FILE_NAME).write_text(text)

    found = read_session(tmp_path)
    assert (found.captures, found.traces, found.unavailable) == ({}, [], [])


def test_unwritable_folder_is_one_line_and_leaves_nothing(tmp_path: Path):
    missing = tmp_path / "gone"

    with pytest.raises(
        CaptureError, match="no such file or directory: the session was not written"
    ):
        Session(missing).save()
    assert list(tmp_path.iterdir()) == []
