"""Hypothesis profiles, the shared folder, and what every test may rely on."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci" if os.environ.get("CI") else "dev")

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Real traces and known answers beside the checkout; tests that use them skip without."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what imports torch where there is none."""
    if item.get_closest_marker("torch") is not None and find_spec("torch") is None:
        pytest.skip("torch is not installed")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real traces and known answers, or skip."""
    if not SHARED.is_dir():
        pytest.skip("the shared traces and known answers are not beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def private_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep each test's cache and remembered places to itself."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
