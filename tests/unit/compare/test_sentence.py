"""The answer and what limits it, word for word."""

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tests.unit.compare.test_captured import RECORD, with_record
from tracetui.compare.comparison import comparison
from tracetui.compare.notes import notes
from tracetui.compare.sentence import answer, signed, signed_percent


def test_fusing_is_the_reason():
    text = answer(comparison(steps_of(*[mlp()] * 4), steps_of(*[compiled_mlp()] * 4)))

    assert text.startswith(
        "B is 1.15x faster on the GPU (−96.00 µs of 735.00 µs per step, 95 % between −13.1 % and"
        " −13.1 %): gelu and mul became one kernel."
    )
    assert "Launches fall from 5 to 4 a step." in text


def test_one_instance_is_said_to_be_one():
    found = comparison(steps_of(mlp()), steps_of(compiled_mlp()))

    assert answer(found).startswith(
        "B differs by −96.00 µs of 735.00 µs per step on the GPU, and one instance on a side cannot"
        " tell that from noise: gelu and mul became one kernel."
    )
    assert "One instance on a side: nothing can be said of its spread." in notes(found)


def test_too_few_runs_are_said_to_be_too_few():
    def steps(*durations_ns):
        return steps_of(*[[op("aten::mm", ("gemm", ns))] for ns in durations_ns])

    # The first step is cold; two and two that lie apart do so by chance in one case of three.
    text = answer(comparison(steps(1, 90_000, 100_000), steps(1, 105_000, 125_000)))

    assert text.startswith("B looks slower on the GPU (+20.00 µs of 95.00 µs per step")
    assert "which 2 and 2 runs are too few to be sure of" in text


def test_noise_is_open():
    def steps(*durations_ns):
        return steps_of(*[[op("aten::mm", ("gemm", ns))] for ns in durations_ns])

    text = answer(comparison(steps(1, 90_000, 140_000, 80_000), steps(1, 95_000, 150_000, 70_000)))

    assert text.startswith("It is open whether B is faster or slower on the GPU (+5.00 µs")


def test_no_change():
    found = comparison(steps_of(*[mlp()] * 3), steps_of(*[mlp()] * 3))

    assert answer(found) == "No change on the GPU: 735.00 µs per step on both sides."


def test_traces_without_work_are_not_alike():
    other = trace_of(Row("render", 0, 5_000, "frame"))

    assert answer(comparison(other, other)) == (
        "Nothing to compare: neither side holds an operator or device work."
    )


