"""The folder of a capture: made, tried, and kept to one capture at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from tracetui.capture.folder import FolderLock
from tracetui.errors import CaptureError


def test_folder_is_made_and_nothing_is_left_in_it(tmp_path: Path):
    folder = tmp_path / "a" / "b"

    with FolderLock(folder):
        assert folder.is_dir()
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="not told apart there")
def test_second_capture_is_refused_while_the_first_runs(tmp_path: Path):
    with (
        FolderLock(tmp_path),
        pytest.raises(CaptureError, match="another capture is writing there"),
    ):
        FolderLock(tmp_path).__enter__()

    with FolderLock(tmp_path):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="not told apart there")
def test_killed_capture_gives_its_folder_back(tmp_path: Path):
    code = (
        "import os; from pathlib import Path; from tracetui.capture.folder import FolderLock;"
        f"FolderLock(Path({str(tmp_path)!r})).__enter__(); os._exit(9)"
    )
    (tmp_path / ".mlp.json.gz.1.part").write_bytes(b"half")
    subprocess.run([sys.executable, "-c", code], check=False, timeout=60)

    with FolderLock(tmp_path):
        assert not (tmp_path / ".mlp.json.gz.1.part").exists()
    assert list(tmp_path.iterdir()) == []


def test_folder_below_a_file_is_one_line(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(CaptureError, match="file/traces: cannot write there: not a directory"):
        FolderLock(tmp_path / "file" / "traces").__enter__()
