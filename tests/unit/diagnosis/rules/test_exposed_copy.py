from tests.literal import Row, kernel, trace_of
from tracetui.diagnosis.rules.exposed_copy import ExposedCopy

_PINNED = "Memcpy HtoD (Pinned -> Device)"


def _copy(name: str, ts_ns: int, dur_ns: int) -> Row:
    return Row(name, ts_ns, dur_ns, "gpu_memcpy", "0", "20", n_bytes=2**20)


def test_a_copy_before_each_kernel_is_bare():
    trace = trace_of(
        _copy(_PINNED, 0, 50),
        kernel("gemm", 50, 100),
        _copy(_PINNED, 100, 100),
        kernel("k", 200, 50),
    )
    (found,) = ExposedCopy().check(trace)

    # 0 to 50 and 150 to 200, of 250.
    assert found.summary == (
        "2 copies of 2.0 MiB between host and device ran while no kernel did, for 100 ns, 40.0 % of"
        " its time"
    )
    assert found.gain_ns == 100
    assert len(found.slices) == 2


def test_hidden_copies_are_well():
    trace = trace_of(kernel("gemm", 0, 100), _copy(_PINNED, 10, 80))
    assert not list(ExposedCopy().check(trace))


def test_pageable_memory_is_another_rules_matter():
    trace = trace_of(_copy("Memcpy HtoD (Pageable -> Device)", 0, 50), kernel("gemm", 50, 100))
    assert not list(ExposedCopy().check(trace))
