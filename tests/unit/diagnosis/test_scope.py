import numpy as np

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.diagnosis.scope import (
    device_idle,
    device_span_ns,
    device_work_in,
    exposed,
    holder_of,
    launch_of_work_at,
    outermost,
    recorded_ns,
    steady_ns,
)
from tracetui.diagnosis.tensors import broadcast, tensors_of


def _ids(trace, name: str):
    return np.flatnonzero(trace.slices.name_id == trace.names.find(name))


def test_the_outermost_of_nested_slices():
    trace = trace_of(("a", 0, 100), ("a", 10, 50), ("b", 20, 10), ("a", 200, 10))

    assert trace.slices.ts_ns[outermost(trace, _ids(trace, "a"))].tolist() == [0, 200]


def test_which_slice_holds_which():
    trace = trace_of(("a", 0, 100), ("x", 10, 10), ("x", 150, 10), ("a", 200, 50), ("x", 210, 10))

    assert holder_of(trace, _ids(trace, "x"), _ids(trace, "a")).tolist() == [0, -1, 1]


def test_device_work_is_that_of_whatever_lies_below():
    trace = trace_of(
        ("outer", 0, 100), ("inner", 10, 50), launch(20, 5, 1), launch(70, 5, 2), launch(150, 5, 3),
        kernel("first", 300, 10, 2), kernel("second", 320, 10, 1), kernel("other", 340, 10, 3),
    )  # fmt: skip
    work, holder = device_work_in(trace, _ids(trace, "outer"))

    assert [trace.name_of(each) for each in work] == ["first", "second"]
    assert holder.tolist() == [0, 0]


def test_idle_is_what_no_device_uses_and_the_profiler_does_not():
    trace = trace_of(
        kernel("k", 0, 10), kernel("k", 40, 10), Row("Memset (Device)", 100, 10, "gpu_memset", "0", "20"),
        Row("Activity Buffer Request", 60, 20, "overhead", "1", "2"),
    )  # fmt: skip
    idle = device_idle(trace)

    assert list(zip(idle.starts.tolist(), idle.ends.tolist(), strict=True)) == [
        (10, 40),
        (50, 60),
        (80, 100),
    ]
    assert device_span_ns(trace) == 110


def test_what_kernels_do_not_hide_of_a_copy():
    copy = Row("Memcpy HtoD (Pinned -> Device)", 0, 100, "gpu_memcpy", "0", "20")
    trace = trace_of(copy, kernel("k", 30, 20))

    assert exposed(trace, np.flatnonzero(trace.slices.dur_ns == 100)).total_ns == 80


def test_the_call_that_launched_the_work_of_a_moment():
    trace = trace_of(launch(0, 5, 1), kernel("k", 10, 10, 1), kernel("stray", 50, 10))
    found = launch_of_work_at(trace, np.array([10, 50, 30]))

    assert [trace.name_of(each) if each >= 0 else "" for each in found] == [
        "cudaLaunchKernel",
        "",
        "",
    ]


def test_a_recording_is_as_long_as_its_steps_and_judged_without_a_cold_one():
    walls = (400, 100, 100)
    starts = (0, 400, 500)
    trace = trace_of(
        ("early", 0, 10),
        *(
            annotation(f"ProfilerStep#{number}", start, wall)
            for number, (start, wall) in enumerate(zip(starts, walls, strict=True))
        ),
    )

    assert recorded_ns(trace) == 600
    assert steady_ns(trace) == (400, 600)


def test_tensors_are_the_inputs_that_have_a_shape():
    trace = trace_of(
        Row("aten::add", 0, 10, shape="[[2,3],[3],[]]", types='["float","float","Scalar"]'),
        ("aten::add", 20, 10),
    )

    assert [each.shape for each in tensors_of(trace, 0)] == [(2, 3), (3,)]
    assert tensors_of(trace, 1) == ()


def test_shapes_broadcast_from_the_right():
    assert broadcast(((2, 1, 4), (3, 1))) == (2, 3, 4)
    assert broadcast(((2, 3), (4,))) is None
    assert broadcast(()) is None
    assert broadcast(((0, 4), (1, 4))) == (0, 4)
