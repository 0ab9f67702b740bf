"""What the details say of cost, rates and occupancy."""

import json

from tests.literal import Row, launch, trace_of
from tests.unit.reports.test_cost_tables import A100, one_product
from tracetui.analysis.occupancy import theoretical_occupancy
from tracetui.model.device import Geometry, OccupancyLimits
from tracetui.model.trace import Trace
from tracetui.presentation.details import detail_lines
from tracetui.presentation.work_facts import limits_text, occupancy_text, work_lines


def _lines(trace: Trace, name: str) -> list[str]:
    row = next(row for row in range(len(trace.slices)) if trace.name_of(row).startswith(name))
    return list(work_lines(trace, row))


def test_a_kernel_has_its_operators_cost_and_an_occupancy():
    """The published capture: 38.7 GFLOP in 0.19 ms are 203 TFLOP/s, 65 % of the roof."""
    lines = _lines(one_product(A100), "ampere")

    assert lines == [
        "cost      38.7 GFLOP, 67.6 MB at least of aten::mm",
        "attained  203 TFLOP/s, 356 GB/s",
        "roof      65.2 % of it, bound by compute",
        "occupancy reported 0.0 %, computed 12.5 % by registers, by design",
        "          8 of 64 warps, 2 blocks a processor",
        "waves     7.11, 88.9 % full",
    ]


def test_an_operator_has_its_cost_and_no_occupancy():
    lines = _lines(one_product(), "aten::mm")

    assert lines == [
        "cost      38.7 GFLOP, 67.6 MB at least",
        "attained  203 TFLOP/s, 356 GB/s",
    ]
    assert _lines(one_product(), "aten::linear") == []
    assert _lines(one_product(), "cudaLaunchKernel") == []


def test_what_agrees_is_said_once():
    flash = Geometry((4096, 1, 1), (128, 1, 1), 255, 0, 0.13, None, None)
    occupancy = theoretical_occupancy(flash, A100)

    assert occupancy is not None
    name = "void pytorch_flash::flash_fwd_kernel<...>"
    assert occupancy_text(name, occupancy, 0.13) == "12.5 % by registers, by design"
    assert occupancy_text("elementwise_kernel", occupancy, 0.13) == "12.5 % by registers, low"
    assert occupancy_text(name, occupancy, None) == "12.5 % by registers, by design"


def test_a_reported_occupancy_that_cannot_be_checked_is_called_so():
    geometry = Geometry((8, 1, 1), (128, 1, 1), 255, 0, 0.5, None, None)
    trace = trace_of(Row("k", 0, 10, "kernel", "0", "7", geometry=geometry))

    assert list(work_lines(trace, 0)) == ["occupancy 50.0 %, as reported"]


def test_what_the_files_own_calculator_said_has_a_line():
    limits = OccupancyLimits(active_blocks=3, factors=("WARPS", "REGS"))
    geometry = Geometry((8, 1, 1), (128, 1, 1), 255, 0, 0.5, None, None, limits)
    trace = trace_of(Row("k", 0, 10, "kernel", "0", "7", geometry=geometry))

    assert list(work_lines(trace, 0)) == [
        "occupancy 50.0 %, as reported",
        "reported  3 blocks a processor by warps and registers",
    ]
    gave_up = OccupancyLimits(active_blocks=0, factors=("SMEM",))
    assert limits_text(gave_up) == "that no block fits: the profiler's calculator gave up"
    assert limits_text(OccupancyLimits(active_blocks=1)) == "1 block a processor"
    assert limits_text(OccupancyLimits()) == ""


def test_an_operator_that_ran_nothing_has_a_cost_and_no_rates():
    shape, types = json.dumps([[3, 5], [5, 7]]), json.dumps(["float", "float"])
    trace = trace_of(
        Row("aten::mm", 0, 100, shape=shape, types=types),
        launch(500, 5, 1),
        Row("k", 600, 10, "kernel", "0", "7", correlation=1),
    )

    assert _lines(trace, "aten::mm") == ["cost      210 FLOP, 284 B at least"]


def test_the_details_have_them():
    trace = one_product(A100)
    row = next(row for row in range(len(trace.slices)) if trace.name_of(row) == "aten::mm")

    assert "attained  203 TFLOP/s, 356 GB/s" in detail_lines(trace, row)
