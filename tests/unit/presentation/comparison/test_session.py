"""What a user leaves at a comparison."""

import json
from pathlib import Path

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tracetui.compare.comparison import comparison
from tracetui.presentation.comparison.session import (
    BoardSession,
    PairSession,
    board_path,
    keep_baseline,
    keep_tag,
    match_keys,
    named_baseline,
    read_board,
    read_session,
    session_path,
    tagged,
    write_session,
)


def test_session_lies_beside_the_baseline_under_both_names():
    path = session_path("/data/runs/eager.pt.trace.json.gz", "/other/compiled.json")

    assert path == Path("/data/runs/eager--compiled.tracetui")


def test_what_was_written_is_read_again(tmp_path: Path):
    path = tmp_path / "a--b.tracetui"
    session = PairSession(
        page=2, match="x -> y #1", within="mlp_fwd", per="call", notes={"x -> y #1": "why? [b]ö"}
    )

    assert write_session(path, session) == ""
    assert read_session(path) == session


def test_without_notes_there_is_no_file(tmp_path: Path):
    path = tmp_path / "a--b.tracetui"
    write_session(path, PairSession(notes={"x": "y"}))
    assert path.exists()

    write_session(path, PairSession(page=3))
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"notes": 3, "page": -1, "per": "year", "within": 5}', '{"page": true}'],
)
def test_damaged_files_are_as_good_as_none(tmp_path: Path, content: str):
    path = tmp_path / "a--b.tracetui"
    path.write_text(content)

    assert read_session(path) == PairSession()


def test_control_bytes_in_a_note_do_not_reach_the_screen(tmp_path: Path):
    path = tmp_path / "a--b.tracetui"
    path.write_text(json.dumps({"notes": {"k": "a\x1b]0;own\x07b"}}))

    assert "\x1b" not in read_session(path).notes["k"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path):
    trouble = write_session(tmp_path / "none" / "a--b.tracetui", PairSession(notes={"k": "v"}))

    assert "No such file" in trouble


def test_keys_tell_repeated_work_apart_and_forget_what_differs_from_run_to_run():
    def compiled(number):
        name = f"graph_{number}_cpp_fused_gelu_0"
        return steps_of([op(name, (name, 10)), op(name, (name, 10))])

    keys = [match_keys(comparison(steps_of(mlp()), steps_of(compiled_mlp()))) for _ in range(2)]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == len(keys[0])

    first, second = (
        match_keys(comparison(compiled(number), compiled(number))) for number in (0, 7)
    )
    assert first == second


def test_names_and_baseline_of_a_folder_are_kept_and_taken_back(tmp_path: Path):
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert named_baseline(paths) is None

    assert keep_tag(paths[1], "after the fix\x1b[31m") == ""
    assert keep_baseline(paths[1]) == ""
    assert tagged(paths, ["a.json", "b.json"])[0] == "a.json"
    assert tagged(paths, ["a.json", "b.json"])[1].startswith("after the fix")
    assert "\x1b" not in tagged(paths, ["a.json", "b.json"])[1]
    assert named_baseline(paths) == 1

    keep_tag(paths[1], "")
    assert tagged(paths, ["a.json", "b.json"]) == ["a.json", "b.json"]


def test_damaged_board_is_as_good_as_none(tmp_path: Path):
    path = board_path(str(tmp_path / "a.json"))
    path.write_text('{"tags": [1], "baseline": 7}')

    assert read_board(path) == BoardSession()
