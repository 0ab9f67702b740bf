from tests.literal import Row, kernel, trace_of
from tracetui.diagnosis.rules.pageable_copy import PageableCopy

_PAGEABLE = "Memcpy HtoD (Pageable -> Device)"
_MIB = 2**20


def _copy(name: str, ts_ns: int, dur_ns: int, n_bytes: int) -> Row:
    return Row(name, ts_ns, dur_ns, "gpu_memcpy", "0", "20", n_bytes=n_bytes)


def test_what_no_kernel_hides_is_the_cost():
    # Two copies of 100 us; the second runs beside a kernel for 40 us. 1,000 us in all.
    trace = trace_of(
        _copy(_PAGEABLE, 0, 100_000, 8 * _MIB),
        kernel("gemm", 100_000, 200_000),
        _copy(_PAGEABLE, 260_000, 100_000, 8 * _MIB),
        kernel("gemm", 360_000, 640_000),
    )
    (found,) = PageableCopy().check(trace)

    assert found.summary == (
        "2 copies of 16.0 MiB through pageable memory kept the device from computing for"
        " 160.00 µs, 16.0 % of its time"
    )
    assert found.gain_ns == 160_000
    assert "pin_memory" in found.change
    assert len(found.slices) == 2


def test_pinned_memory_is_well():
    trace = trace_of(
        _copy("Memcpy HtoD (Pinned -> Device)", 0, 100_000, 8 * _MIB),
        kernel("gemm", 100_000, 100_000),
    )
    assert not list(PageableCopy().check(trace))


def test_a_scalar_is_no_trouble_however_often():
    copies = [_copy(_PAGEABLE, row * 10_000, 2_000, 8) for row in range(100)]
    assert not list(PageableCopy().check(trace_of(*copies, kernel("gemm", 2_000_000, 1_000))))


def test_a_hidden_copy_costs_nothing():
    trace = trace_of(kernel("gemm", 0, 1_000_000), _copy(_PAGEABLE, 100, 500_000, 64 * _MIB))
    assert not list(PageableCopy().check(trace))
