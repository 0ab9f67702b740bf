import dataclasses

from tests.healthy import A100
from tests.literal import kernel, trace_of
from tracetui.diagnosis.engine import checked
from tracetui.diagnosis.rules.few_blocks import FewBlocks
from tracetui.model.device import Geometry

_US = 1_000


def _grid(*blocks: int) -> Geometry:
    return Geometry(blocks, (512, 1, 1), 32, 0, None, None, None)


def _run(name: str, start_us: int, dur_us: int, geometry: Geometry, stream: int = 7):
    row = kernel(name, start_us * _US, dur_us * _US, stream=stream)
    return dataclasses.replace(row, geometry=geometry)


def _trace(name: str, geometry: Geometry, *, dur_us: int = 100, beside: bool = False):
    """Three turns: a product of 800 us on all processors, then the kernel."""
    rows = []
    for turn in range(3):
        t = turn * 1_000
        rows += [_run("gemm", t, 800, _grid(1_024)), _run(name, t + 800, dur_us, geometry)]
        if beside:
            rows.append(_run("gemm2", t + 810, 50, _grid(108), stream=8))
    return trace_of(*rows, devices=[A100])


def test_one_block_for_the_whole_device():
    trace = _trace("nll_loss_forward_reduce_cuda_kernel_2d", _grid(1, 1, 1))
    (found,) = FewBlocks().check(trace)

    # 3 x 100 of 3 x 900 us; one of 108 processors.
    assert "has work for 0.9 % of the device's processors, 1 block: 3 runs took" in found.summary
    assert found.summary.endswith("300.00 µs, 11.1 % of device time")
    assert found.saving is None
    assert len(found.slices) == 3


def test_as_many_blocks_as_half_of_the_processors_are_enough():
    assert not list(FewBlocks().check(_trace("gather_topk", _grid(54))))
    assert list(FewBlocks().check(_trace("gather_topk", _grid(53))))


def test_all_dimensions_of_the_grid_count():
    assert not list(FewBlocks().check(_trace("attention", _grid(4, 16, 2))))


def test_a_short_kernel_is_a_matter_of_launching():
    trace = _trace("fill", _grid(1), dur_us=19)
    assert not list(FewBlocks(min_share_ratio=0.01).check(trace))


def test_where_another_kernel_runs_beside_it_the_processors_may_be_in_use():
    assert not list(FewBlocks().check(_trace("gather_topk", _grid(1), beside=True)))


def test_communication_needs_few_blocks_by_design():
    for name in (
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*)",
    ):
        assert not list(FewBlocks().check(_trace(name, _grid(24))))


def test_a_device_of_unknown_size_is_not_judged():
    unknown = dataclasses.replace(A100, n_sms=None)
    trace = trace_of(_run("gather_topk", 0, 100, _grid(1)), devices=[unknown])
    result = checked(trace, [FewBlocks()])

    assert not result.found
    assert result.abstained[0].reason == "no launch grids and the device's number of processors"
