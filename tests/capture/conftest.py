"""One capture of each workload for all tests: starting torch and compiling is what takes the time."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tracetui.model.trace import Trace
from tracetui.readers import read_trace

ROOT = Path(__file__).resolve().parents[2]
SMALLEST = {
    "matmul-add": ("size=32",),
    "linear": ("batch=16", "in=8", "out=4"),
    "mlp": ("batch=1", "seq=8", "dim=16", "hidden=32"),
    "attention": ("batch=1", "heads=2", "seq=128", "head_dim=16"),
    "block": ("batch=1", "seq=16", "dim=32", "heads=2", "hidden=48", "optimizer=adamw"),
}
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def capture(
    *arguments: str, timeout_s: int = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``tracetui capture`` as a user does and return what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "tracetui", "capture", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def events_of(stdout: str) -> list[dict[str, Any]]:
    """Return the events that ``--json`` printed."""
    return [json.loads(line) for line in stdout.splitlines()]


@dataclass(frozen=True, eq=False)
class Captured:
    """A finished capture: its folder, and what it told."""

    folder: Path
    stdout: str

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """What was told, in order."""
        return events_of(self.stdout)

    def told(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the last event of a kind for each variant."""
        return {each["variant"]: each for each in self.events if each["event"] == kind}

    @cached_property
    def session(self) -> dict[str, Any]:
        """What ``session.json`` says."""
        found: dict[str, Any] = json.loads((self.folder / "session.json").read_text())
        return found

    def file(self, variant: str) -> Path:
        """Return the trace of a variant."""
        return Path(self.told("finished")[variant]["path"])

    def trace(self, variant: str) -> Trace:
        """Return the trace of a variant as tracetui reads it."""
        return read_trace(self.file(variant), use_cache=False)

    def calls(self, variant: str) -> Counter[str]:
        """Return how often each name occurs in a variant's trace, over all three steps."""
        trace = self.trace(variant)
        return Counter(trace.names[name_id] for name_id in trace.slices.name_id.tolist())


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other workers of the same test run out, where the system can."""
    with path.open("w") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory):
    """Return a function that gives the capture of a workload, made once for a whole test run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    @cache
    def made(workload: str) -> Captured:
        folder, said = shared / f"captured-{workload}", shared / f"captured-{workload}.said"
        with _alone(shared / f"captured-{workload}.lock"):
            if not said.exists():
                settings = [part for text in SMALLEST[workload] for part in ("--set", text)]
                done = capture(
                    workload, *settings, "--oracle", "--json", "--runs", "5", "--threads", "1",
                    "--device", "cpu", "--out", str(folder),
                )  # fmt: skip
                assert done.returncode == 0, done.stderr
                said.write_text(done.stdout)
        return Captured(folder, said.read_text())

    return made
