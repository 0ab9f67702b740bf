"""The open files."""

from tracetui.ui.documents import names_of


def test_files_of_one_name_are_told_apart_by_as_many_folders_as_it_takes():
    paths = ["/runs/a/new/trace.json", "/runs/b/new/trace.json", "/runs/b/other.json"]

    assert names_of(paths) == ["a/new/trace.json", "b/new/trace.json", "other.json"]


def test_the_same_file_twice_keeps_its_short_name():
    assert names_of(["/runs/trace.json", "/runs/trace.json"]) == ["trace.json", "trace.json"]


def test_control_bytes_of_a_name_do_not_reach_the_screen():
    assert "\x1b" not in names_of(["/runs/a\x1b[31m.json"])[0]
