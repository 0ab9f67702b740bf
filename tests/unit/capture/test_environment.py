"""What is noted of a machine, and what is kept to itself."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

from tracetui.capture import environment


def test_what_the_user_set_stands(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KINETO_LOG_LEVEL", "0")
    monkeypatch.delenv("TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE", raising=False)
    environment.prepare_environment()

    assert os.environ["KINETO_LOG_LEVEL"] == "0"
    assert os.environ["TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE"] == "1"
    monkeypatch.delenv("TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE")


def test_only_variables_that_change_speed_are_noted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")

    noted = environment.noted_variables()
    assert noted["OMP_NUM_THREADS"] == "3"
    assert "SOME_TOKEN" not in noted


def test_packages_that_are_not_installed_have_no_version():
    found = environment.versions()

    assert found["flash-attn"] is None
    assert found["python"] == platform.python_version()


def test_driver_state_is_read_from_its_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho '575.57, 1980, 2619, 41, 118.21, 700.00'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    assert environment.driver_state() == {
        "driver": "575.57",
        "sm_clock_mhz": "1980",
        "memory_clock_mhz": "2619",
        "temperature_c": "41",
        "power_w": "118.21",
        "power_limit_w": "700.00",
    }


def test_machine_without_the_tool_has_no_driver_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert environment.driver_state() is None
    assert environment.commit() is None


def test_commit_is_that_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert environment.commit() is None

    (tmp_path / "file").write_text("1")
    for command in (
        ["init", "-q"],
        ["add", "file"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"],
    ):
        subprocess.run(["git", *command], check=True, cwd=tmp_path)
    found = environment.commit()
    assert found is not None
    assert len(found["commit"]) == 40
    assert found["is_dirty"] is False

    (tmp_path / "file").write_text("2")
    changed = environment.commit()
    assert changed is not None
    assert changed["is_dirty"] is True
