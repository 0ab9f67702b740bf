from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.finding import Severity
from tracetui.diagnosis.rules.hidden_copy import HiddenCopy

_COPY = "Memcpy DtoD (Device -> Device)"


def _on_device(copy_ns: int = 30_000):
    """A product of 200 us, a copy, and the fill of 70 us."""
    return trace_of(
        ("aten::bmm", 0, 10_000),
        launch(1_000, 2_000, 1),
        kernel("gemm", 20_000, 200_000, 1),
        ("aten::masked_fill", 10_000, 20_000),
        ("aten::clone", 11_000, 8_000),
        ("aten::copy_", 12_000, 6_000),
        launch(13_000, 2_000, 2, name="cudaMemcpyAsync"),
        Row(_COPY, 220_000, copy_ns, "gpu_memcpy", "0", "7", 2, n_bytes=32 * 2**20),
        ("aten::masked_fill_", 20_000, 8_000),
        launch(21_000, 2_000, 3),
        kernel("masked_fill_kernel", 220_000 + copy_ns, 70_000, 3),
    )


def test_the_copy_under_masked_fill_is_named_with_its_operator():
    trace = _on_device()
    (found,) = HiddenCopy().check(trace)

    # 30 us of 300 us of device time.
    assert found.summary == (
        "aten::masked_fill copies its whole input first: 1 copy of 32.0 MiB took 30.00 µs,"
        " 10.0 % of device time"
    )
    assert found.change.startswith("Call masked_fill_ in place of masked_fill")
    assert found.gain_ns == 30_000
    assert found.severity == Severity.HIGH
    assert [trace.name_of(each) for each in found.slices] == [_COPY]


def test_without_a_device_the_clone_is_what_it_costs():
    trace = trace_of(
        ("aten::matmul", 0, 800),
        ("aten::masked_fill", 800, 200),
        ("aten::clone", 810, 50),
        ("aten::copy_", 820, 30),
        ("aten::masked_fill_", 870, 100),
    )
    (found,) = HiddenCopy().check(trace)

    assert found.gain_ns == 50
    assert "1 copy took 50 ns, 5.0 % of the recording" in found.summary


def test_in_place_copies_nothing():
    trace = trace_of(("aten::masked_fill_", 0, 100), ("aten::clone", 200, 50))

    assert not list(HiddenCopy().check(trace))


def test_a_clone_that_the_user_asked_for_is_none_of_its_business():
    trace = trace_of(("aten::clone", 0, 50), ("aten::copy_", 5, 40), ("aten::masked_fill_", 60, 40))

    assert not list(HiddenCopy().check(trace))


def test_a_copy_too_small_to_matter_is_not_worth_a_line():
    assert not list(HiddenCopy().check(_on_device(copy_ns=1_000)))


def test_a_backward_pass_is_left_alone():
    trace = trace_of(
        ("autograd::engine::evaluate_function: MaskedFillBackward0", 0, 300),
        ("aten::masked_fill", 10, 200),
        ("aten::clone", 20, 50),
        ("aten::masked_fill_", 80, 100),
    )
    assert not list(HiddenCopy().check(trace))
