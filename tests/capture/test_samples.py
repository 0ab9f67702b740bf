"""The bundled samples: what tracetui counts in them is what torch counted in the same run."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.capture.counted import STEP, counted_annotations, counted_operators, torch_counted
from tests.literal import annotation, trace_of
from tracetui.capture.catalog import CATALOG
from tracetui.capture.environment import without_machine
from tracetui.capture.export import decoded_metadata
from tracetui.capture.samples import SAMPLE_SETS
from tracetui.readers import read_trace

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces"
SAMPLES = sorted(FOLDER.glob("*.json.gz"))


def test_samples_are_those_that_are_recorded():
    names = {name for samples in SAMPLE_SETS for name in samples.names}

    assert {path.name.partition(".")[0] for path in SAMPLES} == names
    assert {path.name.partition(".")[0] for path in FOLDER.glob("*.oracle.json")} == names
    assert {samples.workload for samples in SAMPLE_SETS} == {entry.name for entry in CATALOG}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_operators_are_those_of_torch(sample: Path):
    trace = read_trace(sample, use_cache=False)

    assert counted_operators(trace) == torch_counted(sample, is_annotation=False)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_annotations_are_those_of_torch(sample: Path):
    trace = read_trace(sample, use_cache=False)

    assert counted_annotations(trace) == torch_counted(sample, is_annotation=True)


def test_only_child_of_its_own_name_counts_once():
    trace = trace_of(
        annotation("ProfilerStep#7", 0, 1_000),
        ("aten::upsample", 100, 500),
        ("aten::upsample", 150, 400),
    )

    assert counted_operators(trace) == {"aten::upsample": (1, 500, 500)}
    assert counted_annotations(trace) == {"ProfilerStep*": (1, 1_000, 500)}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_sample_is_small_and_names_no_machine(sample: Path):
    text = gzip.decompress(sample.read_bytes()).decode()

    assert sample.stat().st_size < 60_000
    assert not any(
        word in text for word in ("host_name", "traceName", "/home/", "/root/", "/tmp/", "/usr/")
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_metadata_of_a_sample_names_no_machine(sample: Path):
    metadata = decoded_metadata(json.loads(gzip.decompress(sample.read_bytes()))["tracetui"])

    assert not {"host", "repository", "environment", "capture"} & set(metadata)
    assert metadata["device"] == {"kind": "cpu"}
    assert metadata["equality"]["is_equal"]
    assert len(metadata["timing"]["runs_ns"]) == 20


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_sample_has_three_steps_with_an_annotation_each(sample: Path):
    events = json.loads(gzip.decompress(sample.read_bytes()))["traceEvents"]
    names = Counter(event["name"] for event in events if event.get("cat") == "user_annotation")
    prefix = next(
        entry.annotation
        for entry in CATALOG
        if sample.name.startswith(entry.name.replace("-", "_"))
    )

    assert names[f"{prefix}_fwd"] == 3
    assert names[f"{prefix}_bwd"] == (3 if prefix == "block" else 0)
    assert sum(name.startswith(STEP) for name in names) == 3


def test_compiled_sample_shows_its_generated_kernel():
    text = gzip.decompress((FOLDER / "mlp_compiled.json.gz").read_bytes()).decode()

    assert "_cpp_fused__unsafe_view_gelu_mul_0" in text


def test_without_machine_keeps_what_is_measured():
    document = {"host_name": "box", "traceName": "/tmp/x", "trace_id": "7", "traceEvents": [1]}

    assert without_machine(document) == {"traceEvents": [1]}


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_recording_anew_gives_a_trace_and_its_oracle(tmp_path: Path):
    subprocess.run(
        [
            sys.executable, "-m", "tracetui.capture.samples", str(tmp_path), "--only", "linear",
            "--repeats", "2",
        ],
        check=True, capture_output=True, timeout=120, cwd=FOLDER.parent,
    )  # fmt: skip
    sample = tmp_path / "linear_eager.json.gz"
    trace = read_trace(sample, use_cache=False)

    assert counted_operators(trace) == torch_counted(sample, is_annotation=False)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "linear_compiled.json.gz",
        "linear_compiled.oracle.json",
        "linear_eager.json.gz",
        "linear_eager.oracle.json",
    ]
