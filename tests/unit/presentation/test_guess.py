"""Guess first, then look: what is asked, and what became of it."""

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.expectations import expectation_lines, outcomes
from tracetui.diagnosis.expressions import ExpectationError
from tracetui.model.arrays import NO_ID
from tracetui.presentation.guess import (
    Score,
    ScoreStore,
    expectation_of,
    guess_form,
    reveal,
    write_expectations,
)


@pytest.fixture
def attention():
    """One forward of two kernels and a hidden copy."""
    return trace_of(
        annotation("ProfilerStep#3", 0, 90_000),
        annotation("attn_fwd", 0, 40_000),
        ("aten::bmm", 1_000, 9_000),
        launch(2_000, 3_000, 1),
        ("aten::masked_fill", 12_000, 15_000),
        launch(13_000, 3_000, 2, name="cudaMemcpyAsync"),
        launch(18_000, 3_000, 3),
        kernel("sm80_xmma_gemm_bf16", 6_000, 60_000, 1),
        Row("Memcpy DtoD", 66_000, 8_000, "gpu_memcpy", "0", "7", 2),
        kernel("masked_elementwise_kernel", 74_000, 12_000, 3),
    )


def test_numbers_are_about_the_annotation_with_most_device_work(attention):
    form = guess_form(attention)

    assert form.title == "Before you look: what will one attn_fwd show?"
    assert [question.key for question in form.questions] == [
        "kernels",
        "copies",
        "launches",
        "bound",
        "hottest",
        "fused",
    ]
    assert form.questions[0].function == "kernels_per_call(attn_fwd)"
    hottest = form.questions[4]
    # The order of the alphabet gives nothing away.
    assert hottest.choices == ("aten::bmm", "aten::masked_fill")


def _annotated(*names: str):
    """Annotations of 10 us each, the first with the longest kernel."""
    rows = []
    for number, name in enumerate(names, start=1):
        t = number * 10_000
        rows += [
            annotation(name, t, 9_000),
            launch(t + 1_000, 1_000, number),
            kernel("gemm", t + 3_000, 5_000 - number * 100, number),
        ]
    return trace_of(*rows)


def test_what_torch_annotates_itself_is_asked_about_last():
    of_torch = (
        "nccl:all_reduce",
        "CUDAGraphNode.record (dynamo_timed)",
        "Optimizer.step#Adam.step",
    )

    assert guess_form(_annotated(*of_torch, "forward")).subject == "forward"
    assert guess_form(_annotated(*of_torch)).subject == "Optimizer.step#Adam.step"
    assert guess_form(_annotated(*of_torch[:2])).subject == ""


def test_a_name_with_the_mark_of_a_comment_can_be_kept_and_read_again():
    trace = _annotated("## forward ##")
    found = reveal(trace, guess_form(trace), {"kernels": "5"})
    (kept,) = outcomes(expectation_lines(found.expectations, "expect.txt"), trace)

    assert kept.expectation.text == 'kernels_per_call("## forward ##") == 1'
    assert kept.is_met


def test_without_operators_none_is_the_hottest():
    trace = _annotated("forward")
    form = guess_form(trace)

    assert "hottest" not in [question.key for question in form.questions]
    assert reveal(trace, form, {"kernels": "1"}).n_right == 1


def test_the_first_surprise_is_told_and_leads_to_its_slice(attention):
    answers = {"kernels": "2", "bound": "comp", "hottest": "aten::bmm", "copies": ""}

    found = reveal(attention, guess_form(attention), answers)

    assert [line.is_right for line in found.lines] == [False, True, True]
    assert found.lines[0].text.startswith(
        "kernels: you said 2, there are 3 · among them Memcpy DtoD under aten::masked_fill"
    )
    assert attention.name_of(found.first_mismatch) == "Memcpy DtoD"
    assert found.lines[1].text == "bound by: compute"
    assert found.n_right == 2


