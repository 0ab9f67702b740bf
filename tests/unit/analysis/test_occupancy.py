"""Occupancy, against worked examples and the limits in the programming guide."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, trace_of
from tracetui.analysis.occupancy import (
    LIMITERS,
    is_low_by_design,
    kernel_occupancy,
    theoretical_occupancy,
)
from tracetui.model.device import DeviceSpec, Geometry, OccupancyLimits

A100 = DeviceSpec(0, "NVIDIA A100-SXM4-80GB", None, 8, 0, 108, 32, 1024, 2048, 65536, 167936)
V100 = DeviceSpec(0, "Tesla V100", None, 7, 0, 80, 32, 1024, 2048, 65536, 98304)
RTX3060 = DeviceSpec(0, "RTX 3060", None, 8, 6, 28, 32, 1024, 1536, 65536, 102400)


def launch(
    threads: int, registers: int = 16, shared: int = 0, blocks: int = 10_000,
    reported: float | None = None,
) -> Geometry:  # fmt: skip
    """Return a one-dimensional launch."""
    return Geometry((blocks, 1, 1), (threads, 1, 1), registers, shared, reported, None, None)


@pytest.mark.parametrize(
    ("geometry", "device", "blocks", "warps", "limiter"),
    [
        # Published with the captures: flash attention, and cuDNN's that reports 0 %.
        (launch(128, 255), A100, 2, 8, "registers"),
        (launch(256, 240), A100, 1, 8, "registers"),
        # 32 registers x 32 lanes = 1024: 64 warps, all of them.
        (launch(1024, 32), A100, 2, 64, "registers"),
        (launch(256, 16), A100, 8, 64, "warps"),
        # A block of 32 threads meets the cap of 32 blocks long before 64 warps.
        (launch(32, 16), A100, 32, 32, "blocks"),
        # 48 KiB and the reserved KiB: 164 / 49 = 3; without the KiB, 96 / 48 = 2.
        (launch(128, 16, 48 << 10), A100, 3, 12, "shared memory"),
        (launch(128, 16, 48 << 10), V100, 2, 8, "shared memory"),
        # 33 registers round up to 1280 a warp: 12 warps of a partition's 16384, 48 in all.
        (launch(64, 33), A100, 24, 48, "registers"),
        # 100 threads occupy four warps.
        (launch(100, 16), V100, 16, 64, "warps"),
        (launch(1024, 16), RTX3060, 1, 32, "warps"),
    ],
)
def test_the_scarcest_resource_limits(
    geometry: Geometry, device: DeviceSpec, blocks: int, warps: int, limiter: str
):
    occupancy = theoretical_occupancy(geometry, device)

    assert occupancy is not None
    assert (occupancy.blocks, occupancy.warps, occupancy.limiter) == (blocks, warps, limiter)
    assert occupancy.ratio == warps / occupancy.max_warps


def test_only_the_file_knows_of_barriers():
    # 16 registers and 8 warps a block: 8 blocks fit, were it not for the barriers.
    plain = launch(256, 16)
    held = replace(plain, limits=OccupancyLimits(active_blocks=2, blocks_by_barriers=2))
    older = replace(plain, limits=OccupancyLimits(active_blocks=8, blocks_by_barriers=0))

    occupancy = theoretical_occupancy(held, A100)
    assert occupancy is not None
    assert (occupancy.blocks, occupancy.warps, occupancy.limiter) == (2, 16, "barriers")
    assert theoretical_occupancy(older, A100) == theoretical_occupancy(plain, A100)


def test_the_files_limits_stand_in_for_a_device_that_is_not_known():
    device = replace(A100, compute_major=99, shared_bytes_per_sm=None)
    limits = OccupancyLimits(
        active_blocks=3, blocks_by_registers=3, blocks_by_warps=4, blocks_by_blocks=32
    )
    known, gave_up = (
        replace(launch(512, 40), limits=each) for each in (limits, replace(limits, active_blocks=0))
    )

    occupancy = theoretical_occupancy(known, device)
    assert occupancy is not None
    # Three blocks of 16 warps each, where 64 fit.
    assert (occupancy.blocks, occupancy.warps, occupancy.limiter) == (3, 48, "registers")
    assert occupancy.ratio == 0.75
    assert theoretical_occupancy(gave_up, device) is None
    assert theoretical_occupancy(launch(512, 40), device) is None


def test_one_eighth_is_what_the_two_published_kernels_have():
    for geometry in (launch(128, 255), launch(256, 240)):
        occupancy = theoretical_occupancy(geometry, A100)
        assert occupancy is not None
        assert occupancy.ratio == 0.125


def test_a_small_grid_fills_less_than_fits_and_a_profiler_estimates_that():
    occupancy = theoretical_occupancy(launch(256, 16, blocks=54), A100)

    assert occupancy is not None
    assert occupancy.ratio == 1.0
    assert occupancy.estimate_ratio == 0.5 * 256 / 2048
    assert occupancy.waves == 54 / (108 * 8)


def test_the_last_wave_is_a_tail():
    """Two blocks on each of 108 processors make 216; 240 blocks are one wave and a ninth."""
    occupancy = theoretical_occupancy(launch(128, 255, blocks=240), A100)

    assert occupancy is not None
    assert occupancy.waves == pytest.approx(10 / 9)
    assert occupancy.tail_ratio == pytest.approx(10 / 18)


@pytest.mark.parametrize(
    "device",
    [
        replace(A100, warp_size=64),
        replace(A100, registers_per_sm=None),
        replace(A100, compute_major=99),
        replace(A100, shared_bytes_per_sm=None),
        replace(A100, max_threads_per_sm=None),
    ],
)
def test_a_device_that_is_not_fully_described_gives_nothing(device: DeviceSpec):
    assert theoretical_occupancy(launch(128), device) is None


@pytest.mark.parametrize(
    "geometry",
    [
        replace(launch(128), registers=None),
        replace(launch(128), shared_bytes=None),
        replace(launch(128), block=None),
        replace(launch(128), block=(0, 1, 1)),
        launch(128, 16, 1 << 20),
    ],
)
def test_a_launch_that_is_not_fully_described_or_impossible_gives_nothing(geometry: Geometry):
    assert theoretical_occupancy(geometry, A100) is None


def test_without_a_grid_the_limits_still_hold():
    occupancy = theoretical_occupancy(replace(launch(128, 255), grid=None), A100)

    assert occupancy is not None
    assert occupancy.ratio == 0.125
    assert (occupancy.waves, occupancy.tail_ratio, occupancy.estimate_ratio) == (None, None, None)


@given(st.integers(1, 1024), st.integers(1, 255), st.integers(0, 160 << 10))
def test_what_fits_never_exceeds_any_limit(threads: int, registers: int, shared: int):
    occupancy = theoretical_occupancy(launch(threads, registers, shared), A100)

    if occupancy is None:
        return
    assert 0 < occupancy.ratio <= 1
    assert occupancy.limiter in LIMITERS
    assert occupancy.blocks * (shared + 1024) <= 167936
    assert occupancy.warps * registers * 32 <= 65536
    assert occupancy.blocks <= 32


def test_low_by_design_is_told_from_low():
    occupancy = theoretical_occupancy(launch(128, 255), A100)

    assert occupancy is not None
    assert is_low_by_design("void pytorch_flash::flash_fwd_kernel<...>", occupancy)
    assert is_low_by_design(
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", occupancy
    )
    assert not is_low_by_design("void at::native::vectorized_elementwise_kernel<4>", occupancy)


def test_every_kernel_has_its_own_and_a_reported_zero_is_seen():
    trace = trace_of(
        Row("cudnn", 0, 10, "kernel", "0", "7", geometry=launch(256, 240, reported=0.0)),
        Row("flash", 20, 10, "kernel", "0", "7", geometry=launch(128, 255, reported=0.13)),
        Row("bare", 40, 10, "kernel", "0", "7"),
        Row("Memcpy", 60, 10, "gpu_memcpy", "0", "7"),
        devices=[A100],
    )

    found = kernel_occupancy(trace)

    assert found.slice_ids.tolist() == [0, 1, 2]
    ratios = [each.ratio if each else None for each in map(found.of, range(4))]
    assert ratios == [0.125, 0.125, None, None]
    assert np.isnan(found.reported_ratio).tolist() == [False, False, True]
    agreement = found.agreement()
    assert (agreement.n_comparable, agreement.n_agreeing, agreement.n_zero) == (2, 1, 1)


def test_a_trace_without_kernels():
    found = kernel_occupancy(trace_of())

    assert len(found.slice_ids) == 0
    assert found.agreement().n_comparable == 0
