"""What is compared: which work belongs to which step, call or total."""

import numpy as np
import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.unit.compare.recordings import STEP_NS, mlp, op, step_rows, steps_of
from tracetui.compare.scope import Range, Scope, chosen_scope, common_names
from tracetui.compare.sides import side
from tracetui.errors import UsageError

PER_STEP = Scope(None, "step")


def two_kernel_steps(*widths_ns):
    """Return steps of the given widths; each launches one kernel of 10 us that ends 5 us later."""
    rows, start = [], 0
    for number, width_ns in enumerate(widths_ns, 1):
        rows += [
            annotation(f"ProfilerStep#{number}", start, width_ns),
            launch(start + 10, 5, number),
            kernel("gemm", start + width_ns - 5_000, 10_000, number),
        ]
        start += width_ns
    return trace_of(*rows)


def test_the_first_step_is_cold_and_left_out_where_two_remain():
    own = side(two_kernel_steps(50_000, 30_000, 31_000), PER_STEP)

    assert (own.kept.tolist(), own.left_out) == ([1, 2], ("step 1",))


def test_of_two_steps_none_is_left_out():
    own = side(two_kernel_steps(50_000, 30_000), PER_STEP)

    assert (own.kept.tolist(), own.left_out) == ([0, 1], ())


def test_wall_time_is_from_completion_to_completion():
    own = side(two_kernel_steps(50_000, 30_000, 31_000, 33_000), PER_STEP)

    # Each kernel ends 5 us after its step: the periods are those of the steps.
    assert own.wall_samples().tolist() == [30_000, 31_000, 33_000]
    assert own.completion_ns.tolist() == [55_000, 85_000, 116_000, 149_000]


def test_one_step_has_its_width_as_wall_time():
    own = side(two_kernel_steps(50_000), PER_STEP)

    assert own.wall_samples().tolist() == [50_000]


def test_without_a_device_wall_time_is_from_start_to_start():
    rows = [annotation(f"ProfilerStep#{n}", n * 100, 60) for n in range(3)]
    own = side(trace_of(*rows), PER_STEP)

    # The first is cold; the last has no start after it and ends by itself.
    assert own.wall_samples().tolist() == [100, 60]
    assert own.gpu_ns is None


def test_work_launched_before_the_first_step_belongs_to_none():
    rows = [
        launch(0, 5, 9),
        kernel("early", 2_000, 700, 9),
        *step_rows(1, [op("aten::mm", ("gemm", 500))], start_ns=1_000),
        kernel("launched before the recording", 3_000, 900),
    ]
    own = side(trace_of(*rows), PER_STEP)

    assert own.gpu_ns is not None
    assert own.gpu_ns.tolist() == [500]


def test_a_backward_pass_on_another_thread_is_the_step_s_work():
    rows = [
        annotation("ProfilerStep#1", 0, 10_000),
        Row("aten::mm_backward", 1_000, 500, tid="2"),
        launch(1_100, 50, 1, tid="2"),
        kernel("gemm", 2_000, 300, 1),
    ]
    own = side(trace_of(*rows), PER_STEP)

    assert own.gpu_ns is not None
    assert (own.gpu_ns.tolist(), own.n_device.tolist()) == ([300], [1])


def test_launches_are_calls_that_start_a_kernel():
    rows = [
        annotation("ProfilerStep#1", 0, 10_000),
        launch(100, 50, 1, name="cudaGraphLaunch"),
        *[kernel("a", 1_000 + 100 * i, 50, 1) for i in range(5)],
        launch(300, 50, 2, name="cudaMemsetAsync"),
        Row("Memset (Device)", 2_000, 50, "gpu_memset", "0", "7", 2),
    ]
    own = side(trace_of(*rows), PER_STEP)

    assert (own.n_launches.tolist(), own.n_device.tolist()) == ([1], [6])


def calls(*starts_ns, name="mlp_fwd"):
    """Return calls of 1 us, each with a kernel of 200 ns that ends as the call does."""
    rows = []
    for number, start in enumerate(starts_ns, 1):
        rows += [
            annotation(name, start, 1_000),
            launch(start + 100, 50, number),
            kernel("gemm", start + 800, 200, number),
        ]
    return rows


def test_calls_are_instances_and_the_first_is_cold():
    own = side(trace_of(*calls(0, 5_000, 9_000)), Scope("mlp_fwd", "call"))

    assert own.kept.tolist() == [1, 2]
    assert own.wall_samples().tolist() == [1_000, 1_000]
    assert own.host_ns.tolist() == [1_000] * 3


