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
from tracetui.capture.environment import without_machine
from tracetui.readers import read_trace

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces"
SAMPLES = sorted(FOLDER.glob("*.json.gz"))


def test_there_are_samples():
    assert {path.name.partition(".")[0] for path in SAMPLES} == {
        "mlp_eager",
        "mlp_compiled",
        "attention_naive",
        "attention_sdpa",
    }


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

    assert sample.stat().st_size < 1_000_000
    assert not any(
        word in text for word in ("host_name", "traceName", "/home/", "/root/", "/tmp/", "/usr/")
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_sample_has_three_steps_with_an_annotation_each(sample: Path):
    events = json.loads(gzip.decompress(sample.read_bytes()))["traceEvents"]
    names = Counter(event["name"] for event in events if event.get("cat") == "user_annotation")
    annotation_name = "mlp_fwd" if sample.name.startswith("mlp") else "attn_fwd"

    assert names[annotation_name] == 3
    assert sum(name.startswith(STEP) for name in names) == 3


def test_compiled_sample_shows_its_generated_kernel():
    text = gzip.decompress((FOLDER / "mlp_compiled.json.gz").read_bytes()).decode()

    assert "_cpp_fused_gelu_mul_" in text


def test_without_machine_keeps_what_is_measured():
    document = {"host_name": "box", "traceName": "/tmp/x", "trace_id": "7", "traceEvents": [1]}

    assert without_machine(document) == {"traceEvents": [1]}


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_recording_anew_gives_a_trace_and_its_oracle(tmp_path: Path):
    subprocess.run(
        [
            sys.executable,
            "-m",
            "tracetui.capture.samples",
            str(tmp_path),
            "--only",
            "attention_sdpa",
        ],
        check=True,
        capture_output=True,
        timeout=120,
        cwd=FOLDER.parent,
    )
    sample = tmp_path / "attention_sdpa.json.gz"
    trace = read_trace(sample, use_cache=False)

    assert counted_operators(trace) == torch_counted(sample, is_annotation=False)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "attention_sdpa.json.gz",
        "attention_sdpa.oracle.json",
    ]
