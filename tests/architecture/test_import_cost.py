"""What an import really loads, seen in a fresh interpreter."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "pandas", "torch", "textual", "rich", "orjson", "msgspec"}


def _loaded(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import tracetui", HEAVY),
        ("import tracetui.cli.main", HEAVY),
        ("import tracetui.model.trace", {"pandas", "torch", "textual", "rich"}),
        ("import tracetui.readers", {"pandas", "torch", "textual", "rich"}),
        ("import tracetui.reports.json_report", {"pandas", "torch", "textual", "rich"}),
        ("import tracetui.ui.app", {"pandas", "torch"}),
        ("import tracetui.capture.samples", {"torch", "pandas", "textual", "rich"}),
    ],
)
def test_import_stays_cheap(statement: str, forbidden: set[str]):
    assert not _loaded(statement) & forbidden


def test_help_and_version_load_nothing_heavy():
    for option in ("--help", "--version"):
        statement = (
            "from contextlib import redirect_stdout, suppress\n"
            "import io\nfrom tracetui.cli.main import main\n"
            f"with redirect_stdout(io.StringIO()), suppress(SystemExit): main(['{option}'])"
        )
        assert not _loaded(statement) & HEAVY
