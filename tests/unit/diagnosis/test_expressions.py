"""The language of expectations, read letter by letter."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.diagnosis.expressions import (
    Arithmetic,
    Call,
    Comparison,
    ExpectationError,
    Negative,
    Number,
    Question,
    Text,
    near,
    parsed,
)

FUNCTIONS = ("kernels_per_call", "gpu_us", "hottest", "has_kernel", "busy_ratio")


def condition(text):
    return parsed(text, FUNCTIONS).condition


def test_a_function_of_a_name_against_a_number():
    assert condition("kernels_per_call(mlp_fwd) == 5") == Comparison(
        (Call("kernels_per_call", "mlp_fwd", of_baseline=False), Number(Fraction(5))), ("==",)
    )


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("aten::mm", "aten::mm"),
        ("  ProfilerStep#3 ", "ProfilerStep#3"),
        ("nn.Module: Linear_0", "nn.Module: Linear_0"),
        ("torch/nn/linear.py(124): forward", "torch/nn/linear.py(124): forward"),
        ('"a ) b"', "a ) b"),
        ("'one, two'", "one, two"),
        ("## Call CompiledFxGraph f1 ##", "## Call CompiledFxGraph f1 ##"),
        ("it's", "it's"),
    ],
)
def test_what_stands_in_the_parentheses_is_one_name(argument, name):
    found = condition(f"kernels_per_call({argument}) == 1")

    assert found.values[0] == Call("kernels_per_call", name, of_baseline=False)


@pytest.mark.parametrize("text", ["gpu_us < 1", "gpu_us() < 1", "gpu_us( ) < 1"])
def test_a_function_without_a_name_needs_no_parentheses(text):
    assert condition(text).values[0] == Call("gpu_us", None, of_baseline=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("1_000", None),
        ("2.5 ms", 2500),
        ("2.5ms", 2500),
        ("80 %", Fraction(4, 5)),
        ("0.1", Fraction(1, 10)),
        ("1e3", 1000),
        ("250 ns", Fraction(1, 4)),
        ("3 µs", 3),
        ("2 s", 2_000_000),
        ("2 GiB", 2 << 30),
        (".5", Fraction(1, 2)),
        ("5 apples", None),
        ("5x", None),
        ("1e99999999", None),
        ("1" * 41, None),
    ],
)
def test_numbers_are_exact_and_may_have_a_unit(text, value):
    if value is None:
        with pytest.raises(ExpectationError):
            parsed(f"gpu_us < {text}", FUNCTIONS)
    else:
        number = condition(f"gpu_us < {text}").values[1]
        assert isinstance(number, Number)
        assert number.value == value


def test_products_bind_closer_than_sums_and_parentheses_closest():
    one, two, three = (Number(Fraction(n)) for n in (1, 2, 3))

    assert condition("gpu_us == 1 + 2 * 3").values[1] == Arithmetic(
        "+", one, Arithmetic("*", two, three)
    )
    assert condition("gpu_us == (1 + 2) * 3").values[1] == Arithmetic(
        "*", Arithmetic("+", one, two), three
    )
    assert condition("gpu_us == 1 - 2 - 3").values[1] == Arithmetic(
        "-", Arithmetic("-", one, two), three
    )
    assert condition("gpu_us == -1").values[1] == Negative(one)


def test_baseline_is_the_other_trace():
    found = condition("gpu_us <= 1.05 * baseline.gpu_us(mlp_fwd)")

    assert found.values[1] == Arithmetic(
        "*", Number(Fraction(21, 20)), Call("gpu_us", "mlp_fwd", of_baseline=True)
    )
    assert condition("candidate.gpu_us > 1").values[0] == Call("gpu_us", None, of_baseline=False)


def test_ranges_and_chains():
    assert condition("gpu_us == 1930 ± 5 %").margin == Number(Fraction(1, 20), is_percent=True)
    assert condition("gpu_us != 1930 +- 12").margin == Number(Fraction(12))
    chain = condition("4 ≤ gpu_us < 6")
    assert chain.operators == ("<=", "<")
    assert len(chain.values) == 3


def test_a_question_stands_alone_or_behind_not():
    call = Call("has_kernel", "sgemm.*", of_baseline=False)

    assert condition('has_kernel("sgemm.*")') == Question(call, is_hoped=True)
    assert condition('not has_kernel("sgemm.*")') == Question(call, is_hoped=False)


def test_words_that_are_no_function_are_texts():
    assert condition("hottest() == aten::mm").values[1] == Text("aten::mm", is_quoted=False)
    assert condition('hottest == "a b"').values[1] == Text("a b", is_quoted=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("5", "compares nothing"),
        ("gpu_us ==", "ends where a value"),
        ("gpu_us == 5 5", "'5' is not expected"),
        ("gpu_us = 5", "'= 5' cannot be read"),
        ("kernel_per_call(x) == 5", "no function (near: kernels_per_call"),
        ("baseline.gpu < 5", "'gpu' is no function (near: gpu_us"),
        ("kernels_per_call(x == 5", "a ) is missing"),
        ("(gpu_us == 5", "a ) is missing"),
        ("gpu_us < 5 ± 1", "± goes with one =="),
        ("not gpu_us < 5", "turn the comparison around"),
        ("gpu_us == )", "where a value is expected"),
        ("gpu_us == " + "(" * 100 + "1", "nested too deep"),
        ("gpu_us == " + "-" * 100 + "1", "nested too deep"),
        ("gpu_us == " + "1" * 3000, "longer than 2000"),
        ("gpu_us == \x1b[31m5", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(text, words):
    with pytest.raises(ExpectationError) as raised:
        parsed(text, FUNCTIONS)

    message = str(raised.value)
    assert words in message
    assert message.isprintable()


def test_near_names_are_those_that_look_alike_or_hold_the_word():
    assert near("mlp_fw", ("attn_fwd", "mlp_fwd", "x")).startswith(" (near: mlp_fwd")
    assert near("MM", ("aten::mm", "aten::addmm", "aten::relu")) == " (near: aten::mm, aten::addmm)"
    assert near("zzzz", ("aten::mm",)) == ""


@given(st.text(alphabet="kernels_pcaotubif()\"'==<>±%.,1234567890 :#*-+/not ", max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        read = parsed(text, FUNCTIONS).text
    except ExpectationError as error:
        read, message = text.strip(), str(error)
    else:
        message = ""

    assert read == text.strip()
    assert "\n" not in message
