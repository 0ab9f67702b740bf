"""Sums by name, worked out by hand."""

from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.operators import (
    NameStats,
    annotation_stats,
    merged_annotation_stats,
    merged_operator_stats,
    operator_stats,
    operator_stats_by_shape,
    other_stats,
    python_stats,
    runtime_stats,
)


def figures(stats: NameStats, name: str) -> tuple[int, int, int, int]:
    """Return calls, total, self and total of the outermost calls."""
    row = stats.row_of(name)
    assert row >= 0
    columns = (stats.calls, stats.total_ns, stats.self_ns, stats.outer_total_ns)
    calls, total_ns, self_ns, outer_ns = (int(column[row]) for column in columns)
    return calls, total_ns, self_ns, outer_ns


def device_figures(stats: NameStats, name: str) -> tuple[int, int, int]:
    row = stats.row_of(name)
    assert stats.device_total_ns is not None
    assert stats.device_self_ns is not None
    assert stats.n_kernels is not None
    return (
        int(stats.device_total_ns[row]),
        int(stats.device_self_ns[row]),
        int(stats.n_kernels[row]),
    )


def test_calls_total_and_self_by_name_longest_first() -> None:
    stats = operator_stats(
        trace_of(
            ("aten::t", 200, 5),
            ("aten::linear", 0, 100),
            ("aten::addmm", 10, 40),
            ("aten::addmm", 60, 20),
        )
    )
    names = [stats.names[name_id] for name_id in stats.name_id.tolist()]
    assert names == ["aten::linear", "aten::addmm", "aten::t"]
    assert figures(stats, "aten::linear") == (1, 100, 40, 100)
    assert figures(stats, "aten::addmm") == (2, 60, 60, 60)
    assert stats.device_total_ns is None
    assert stats.row_of("aten::none") == -1


def test_recursion_counts_every_level_and_the_outermost_once() -> None:
    stats = operator_stats(
        trace_of(("f", 0, 100), ("g", 10, 80), ("f", 20, 30), ("f", 60, 20), ("f", 200, 7))
    )
    assert figures(stats, "f") == (4, 157, 77, 107)


def test_device_time_by_name() -> None:
    trace = trace_of(
        ("aten::linear", 0, 100),
        ("aten::addmm", 10, 40),
        launch(20, 10, 5),
        launch(60, 10, 6),
        kernel("gemm", 200, 30, 5),
        kernel("bias", 240, 4, 6),
    )
    stats = operator_stats(trace)
    assert device_figures(stats, "aten::linear") == (34, 4, 2)
    assert device_figures(stats, "aten::addmm") == (30, 30, 1)
    assert device_figures(runtime_stats(trace), "cudaLaunchKernel") == (34, 34, 2)
    assert figures(stats, "aten::addmm") == (1, 40, 30, 40)


def test_each_kind_has_its_own_table() -> None:
    trace = trace_of(
        annotation("mark", 0, 90),
        ("mark", 10, 40),
        launch(20, 3, 1),
        Row("frame", 0, 50, "python_function"),
        Row("unknown", 0, 60, "somebody's own"),
    )
    assert figures(annotation_stats(trace), "mark") == (1, 90, 50, 90)
    assert figures(operator_stats(trace), "mark") == (1, 40, 37, 40)
    assert figures(runtime_stats(trace), "cudaLaunchKernel") == (1, 3, 3, 3)
    assert figures(python_stats(trace), "frame") == (1, 50, 50, 50)
    assert figures(other_stats(trace), "unknown") == (1, 60, 60, 60)


def test_shapes_split_a_name() -> None:
    stats = operator_stats_by_shape(
        trace_of(
            Row("aten::mm", 0, 10, shape="[[2,3],[3,4]]"),
            Row("aten::mm", 20, 50, shape="[[9,9],[9,9]]"),
            Row("aten::mm", 80, 10, shape="[[2,3],[3,4]]"),
            ("aten::mm", 100, 1),
        )
    )
    shapes = [None if s < 0 else stats.shapes[s] for s in stats.shape_id.tolist()]
    assert shapes == ["[[9,9],[9,9]]", "[[2,3],[3,4]]", None]
    assert stats.calls.tolist() == [1, 2, 1]
    assert stats.total_ns.tolist() == [50, 20, 1]
    written = stats.to_pandas()["shape"]
    assert written.tolist()[:2] == shapes[:2]
    assert written.isna().tolist() == [False, False, True]


def test_torch_folds_a_chain_of_only_children_into_one_call() -> None:
    trace = trace_of(("f", 0, 100), ("f", 10, 80), ("f", 20, 60), ("g", 30, 10), ("h", 50, 5))
    assert figures(operator_stats(trace), "f") == (3, 240, 85, 100)
    assert figures(merged_operator_stats(trace), "f") == (1, 100, 85, 100)


def test_torch_does_not_fold_beside_a_sibling() -> None:
    """A launch, like any other child, is a sibling too."""
    trace = trace_of(("f", 0, 100), ("f", 10, 50), launch(70, 5, 1))
    assert figures(merged_operator_stats(trace), "f") == (2, 150, 95, 100)


def test_folded_calls_keep_their_device_time_once() -> None:
    trace = trace_of(("f", 0, 100), ("f", 10, 50), launch(20, 5, 1), kernel("k", 90, 8, 1))
    assert device_figures(operator_stats(trace), "f") == (16, 8, 2)
    assert device_figures(merged_operator_stats(trace), "f") == (8, 8, 1)


def test_annotations_fold_as_operators_do() -> None:
    trace = trace_of(annotation("r", 0, 100), annotation("r", 10, 50), ("f", 20, 5))
    assert figures(merged_annotation_stats(trace), "r") == (1, 100, 95, 100)


def test_data_frame_has_names_and_numbers() -> None:
    frame = operator_stats(trace_of(("aten::mm", 0, 10))).to_pandas()
    assert frame["name"].tolist() == ["aten::mm"]
    assert frame["total_ns"].tolist() == [10]
    assert "name_id" not in frame


def test_empty_trace() -> None:
    trace = trace_of()
    assert len(operator_stats(trace)) == 0
    assert len(merged_operator_stats(trace)) == 0
    assert len(operator_stats_by_shape(trace)) == 0


@given(host_and_device_rows())
def test_folding_loses_no_time_and_no_device_work(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    plain = (operator_stats(trace), annotation_stats(trace))
    merged = (merged_operator_stats(trace), merged_annotation_stats(trace))
    assert sum(s.self_ns.sum() for s in plain) == sum(s.self_ns.sum() for s in merged)
    for before, after in zip(plain, merged, strict=True):
        assert after.calls.sum() <= before.calls.sum()
        assert (before.outer_total_ns <= before.total_ns).all()
        if before.device_self_ns is None:
            assert after.device_self_ns is None
    own = [s.device_self_ns for s in (*plain, *merged) if s.device_self_ns is not None]
    if own:
        assert own[0].sum() + own[1].sum() == own[2].sum() + own[3].sum()
