"""What the rules say of recordings that torch makes here and now, with the trouble and without.

The device's rules cannot be tried so; where a rule only needs a device to see what things cost,
kernels are drawn below the operators that torch recorded.
"""

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tracetui.diagnosis.engine import findings
from tracetui.diagnosis.finding import Finding
from tracetui.diagnosis.rules.bias_before_norm import convolutions_before_norms
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

torch = pytest.importorskip("torch")

_N_STEPS = 4
_LAUNCH_US, _KERNEL_US = 1, 3


@dataclass
class Recorder:
    """Records steps of a function with torch's profiler, below a folder."""

    folder: Path
    n: int = field(default=0)

    def events(
        self, step: Callable[[], Any], *, n_warm: int = 1, n_steps: int = _N_STEPS
    ) -> dict[str, Any]:
        """Return what the profiler exported, read back."""
        self.n += 1
        path = self.folder / f"{self.n}.json"
        for _ in range(n_warm):
            step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU],
                schedule=torch.profiler.schedule(wait=0, warmup=0, active=n_steps, repeat=1),
                on_trace_ready=lambda found: found.export_chrome_trace(str(path)),
                record_shapes=True,
            ) as profiler:
                for _ in range(n_steps):
                    step()
                    profiler.step()
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def trace(self, given: dict[str, Any]) -> Trace:
        """Return the trace of such a file."""
        self.n += 1
        path = self.folder / f"{self.n}.json"
        path.write_text(json.dumps(given))
        return read_trace(path, use_cache=False)

    def found(self, step: Callable[[], Any], **given: int) -> dict[str, Finding]:
        """Return the findings about a function's steps, by rule."""
        return by_rule(self.trace(self.events(step, **given)))


def by_rule(trace: Trace) -> dict[str, Finding]:
    """Return the findings of a trace; no rule may fail."""
    result = findings(trace)
    assert not [each for each in result.abstained if each.reason.startswith("failed")]
    return {each.rule: each for each in result.found}


@pytest.fixture
def record(tmp_path):
    torch.manual_seed(0)
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Recorder(tmp_path)
    torch.set_num_threads(n_threads)


def with_device(given: dict[str, Any], is_launching: Callable[[str], bool]) -> dict[str, Any]:
    """Return a recording as if some of its operators had each launched one kernel.

    Of operators inside one another only the outermost does: ``_foreach`` works one by one on the
    host alone.
    """
    events = given["traceEvents"]
    operators = [
        each for each in events if each.get("cat") == "cpu_op" and is_launching(each["name"])
    ]
    drawn, free_us = [], 0.0
    busy_until: dict[Any, float] = {}
    for number, each in enumerate(sorted(operators, key=lambda one: one["ts"]), start=1):
        if each["ts"] < busy_until.get(each["tid"], 0.0):
            continue
        busy_until[each["tid"]] = each["ts"] + each["dur"]
        start_us = max(free_us, each["ts"] + _LAUNCH_US)
        free_us = start_us + _KERNEL_US
        link = {"correlation": 1_000_000 + number}
        shared = {"ph": "X", "args": link}
        drawn += [
            shared | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": each["ts"]}
            | {"dur": min(_LAUNCH_US, each["dur"]), "pid": each["pid"], "tid": each["tid"]},
            shared | {"cat": "kernel", "name": "vectorized_elementwise_kernel", "ts": start_us}
            | {"dur": _KERNEL_US, "pid": 0, "tid": 7, "args": link | {"device": 0, "stream": 7}},
        ]  # fmt: skip
    return given | {"traceEvents": events + drawn}


def test_masked_fill_copies_and_masked_fill_in_place_does_not(record):
    scores = torch.randn(2, 4, 256, 256)
    mask = torch.ones(256, 256, dtype=torch.bool).triu(1)

    with torch.no_grad():
        found = record.found(lambda: scores.masked_fill(mask, -1.0))
        healthy = record.found(lambda: scores.masked_fill_(mask, -1.0))
    assert f"aten::masked_fill copies its whole input first: {_N_STEPS} copies" in (
        found["hidden-copy"].summary
    )
    assert "hidden-copy" not in healthy


def test_a_mask_built_in_each_step_and_one_that_is_kept(record):
    kept = torch.full((512, 512), float("-inf")).triu(1)
    scores = torch.randn(512, 512)

    found = record.found(lambda: scores + torch.full((512, 512), float("-inf")).triu(1))
    assert f"aten::triu builds the same mask {_N_STEPS} times" in found["rebuilt-mask"].summary
    assert "rebuilt-mask" not in record.found(lambda: scores + kept)


def test_a_series_of_numbers_made_in_each_step_and_one_that_is_kept(record):
    kept = torch.arange(300_000)

    found = record.found(lambda: torch.arange(300_000).sin())
    assert f"aten::arange makes the same numbers {_N_STEPS} times" in (
        found["rebuilt-constant"].summary
    )
    assert "rebuilt-constant" not in record.found(kept.sin)


def test_elementwise_operators_one_after_the_other_in_each_step(record):
    x = torch.randn(1024, 1024)

    found = record.found(lambda: torch.nn.functional.gelu(x) * x + 1)["unfused-chain"]
    # One chain for each step, however close together the steps are.
    assert found.summary.startswith(
        f"gelu + mul + add could be one kernel: {_N_STEPS} times they run one after the other"
    )
    assert len(found.slices) == 3 * _N_STEPS


