from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.engine import checked
from tracetui.diagnosis.rules.rebuilt_constant import RebuiltConstant


def _calls(n: int, *, name: str = "aten::arange", end: str = "4096", around: str = ""):
    """Calls of 100 ns, each with a constant of 10; ``end`` may hold a place for the turn."""
    rows = []
    for turn in range(n):
        t = turn * 100
        if around:
            rows.append(Row(around, t, 50))
        rows += [
            Row(
                name,
                t + 10,
                10,
                shape="[[],[],[],[],[]]",
                values=f'["{end.format(turn)}","4","","cpu","False"]',
            ),
            Row("aten::mm", t + 50, 50),
        ]
    return trace_of(*rows)


def test_the_same_numbers_on_each_call():
    trace = _calls(5)
    (found,) = RebuiltConstant().check(trace)

    # From 10 to 500: 50 of 490.
    assert found.summary == (
        "aten::arange makes the same numbers 5 times: 50 ns, 10.2 % of the recording"
    )
    # The first is needed.
    assert found.gain_ns == 40
    assert len(found.slices) == 5


def test_on_a_device_its_kernels_count():
    rows = []
    for turn in range(3):
        t = turn * 100
        rows += [
            Row("aten::eye", t, 50, shape="[[],[]]", values='["64",""]'),
            launch(t + 5, 5, turn + 1),
            kernel("eye_kernel", 1_000 + t, 20, turn + 1),
            kernel("gemm", 1_020 + t, 80),
        ]
    (found,) = RebuiltConstant().check(trace_of(*rows))
    assert "60 ns, 20.0 % of device time" in found.summary


def test_other_arguments_make_other_numbers():
    assert not list(RebuiltConstant().check(_calls(5, end="{}")))


def test_what_an_operator_makes_for_itself_is_its_own_affair():
    assert not list(RebuiltConstant().check(_calls(5, around="aten::randperm")))


def test_zeros_may_be_written_into():
    assert not list(RebuiltConstant().check(_calls(5, name="aten::zeros")))


def test_without_the_arguments_nobody_can_tell():
    rows = [Row("aten::arange", turn * 10, 9, shape="[[],[]]") for turn in range(5)]
    (abstained,) = checked(trace_of(*rows), [RebuiltConstant()]).abstained
    assert abstained.reason == "no concrete inputs"
    assert "record_shapes=True" in abstained.flag
