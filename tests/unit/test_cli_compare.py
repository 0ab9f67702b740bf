"""``tracetui compare`` as a CI step runs it."""

import json
from pathlib import Path

import pytest

from tracetui.cli.main import main

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
EAGER, COMPILED = (str(SAMPLES / f"mlp_{variant}.json.gz") for variant in ("eager", "compiled"))


def event(category, name, ts, dur, tid="1", **args):
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 0 if category == "kernel" else 1,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def step(number, start, kernel_us):
    """Return one step of 100 us with one product of ``kernel_us``."""
    return [
        event("user_annotation", f"ProfilerStep#{number}", start, 100),
        event("cpu_op", "aten::mm", start + 10, 20),
        event("cuda_runtime", "cudaLaunchKernel", start + 15, 5, correlation=number),
        event("kernel", "gemm", start + 40, kernel_us, "7", correlation=number, stream=7, device=0),
    ]


@pytest.fixture
def pair(tmp_path):
    """Return two recordings of five steps; the product takes 10 us, and 12 us."""
    paths = []
    for name, kernel_us in (("a", 10), ("b", 12)):
        events = [each for n in range(1, 6) for each in step(n, n * 100, kernel_us)]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        paths.append(str(path))
    return paths


def test_json_is_what_the_contract_says(pair, capsys):
    assert main(["compare", *pair, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert (found["baseline"], found["candidates"]) == (pair[0], [pair[1]])
    assert (found["within"], found["per"]) == (None, "step")
    assert found["pairs"][0]["gpu_us"] == {
        "baseline": 10.0,
        "candidate": 12.0,
        "delta": 2.0,
        "ratio": 1.2,
        "ci": [1.2, 1.2],
        "verdict": "slower",
    }
    assert [match["kind"] for match in found["pairs"][0]["matches"]] == ["slower"]


@pytest.mark.parametrize(
    ("bounds", "status"),
    [
        (["gpu_us > +5%"], 1),
        (["gpu_us > +25%"], 0),
        (["gpu_us > +25%", "gpu_us > +1us"], 1),
        (["kernels_per_call > 5"], 0),
        (["wall_us > +2us"], 0),
    ],
)
def test_a_broken_bound_is_status_1_and_says_so(pair, capsys, bounds, status):
    arguments = [word for bound in bounds for word in ("--fail-if", bound)]

    assert main(["compare", *pair, *arguments]) == status
    captured = capsys.readouterr()
    assert captured.out.startswith("# a.json against b.json")
    assert ("broke" in captured.err) == bool(status)


def test_a_broken_bound_says_by_how_much(pair, capsys):
    main(["compare", *pair, "--fail-if", "gpu_us > +5%"])

    assert capsys.readouterr().err == (
        f"tracetui: {pair[1]}: broke gpu_us > +5%: gpu_us 10.000 → 12.000 (+2.000, +20.00 %);"
        " +15.00 percentage points against the bound\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", EAGER],
        ["compare", EAGER, "nowhere.json"],
        ["compare", EAGER, COMPILED, "--within", "attn_fwd"],
        ["compare", EAGER, COMPILED, "--per", "month"],
        ["compare", EAGER, COMPILED, "--fail-if", "gpu_us"],
        ["compare", EAGER, COMPILED, "--fail-if", "gpu_us > +5%"],
        ["compare", EAGER, COMPILED, "--json", "--markdown"],
        ["compare", "-", "-"],
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(capsys, arguments):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tracetui: ")
    assert captured.err.count("\n") == 1


def test_within_and_per_are_taken(capsys):
    assert main(["compare", EAGER, COMPILED, "--json", "--within", "mlp_fwd", "--per", "call"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert (found["within"], found["per"]) == ("mlp_fwd", "call")


def test_compiling_the_mlp_fuses_gelu_and_mul(capsys):
    assert main(["compare", EAGER, COMPILED, "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    fused = [match for match in pair["matches"] if match["kind"] == "fused"]

    assert [(match["baseline"], match["candidate"]) for match in fused] == [
        (["aten::gelu", "aten::mul"], ["graph_0_cpp_fused__unsafe_view_gelu_mul_0"])
    ]
    assert [match["kind"] for match in pair["matches"]].count("fused") == 1
    assert len(pair["matches"]) == 4
    assert pair["gpu_us"]["baseline"] is None


def test_sdpa_stands_for_the_whole_attention(capsys):
    naive, sdpa = (str(SAMPLES / f"attention_{name}.json.gz") for name in ("naive", "sdpa"))

    assert main(["compare", naive, sdpa, "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    (match,) = pair["matches"]
    assert match["kind"] == "fused"
    assert match["baseline"] == [
        "aten::bmm",
        "aten::div",
        "aten::copy_",
        "aten::masked_fill_",
        "aten::_softmax",
        "aten::bmm",
    ]
    assert match["candidate"] == ["aten::_scaled_dot_product_flash_attention_for_cpu"]
    assert pair["unprofiled_us"]["verdict"] == "faster"


def test_a_trace_against_itself_is_no_change(capsys):
    assert main(["compare", EAGER, EAGER, "--json", "--fail-if", "host_us > +0%"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]

    assert (pair["host_us"]["verdict"], pair["wall_us"]["verdict"]) == ("no change", "no change")
    assert {match["kind"] for match in pair["matches"]} == {"same"}
