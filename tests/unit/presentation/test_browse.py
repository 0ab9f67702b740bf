"""Finding traces: only what looks like one, never beyond the folder, never for long."""

import gzip
import json
import os
import zipfile
from pathlib import Path
from threading import Event

import pytest

from tracetui.presentation.browse import (
    Place,
    StateStore,
    age,
    find_traces,
    producer_of,
    trace_file,
)

_KINETO = b'{\n  "schemaVersion": 1,\n  "deviceProperties": [],\n  "traceEvents": []}'


def _names(root: Path, max_depth: int = 3) -> list[str]:
    search = find_traces(str(root), budget_s=10.0, max_depth=max_depth)
    assert search.is_complete
    return sorted(str(Path(file.path).relative_to(root)) for file in search.files)


def test_content_decides_whether_a_file_is_a_trace(tmp_path):
    (tmp_path / "plain.json").write_bytes(_KINETO)
    (tmp_path / "config.json").write_text('{"name": "no trace"}')
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(_KINETO))
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    for name, method in (("stored.zip", zipfile.ZIP_STORED), ("small.zip", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(tmp_path / name, "w", method) as archive:
            archive.writestr("trace.json", _KINETO)
    (tmp_path / "trace.txt").write_bytes(_KINETO)
    assert _names(tmp_path) == ["packed.json.gz", "plain.json", "small.zip", "stored.zip"]


@pytest.mark.parametrize(
    ("head", "producer"),
    [
        (_KINETO, "PyTorch profiler"),
        (b"\xef\xbb\xbf" + _KINETO, "PyTorch profiler"),
        (b'{"traceEvents": [{"ph": "X"}]}', "Chrome trace"),
        (b'[{"name": "f", "ph": "B"}]', "Chrome trace"),
        (b'[{"ph": "X", "cat": "cpu_op"}]', "PyTorch profiler"),
        (b'{"a": 1}', None),
        (b"", None),
    ],
)
def test_producer_is_told_from_the_first_bytes(head, producer):
    assert producer_of(head) == producer


def test_hidden_folders_links_and_deep_levels_are_left_out(tmp_path):
    for folder in ("a/b/c", "a/b/c/d", ".hidden"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "t.json").write_bytes(_KINETO)
    (tmp_path / "link").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "link.json").symlink_to(tmp_path / "a/b/c/t.json")
    assert _names(tmp_path) == ["a/b/c/t.json"]
    assert _names(tmp_path, max_depth=4) == ["a/b/c/d/t.json", "a/b/c/t.json"]


def test_newest_comes_first_and_size_and_age_are_the_files_own(tmp_path):
    for name, when in (("old.json", 1000), ("new.json", 2000)):
        (tmp_path / name).write_bytes(_KINETO)
        os.utime(tmp_path / name, (when, when))
    files = find_traces(str(tmp_path), budget_s=10.0).files
    assert [Path(file.path).name for file in files] == ["new.json", "old.json"]
    assert files[0].n_bytes == len(_KINETO)
    assert files[0].modified_s == 2000.0


def test_a_walk_out_of_time_or_stopped_says_that_it_is_not_complete(tmp_path):
    (tmp_path / "t.json").write_bytes(_KINETO)
    assert not find_traces(str(tmp_path), budget_s=-1.0).is_complete
    stop = Event()
    stop.set()
    assert not find_traces(str(tmp_path), budget_s=10.0, stop=stop).is_complete


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path):
    assert find_traces(str(tmp_path / "none"), budget_s=10.0).files == ()


def test_a_hostile_file_name_is_shown_without_its_control_characters(tmp_path):
    path = tmp_path / "a\x1b]0;pwn\x07.json"
    path.write_bytes(_KINETO)
    file = trace_file(path)
    assert file is not None
    assert file.shown_path.endswith("a␛]0;pwn␇.json")


@pytest.mark.parametrize(
    ("seconds", "text"), [(3, "now"), (60, "1 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_age_is_in_its_largest_whole_unit(seconds, text):
    assert age(seconds) == text


def test_a_place_comes_back_until_the_file_changes(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(_KINETO)
    store = StateStore(tmp_path / "state")
    assert store.place_of(str(path)) == Place()
    assert store.remember(str(path), Place("timeline", 7, (10, 20), marks=[("kernels", 3)]))
    place = store.place_of(str(path))
    assert (place.view, place.selection, place.window) == ("timeline", 7, (10, 20))
    assert place.marks == [("kernels", 3)]
    path.write_bytes(_KINETO + b" ")
    assert store.place_of(str(path)) == Place()


def test_recent_files_are_the_last_opened_first_and_still_there(tmp_path):
    store = StateStore(tmp_path / "state")
    for name in ("a.json", "b.json", "gone.json", "a.json"):
        (tmp_path / name).write_bytes(_KINETO)
        store.remember(str(tmp_path / name), Place())
    (tmp_path / "gone.json").unlink()
    assert [Path(file.path).name for file in store.recent()] == ["a.json", "b.json"]


@pytest.mark.parametrize(
    "content", ["", "[1, 2]", '{"x": 3}', "{", '{"KEY": {"n_bytes": 0, "window": [1], "view": 1}}']
)
def test_a_damaged_state_file_is_empty_and_is_replaced(tmp_path, content):
    path = tmp_path / "t.json"
    path.write_bytes(_KINETO)
    store = StateStore(tmp_path)
    n_bytes = f'"n_bytes": {len(_KINETO)}'
    text = content.replace("KEY", str(path)).replace('"n_bytes": 0', n_bytes)
    store.path.write_text(text)
    assert store.place_of(str(path)) == Place()
    assert store.remember(str(path), Place("kernels"))
    assert str(path) in json.loads(store.path.read_text())


def test_a_state_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert not StateStore(tmp_path / "file" / "state").remember("x.json", Place())
