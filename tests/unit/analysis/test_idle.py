"""What held each gap, worked out by hand."""

import numpy as np
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.idle import NO_DEPTH, idle_gaps, idle_holders
from tracetui.analysis.utilization import GapCause, gaps, utilization
from tracetui.model.arrays import NO_ID


def frame(name, ts_ns, dur_ns):
    return Row(name, ts_ns, dur_ns, "python_function")


def name(trace, slice_id):
    return trace.name_of(slice_id) if slice_id != NO_ID else None


def overhead(ts_ns, dur_ns):
    return Row("Activity Buffer Request", ts_ns, dur_ns, "overhead", "-1", "0")


def test_a_late_host_is_named_by_its_innermost_slice_and_frame():
    trace = trace_of(
        ("aten::mm", 0, 1_000),
        launch(100, 100, 1),
        annotation("attn_fwd", 1_500, 40_000),
        ("aten::scaled_dot_product_attention", 2_000, 30_000),
        launch(30_000, 1_000, 2),
        frame("model.py(7): forward", 0, 50_000),
        frame("functional.py(5): sdpa", 1_800, 30_000),
        kernel("gemm", 500, 3_500, 1),
        kernel("flash", 32_000, 1_000, 2),
    )

    gap = idle_gaps(trace)[0]

    assert (gap.start_ns.tolist(), gap.end_ns.tolist()) == ([4_000], [32_000])
    # 26 us until the call begins, 1 us of the call, 1 us until the kernel starts.
    assert gap.cause_ns.tolist() == [[0, 0, 1_000, 26_000, 1_000, 0]]
    assert GapCause(gap.cause[0]) == GapCause.HOST_WAIT
    assert name(trace, gap.holder_id[0]) == "aten::scaled_dot_product_attention"
    assert name(trace, gap.frame_id[0]) == "functional.py(5): sdpa"
    assert name(trace, gap.previous_slice_id[0]) == "gemm"
    assert name(trace, gap.next_slice_id[0]) == "flash"
    assert name(trace, gap.launch_id[0]) == "cudaLaunchKernel"
    assert gap.hidden_launch_ns.tolist() == [1_000]
    assert not gap.is_queued[0]
    assert (gap.at(4_000), gap.at(31_999), gap.at(32_000), gap.at(3_999)) == (0, 0, NO_ID, NO_ID)


def test_a_function_without_a_file_is_named_by_the_frame_that_calls_it():
    trace = trace_of(
        launch(0, 100, 1),
        ("aten::addmm", 4_000, 20_000),
        launch(23_000, 500, 2),
        frame("model.py(7): forward", 0, 50_000),
        frame("linear.py(113): forward", 3_000, 30_000),
        frame("nn.Module: Linear_0", 3_100, 29_000),
        frame("<built-in function linear>", 3_500, 28_000),
        kernel("gemm", 500, 3_500, 1),
        kernel("flash", 24_000, 1_000, 2),
    )
    gap = idle_gaps(trace)[0]
    assert name(trace, gap.frame_id[0]) == "<built-in function linear>"
    assert name(trace, gap.source_id[0]) == "linear.py(113): forward"
    (holder,) = idle_holders(trace)
    assert (holder.name, holder.frame) == ("aten::addmm", "linear.py(113): forward")


def test_launch_synchronise_and_profiler_hold_gaps_by_their_own_slices():
    trace = trace_of(
        launch(0, 10, 1),
        kernel("a", 100, 900, 1),
        launch(1_000, 5_000, 2),
        kernel("b", 6_500, 500, 2),
        Row("cudaStreamSynchronize", 6_800, 9_000, "cuda_runtime"),
        launch(16_000, 500, 3),
        kernel("c", 17_000, 1_000, 3),
        overhead(18_000, 7_000),
        launch(25_500, 500, 4),
        kernel("d", 26_500, 500, 4),
        frame("main.py(1): run", 0, 30_000),
    )

    gap = idle_gaps(trace)[0]

    assert [GapCause(cause) for cause in gap.cause] == [
        GapCause.LAUNCH,
        GapCause.SYNC,
        GapCause.ARTEFACT,
    ]
    assert [name(trace, row) for row in gap.holder_id] == [
        "cudaLaunchKernel",
        "cudaStreamSynchronize",
        "Activity Buffer Request",
    ]
    assert [name(trace, row) for row in gap.frame_id] == ["main.py(1): run"] * 2 + [None]


def test_work_that_was_queued_is_held_by_nothing_of_the_host():
    trace = trace_of(
        launch(0, 10, 1),
        launch(20, 10, 2),
        Row("cudaDeviceSynchronize", 100, 90_000, "cuda_runtime"),
        kernel("a", 50, 1_000, 1),
        kernel("b", 1_060, 1_000, 2),
        kernel("of unknown call", 3_000, 1_000),
    )

    gap = idle_gaps(trace)[0]

    assert gap.is_queued.tolist() == [True, True]
    assert gap.holder_id.tolist() == [NO_ID, NO_ID]
    # The sums keep the order of causes, in which a synchronise call comes early.
    assert [GapCause(cause) for cause in gap.cause] == [GapCause.SYNC, GapCause.SYNC]


