"""Which Python runs the child, and that it needs nothing of ours installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tracetui.capture.interpreter import BOOTSTRAP, child_command, chosen_interpreter
from tracetui.errors import CaptureError


def _environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    return python


def test_asked_for_goes_before_active_goes_before_our_own(tmp_path: Path):
    asked, venv, conda = (_environment(tmp_path / name) for name in ("asked", "venv", "conda"))
    active = {"VIRTUAL_ENV": str(tmp_path / "venv"), "CONDA_PREFIX": str(tmp_path / "conda")}

    assert chosen_interpreter(str(asked), active) == str(asked)
    assert chosen_interpreter(str(tmp_path / "asked"), active) == str(asked)
    assert chosen_interpreter(None, active) == str(venv)
    assert chosen_interpreter(None, {"CONDA_PREFIX": active["CONDA_PREFIX"]}) == str(conda)
    assert chosen_interpreter(None, {}) == sys.executable


def test_active_environment_that_is_gone_is_passed_over(tmp_path: Path):
    assert chosen_interpreter(None, {"VIRTUAL_ENV": str(tmp_path / "gone")}) == sys.executable


def test_what_is_no_python_is_refused(tmp_path: Path):
    with pytest.raises(CaptureError, match="no such Python"):
        chosen_interpreter(str(tmp_path / "missing"))
    with pytest.raises(CaptureError, match="no Python in this folder"):
        chosen_interpreter(str(tmp_path))


def test_module_runs_without_anything_installed(tmp_path: Path):
    # -I keeps the environment and the folder away, -S the installed packages.
    command = [sys.executable, "-I", "-S", *child_command("tracetui.capture.spec")[2:]]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=60
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_bootstrap_runs_any_module_by_name():
    code = (
        "import sys, runpy; sys.argv = ['bootstrap.py', 'this']\n"
        f"runpy.run_path({str(BOOTSTRAP)!r}, run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], check=False, capture_output=True, text=True, timeout=60
    )

    assert "Beautiful is better than ugly" in done.stdout
