"""The arguments of ``tracetui capture``, without torch."""

from pathlib import Path

import pytest

from tracetui.capture.catalog import CATALOG
from tracetui.capture.folder import FolderLock
from tracetui.cli.capture import _spec, options_parser
from tracetui.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: WORKLOAD"),
        (["conv"], "no workload 'conv'"),
        (["mlp", "--variants", "eager,fast"], "mlp has no variant 'fast'"),
        (["mlp", "--variants", ","], "--variants: names with commas between, or all"),
        (["mlp", "--set", "seq"], "--set 'seq': write NAME=VALUE"),
        (["mlp", "--set", "size=4"], "mlp has no parameter 'size'"),
        (["mlp", "--repeats", "0"], "--repeats 0: at least 1"),
        (["mlp", "--steps", "1"], "--steps 1: a trace holds at least 3"),
        (["mlp", "--runs", "0"], "--runs 0: at least 1"),
        (["missing.py:build"], "missing.py: no such file"),
        (["mlp", "--python", "/nowhere/python"], "/nowhere/python: no such Python"),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    out = ["--out", str(tmp_path / "traces")] if arguments else []
    status = main(["capture", *arguments, *out])

    captured = capsys.readouterr()
    assert status == 2
    assert len(captured.err.splitlines()) == 1
    assert message in captured.err
    assert captured.out == ""


def test_folder_below_a_file_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    status = main(["capture", "mlp", "--out", str(tmp_path / "file" / "traces")])

    assert status == 2
    assert "cannot write there: not a directory" in capsys.readouterr().err


def test_second_capture_into_a_folder_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    with FolderLock(tmp_path):
        status = main(["capture", "mlp", "--out", str(tmp_path)])

    assert status == 2
    assert "another capture is writing there; use another --out" in capsys.readouterr().err


def test_all_is_every_variant_wherever_it_stands():
    for text in ("all", "eager,all"):
        options = options_parser().parse_args(["mlp", "--variants", text])
        assert _spec(options).variants == ()


def test_defaults_are_those_of_the_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    spec = _spec(options_parser().parse_args(["block"]))

    assert spec.out == str(tmp_path / "traces")
    assert (spec.device, spec.repeats, spec.steps, spec.backward) == ("auto", 1, 3, None)
    assert _spec(options_parser().parse_args(["block", "--no-backward"])).backward is False


def test_help_lists_every_workload_and_variant():
    text = options_parser().format_help()

    for entry in CATALOG:
        assert f"  {entry.name} " in text
        assert ", ".join(entry.variant_names) in text


def test_on_a_terminal_the_scoreboard_of_the_new_traces_is_opened(monkeypatch: pytest.MonkeyPatch):
    opened: list[tuple[list[str], str]] = []

    def run(files: list[str], first_view: str) -> int:
        opened.append((files, first_view))
        return 0

    monkeypatch.setattr("tracetui.cli.capture._captured", lambda options, spec: (0, ["a", "b"]))
    monkeypatch.setattr("tracetui.cli.capture._is_on_terminal", lambda: True)
    monkeypatch.setattr("tracetui.cli.view.run", run)

    assert main(["capture", "linear"]) == 0
    assert main(["capture", "linear", "--no-open"]) == 0
    assert opened == [(["a", "b"], "scoreboard")]
