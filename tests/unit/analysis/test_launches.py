"""Delays and queues, by hand."""

from tests.literal import kernel, launch, trace_of
from tracetui.analysis.launches import launch_stats, queue_depth


def test_delay_runs_from_the_calls_end_and_is_never_negative():
    trace = trace_of(
        launch(0, 10, 1),
        launch(100, 50, 2, name="cuLaunchKernel"),
        kernel("late", 30, 20, 1),
        kernel("early", 120, 5, 2),
        kernel("unknown", 200, 5, 9),
    )

    stats = launch_stats(trace)

    assert stats.delay_ns.tolist() == [20, 0]
    assert stats.start_to_start_ns.tolist() == [30, 20]
    assert stats.cpu_ns.tolist() == [10, 50]
    assert stats.gpu_ns.tolist() == [20, 5]
    assert stats.n_shorter_than_call == 1
    assert stats.called(trace).cpu_ns.tolist() == [10]
    assert len(stats.called(trace, ("cudaGraphLaunch",))) == 0


def test_a_graph_launch_has_one_delay_to_its_first_kernel():
    trace = trace_of(
        launch(0, 10, 1, name="cudaGraphLaunch"),
        kernel("b", 60, 5, 1, stream=1),
        kernel("a", 40, 5, 1, stream=13),
        kernel("c", 70, 5, 1, stream=13),
    )

    stats = launch_stats(trace)

    assert len(stats) == 3
    assert stats.first_of_each_call().delay_ns.tolist() == [30]
    assert queue_depth(trace) == ()


def test_queue_rises_with_calls_and_falls_with_starts():
    trace = trace_of(
        launch(0, 5, 1),
        launch(10, 5, 2),
        launch(20, 5, 3),
        kernel("a", 10, 10, 1),
        kernel("b", 30, 10, 2),
        kernel("c", 40, 10, 3),
    )

    (queue,) = queue_depth(trace)

    assert (queue.device, queue.stream) == (0, 7)
    assert queue.time_ns.tolist() == [0, 10, 10, 20, 30, 40]
    assert queue.depth.tolist() == [1, 2, 1, 2, 1, 0]
    # (1 x 10 + 1 x 10 + 2 x 10 + 1 x 10) / 40
    assert queue.mean_depth == 1.25
    assert [queue.depth_at(time_ns) for time_ns in (-1, 0, 10, 25, 99)] == [0, 1, 1, 2, 0]


def test_a_queue_without_extent_has_the_mean_of_its_points():
    (queue,) = queue_depth(trace_of(launch(10, 0, 1), kernel("a", 10, 5, 1)))

    assert queue.mean_depth == 0.5


def test_a_trace_without_device_work_has_no_launches():
    trace = trace_of(("aten::mm", 0, 10), launch(2, 3, 1))

    assert len(launch_stats(trace)) == 0
    assert len(launch_stats(trace).first_of_each_call()) == 0
    assert queue_depth(trace) == ()