def test_a_thread_with_nothing_open_leaves_the_frame_alone():
    trace = trace_of(
        ("aten::mm", 0, 100),
        launch(10, 10, 1),
        ("aten::mm", 9_000, 100),
        launch(9_010, 10, 2),
        frame("loop.py(3): <module>", 0, 20_000),
        frame("data.py(9): load", 500, 8_000),
        kernel("a", 50, 100, 1),
        kernel("b", 9_100, 100, 2),
    )

    gap = idle_gaps(trace)[0]

    assert name(trace, gap.holder_id[0]) is None
    assert name(trace, gap.frame_id[0]) == "data.py(9): load"


def test_the_queue_is_counted_over_the_devices_streams():
    trace = trace_of(
        launch(0, 10, 1),
        launch(20, 10, 2),
        launch(40, 10, 3),
        launch(60, 10, 4),
        kernel("a", 100, 100, 1),
        kernel("b", 200, 100, 2, stream=9),
        kernel("c", 310, 90, 3),
        kernel("d", 500, 100, 4),
        launch(2_000, 10, 5),
        kernel("e", 2_100, 100, 5),
    )

    gap = idle_gaps(trace)[0]

    # Four were queued before the first began; two, one and none when the gaps began.
    assert gap.start_ns.tolist() == [300, 400, 600]
    assert gap.depth_before.tolist() == [2, 1, 0]
    assert gap.drained_from.tolist() == [4, 4, 4]


def test_without_launch_calls_the_queue_is_unknown():
    gap = idle_gaps(trace_of(kernel("a", 0, 10), kernel("b", 20, 10)))[0]

    assert (gap.depth_before.tolist(), gap.drained_from.tolist()) == ([NO_DEPTH], [NO_DEPTH])
    assert (gap.holder_id.tolist(), gap.frame_id.tolist()) == ([NO_ID], [NO_ID])


def test_one_gap_of_several_causes_belongs_to_the_longest():
    trace = trace_of(
        kernel("first", 0, 1_000),
        Row("cudaDeviceSynchronize", 1_500, 2_000, "cuda_runtime"),
        overhead(3_000, 1_000),
        launch(6_000, 2_000, 5),
        kernel("second", 9_000, 1_000, 5),
    )

    gap = idle_gaps(trace)[0]

    assert gap.cause_ns.tolist() == [[1_000, 1_500, 2_000, 2_500, 1_000, 0]]
    assert GapCause(gap.cause[0]) == GapCause.HOST_WAIT


def test_holders_are_added_up_by_cause_name_and_frame():
    rows: list[Row | tuple[str, int, int]] = []
    for number, wait_ns in enumerate((10_000, 30_000, 20_000)):
        at = number * 100_000
        rows += [
            ("aten::item", at, wait_ns),
            launch(at + wait_ns, 100, number + 1),
            kernel("k", at + wait_ns + 200, 1_000, number + 1),
        ]
    trace = trace_of(*rows, kernel("k", 0, 1))

    first, second = idle_holders(trace)

    # From 1 ns to 10 us the thread is in aten::item; in the later two gaps, from 11.2 to 130 us and
    # from 131.2 to 220 us, it has nothing open for longest.
    assert (first.name, first.n_gaps, first.cause) == ("", 2, GapCause.HOST_WAIT)
    assert first.total_ns == (130_000 - 11_200) + (220_000 - 131_200)
    assert (first.longest_id, first.longest_ns) == (NO_ID, 118_800)
    assert (second.name, second.n_gaps, second.total_ns) == ("aten::item", 1, 9_999)
    assert name(trace, second.longest_id) == "aten::item"
    assert (second.longest_ns, second.longest_start_ns) == (9_999, 1)


def test_a_trace_without_device_work_has_no_gap():
    assert idle_gaps(trace_of(("aten::mm", 0, 10))) == {}
    assert idle_holders(trace_of(("aten::mm", 0, 10))) == ()
    assert idle_holders(trace_of(kernel("k", 0, 10))) == ()


def check_gaps(trace):
    for use in utilization(trace):
        whole, pieces = idle_gaps(trace)[use.device], gaps(trace, use.device)
        assert int(whole.dur_ns.sum()) == use.idle_ns
        assert np.array_equal(whole.cause_ns.sum(axis=1), whole.dur_ns)
        for cause in GapCause:
            assert int(whole.cause_ns[:, cause].sum()) == pieces.total_ns(cause)
        assert np.all(whole.start_ns[1:] > whole.end_ns[:-1])
        ends = trace.slices.end_ns[whole.previous_slice_id]
        assert np.array_equal(ends, whole.start_ns)
        assert np.array_equal(trace.slices.ts_ns[whole.next_slice_id], whole.end_ns)
        assert np.all(whole.drained_from >= whole.depth_before)
    held_ns = sum(each.total_ns for each in idle_holders(trace))
    assert held_ns == sum(int(found.main_ns.sum()) for found in idle_gaps(trace).values())


@given(host_and_device_rows())
def test_whole_gaps_add_up_to_their_pieces(rows):
    check_gaps(trace_of(*rows))
