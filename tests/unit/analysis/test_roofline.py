"""Attained rates and shares of roofs, by hand."""

import json

import pytest

from tests.literal import Row, kernel, launch, trace_of
from tracetui.analysis.device_table import DevicePeaks
from tracetui.analysis.roofline import attained, costed_calls, roofline, trace_peaks
from tracetui.analysis.work_class import WorkClass
from tracetui.model.device import DeviceSpec
from tracetui.model.trace import Trace

PEAKS = DevicePeaks("a device", {"bf16": 1e12, "tf32": 5e11}, {"fp32": 1e11}, 1e11, "by hand")
A100 = DeviceSpec(0, "NVIDIA A100-SXM4-80GB", 85 * 10**9, 8, 0, 108, 32, 1024, 2048, 65536, 167936)
GEMM = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x5_tn"


def operator(
    name: str, ts_ns: int, dur_ns: int, *shapes: list[int], of: str = "c10::BFloat16"
) -> Row:
    """Return an operator with inputs of one type."""
    types = [of if shape else "Scalar" for shape in shapes]
    return Row(name, ts_ns, dur_ns, shape=json.dumps(shapes), types=json.dumps(types))


# Shares of roofs


def test_the_longer_of_two_times_is_the_roof():
    """1e6 FLOP at 1e12 a second take 1 us, 2e5 bytes at 1e11 take 2 us; it took 4."""
    shares = attained(10**6, 2 * 10**5, 4000, 1e12, 1e11)

    assert shares.compute_ratio == pytest.approx(0.25)
    assert shares.memory_ratio == pytest.approx(0.5)
    assert shares.roof_ratio == pytest.approx(0.5)
    assert shares.bound == "memory"


def test_work_that_is_far_from_both_roofs_waits():
    assert attained(10**6, 2 * 10**5, 40_000, 1e12, 1e11).bound == "latency"


def test_arithmetic_may_be_the_roof():
    assert attained(10**6, 10**4, 2000, 1e12, 1e11).bound == "compute"


def test_without_arithmetic_memory_decides():
    shares = attained(0, 10**5, 2000, None, 1e11)

    assert shares.roof_ratio == pytest.approx(0.5)
    assert shares.bound == "memory"


@pytest.mark.parametrize(
    "amounts",
    [
        (10**6, None, 1000, 1e12, 1e11),
        (10**6, 10**4, 1000, None, 1e11),
        (10**6, 10**4, 1000, 1e12, None),
        (10**6, 10**4, 0, 1e12, 1e11),
    ],
)
def test_what_is_not_known_gives_no_verdict(amounts: tuple[int, int | None, int, float, float]):
    shares = attained(*amounts)

    assert (shares.roof_ratio, shares.bound) == (None, None)


# Times


def two_kernels() -> Trace:
    """Return an operator whose two kernels overlap by 10 ns on two streams."""
    return trace_of(
        operator("aten::mm", 0, 100, [3, 5], [5, 7]),
        launch(10, 5, 1),
        launch(20, 5, 2),
        kernel(GEMM, 50, 40, 1),
        kernel("splitKreduce_kernel", 80, 30, 2, stream=8),
    )


def test_the_time_is_the_union_of_an_operators_kernels():
    calls = costed_calls(two_kernels())

    assert calls.busy_ns.tolist() == [60]
    assert calls.flop.tolist() == [210]
    assert calls.work_class.tolist() == [WorkClass.GEMM]


def test_unions_of_many_operators_do_not_mix():
    rows = []
    for i in range(3):
        start = 1000 * i
        rows += [
            operator("aten::mm", start, 100, [3, 5], [5, 7]),
            launch(start + 10, 5, 2 * i + 1),
            launch(start + 20, 5, 2 * i + 2),
            kernel(GEMM, start + 50, 40 + i, 2 * i + 1),
            kernel("splitKreduce_kernel", start + 500, 30, 2 * i + 2),
        ]

    calls = costed_calls(trace_of(*rows))

    assert calls.busy_ns.tolist() == [72, 71, 70]
    assert calls.slice_id.tolist() == sorted(calls.slice_id.tolist(), reverse=True)


def test_kernels_of_wrapped_operators_belong_to_the_one_that_counts():
    trace = trace_of(
        operator("aten::linear", 0, 100, [3, 5], [7, 5]),
        operator("aten::mm", 10, 80, [3, 5], [5, 7]),
        launch(20, 5, 1),
        kernel(GEMM, 200, 40, 1),
    )

    calls = costed_calls(trace)

    assert [trace.name_of(i) for i in calls.slice_id.tolist()] == ["aten::mm"]


