"""One row for each variant."""

from dataclasses import replace

import pytest

from tests.literal import annotation, kernel, launch, trace_of
from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tests.unit.compare.test_captured import RECORD, with_record
from tracetui.compare.scoreboard import scoreboard
from tracetui.model.device import DeviceSpec, Geometry


def test_rows_hold_medians_per_step():
    copy = op("aten::copy_", ("Memcpy DtoD (Device -> Device)", 5_000))
    traces = [
        steps_of(*[mlp()] * 3),
        steps_of(*[compiled_mlp()] * 3),
        steps_of(*[[*mlp(), copy]] * 3),
    ]
    board = scoreboard(traces)

    assert (board.within, board.per) == (None, "step")
    assert [(row.kernels, row.launches, row.copies) for row in board.rows] == [
        (5, 5, 0),
        (4, 4, 0),
        (6, 5, 1),
    ]
    assert [row.gpu_ns for row in board.rows] == [735_000, 639_000, 740_000]
    assert [row.compile_tax_ns > 0 for row in board.rows] == [False, True, False]
    assert board.best("gpu_ns") == (1,)
    assert board.best("copies") == (0, 1)
    assert board.best("peak_bytes") == ()


def test_a_host_alone_has_no_device_figures():
    (row, _) = scoreboard([steps_of([op("aten::mm")])] * 2).rows

    assert (row.kernels, row.launches, row.gpu_ns, row.tensor_core_ratio) == (None,) * 4
    assert (row.roof_ratio, row.occupancy_ratio, row.limiter) == (None,) * 3


def test_tensor_cores_are_a_share_of_kernel_time():
    on_cores = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn"
    trace = steps_of(
        [op("aten::mm", (on_cores, 30_000)), op("aten::mm", ("ampere_sgemm_128x64_nn", 10_000))]
    )

    assert scoreboard([trace, trace]).rows[0].tensor_core_ratio == 0.75


def test_occupancy_is_that_of_the_longest_kernel_s_limit():
    # 255 registers x 128 threads on an A100: two blocks, 8 of 64 warps (definitions of CUDA).
    trace = trace_of(
        annotation("ProfilerStep#1", 0, 9_000), launch(10, 5, 1), kernel("flash", 100, 5_000, 1)
    )
    slices = trace.slices
    geometry_id = slices.geometry_id.copy()
    geometry_id[slices.is_device_work()] = 0
    trace = replace(
        trace,
        slices=replace(slices, geometry_id=geometry_id),
        geometries=(Geometry((1024,), (128,), 255, 0, None, None, None),),
        devices=(DeviceSpec(0, "A100", None, 8, 0, 108, 32, 1024, 2048, 65_536, 167_936),),
    )
    row = scoreboard([trace, trace]).rows[0]

    assert (row.occupancy_ratio, row.limiter) == (0.125, "registers")


def test_the_record_of_a_capture_names_the_variant():
    trace = with_record(steps_of(mlp()), RECORD)
    row = scoreboard([trace, trace]).rows[0]

    assert (row.variant, row.is_equal, row.unprofiled_ns) == ("eager", True, 110)


@pytest.mark.parametrize("per", ["step", "total"])
def test_scope_is_shared(per):
    board = scoreboard([steps_of(mlp()), steps_of(mlp())], per=per)

    assert {row.gpu_ns for row in board.rows} == {735_000}
