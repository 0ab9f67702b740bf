"""The call tree, by instance and by path, worked out by hand."""

import numpy as np
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.call_tree import CallTree, instance_tree, merged_tree


def outline(tree: CallTree) -> list[tuple[int, str, int, int]]:
    """Return depth, name, calls and total of each row."""
    return [
        (
            int(tree.depth[row]),
            tree.names[int(tree.name_id[row])],
            int(tree.calls[row]),
            int(tree.total_ns[row]),
        )
        for row in range(len(tree))
    ]


def test_instances_stand_in_the_order_of_time() -> None:
    tree = instance_tree(trace_of(("b", 50, 10), ("a", 0, 40), ("c", 5, 9), ("c", 20, 9)))
    assert outline(tree) == [(0, "a", 1, 40), (1, "c", 1, 9), (1, "c", 1, 9), (0, "b", 1, 10)]
    assert tree.subtree_end.tolist() == [3, 2, 3, 4]
    assert tree.self_ns.tolist() == [22, 9, 9, 10]


def test_device_rows_and_frames_are_no_part_of_the_tree() -> None:
    trace = trace_of(
        Row("frame", 0, 50, "python_function"),
        ("aten::mm", 0, 40),
        launch(5, 3, 1),
        kernel("gemm", 60, 30, 1),
    )
    tree = instance_tree(trace)
    assert outline(tree) == [(0, "aten::mm", 1, 40), (1, "cudaLaunchKernel", 1, 3)]
    assert tree.device_total_ns.tolist() == [30, 0]
    assert tree.n_kernels.tolist() == [1, 0]
    assert tree.has_device


def test_subtrees_end_on_their_own_thread() -> None:
    tree = instance_tree(trace_of(Row("a", 0, 40, tid="1"), Row("b", 10, 10, tid="2")))
    assert tree.subtree_end.tolist() == [1, 2]
    assert not tree.has_device


def test_equal_paths_merge_and_the_longest_sibling_is_first() -> None:
    tree = merged_tree(
        trace_of(
            annotation("step", 0, 100),
            ("small", 5, 10),
            ("big", 20, 60),
            ("small", 30, 5),
            annotation("step", 200, 100),
            ("small", 210, 20),
            Row("step", 0, 7, tid="2"),
        )
    )
    assert outline(tree) == [
        (0, "step", 2, 200),
        (1, "big", 1, 60),
        (2, "small", 1, 5),
        (1, "small", 2, 30),
        (0, "step", 1, 7),
    ]
    assert tree.subtree_end.tolist() == [4, 3, 3, 4, 5]
    assert tree.self_ns.tolist() == [110, 55, 5, 30, 7]


def test_threads_merge_by_path() -> None:
    tree = merged_tree(trace_of(Row("a", 0, 40, tid="1"), Row("a", 10, 10, tid="2")))
    assert outline(tree) == [(0, "a", 2, 50)]


def test_merged_device_time() -> None:
    tree = merged_tree(
        trace_of(
            ("aten::mm", 0, 10),
            launch(2, 3, 1),
            ("aten::mm", 20, 10),
            launch(22, 3, 2),
            kernel("gemm", 60, 30, 1),
            kernel("gemm", 95, 31, 2),
        )
    )
    assert tree.device_self_ns.tolist() == [61, 0]
    assert tree.n_kernels.tolist() == [2, 0]


def test_empty_trace() -> None:
    assert len(instance_tree(trace_of())) == 0
    assert len(merged_tree(trace_of())) == 0


def test_data_frame_writes_names_and_kinds() -> None:
    frame = merged_tree(trace_of(annotation("step", 0, 100), ("f", 1, 5))).to_pandas()
    assert frame["name"].tolist() == ["step", "f"]
    assert frame["kind"].tolist() == ["annotation", "operator"]


@given(host_and_device_rows())
def test_both_trees_hold_the_same_time(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    single, merged = instance_tree(trace), merged_tree(trace)
    assert merged.calls.sum() == len(single)
    for column in ("total_ns", "self_ns", "device_total_ns", "device_self_ns", "n_kernels"):
        assert getattr(merged, column).sum() == getattr(single, column).sum()
    for tree in (single, merged):
        for row in range(len(tree)):
            end = int(tree.subtree_end[row])
            assert (tree.depth[row + 1 : end] > tree.depth[row]).all()
            assert end == len(tree) or tree.depth[end] <= tree.depth[row]
            assert tree.self_ns[row:end].sum() == tree.total_ns[row]
    assert (np.diff(single.slice_id) > 0).all()
