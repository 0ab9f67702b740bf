"""The layers hold, and every module says what it is for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "tracetui").rglob("*.py"))


def test_layers_hold():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_described_and_not_too_long(path: Path):
    source = path.read_text()

    assert ast.get_docstring(ast.parse(source)), "a module begins with what it is for"
    assert len(source.splitlines()) <= 800, "a module this long is two modules"


@pytest.mark.parametrize("folder", ["tracetui", "tests"])
def test_every_folder_is_a_package(folder: str):
    for path in (ROOT / folder).rglob("*.py"):
        assert (path.parent / "__init__.py").exists(), path.parent
