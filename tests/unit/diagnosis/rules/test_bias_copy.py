from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.bias_copy import BiasCopy

_COPY = "Memcpy DtoD (Device -> Device)"


def _addmm(operator: str = "aten::addmm", *, copy_first: bool = True):
    """The known case: 33 us of copy, then a product of 580 us."""
    copy_ns, gemm_ns = (50_000, 83_000) if copy_first else (630_000, 50_000)
    return trace_of(
        (operator, 0, 30_000),
        launch(5_000, 2_000, 1, name="cudaMemcpyAsync"),
        Row(_COPY, copy_ns, 33_000, "gpu_memcpy", "0", "7", 1, n_bytes=32 * 2**20),
        launch(10_000, 2_000, 2),
        kernel("ampere_bf16_s16816gemm_bf16_128x256_nn", gemm_ns, 580_000, 2),
    )


def test_the_copy_before_the_product_is_found():
    trace = _addmm()
    (found,) = BiasCopy().check(trace)

    # 33 of 613 us.
    assert found.summary == (
        "aten::addmm copies what it adds before it multiplies: 1 copy of 32.0 MiB took 33.00 µs,"
        " 5.4 % of device time"
    )
    assert found.gain_ns == 33_000
    assert [trace.name_of(each) for each in found.slices] == [_COPY]


def test_a_copy_after_the_product_seeds_nothing():
    assert not list(BiasCopy().check(_addmm(copy_first=False)))


def test_a_copy_beside_a_plain_product_is_another_matter():
    assert not list(BiasCopy().check(_addmm("aten::mm")))
