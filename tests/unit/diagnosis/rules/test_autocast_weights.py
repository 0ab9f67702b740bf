from tests.literal import Row, trace_of
from tracetui.diagnosis.rules.autocast_weights import AutocastWeights

_LINEAR = "[[8,768],[3072,768],[3072]]"
_FP32 = '["float","float","float"]'
_TO_BF16 = '["c10::BFloat16","float",""]'


def _cast(t: int, shape: str, dur_ns: int, types: str = _TO_BF16) -> list[Row]:
    return [
        Row("aten::to", t, dur_ns, shape=f"[{shape},[],[],[],[]]"),
        Row("aten::_to_copy", t + 1, dur_ns - 2, shape=f"[{shape},[],[],[],[],[],[]]"),
        Row("aten::copy_", t + 2, dur_ns - 4, shape=f"[{shape},{shape},[]]", types=types),
    ]


def _calls(n: int, *, weight: str = "[3072,768]", types: str = _TO_BF16, inner: bool = True):
    """Calls of 1,000 ns one after the other; of each, 300 convert the weight and 100 the input."""
    rows = []
    for turn in range(n):
        t = turn * 1_000
        rows.append(Row("aten::linear", t, 1_000, shape=_LINEAR, types=_FP32))
        rows += _cast(t + 10, "[8,768]", 100, types)
        rows += _cast(t + 120, weight, 300, types)
        if inner:
            rows.append(Row("aten::linear", t + 450, 500, shape=_LINEAR))
        rows.append(Row("aten::addmm", t + 460, 480))
    return trace_of(*rows)


def test_weights_converted_on_every_call():
    trace = _calls(4)
    (found,) = AutocastWeights().check(trace)

    # 4 x 300 of 4 x 1,000; the inputs' conversions are needed.
    assert found.summary == (
        "autocast converts weights from fp32 to bf16 4 times, on every call: 1.20 µs, 30.0 % of the"
        " recording"
    )
    assert found.gain_ns == 1_200
    assert [trace.name_of(each) for each in found.slices] == ["aten::to"] * 4


def test_an_input_of_the_same_shape_is_not_the_weight():
    rows = []
    square = "[[768,768],[768,768],[]]"
    for turn in range(2):
        t = turn * 1_000
        rows.append(Row("aten::linear", t, 1_000, shape=square, types='["float","float",""]'))
        rows += _cast(t + 10, "[768,768]", 100) + _cast(t + 120, "[768,768]", 300)
        rows.append(Row("aten::linear", t + 450, 500, shape=square))
    (found,) = AutocastWeights().check(trace_of(*rows))
    assert found.gain_ns == 600


def test_weights_that_are_cached_or_half_already_cost_nothing():
    # Only the input, of another shape than the weight, is converted.
    assert not list(AutocastWeights().check(_calls(4, weight="[8,768]")))
    assert not list(AutocastWeights().check(_calls(4, types='["float","c10::BFloat16",""]')))


def test_without_autocast_a_conversion_is_the_programs_own():
    assert not list(AutocastWeights().check(_calls(4, inner=False)))


def test_a_model_that_learns_must_convert_what_has_changed():
    rows = [Row("autograd::engine::evaluate_function: AddmmBackward0", 2_000, 10)]
    for turn in range(2):
        t = turn * 1_000
        rows.append(Row("aten::linear", t, 1_000, shape=_LINEAR, types=_FP32))
        rows += _cast(t + 120, "[3072,768]", 300)
        rows.append(Row("aten::linear", t + 450, 500, shape=_LINEAR))
    assert not list(AutocastWeights().check(trace_of(*rows)))