def test_a_copy_from_the_host_is_under_no_roof_of_the_device():
    trace = trace_of(
        operator("aten::copy_", 0, 100, [8], [8]),
        Row("cudaMemcpyAsync", 10, 5, "cuda_runtime", correlation=1),
        Row("Memcpy HtoD (Pageable -> Device)", 200, 40, "gpu_memcpy", "0", "7", correlation=1),
    )

    assert len(costed_calls(trace)) == 0


def test_on_a_host_the_operator_itself_is_the_time():
    trace = trace_of(operator("aten::mm", 0, 100, [3, 5], [5, 7], of="float"))

    line = roofline(trace, trace_peaks(trace))

    assert (line.device, line.peaks, line.has_device) == (None, None, False)
    (point,) = line.points
    assert (point.time_ns, point.flop, point.roof_ratio, point.bound) == (100, 210, None, None)
    assert point.flop_per_s == 210 / 100e-9
    assert point.work_class == WorkClass.GEMM


# Points


def test_the_whole_of_a_trace_has_one_share():
    rows = []
    for i, (flop_side, dur_ns) in enumerate([(10, 100), (5, 50)]):
        start = 1000 * i
        rows += [
            operator("aten::mm", start, 100, [10, flop_side], [flop_side, 10]),
            launch(start + 10, 5, i + 1),
            kernel(GEMM, start + 50, dur_ns, i + 1),
        ]
    # 2000 FLOP in 100 ns and 1000 in 50: 2e10 a second each, half of 4e10.
    peaks = DevicePeaks("a device", {"bf16": 4e10}, {}, 1e15, "by hand")

    line = roofline(trace_of(*rows), peaks)

    assert line.roof_ratio == pytest.approx(0.5)
    assert roofline(trace_of(*rows), None).roof_ratio is None


def test_a_point_adds_up_the_calls_of_one_operator_with_one_set_of_shapes():
    rows = []
    for i, (k, dur_ns) in enumerate([(5, 40), (5, 60), (9, 50)]):
        start = 1000 * i
        rows += [
            operator("aten::mm", start, 100, [3, k], [k, 7]),
            launch(start + 10, 5, i + 1),
            kernel(GEMM, start + 50, dur_ns, i + 1),
        ]
    trace = trace_of(*rows)

    line = roofline(trace, PEAKS)

    twice, once = line.points
    assert (twice.calls, twice.time_ns, twice.flop) == (2, 100, 420)
    assert (once.calls, once.time_ns, once.flop) == (1, 50, 378)
    assert twice.n_bytes == 2 * 2 * (15 + 35 + 21)
    assert twice.intensity == 420 / 284
    assert twice.roof_flop_per_s == 1e12
    assert int(trace.slices.ts_ns[twice.slice_id]) == 1000
    assert (line.costed_ns, line.total_ns) == (150, 150)
    (whole,) = roofline(trace, PEAKS, "class").points
    assert (whole.label, whole.calls, whole.time_ns, whole.shapes) == ("gemm", 3, 150, "")


def test_products_of_32_bits_on_tensor_cores_are_held_to_their_roof():
    tensor = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1"
    found = []
    for name in (tensor, "ampere_sgemm_128x64_nn"):
        trace = trace_of(
            operator("aten::mm", 0, 100, [3, 5], [5, 7], of="float"),
            launch(10, 5, 1),
            kernel(name, 50, 40, 1),
        )
        (point,) = roofline(trace, PEAKS).points
        found.append((point.precision, point.roof_flop_per_s))

    assert found == [("tf32", 5e11), ("fp32", 1e11)]


def test_the_device_that_did_the_work_gives_the_roofs():
    trace = trace_of(
        operator("aten::mm", 0, 100, [3, 5], [5, 7]),
        launch(10, 5, 1),
        kernel(GEMM, 50, 40, 1),
        devices=[A100],
    )

    peaks = trace_peaks(trace)

    assert peaks is not None
    assert peaks.name == "NVIDIA A100 80GB SXM"
    assert roofline(trace, peaks).device == "NVIDIA A100-SXM4-80GB"


def test_a_trace_of_nothing():
    line = roofline(trace_of(), None)

    assert (line.points, line.costed_ns, line.total_ns) == ((), 0, 0)
