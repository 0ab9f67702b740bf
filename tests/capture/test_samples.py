"""The bundled samples: what tracetui counts in them is what torch counted in the same run."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.literal import annotation, trace_of
from tracetui.analysis.operators import (
    NameStats,
    merged_annotation_stats,
    merged_operator_stats,
)
from tracetui.capture.environment import without_machine
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces"
SAMPLES = sorted(FOLDER.glob("*.json.gz"))
STEP = "ProfilerStep#"


def _key(name: str) -> str:
    return "ProfilerStep*" if name.startswith(STEP) else name


def _counted(trace: Trace, stats: NameStats) -> dict[str, tuple[int, int, int]]:
    """Return calls, total and self in nanoseconds by the name that torch's table has."""
    calls: Counter[str] = Counter()
    total: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for name_id, n_calls, total_ns, self_ns in zip(
        stats.name_id.tolist(),
        stats.calls.tolist(),
        stats.total_ns.tolist(),
        stats.self_ns.tolist(),
        strict=True,
    ):
        key = _key(trace.names[name_id])
        calls[key] += n_calls
        total[key] += total_ns
        own[key] += self_ns
    return {key: (calls[key], total[key], own[key]) for key in calls}


def _oracle(sample: Path, *, is_annotation: bool) -> dict[str, tuple[int, int, int]]:
    path = sample.with_name(sample.name.replace(".json.gz", ".oracle.json"))
    rows = json.loads(path.read_text(), parse_float=Decimal)["key_averages"]
    return {
        row["name"]: (row["count"], int(row["total_us"] * 1000), int(row["self_us"] * 1000))
        for row in rows
        if row["is_annotation"] == is_annotation
    }


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

    assert _counted(trace, merged_operator_stats(trace)) == _oracle(sample, is_annotation=False)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_annotations_are_those_of_torch(sample: Path):
    trace = read_trace(sample, use_cache=False)

    assert _counted(trace, merged_annotation_stats(trace)) == _oracle(sample, is_annotation=True)


def test_only_child_of_its_own_name_counts_once():
    trace = trace_of(
        annotation("ProfilerStep#7", 0, 1_000),
        ("aten::upsample", 100, 500),
        ("aten::upsample", 150, 400),
    )

    assert _counted(trace, merged_operator_stats(trace)) == {"aten::upsample": (1, 500, 500)}
    assert _counted(trace, merged_annotation_stats(trace)) == {"ProfilerStep*": (1, 1_000, 500)}


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

    assert _counted(trace, merged_operator_stats(trace)) == _oracle(sample, is_annotation=False)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "attention_sdpa.json.gz",
        "attention_sdpa.oracle.json",
    ]
