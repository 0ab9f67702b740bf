"""The generated big case, small: known sums in the whole and in every part, and real ones in real steps."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tracetui.analysis.steps import Step, steps
from tracetui.model.portion import WHOLE, Portion
from tracetui.model.slices import SliceKind
from tracetui.readers import read_trace

_KERNEL_NS = 30_125


@pytest.fixture(scope="module", params=["json", "json.gz"])
def generated(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """Return the case at 6 MB and how many groups of operator, launch and kernel it has."""
    path = tmp_path_factory.mktemp("big") / f"big.{request.param}"
    script = shared / "cases" / "73-big-file" / "gen.py"
    done = subprocess.run(
        [sys.executable, str(script), str(path), "6"], capture_output=True, text=True, check=True
    )
    match = re.search(r"groups (\d+)", done.stdout)
    assert match is not None
    return path, int(match.group(1))


@pytest.mark.parametrize(
    ("portion", "n_kernels", "n_operators"),
    [
        (WHOLE, None, None),
        (Portion(is_device_only=True), None, 0),
        (Portion(n_events=9_001), 3_000, 3_001),
        # Groups begin every 40 us, the first with the trace: those of numbers 1000 to 2499 are inside.
        # The kernel of number 999 starts 8.375 us after it and so before the window.
        (Portion(window_ns=(40_000_000, 100_000_000)), 1_500, 1_500),
    ],
)
def test_every_part_has_the_sums_of_its_groups(
    generated: tuple[Path, int], portion: Portion, n_kernels: int | None, n_operators: int | None
) -> None:
    path, n_groups = generated
    slices = read_trace(path, use_cache=False, portion=portion).slices
    is_kernel = slices.kind == SliceKind.KERNEL
    expected = n_groups if n_kernels is None else n_kernels
    assert int(slices.dur_ns[is_kernel].sum()) == expected * _KERNEL_NS
    expected = n_groups if n_operators is None else n_operators
    assert np.count_nonzero(slices.kind == SliceKind.OPERATOR) == expected


def test_real_steps_read_alone_are_those_of_the_whole(shared: Path) -> None:
    path = next((shared / "traces").glob("*nccl_data*"))

    def facts(step: Step) -> tuple[int, int, int | None, int | None]:
        return step.number, step.wall_ns, step.gpu_by_launch_ns, step.n_kernels

    whole = [facts(step) for step in steps(read_trace(path, use_cache=False))]
    assert len(whole) > 1
    for n_steps in (1, 2):
        part = read_trace(path, use_cache=False, portion=Portion(n_steps=n_steps))
        assert [facts(step) for step in steps(part)] == whole[:n_steps]
    last = whole[-1][0]
    part = read_trace(path, use_cache=False, portion=Portion(steps=(last, last)))
    assert [facts(step) for step in steps(part)] == whole[-1:]
