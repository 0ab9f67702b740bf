"""What kernels and copies add up to, by hand."""

import statistics
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.kernels import kernel_stats, memop_stats
from tracetui.analysis.work_class import WorkClass


def by_name(trace, stats, column):
    values = getattr(stats, column)
    names = [trace.names[name_id] for name_id in stats.name_id.tolist()]
    return dict(zip(names, getattr(values, "tolist", lambda: list(values))(), strict=True))


def test_rows_are_sorted_by_their_time_and_hold_exact_numbers():
    trace = trace_of(
        kernel("add", 0, 10),
        kernel("sgemm", 20, 30),
        kernel("sgemm", 60, 71, stream=9),
        kernel("add", 150, 20),
        kernel("add", 180, 16),
        Row("Memcpy DtoH", 200, 500, "gpu_memcpy", "0", "7"),
    )

    stats = kernel_stats(trace)

    assert by_name(trace, stats, "total_ns") == {"sgemm": 101, "add": 46}
    assert [trace.names[i] for i in stats.name_id.tolist()] == ["sgemm", "add"]
    assert stats.calls.tolist() == [2, 3]
    assert stats.mean_ns.tolist() == [50.5, 46 / 3]
    assert stats.median_ns.tolist() == [50.5, 16.0]
    assert stats.min_ns.tolist() == [30, 10]
    assert stats.max_ns.tolist() == [71, 20]
    assert stats.streams == ((7, 9), (7,))
    assert stats.work_class.tolist() == [WorkClass.GEMM, WorkClass.OTHER]
    assert stats.geometry_id.tolist() == [-1, -1]


def test_instances_are_in_time_order_over_all_streams():
    trace = trace_of(
        kernel("add", 50, 1, stream=7), kernel("add", 10, 2, stream=9), kernel("mul", 5, 3)
    )
    stats = kernel_stats(trace)

    found = stats.instances(trace.names.find("add"))

    assert trace.slices.dur_ns[found].tolist() == [2, 1]
    assert len(stats.instances(-1)) == 0


def test_a_kernel_of_impossible_duration_marks_its_row():
    trace = trace_of(kernel("fmha_bwd", 0, 3_400_000_000), kernel("gemm", 10, 10))

    stats = kernel_stats(trace)

    assert by_name(trace, stats, "n_impossible") == {"fmha_bwd": 1, "gemm": 0}


def test_the_most_common_geometry_stands_for_the_row():
    trace = trace_of(*(kernel("add", 10 * place, 5) for place in range(6)), kernel("mul", 90, 1))
    geometry_id = np.array([-1, -1, -1, 4, 2, 2, 3], np.int32)
    slices = replace(trace.slices, geometry_id=geometry_id)

    stats = kernel_stats(replace(trace, slices=slices, memo={}))

    assert by_name(trace, stats, "geometry_id") == {"add": 2, "mul": 3}


def test_the_operator_that_gives_most_time_comes_first():
    trace = trace_of(
        ("aten::add", 0, 10),
        launch(1, 2, 1),
        ("aten::mul", 20, 10),
        launch(21, 2, 2),
        annotation("raw", 40, 10),
        launch(41, 2, 3),
        kernel("elementwise", 100, 5, 1),
        kernel("elementwise", 110, 50, 2),
        kernel("elementwise", 170, 7, 3),
        kernel("elementwise", 190, 900),
    )

    assert kernel_stats(trace).operators == (("aten::mul", "raw", "aten::add"),)


def test_copies_count_their_bytes_where_the_file_says_so():
    trace = trace_of(
        Row("Memcpy HtoD", 0, 200, "gpu_memcpy", "0", "7", n_bytes=1_048_576),
        Row("Memcpy HtoD", 300, 100, "gpu_memcpy", "0", "7"),
        Row("Memset", 500, 0, "gpu_memset", "0", "7"),
        kernel("add", 600, 9_000),
    )

    stats = memop_stats(trace)

    assert by_name(trace, stats, "total_ns") == {"Memcpy HtoD": 300, "Memset": 0}
    assert stats.calls.tolist() == [2, 1]
    assert stats.n_bytes.tolist() == [1_048_576, -1]


def test_a_trace_without_device_work_has_no_rows():
    trace = trace_of(("aten::mm", 0, 10))

    assert len(kernel_stats(trace)) == 0
    assert len(memop_stats(trace)) == 0
    assert kernel_stats(trace).operators == ()


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 1_000), st.integers(0, 100)), max_size=30
    )
)
def test_statistics_agree_with_the_standard_library(kernels):
    trace = trace_of(*(kernel(name, ts_ns, dur_ns) for name, ts_ns, dur_ns in kernels))
    stats = kernel_stats(trace)

    durations: dict[str, list[int]] = {}
    for name, _, dur_ns in kernels:
        durations.setdefault(name, []).append(dur_ns)
    measures: dict[str, Callable[[list[int]], float]] = {
        "calls": len,
        "total_ns": sum,
        "median_ns": statistics.median,
        "min_ns": min,
        "max_ns": max,
    }
    for column, expected in measures.items():
        assert by_name(trace, stats, column) == {n: expected(d) for n, d in durations.items()}
    assert sorted(stats.slice_ids.tolist()) == list(range(len(kernels)))
