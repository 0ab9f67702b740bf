"""The call tree, by instance and by path, worked out by hand."""

import numpy as np
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.call_tree import (
    CallTree,
    calls_tree,
    equal_siblings_tree,
    instance_tree,
    merged_tree,
    paths_tree,
    sorted_tree,
)
from tracetui.analysis.slice_sums import slice_sums


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


def _loop() -> tuple[tuple[str, int, int], ...]:
    """Return three calls of ``layer``, of which two have the same below them, in a step."""
    return (
        ("step", 0, 100),
        ("layer", 0, 20), ("mm", 0, 5), ("add", 10, 5),
        ("layer", 30, 20), ("add", 30, 5), ("mm", 40, 5),
        ("layer", 60, 30), ("mm", 60, 10), ("add", 80, 5),
    )  # fmt: skip


def test_equal_siblings_are_one_row_where_all_below_them_is_equal() -> None:
    trace = trace_of(*_loop())
    tree = equal_siblings_tree(trace, slice_sums(trace))
    # The second layer adds before it multiplies: it stands alone, in its place in time.
    assert outline(tree) == [
        (0, "step", 1, 100),
        (1, "layer", 2, 50), (2, "mm", 2, 15), (2, "add", 2, 10),
        (1, "layer", 1, 20), (2, "add", 1, 5), (2, "mm", 1, 5),
    ]  # fmt: skip
    assert tree.times.tolist() == [1, 2, 1, 1, 1, 1, 1]
    assert tree.subtree_end.tolist() == [7, 4, 3, 4, 7, 6, 7]


def test_another_depth_is_another_subtree() -> None:
    # a(b(c)) and a(b, c) have the same names in the same order.
    trace = trace_of(("a", 0, 20), ("b", 0, 10), ("c", 0, 5), ("a", 30, 20), ("b", 30, 5),
                     ("c", 40, 5))  # fmt: skip
    assert equal_siblings_tree(trace, slice_sums(trace)).times.tolist() == [1] * 6


def test_input_shapes_tell_paths_and_siblings_apart() -> None:
    trace = trace_of(
        Row("mm", 0, 5, shape="[[2,3]]"), Row("mm", 10, 7, shape="[[4,4]]"),
        Row("mm", 20, 9, shape="[[2,3]]"),
    )  # fmt: skip
    sums = slice_sums(trace)
    assert outline(paths_tree(trace, sums)) == [(0, "mm", 3, 21)]
    by_shape = paths_tree(trace, sums, by_shape=True)
    assert outline(by_shape) == [(0, "mm", 2, 14), (0, "mm", 1, 7)]
    assert [by_shape.shapes[row] for row in by_shape.shape_id.tolist()] == ["[[2,3]]", "[[4,4]]"]
    assert equal_siblings_tree(trace, sums, by_shape=True).times.tolist() == [2, 1]
    assert equal_siblings_tree(trace, sums).times.tolist() == [3]


def test_a_part_of_the_calls_keeps_what_is_around_them() -> None:
    trace = trace_of(*_loop())
    chosen = np.array([trace.name_of(row) == "mm" for row in range(len(trace.slices))])
    sums = slice_sums(trace)
    assert outline(paths_tree(trace, sums, chosen)) == [
        (0, "step", 1, 100), (1, "layer", 3, 70), (2, "mm", 3, 20),
    ]  # fmt: skip
    calls = calls_tree(trace, sums, chosen)
    assert [name for _, name, _, _ in outline(calls)] == ["step"] + ["layer", "mm"] * 3
    assert calls.subtree_end.tolist() == [7, 3, 3, 5, 5, 7, 7]


def test_siblings_sort_by_any_weight_and_keep_what_is_below_them() -> None:
    tree = instance_tree(trace_of(("a", 0, 10), ("x", 0, 5), ("b", 20, 30), ("y", 20, 9),
                                  ("z", 40, 10)))  # fmt: skip
    sorted_one, order = sorted_tree(tree, tree.total_ns)
    assert outline(sorted_one) == [
        (0, "b", 1, 30), (1, "z", 1, 10), (1, "y", 1, 9), (0, "a", 1, 10), (1, "x", 1, 5),
    ]  # fmt: skip
    assert sorted_one.subtree_end.tolist() == [3, 2, 3, 5, 5]
    assert order.tolist() == [2, 4, 3, 0, 1]


@given(host_and_device_rows())
def test_every_tree_adds_up_to_the_same(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    sums = slice_sums(trace)
    whole = calls_tree(trace, sums)
    for tree in (
        paths_tree(trace, sums),
        equal_siblings_tree(trace, sums),
        sorted_tree(whole, whole.self_ns)[0],
    ):
        for column in ("calls", "self_ns", "device_self_ns", "total_ns", "n_kernels"):
            assert getattr(tree, column).sum() == getattr(whole, column).sum(), column
        assert (tree.subtree_end > np.arange(len(tree))).all()


@given(host_and_device_rows())
def test_equal_siblings_are_those_that_a_walk_finds(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    whole = instance_tree(trace)

    def below(row: int) -> list[int]:
        found, at = [], row + 1
        while at < int(whole.subtree_end[row]):
            found.append(at)
            at = int(whole.subtree_end[at])
        return found

    def told(row: int) -> tuple[object, ...]:
        return (
            int(whole.name_id[row]),
            int(whole.kind[row]),
            *(told(child) for child in below(row)),
        )

    def n_rows(groups: list[list[int]]) -> int:
        found = 0
        for members in groups:
            alike: dict[object, list[int]] = {}
            for row in members:
                alike.setdefault(told(row), []).append(row)
            found += len(alike)
            found += n_rows([[c for r in same for c in below(r)] for same in alike.values()])
        return found

    roots = [row for row in range(len(whole)) if not whole.depth[row]]
    assert len(equal_siblings_tree(trace, slice_sums(trace))) == n_rows([roots])
