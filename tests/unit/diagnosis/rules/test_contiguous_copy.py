from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.contiguous_copy import ContiguousCopy

_SHAPE = "[[16,16,559,64],[]]"
_STRIDES = "[[572416,64,1024,1],[]]"
_EXPANDED = "[[0,35776,64,1],[]]"


def _calls(
    maker: str, *, caller: str = "", around: str = "", copies: bool = True, strides: str = _STRIDES
):
    """Three turns of 1,000 ns: a copy of 100 in 1,000 of device work each."""
    rows = []
    for turn in range(3):
        t = turn * 1_000
        if around:
            rows.append(Row(around, t, 500))
        if caller:
            rows.append(Row(caller, t + 5, 400, shape=_SHAPE))
        rows.append(Row(maker, t + 10, 200, shape=_SHAPE))
        if copies:
            rows += [
                Row("aten::clone", t + 20, 150, shape=_SHAPE, strides=strides),
                Row("aten::copy_", t + 30, 100, shape=f"[{_SHAPE[1:-4]},{_SHAPE[1:]}"),
                launch(t + 40, 20, 2 * turn + 1),
                kernel("elementwise_kernel", 10_000 + t, 100, 2 * turn + 1),
            ]
        rows += [
            Row("aten::bmm", t + 600, 100),
            launch(t + 610, 20, 2 * turn + 2),
            kernel("gemm", 10_100 + t, 900, 2 * turn + 2),
        ]
    return trace_of(*rows)


def test_contiguous_that_copies_costs_its_copies():
    trace = _calls("aten::contiguous")
    (found,) = ContiguousCopy().check(trace)

    # 3 x 100 of 3 x 1,000.
    assert found.summary == (
        "aten::contiguous copies tensors only to lay them out anew, 3 times ([16, 16, 559, 64]):"
        " 300 ns, 10.0 % of device time"
    )
    assert found.gain_ns == 300
    assert [trace.name_of(each) for each in found.slices] == ["elementwise_kernel"] * 3
    assert ".contiguous() out" in found.change


def test_the_operator_that_has_it_copied_is_the_one_to_name():
    (found,) = ContiguousCopy().check(_calls("aten::reshape", caller="aten::matmul"))
    assert found.summary.startswith("aten::matmul copies tensors only to lay them out anew")


def test_on_the_host_the_copies_themselves_count():
    rows = []
    for turn in range(2):
        t = turn * 1_000
        rows += [
            Row("aten::reshape", t, 300, shape=_SHAPE),
            Row("aten::clone", t + 10, 250, shape=_SHAPE, strides=_STRIDES),
            Row("aten::mm", t + 300, 700),
        ]
    (found,) = ContiguousCopy().check(trace_of(*rows))
    assert "500 ns, 25.0 % of the recording" in found.summary
    assert found.change.startswith("Reshape before you transpose")


def test_what_lies_in_order_already_is_not_copied():
    assert not list(ContiguousCopy().check(_calls("aten::contiguous", copies=False)))


def test_a_clone_that_the_program_asks_for_is_its_own():
    assert not list(ContiguousCopy().check(_calls("aten::relu")))


def test_a_backward_pass_lays_out_as_the_forward_did():
    trace = _calls("aten::contiguous", around="autograd::engine::evaluate_function: BmmBackward0")
    assert not list(ContiguousCopy().check(trace))


def test_a_small_share_is_not_worth_a_line():
    assert not list(ContiguousCopy(min_share_ratio=0.11).check(_calls("aten::contiguous")))


def test_a_copy_of_an_expanded_tensor_makes_elements_that_can_be_written_to():
    assert not list(ContiguousCopy().check(_calls("aten::contiguous", strides=_EXPANDED)))
