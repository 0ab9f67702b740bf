"""Our Triton kernel against eager, forward and backward, run by Triton's interpreter.

It runs where Triton is installed; without a device its interpreter does, which needs the variable set
before Triton is imported: hence a process of its own.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.capture.conftest import ROOT, needs_torch

pytestmark = [
    pytest.mark.torch,
    needs_torch,
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]
CODE = """
import json
import torch
from tracetui.capture.equality import equality
from tracetui.capture.workloads.gated_activation import gated_activation
from tracetui.capture.workloads.steps import ACTIVATIONS

device = "cuda" if torch.cuda.is_available() else "cpu"
found = {}
for activation in ACTIVATIONS:
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        for shape in ((1,), (3, 5), (2, 7, 147), (1025,)):
            torch.manual_seed(0)
            numbers = [torch.randn(shape).mul(3).to(dtype) for _ in range(3)]
            gate, up, grad = (each.to(device) for each in numbers)
            exact = [each.double().to(device).requires_grad_() for each in numbers[:2]]
            expected = ACTIVATIONS[activation](exact[0]) * exact[1]
            expected.backward(grad.double())
            gate.requires_grad_(), up.requires_grad_()
            out = gated_activation(gate, up, activation)
            out.backward(grad)
            result = equality(
                [out, gate.grad, up.grad], [expected, exact[0].grad, exact[1].grad], "eager"
            )
            found[f"{activation} {dtype} {shape}"] = [result.is_equal, result.norm_relative_error]
# Transposed inputs are not contiguous.
gate, up = torch.randn(4, 6, device=device).t(), torch.randn(4, 6, device=device).t()
found["transposed"] = [
    bool(torch.allclose(gated_activation(gate, up, "relu"), gate.relu() * up)), 0.0
]
try:
    gated_activation(gate, up.half(), "relu")
except ValueError as error:
    found["dtypes"] = [str(error) == "gate and up need one shape and one dtype", 0.0]
print(json.dumps(found))
"""


def test_kernel_equals_eager_in_every_dtype_shape_and_activation():
    torch = pytest.importorskip("torch")
    interpreted = {} if torch.cuda.is_available() else {"TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        check=False, capture_output=True, text=True, timeout=300, cwd=ROOT,
        env={**os.environ, **interpreted},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    found = json.loads(done.stdout)
    assert len(found) == 3 * 4 * 4 + 2
    assert [name for name, (is_equal, _) in found.items() if not is_equal] == []
    assert max(error for name, (_, error) in found.items() if "float32" in name) < 1e-5


COMPILATION = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tracetui.capture.workloads import gated_activation as ours

kernels = {
    ours.gated_activation_forward: ("gate", "up", "out"),
    ours.gated_activation_backward: ("grad", "gate", "up", "grad_gate", "grad_up"),
}
for kernel, tensors in kernels.items():
    for target in (GPUTarget("cuda", 80, 32), GPUTarget("cuda", 90, 32)):
        for dtype, compute in (("bf16", tl.float32), ("fp64", tl.float64)):
            for number in ours._NUMBERS.values():
                constants = {"ACTIVATION": number, "COMPUTE": compute, "BLOCK": ours._BLOCK}
                signature = {name: f"*{dtype}" for name in tensors} | {"n": "i32"}
                signature |= dict.fromkeys(constants, "constexpr")
                source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
                assert "ptx" in triton.compile(source, target=target).asm
print("compiled")
"""


@pytest.mark.slow
def test_kernel_compiles_for_gpus_that_are_not_here():
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILATION],
        check=False, capture_output=True, text=True, timeout=300, cwd=ROOT, env=environment,
    )  # fmt: skip

    assert done.stdout.strip() == "compiled", done.stderr
