"""Small recordings of steps, made by hand: what runs, on which operator, for how long."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.model.trace import Trace

STEP_NS = 1_000_000
"""From the start of one step to that of the next."""
OPERATOR_NS = 10_000
"""From the start of one operator to that of the next; it runs for most of that."""


@dataclass(frozen=True)
class Op:
    """One operator that launches kernels one after the other, or computes on the host."""

    name: str
    kernels: tuple[tuple[str, int], ...] = ()
    shape: str | None = None
    around: tuple[str, ...] = ()
    """Operators around it, outermost first; neighbours with the same ones do not share them."""
    dur_ns: int = 8_000


def op(name: str, *kernels: tuple[str, int], **more) -> Op:
    """Return an operator and its kernels, each a name and a duration."""
    return Op(name, kernels, **more)


def step_rows(number: int, ops: Sequence[Op], *, start_ns: int, name: str = "") -> list[Row]:
    """Return one step: an annotation, operators in it, their launches and kernels."""
    rows = [annotation(name or f"ProfilerStep#{number}", start_ns, STEP_NS - 50_000)]
    device_ns = start_ns + 100_000
    correlation = number * 1_000
    for place, each in enumerate(ops):
        at = start_ns + 20_000 + place * OPERATOR_NS
        rows += [
            Row(outer, at + depth, each.dur_ns - 2 * depth)
            for depth, outer in enumerate(each.around)
        ]
        inset = len(each.around)
        rows.append(Row(each.name, at + inset, each.dur_ns - 2 * inset, shape=each.shape))
        for number_in_op, (kernel_name, dur_ns) in enumerate(each.kernels):
            correlation += 1
            rows.append(launch(at + 100 + number_in_op * 500, 300, correlation))
            rows.append(work(kernel_name, device_ns, dur_ns, correlation))
            device_ns += dur_ns + 1_000
    return rows


def work(name: str, start_ns: int, dur_ns: int, correlation: int) -> Row:
    """Return a kernel, or a copy or memset where its name says so."""
    row = kernel(name, start_ns, dur_ns, correlation)
    if name.startswith("Memcpy"):
        return Row(name, start_ns, dur_ns, "gpu_memcpy", "0", "7", correlation)
    if name.startswith("Memset"):
        return Row(name, start_ns, dur_ns, "gpu_memset", "0", "7", correlation)
    return row


def steps_of(*steps: Iterable[Op], first: int = 1) -> Trace:
    """Return a recording of these steps, one after the other."""
    rows: list[Row] = []
    for place, ops in enumerate(steps):
        rows += step_rows(first + place, list(ops), start_ns=place * STEP_NS)
    return trace_of(*rows)


def mlp(gemm_ns: int = 190_000) -> list[Op]:
    """Return the eager gated MLP: three products, gelu, mul."""
    return [
        op("aten::mm", ("gemm_128x128", gemm_ns), around=("aten::linear", "aten::matmul")),
        op("aten::gelu", ("vectorized_elementwise_kernel<gelu>", 93_000)),
        op("aten::mm", ("gemm_128x128", gemm_ns), around=("aten::linear", "aten::matmul")),
        op("aten::mul", ("vectorized_elementwise_kernel<mul>", 92_000)),
        op("aten::mm", ("gemm_128x256", 170_000), around=("aten::linear", "aten::matmul")),
    ]


def compiled_mlp(gemm_ns: int = 190_000) -> list[Op]:
    """Return the same compiled: no aten::linear any more, and one kernel for gelu and mul."""
    region = ("Torch-Compiled Region: 0/0", "## Call CompiledFxGraph f5qd ##")
    fused = "triton_poi_fused__unsafe_view_gelu_mul_0"
    return [
        op("aten::mm", ("gemm_128x128", gemm_ns), around=region),
        op("aten::mm", ("gemm_128x128", gemm_ns), around=region),
        op(fused, (fused, 89_000), around=region),
        op("aten::mm", ("gemm_128x256", 170_000), around=region),
    ]