def test_what_was_found_can_be_kept_and_then_holds(attention):
    answers = {
        "kernels": "2-4", "copies": "0", "launches": "3", "bound": "overhead", "fused": "yes",
        "hottest": "aten::mm",
    }  # fmt: skip

    found = reveal(attention, guess_form(attention), answers)

    assert found.expectations.splitlines() == [
        "# what attn_fwd shows",
        "kernels_per_call(attn_fwd) == 3",
        "copies_per_call(attn_fwd) == 1  # guessed 0",
        "launches_per_call(attn_fwd) == 3",
        'bound == "compute"  # guessed overhead',
        'hottest == "aten::bmm"  # guessed aten::mm',
        "not has_kernel(fused)  # guessed yes",
    ]
    kept = expectation_lines(found.expectations, "tracetui-expect.txt")
    assert all(each.is_met for each in outcomes(kept, attention))


def test_a_mean_that_is_no_whole_number_is_kept_with_a_margin():
    trace = trace_of(
        annotation("fwd", 0, 10), annotation("fwd", 20, 10), annotation("fwd", 40, 10),
        launch(1, 2, 1), kernel("k", 5, 5, 1),
    )  # fmt: skip

    found = reveal(trace, guess_form(trace), {"kernels": "1"})

    assert "kernels_per_call(fwd) == 0.333333 ± 0.01  # guessed 1" in found.expectations
    kept = expectation_lines(found.expectations, "x")
    assert all(each.is_met for each in outcomes(kept, trace))


def test_a_trace_without_annotations_is_asked_about_as_a_whole():
    trace = trace_of(("aten::mm", 0, 10), launch(1, 2, 1), kernel("k", 5, 5, 1))

    form = guess_form(trace)

    assert form.title == "Before you look: what will this trace show?"
    found = reveal(trace, form, {"kernels": "1", "copies": "0", "launches": "1"})
    assert found.n_right == 3


def test_without_a_device_only_the_host_is_asked_about():
    trace = trace_of(("aten::mm", 0, 10), ("graph_0_cpp_fused_gelu_mul_0", 20, 5))

    form = guess_form(trace)

    assert [question.key for question in form.questions] == ["hottest", "fused"]
    found = reveal(trace, form, {"hottest": "aten::mm", "fused": "no"})
    assert [line.is_right for line in found.lines] == [True, False]
    assert "calls(*fused*) >= 1  # guessed no" in found.expectations


@pytest.mark.parametrize("name", ["my fwd (v2)", 'say "hi"', "it's"])
def test_odd_names_can_be_asked_about(name):
    trace = trace_of(annotation(name, 0, 10), launch(1, 2, 1), kernel("k", 5, 5, 1))

    assert reveal(trace, guess_form(trace), {"kernels": "1"}).n_right == 1


@pytest.mark.parametrize(
    ("key", "answer", "words"),
    [
        ("kernels", "many", "a number, or a range"),
        ("kernels", "-1", "a number"),
        ("bound", "memory", "one of compute"),
        ("bound", "co", "one of compute"),
        ("fused", "maybe", "yes or no"),
        ("hottest", 'aten"mm', "quotes"),
    ],
)
def test_an_answer_to_something_else_is_refused(attention, key, answer, words):
    form = guess_form(attention)

    with pytest.raises(ExpectationError, match=words):
        reveal(attention, form, {key: answer})


def test_a_range_may_be_guessed(attention):
    question = guess_form(attention).questions[0]

    assert expectation_of(question, "4 - 6") == "4 <= kernels_per_call(attn_fwd) <= 6"
    assert expectation_of(question, "4..6") == "4 <= kernels_per_call(attn_fwd) <= 6"


def test_the_score_is_kept_over_rounds(attention, tmp_path):
    store = ScoreStore(tmp_path / "state")
    found = reveal(attention, guess_form(attention), {"kernels": "3", "copies": "5"})

    assert store.score().text == ""
    assert store.keep(store.score().with_reveal(found))
    assert store.keep(store.score().with_reveal(found))
    assert store.score() == Score(2, 4)
    assert store.score().text == "2 of 4 right so far"
    store.path.write_text("{}")
    assert store.score() == Score()


def test_expectations_are_never_written_over_others(tmp_path):
    first = write_expectations(tmp_path, "kernels == 5\n")
    second = write_expectations(tmp_path, "kernels == 6\n")

    assert (first.name, second.name) == ("tracetui-expect.txt", "tracetui-expect-2.txt")
    assert first.read_text() == "kernels == 5\n"


def test_all_right_leads_nowhere(attention):
    found = reveal(attention, guess_form(attention), {"kernels": "3"})

    assert found.first_mismatch == NO_ID