def test_a_copy_to_lay_a_tensor_out_anew_and_a_product_that_takes_it_as_it_is(record):
    x, y = torch.randn(4, 256, 512), torch.randn(4, 256, 8)

    found = record.found(lambda: torch.bmm(x.transpose(1, 2).contiguous(), y))
    assert f"{_N_STEPS} times ([4, 512, 256])" in found["contiguous-copy"].summary
    assert "contiguous-copy" not in record.found(lambda: torch.bmm(x.transpose(1, 2), y))


def test_autocast_converts_the_weights_of_a_model_that_does_not_learn(record):
    layers = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(3)))
    x = torch.randn(4, 512)

    def step():
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            layers(x)

    found = record.found(step)["autocast-weights"]
    assert f"converts weights from fp32 to bf16 {3 * _N_STEPS} times" in found.summary

    def learning():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            result = layers(x)
        result.sum().backward()

    assert "autocast-weights" not in record.found(learning)
    halves, half = layers.to(torch.bfloat16), x.to(torch.bfloat16)
    with torch.no_grad():
        assert "autocast-weights" not in record.found(lambda: halves(half))


def test_a_first_step_that_still_warms_up(record):
    weight = torch.randn(256, 256)
    amounts = [200] + [20] * (_N_STEPS - 1)

    def step():
        for _ in range(amounts.pop(0)):
            weight @ weight

    found = record.found(step, n_warm=0)
    assert found["cold-step"].summary.startswith("The first step, #0, took ")
    assert len(found["cold-step"].slices) == 1


class _Samples:
    def __init__(self, busy_s: float) -> None:
        self.busy_s = busy_s

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> Any:
        end_s = time.perf_counter() + self.busy_s
        while time.perf_counter() < end_s:
            pass
        return torch.zeros(64)


def test_a_loader_that_takes_longer_than_the_step(record):
    layer = torch.nn.Linear(64, 8)

    def steps(busy_s: float) -> Callable[[], Any]:
        batches = iter(torch.utils.data.DataLoader(_Samples(busy_s), batch_size=8))
        return lambda: layer(next(batches))

    found = record.found(steps(0.002))["dataloader-wait"]
    assert f"while {_N_STEPS} batches were loaded" in found.summary


def test_a_function_that_is_compiled_anew_for_each_size(record):
    pytest.importorskip("torch._dynamo")
    torch._dynamo.reset()
    sizes = iter(range(100, 200))
    compiled = torch.compile(lambda x: x.sin() + 1, dynamic=False, backend="eager")
    x = torch.zeros(100)

    found = record.found(lambda: compiled(torch.zeros(next(sizes))))
    assert f"compiled {_N_STEPS - 1} times after the first step" in found["recompilation"].summary
    torch._dynamo.reset()
    assert "recompilation" not in record.found(lambda: compiled(x))


def test_a_recording_of_the_first_call_of_a_compiled_function(record):
    pytest.importorskip("torch._dynamo")
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x.cos() * 2, backend="eager")
    x = torch.zeros(100)

    found = record.found(lambda: compiled(x), n_warm=0, n_steps=1)
    assert "work that is done once: compiling (" in found["recorded-warmup"].summary
    assert "recorded-warmup" not in record.found(lambda: compiled(x), n_steps=1)


def test_a_bias_before_a_norm_only_where_the_norm_goes_by_the_batch(record):
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 8, 3, bias=False),
        torch.nn.BatchNorm2d(8),
    )
    x = torch.randn(2, 3, 16, 16)

    trace = record.trace(record.events(lambda: layers(x).sum().backward()))
    assert len(convolutions_before_norms(trace)) == _N_STEPS
    layers.eval()
    with torch.no_grad():
        trace = record.trace(record.events(lambda: layers(x)))
    assert len(convolutions_before_norms(trace)) == 0


def _training(*, foreach: bool, set_to_none: bool) -> Callable[[], Any]:
    model = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(30)))
    optimizer = torch.optim.Adam(model.parameters(), foreach=foreach)

    def step() -> None:
        optimizer.zero_grad(set_to_none=set_to_none)
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()

    return step


def _launches(name: str) -> bool:
    """Say whether an operator launches one kernel on a device: plain ones and ``_foreach``."""
    plain = (
        "add_",
        "mul_",
        "lerp_",
        "addcmul_",
        "addcdiv_",
        "sqrt",
        "div_",
        "zero_",
        "addmm",
        "mm",
    )
    return name.startswith("aten::_foreach_") or name.removeprefix("aten::") in plain


def test_an_optimizer_parameter_by_parameter_and_one_for_all(record):
    given = record.events(_training(foreach=False, set_to_none=True), n_steps=2)
    found = by_rule(record.trace(with_device(given, _launches)))["fragmented-optimizer"]
    # Adam: of 60 parameters each has at least a lerp_, a mul_, an addcmul_ and an addcdiv_.
    n_each = int(found.summary.split("launches ")[1].split()[0].replace(",", ""))
    assert n_each >= 4 * 60

    given = record.events(_training(foreach=True, set_to_none=True), n_steps=2)
    healthy = by_rule(record.trace(with_device(given, _launches)))
    assert "fragmented-optimizer" not in healthy


def test_gradients_set_to_zero_and_gradients_dropped(record):
    given = record.events(_training(foreach=False, set_to_none=False), n_steps=2)
    found = by_rule(record.trace(with_device(given, _launches)))["zeroed-gradients"]
    # 30 layers with a weight and a bias.
    assert found.summary.startswith("Each zero_grad fills gradients with 60 kernels")

    given = record.events(_training(foreach=False, set_to_none=True), n_steps=2)
    assert "zeroed-gradients" not in by_rule(record.trace(with_device(given, _launches)))