def test_a_host_that_runs_ahead_leaves_the_step_to_the_gpu():
    def recording(n_launches):
        rows = []
        for number in range(4):
            rows.append(annotation(f"ProfilerStep#{number}", number * 10_000, 9_000))
            for each in range(n_launches):
                correlation = number * 10 + each + 1
                start_ns = 50_000 + number * 60_000 + each * 60_000 // n_launches
                rows += [
                    launch(number * 10_000 + 100 * each, 50, correlation),
                    kernel(f"gemm_{each}", start_ns, 60_000 // n_launches, correlation),
                ]
        return trace_of(*rows)

    text = answer(comparison(recording(6), recording(2)))

    assert text.startswith("No change on the GPU: 60.00 µs per step on both sides.")
    assert "The host runs ahead of the GPU on both sides, so the step time is the GPU's." in text
    assert "Launches fall from 6 to 2 a step." in text


def test_a_slower_host_makes_the_step_slower_though_the_gpu_does_the_same():
    def recording(gap_ns):
        rows = []
        for number in range(5):
            begin = number * (gap_ns + 1_000)
            rows += [
                annotation(f"ProfilerStep#{number}", begin, gap_ns + 900),
                launch(begin + gap_ns, 100, number + 1),
                kernel("gemm", begin + gap_ns + 200, 500, number + 1),
            ]
        return trace_of(*rows)

    text = answer(comparison(recording(1_000), recording(3_000)))

    # From completion to completion 2 us became 4, all of it idle.
    assert text.startswith("No change on the GPU: 500 ns per step on both sides.")
    assert (
        "A step is 2.00x slower all the same (+2.00 µs of 2.00 µs): idle: waiting for the host"
        " +2.00 µs." in text
    )


def test_times_without_the_profiler_come_first():
    sides = [
        with_record(steps_of(mlp()), {**RECORD, "timing": {"runs_ns": [ns] * 9}})
        for ns in (1_000_000, 2_000_000)
    ]
    found = comparison(*sides)

    assert answer(found).startswith(
        "B is 2.00x slower without the profiler (+1.000 ms of 1.000 ms per run"
    )
    assert notes(found)[-1] == (
        "Times taken without the profiler decide: the median of 9 and 9 runs."
    )


@pytest.mark.parametrize(
    ("candidate", "phrase"),
    [
        ([op("aten::mm", ("gemm", 9_000))], "topk is gone"),
        ([op("aten::mm", ("gemm", 9_000)), op("aten::topk")], "topk moved to the host"),
        ([op("aten::mm", ("gemm", 9_000)), op("aten::topk", ("topk", 9_000))], "topk is slower"),
        (
            [op("aten::mm", ("gemm", 9_000)), op("aten::topk", ("radix_topk", 9_000))],
            "topk runs radix_topk and no longer topk",
        ),
    ],
)
def test_reason(candidate, phrase):
    baseline = [op("aten::mm", ("gemm", 9_000)), op("aten::topk", ("topk", 4_000))]

    assert f": {phrase}." in answer(comparison(steps_of(baseline), steps_of(candidate)))


def test_different_step_counts_and_cold_steps_are_said():
    found = notes(comparison(steps_of(*[mlp()] * 2), steps_of(*[mlp()] * 4)))

    assert found[0] == (
        "A has 2 steps, B has 4 steps: shown is the median per step, not the total."
    )
    assert found[1] == "Left out as cold: step 1 of B."


def test_another_batch_size_is_said():
    def batch(n):
        return steps_of([op("aten::mm", ("gemm", 9_000), shape=f"[[{n},768],[768,3072]]")])

    assert any(
        note.startswith("Other input sizes: aten::mm [[64,768],[768,3072]] in A, [[128,768]")
        for note in notes(comparison(batch(64), batch(128)))
    )
    assert not any(
        note.startswith("Other input sizes") for note in notes(comparison(batch(64), batch(64)))
    )


def test_doubt_is_said():
    alike = op("aten::linear", ("gemm", 9_000))

    assert "2 matches of 3 are not sure and say so." in notes(
        comparison(steps_of([alike] * 3), steps_of([alike] * 2))
    )


def test_signs():
    assert [signed(ns) for ns in (1_500, -1_500, 0)] == ["+1.50 µs", "−1.50 µs", "±0 ns"]
    assert [signed_percent(ratio) for ratio in (0.015, -0.5, 0)] == ["+1.5 %", "−50.0 %", "±0.0 %"]


def test_a_part_of_a_file_is_said_to_be_one():
    whole, part = steps_of(*[mlp()] * 3), steps_of(*[mlp()] * 3)
    part.report.is_part = True

    assert notes(comparison(whole, part))[0] == (
        "B is a part of its file, as was asked: its totals are of that part."
    )
    assert not any("part of its file" in note for note in notes(comparison(whole, whole)))


def test_one_step_alone_has_no_period_that_could_be_the_devices():
    step = [
        annotation("ProfilerStep#1", 0, 900),
        launch(100, 50, 1),
        kernel("gemm", 500, 5_000, 1),
    ]
    text = answer(comparison(trace_of(*step), trace_of(*step)))

    assert "The host runs ahead of the GPU on both sides; one step alone has no period" in text
    assert "so the step time is the GPU's" not in text