def test_a_call_does_not_pay_for_the_queue_before_it():
    rows = [
        annotation("f", 0, 100),
        launch(10, 5, 1),
        kernel("long", 50, 5_000, 1),
        annotation("f", 200, 100),
        launch(210, 5, 2),
        kernel("short", 5_050, 300, 2),
    ]
    own = side(trace_of(*rows), Scope("f", "call"))

    # 0 to 5050, then 5050 to 5350: both add up to the whole.
    assert own.wall_samples().tolist() == [5_050, 300]


def test_total_leaves_nothing_out():
    own = side(trace_of(*calls(0, 5_000, 9_000)), Scope("mlp_fwd", "total"))

    assert own.gpu_ns is not None
    assert (own.gpu_ns.tolist(), own.kept.tolist(), own.left_out) == ([600], [0], ())


def test_calls_of_one_step_are_added_up_per_step():
    rows = [
        *step_rows(1, [], start_ns=0),
        *step_rows(2, [], start_ns=STEP_NS),
        *calls(1_000, 3_000, STEP_NS + 1_000),
    ]
    own = side(trace_of(*rows), Scope("mlp_fwd", "step"))

    assert own.gpu_ns is not None
    assert own.gpu_ns.tolist() == [400, 200]


def test_nested_calls_of_one_name_count_once():
    rows = [annotation("f", 0, 100), annotation("f", 10, 50), annotation("f", 200, 70)]
    own = side(trace_of(*rows), Scope("f", "total"))

    assert own.host_ns.tolist() == [170]


def test_a_module_holds_the_operators_of_its_thread():
    rows = [
        Row("nn.Module: Linear_0", 0, 1_000, "python_function"),
        Row("aten::mm", 100, 500),
        launch(200, 50, 1),
        kernel("gemm", 2_000, 300, 1),
        Row("aten::add", 1_500, 100),
    ]
    trace = trace_of(*rows)
    own = side(trace, Scope("Linear_0", "total"))

    assert own.gpu_ns is not None
    assert own.gpu_ns.tolist() == [300]
    inside = {trace.name_of(row) for row in np.flatnonzero(own.instance_of >= 0).tolist()}
    assert inside == {"aten::mm", "cudaLaunchKernel", "gemm"}


def test_a_range_holds_what_is_launched_in_it():
    trace = trace_of(*calls(0, 5_000, 9_000))
    own = side(trace, Scope(None, "total"), Range(4_000, 8_000))

    assert own.gpu_ns is not None
    assert (own.gpu_ns.tolist(), own.labels) == ([200], ("range",))
    assert own.host_ns.tolist() == [4_000]


def test_steps_are_chosen_where_both_have_them():
    both = (steps_of(mlp(), mlp()), steps_of(mlp()))

    assert chosen_scope(both) == PER_STEP


def test_calls_of_the_shared_annotation_are_chosen_without_steps():
    first = trace_of(*calls(0, 2_000), annotation("only here", 20_000, 90_000))
    second = trace_of(*calls(0, 2_000))

    assert chosen_scope((first, second)) == Scope("mlp_fwd", "call")
    assert common_names((first, second)) == ("mlp_fwd",)


def test_an_annotation_that_holds_little_is_not_chosen():
    stray = kernel("elsewhere", 50_000, 90_000)
    traces = (trace_of(*calls(0), stray), trace_of(*calls(0), stray))

    assert chosen_scope(traces) == Scope(None, "total")
    assert chosen_scope(traces, per="call") == Scope("mlp_fwd", "call")


def test_a_name_that_a_trace_lacks_is_an_error_that_offers_others():
    traces = (trace_of(*calls(0)), trace_of(*calls(0)))

    with pytest.raises(UsageError, match="'attn_fwd'; in all: mlp_fwd"):
        chosen_scope(traces, "attn_fwd")


def test_steps_that_a_trace_lacks_are_an_error():
    with pytest.raises(UsageError, match="has no profiler steps"):
        chosen_scope((steps_of(mlp()), trace_of(*calls(0))), per="step")


def test_nothing_in_common_cannot_be_compared_per_call():
    with pytest.raises(UsageError, match="no annotation or module"):
        chosen_scope((trace_of(*calls(0)), trace_of(*calls(0, name="other"))), per="call")
