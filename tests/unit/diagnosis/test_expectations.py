"""Expectations held against traces by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.expectations import expectation_lines, outcome, parsed_expectation
from tracetui.diagnosis.expressions import ExpectationError


def copy(ts_ns, dur_ns, correlation):
    return Row("Memcpy DtoD", ts_ns, dur_ns, "gpu_memcpy", "0", "7", correlation)


@pytest.fixture
def attention():
    """Two forwards: a matmul, and a masked_fill with its hidden copy; 30 us of work each."""
    rows: list[Row | tuple[str, int, int]] = []
    for number in range(2):
        at = number * 100_000
        key = number * 10
        rows += [
            annotation("attn_fwd", at, 40_000),
            ("aten::bmm", at + 1_000, 9_000),
            launch(at + 2_000, 3_000, key + 1),
            ("aten::masked_fill", at + 12_000, 15_000),
            launch(at + 13_000, 3_000, key + 2, name="cudaMemcpyAsync"),
            launch(at + 18_000, 3_000, key + 3),
            kernel("sm80_xmma_gemm_bf16", at + 6_000, 10_000, key + 1),
            copy(at + 17_000, 8_000, key + 2),
            kernel("masked_elementwise_kernel", at + 26_000, 12_000, key + 3),
        ]
    return trace_of(*rows)


def stepped(*periods_ns, gpu_ns=10_000):
    """Return a trace of steps whose one kernel each ends these times apart."""
    rows: list[Row | tuple[str, int, int]] = []
    at = 0
    for number, period_ns in enumerate((0, *periods_ns)):
        at += period_ns
        rows += [
            annotation(f"ProfilerStep#{number}", at, 30_000),
            ("aten::mm", at + 1_000, 5_000),
            launch(at + 2_000, 1_000, number + 1),
            kernel("gemm", at + 12_000, gpu_ns, number + 1),
        ]
    return trace_of(*rows)


def check(trace, text, baseline=None):
    return outcome(parsed_expectation(text), trace, baseline)


@pytest.mark.parametrize(
    ("text", "is_met", "found"),
    [
        ("kernels_per_call(attn_fwd) == 3", True, "3"),
        ("kernels_per_call(attn_fwd) == 2", False, "3"),
        ("kernels_per_call(attn_fwd) < 3", False, "3"),
        ("2 <= kernels_per_call(attn_*) <= 4", True, "3"),
        ("copies_per_call(attn_fwd) == 0", False, "1"),
        ("launches_per_call(attn_fwd) == 3", True, "3"),
        ("calls(attn_fwd) == 2", True, "2"),
        ("calls(aten::never) == 0", True, "0"),
        ("total_us(attn_fwd) == 80", True, "80.000 us"),
        ("self_us(attn_fwd) == 32", True, "32.000 us"),
        ("self_us(aten::masked_fill) == 18 us", True, "18.000 us"),
        ("device_us(aten::masked_fill) == 40", True, "40.000 us"),
        ("device_us(Memcpy DtoD) == 16", True, "16.000 us"),
        ("gpu_us(attn_fwd) == 0.03 ms", True, "30.000 us"),
        ("host_us(attn_fwd) <= 40", True, "40.000 us"),
        ("gpu_us == 60", True, "60.000 us"),
        ("kernels() == 4", True, "4"),
        ("device_slices == 6", True, "6"),
        ("copies == 2", True, "2"),
        ("launches == 6", True, "6"),
        ("class_us(gemm) == 20", True, "20.000 us"),
        ("class_us(copy) / gpu_us == 4 / 15", True, "0.2667"),
        ("hottest() == aten::masked_fill", True, "aten::masked_fill"),
        ('hottest == "aten::*"', True, "aten::masked_fill"),
        ("hottest != aten::bmm", True, "aten::masked_fill"),
        ('has_kernel("XMMA.*bf16")', True, "yes"),
        ('not has_kernel("xmma")', False, "yes"),
        ('kernel_calls("masked|gemm") == 4', True, "4"),
        # From 6 to 138 us on the clock, 60 of them busy.
        ("busy_ratio == 60 / 132", True, "0.4545"),
        ("idle_us == 72", True, "72.000 us"),
        ("gpu_us == 57 ± 5 %", False, "60.000 us"),
        ("gpu_us == 57 ± 3", True, "60.000 us"),
        ("gpu_us != 57 ± 3", False, "60.000 us"),
    ],
)
def test_functions_find_what_is_there(attention, text, is_met, found):
    result = check(attention, text)

    assert (result.is_met, result.found_text) == (is_met, found)


def test_the_verdict_and_what_it_rests_on(attention):
    # 72 of 132 us idle, of which 62 in one gap: 56 us until the call at 102, 3 in it, 3 after it.
    overhead = check(attention, "bound == overhead")
    assert (overhead.is_met, overhead.found_text) == (True, "overhead")
    assert "busy 45.5 %" in overhead.remark
    assert not check(attention, "bound() == compute").is_met
    busy = trace_of(("aten::mm", 0, 10), kernel("gemm", 0, 100))
    assert check(busy, "bound == compute").is_met
    assert check(trace_of(("aten::mm", 0, 10)), "bound == compute").found_text == "–"


def test_the_path_by_class():
    trace = trace_of(launch(0, 10_000, 1), kernel("gemm", 4_000, 50_000, 1))

    assert check(trace, "path_us(compute) == 50").is_met
    assert check(trace, "path_us(launch) == 4").is_met
    assert check(trace, "path_us(sync) == 0").is_met


def test_compiling_is_counted_by_call_and_by_change():
    rows: list[Row | tuple[str, int, int]] = []
    for at, graph in ((0, "fa"), (10_000, "fa"), (20_000, "fb")):
        rows += [
            ("TorchDynamo Cache Lookup", at, 1_000),
            ("Torch-Compiled Region: 0/0", at + 1_000, 6_000),
            annotation(f"## Call CompiledFxGraph {graph} ##", at + 2_000, 4_000),
        ]
    trace = trace_of(*rows)

    assert check(trace, "compile_tax_us == 3").is_met
    changed = check(trace, "recompiles == 0")
    assert (changed.is_met, changed.found_text) == (False, "1")
    assert trace.slices.ts_ns[changed.slices].tolist() == [21_000]
    eager = trace_of(("aten::mm", 0, 10))
    assert check(eager, "compile_tax_us == 0").is_met
    assert check(eager, "recompiles == 0").is_met


def test_findings_of_a_rule_can_be_forbidden():
    trace = trace_of(
        ("aten::matmul", 0, 800),
        ("aten::masked_fill", 800, 200),
        ("aten::clone", 810, 50),
        ("aten::masked_fill_", 870, 100),
    )

    result = check(trace, "findings(hidden-copy) == 0")

    assert (result.is_met, result.found_text) == (False, "1")
    assert result.remark.startswith("aten::masked_fill copies its whole input first")
    assert trace.name_of(result.telling_id) == "aten::clone"
    assert not check(trace, "findings == 0").is_met
    healthy = trace_of(("aten::mm", 0, 90), ("aten::mm", 100, 90))
    assert check(healthy, "findings(hidden-copy) == 0").is_met
    lacking = check(healthy, "findings(recompilation) == 0")
    assert (lacking.is_met, lacking.found_text) == (False, "–")


def test_the_surprise_is_named_with_its_operator_and_leads_to_its_slice(attention):
    result = check(attention, "kernels_per_call(attn_fwd) == 2")

    assert "Memcpy DtoD under aten::masked_fill" in result.remark
    assert attention.name_of(result.telling_id) == "Memcpy DtoD"
    assert len(result.slices) == 6


def test_calls_that_differ_are_told():
    trace = trace_of(
        annotation("fwd", 0, 100),
        launch(10, 5, 1),
        annotation("fwd", 200, 100),
        launch(210, 5, 2),
        launch(220, 5, 3),
        *(kernel("gemm", 100 * number, 10, number) for number in (1, 2, 3)),
    )

    result = check(trace, "kernels_per_call(fwd) == 1")

    assert (result.is_met, result.found_text) == (False, "1.5")
    assert result.remark.startswith("1 to 2 by call; gemm ×2")


def test_steps_are_judged_by_their_median_without_the_cold_first():
    # The kernels end at 22, 122, 142 and 172: periods of 100, 20 and 30.
    trace = stepped(100_000, 20_000, 30_000)

    assert check(trace, "wall_us == 30").is_met
    assert check(trace, "host_us == 30").is_met
    assert check(trace, "gpu_us == 10").is_met
    assert check(trace, "steps == 4").is_met


def test_a_trace_is_held_against_another():
    fast, slow = stepped(50_000, 50_000, gpu_ns=10_000), stepped(50_000, 50_000, gpu_ns=11_000)
    text = "gpu_us <= 1.05 * baseline.gpu_us"

    worse = check(slow, text, fast)

    assert (worse.is_met, worse.found_text) == (False, "11.000 us against 10.500 us")
    assert check(fast, text, slow).is_met
    assert len(worse.slices) == 3


def test_what_was_not_recorded_is_not_met_and_says_why():
    trace = trace_of(("aten::mm", 0, 10))

    result = check(trace, "kernels_per_call(aten::mm) == 0")

    assert (result.is_met, result.found_text) == (False, "–")
    assert result.remark == "no device activity was recorded"
    assert not check(trace, 'not has_kernel("x")').is_met
    assert not check(trace, "gpu_us * 2 < 5").is_met
    assert check(trace, "hottest == aten::mm").is_met
    assert check(trace, "wall_us < 5").remark == "no profiler steps were recorded"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kernels_per_call(atn_fwd) == 3", "no slice is named 'atn_fwd' (near: attn_fwd"),
        ("total_us(aten::masked) == 3", "near: aten::masked_fill"),
        ("kernels_per_call == 3", "needs a name: kernels_per_call(NAME)"),
        ("wall_us(x) == 3", "wall_us() takes no name"),
        ("kernels_per_call(masked_elementwise_kernel) == 3", "is device work"),
        ("idle_us(lunch) == 3", "no cause of idle time (artefact, sync, launch"),
        ("class_us(gem) == 3", "no class of work"),
        ("path_us(gem) == 3", "no class of the critical path"),
        ("findings(hidden) == 0", "no rule (near: hidden-copy"),
        ("gpu_us < baseline.gpu_us", "give that trace too"),
        ("gpu_us == aten::mm", "'aten::mm' is no number"),
        ("gpu == 5", "'gpu' is no number and no function (near: gpu_us"),
        ("foo == bar", "'foo' is no number and no function"),
        ("hottest < aten::mm", "by == and != alone"),
        ("bound != overhed", "'overhed' is none of compute, communication, copy, overhead"),
        ("Compute == bound", "(near: compute"),
        ("1 == 1", "it asks nothing of the trace"),
        ("1 < 2 * 3 < 4", "it asks nothing of the trace"),
        ("kernels", "compares nothing"),
        ('has_kernel("gemm") == 1', "stands alone"),
        ('has_kernel("(") ', "no regular expression"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_one_line(attention, text, words):
    with pytest.raises(ExpectationError) as raised:
        check(attention, text)

    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_verdict_that_no_trace_can_have_is_refused_where_nothing_was_measured_too():
    trace = trace_of(("aten::mm", 0, 10))

    with pytest.raises(ExpectationError, match="none of compute"):
        check(trace, "bound == banana")
    assert check(trace, 'bound == "over*"').found_text == "–"


def test_a_share_of_nothing_is_not_measured():
    trace = trace_of(("aten::mm", 0, 10), kernel("gemm", 0, 10))

    assert check(trace, "gpu_us / copies == 0").found_text == "–"


def test_a_file_holds_one_expectation_a_line_and_comments():
    found = expectation_lines(
        "\ufeff# what the MLP shows\n\nkernels_per_call(mlp_fwd) == 5  # gate, up, gelu, mul, down\n"
        "total_us(ProfilerStep#3) < 5 ms\r\n",
        "expect.txt",
    )

    assert [each.text for each in found] == [
        "kernels_per_call(mlp_fwd) == 5",
        "total_us(ProfilerStep#3) < 5 ms",
    ]


def test_a_name_between_quotes_may_hold_what_begins_a_comment():
    found = expectation_lines(
        'kernels_per_call("## forward ##") == 8  # guessed 5 # or "6"\n'
        "calls('step #1') == 1\t# it's the first\n"
        "calls(don't) == 0 # no name\n",
        "expect.txt",
    )

    assert [each.text for each in found] == [
        'kernels_per_call("## forward ##") == 8',
        "calls('step #1') == 1",
        "calls(don't) == 0",
    ]


def test_a_bad_line_of_a_file_is_named_by_its_number():
    with pytest.raises(ExpectationError, match=r"expect.txt:2: .*no function"):
        expectation_lines("kernels == 5\nkernals(x) == 5", "expect.txt")


_VALUES = st.sampled_from(
    ["5", "1e30", "0", "80 %", "2 ms", "aten::mm", '"x"', "kernels", "gpu_us", "hottest", "bound",
     "busy_ratio", "kernels_per_call(attn_fwd)", "calls(nobody)", "total_us(nobody)", "baseline.kernels",
     'has_kernel("gemm")', "idle_us(sync)", "class_us(x)", "steps", "wall_us", "compile_tax_us"]
)  # fmt: skip
_JOINS = st.sampled_from([" + ", " - ", " * ", " / ", " == ", " != ", " < ", " >= ", " ± ", " "])


@given(st.lists(st.tuples(_VALUES, _JOINS), min_size=1, max_size=8))
def test_any_expectation_has_an_outcome_or_a_reason(parts):
    trace = trace_of(
        annotation("attn_fwd", 0, 100), ("aten::mm", 0, 50), launch(5, 5, 1), kernel("k", 20, 10, 1)
    )
    text = "".join(value + join for value, join in parts).rstrip(" +-*/=!<>±")

    try:
        found = check(trace, text, trace)
        message = found.found_text + found.remark
    except ExpectationError as error:
        message = str(error)

    assert message.isprintable()


def test_numbers_beyond_reason_are_refused():
    trace = trace_of(("aten::mm", 0, 10))

    with pytest.raises(ExpectationError, match="out of range"):
        check(trace, "steps == 1e29 * 1e29 * 1e29")
