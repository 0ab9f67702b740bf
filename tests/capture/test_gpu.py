"""On a GPU: every workload at its defaults, held to what published captures show."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.capture.conftest import Captured, capture, needs_torch
from tracetui.analysis.operators import annotation_stats
from tracetui.capture.catalog import CATALOG

pytestmark = [pytest.mark.torch, pytest.mark.gpu, pytest.mark.slow, needs_torch]

KERNELS_PER_FORWARD = {
    ("matmul-add", "eager"): 2,
    ("matmul-add", "compiled"): 2,
    ("linear", "eager"): 1,
    ("linear", "compiled"): 1,
    ("mlp", "eager"): 5,
    ("mlp", "compiled"): 4,
    ("mlp", "fused"): 4,
    ("attention", "naive"): 6,
    ("attention", "naive-inplace"): 5,
    ("attention", "sdpa-math"): 20,
    ("attention", "sdpa-efficient"): 1,
    ("attention", "sdpa-flash"): 1,
    ("attention", "sdpa-cudnn"): 1,
}
"""An A100, bf16; other devices and versions shift some of them, and then this says which."""


@pytest.fixture(scope="module")
def on_gpu(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Captured]:
    torch = pytest.importorskip("torch") if find_spec("torch") else None
    if torch is None or not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    made = {}
    for entry in CATALOG:
        folder = tmp_path_factory.mktemp(entry.name)
        done = capture(entry.name, "--json", "--out", str(folder), timeout_s=600)
        assert done.returncode == 0, done.stderr
        made[entry.name] = Captured(folder, done.stdout)
    return made


def _kernels_per_forward(made: Captured, workload: str, variant: str) -> float:
    refused = made.told("unavailable")
    assert variant not in refused, refused[variant]["reason"]
    annotation = next(entry.annotation for entry in CATALOG if entry.name == workload)
    stats = annotation_stats(made.trace(variant))
    row = stats.row_of(f"{annotation}_fwd")
    assert stats.calls[row] == 3
    assert stats.n_kernels is not None
    found: float = stats.n_kernels[row] / 3
    return found


@pytest.mark.parametrize(("workload", "variant"), KERNELS_PER_FORWARD, ids=str)
def test_kernels_per_forward(on_gpu: dict[str, Captured], workload: str, variant: str):
    found = _kernels_per_forward(on_gpu[workload], workload, variant)

    names = sorted(on_gpu[workload].calls(variant))
    assert found == KERNELS_PER_FORWARD[workload, variant], names


def test_a_cuda_graph_copies_the_input_and_no_weight(on_gpu: dict[str, Captured]):
    plain = _kernels_per_forward(on_gpu["mlp"], "mlp", "compiled")

    assert _kernels_per_forward(on_gpu["mlp"], "mlp", "compiled-reduce-overhead") <= plain + 1


def test_no_trace_lacks_its_kernels(on_gpu: dict[str, Captured]):
    for made in on_gpu.values():
        assert [each["note"] for each in made.events if each["event"] == "note"] == []


def test_every_variant_that_ran_is_right(on_gpu: dict[str, Captured]):
    for made in on_gpu.values():
        assert all(event["equality"]["is_equal"] for event in made.told("finished").values())


def test_session_knows_the_driver(on_gpu: dict[str, Captured], tmp_path: Path):
    (made,) = on_gpu["mlp"].session["captures"].values()

    assert made["device"]["kind"] == "cuda"
    assert made["device"]["name"]
