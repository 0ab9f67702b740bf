"""Tiles and waves of matrix products, by hand."""

import json

import pytest

from tests.literal import Row, launch, trace_of
from tracetui.analysis.quantization import tiled_products, tiling
from tracetui.model.device import DeviceSpec, Geometry

A100 = DeviceSpec(0, "NVIDIA A100-SXM4-80GB", None, 8, 0, 108, 32, 1024, 2048, 65536, 167936)
AMPERE = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x5_tn"


def test_what_hangs_over_the_edge_is_computed_for_nothing():
    found = tiling(100, 256, (128, 128))

    assert found.n_tiles == 2
    assert found.tile_ratio == 100 / 128
    assert found.wave_ratio is None
    assert found.ratio == 100 / 128


def test_a_wave_and_a_little_is_half_empty():
    """109 tiles on 108 processors take two waves of 108."""
    found = tiling(128 * 109, 128, (128, 128), n_sms=108)

    assert found.n_tiles == 109
    assert found.tile_ratio == 1.0
    assert found.wave_ratio == 109 / 216


def test_a_batch_and_a_split_multiply_the_tiles():
    found = tiling(128, 128, (128, 64), batch=3, splits=5, n_sms=10)

    assert found.n_tiles == 2 * 3 * 5
    assert found.wave_ratio == 1.0


def product(
    name: str, shapes: list[list[int]], kernel: str, grid: tuple[int, int, int] | None
) -> list[Row]:
    """Return an operator with its launch and its kernel."""
    types = ["c10::BFloat16"] * len(shapes)
    geometry = grid and Geometry(grid, (256, 1, 1), 128, 0, None, None, None)
    return [
        Row(name, 0, 100, shape=json.dumps(shapes), types=json.dumps(types)),
        launch(10, 5, 1),
        Row(kernel, 50, 40, "kernel", "0", "7", correlation=1, geometry=geometry or None),
    ]


@pytest.mark.parametrize(
    ("grid", "sides", "n_tiles"),
    [
        # 512 columns by 128 and 1000 rows by 64: columns come first in BLAS.
        ((4, 16, 1), (64, 128), 64),
        # 1000 rows by 128 and 512 columns by 64 is 8 x 8 = 64 as well: the same way round.
        (None, (64, 128), 64),
        # Three layers of blocks: the inner dimension is split in three.
        ((4, 16, 3), (64, 128), 192),
    ],
)
def test_sides_follow_blas_and_layers_are_splits(
    grid: tuple[int, int, int] | None, sides: tuple[int, int], n_tiles: int
):
    trace = trace_of(*product("aten::mm", [[1000, 64], [64, 512]], AMPERE, grid), devices=[A100])

    (found,) = tiled_products(trace)

    assert (found.tiling.tile_m, found.tiling.tile_n) == sides
    assert found.tiling.n_tiles == n_tiles
    assert found.tiling.tile_ratio == 1000 / 1024
    assert (found.calls, found.time_ns, found.operator) == (1, 40, "aten::mm")


def test_a_launch_that_only_fits_the_other_way_round_is_the_other_way_round():
    """300 rows by 128 are 3, 64 columns by 64 are 1; across it would be 5 by 1."""
    trace = trace_of(*product("aten::mm", [[300, 64], [64, 64]], AMPERE, (3, 1, 1)))

    (found,) = tiled_products(trace)

    assert (found.tiling.tile_m, found.tiling.tile_n) == (128, 64)
    assert found.tiling.n_tiles == 3


def test_a_batch_lies_in_the_third_axis_and_is_no_split():
    trace = trace_of(*product("aten::bmm", [[6, 64, 32], [6, 32, 128]], AMPERE, (1, 1, 6)))

    (found,) = tiled_products(trace)

    assert found.tiling.batch == 6
    assert found.tiling.n_tiles == 6


@pytest.mark.parametrize("kernel", ["void gemv2T_kernel_val<float>", "my_kernel"])
def test_a_kernel_that_names_no_tile_is_left_out(kernel: str):
    assert tiled_products(trace_of(*product("aten::mm", [[4, 4], [4, 4]], kernel, None))) == ()


def test_a_product_without_shapes_is_left_out():
    rows = product("aten::mm", [[4, 4], [4, 4]], AMPERE, None)

    assert tiled_products(trace_of(Row("aten::mm", 0, 100), *rows[1:])) == ()
    assert tiled_products(trace_of()) == ()
