from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.eager_elementwise import EagerElementwise

_US = 1_000
_MUL = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>"
_CAT = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::OpaqueType<2u>>"
_GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


def _turns(*names: str, n: int = 20, us: int = 20, inside: str = ""):
    """Turns of kernels of ``us`` each, and then a product of 60 us."""
    rows, t = [], 10_000 * _US
    for turn in range(n):
        host = turn * 100 * _US
        if inside:
            rows.append(Row(inside, host, 90 * _US))
        for at, name in enumerate((*names, _GEMM)):
            number, long_us = turn * 10 + at + 1, 60 if name == _GEMM else us
            rows += [
                Row("aten::mm", host + at * 5 * _US, 4 * _US),
                launch(host + at * 5 * _US + 1_000, 1_000, number),
                kernel(name, t, long_us * _US, number),
            ]
            t += (long_us + 1) * _US
    return trace_of(*rows)


def test_runs_of_elementwise_kernels_take_most_of_the_device():
    trace = _turns(_MUL, _CAT, _MUL)
    (found,) = EagerElementwise().check(trace)

    # 60 of 120 us in each turn.
    assert found.summary == (
        "Elementwise kernels one after another take 50.0 % of device time: 60 kernels in 20 runs,"
        " 1.200 ms, each through memory"
    )
    assert "torch.compile" in found.change
    assert found.saving is None
    assert len(found.slices) == 60


def test_a_single_one_between_products_has_nothing_to_join():
    assert not list(EagerElementwise().check(_turns(_MUL, n=60, us=60)))


def test_what_was_compiled_is_one_kernel_already():
    fused = "triton_poi_fused_add_mul_0"
    assert not list(EagerElementwise().check(_turns(fused, fused, fused)))


def test_short_kernels_are_a_matter_of_launching():
    assert not list(EagerElementwise(min_share_ratio=0.1).check(_turns(_MUL, _MUL, _MUL, us=9)))


def test_an_optimizer_is_another_matter():
    trace = _turns(_MUL, _MUL, _MUL, inside="Optimizer.step#Adam.step")
    assert not list(EagerElementwise().check(trace))


def test_below_three_tenths_it_is_not_what_holds_the_device():
    # 2 x 12 of 84 us.
    assert not list(EagerElementwise().check(_turns(_MUL, _MUL, n=60, us=12)))
