"""Steps, by hand."""

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.steps import steps


def test_work_counts_where_it_was_launched_or_where_it_ran():
    trace = trace_of(
        annotation("ProfilerStep#5", 100, 50),
        launch(135, 5, 1),
        annotation("ProfilerStep#6", 160, 50),
        launch(168, 5, 2),
        kernel("gemm", 148, 30, 1),
        kernel("add", 190, 10, 2),
        Row("ProfilerStep#5", 147, 32, "gpu_user_annotation", "0", "7"),
    )

    fifth, sixth = steps(trace)

    assert (fifth.number, fifth.start_ns, fifth.wall_ns, fifth.end_ns) == (5, 0, 50, 50)
    assert (fifth.gpu_by_launch_ns, fifth.gpu_by_clock_ns, fifth.n_kernels) == (30, 2, 1)
    assert (sixth.number, sixth.wall_ns) == (6, 50)
    assert (sixth.gpu_by_launch_ns, sixth.gpu_by_clock_ns, sixth.n_kernels) == (10, 28, 1)
    assert trace.name_of(sixth.slice_id) == "ProfilerStep#6"


def test_launches_of_other_threads_and_copies_count_and_the_end_does_not():
    trace = trace_of(
        annotation("ProfilerStep#0", 0, 100),
        launch(50, 5, 1, tid="2"),
        launch(100, 5, 2),
        kernel("backward", 60, 10, 1),
        kernel("after", 110, 10, 2),
        Row("Memset", 95, 3, "gpu_memset", "0", "7", 1),
    )

    (step,) = steps(trace)

    assert (step.gpu_by_launch_ns, step.n_kernels) == (13, 2)


def test_busy_time_of_several_devices_is_added_up():
    trace = trace_of(
        annotation("ProfilerStep#0", 0, 100),
        kernel("a", 90, 20),
        kernel("b", 80, 10, stream=9),
        kernel("c", 0, 40, device=1),
    )

    (step,) = steps(trace)

    assert step.gpu_by_clock_ns == 20 + 40
    assert (step.gpu_by_launch_ns, step.n_kernels) == (0, 0)


def test_without_a_device_nothing_was_measured_there():
    (step,) = steps(trace_of(annotation("ProfilerStep#3", 0, 100), ("aten::mm", 5, 5)))

    assert (step.gpu_by_launch_ns, step.gpu_by_clock_ns, step.n_kernels) == (None, None, None)


def test_old_recordings_write_steps_as_operators():
    trace = trace_of(Row("ProfilerStep#1", 0, 10, "Operator"), ("ProfilerStep#x", 20, 10))

    assert [step.number for step in steps(trace)] == [1]


def test_a_step_of_any_other_kind_is_none():
    trace = trace_of(
        Row("ProfilerStep#1", 0, 10, "python_function"), annotation("my ProfilerStep#2", 0, 5)
    )

    assert steps(trace) == ()


@pytest.mark.parametrize(
    ("walls", "expected"),
    [
        ((100, 10, 12, 11), [True, False, False, False]),
        ((16, 10, 12, 11), [False] * 4),
        ((17, 10, 12, 11), [True, False, False, False]),
        ((10, 100, 10, 10), [False] * 4),
        ((100, 10), [False] * 2),
        ((100, 10, 10), [True, False, False]),
    ],
)
def test_only_a_first_step_far_above_the_others_median_is_an_outlier(walls, expected):
    rows, start_ns = [], 0
    for number, wall_ns in enumerate(walls):
        rows.append(annotation(f"ProfilerStep#{number}", start_ns, wall_ns))
        start_ns += wall_ns

    assert [step.is_outlier for step in steps(trace_of(*rows))] == expected
