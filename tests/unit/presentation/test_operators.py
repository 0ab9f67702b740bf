"""What the operator tree and the flat table say, without a screen."""

import pytest

from tests.literal import Row, kernel, launch, trace_of
from tracetui.errors import UsageError
from tracetui.format import TimeUnit
from tracetui.presentation.operators import OperatorTable, OperatorTree, Shape, shape_text
from tracetui.presentation.scope import Scope


def device_trace():
    """``mm`` of 100 us launches 30 us of gemm; ``add`` of 50 us launches 10 us; ``view`` nothing."""
    return trace_of(
        Row("aten::mm", 0, 100_000, shape="[[2,3],[3,4],[]]"),
        launch(10_000, 5_000, 1),
        Row("aten::add", 200_000, 50_000, shape="[[2,4],[2,4]]"),
        launch(210_000, 5_000, 2),
        ("aten::view", 300_000, 2_000),
        kernel("gemm", 50_000, 30_000, 1),
        kernel("adder", 220_000, 10_000, 2),
    )


def names(content: OperatorTree | OperatorTable) -> list[str]:
    if isinstance(content, OperatorTree):
        return [content.name(int(node)) for node in content.tree.rows()]
    return [content.name(place) for place in range(len(content.table))]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[8192,768],[768,3072],[]]", "[8192,768]x[768,3072]"),
        ("[[],[]]", "[]"),
        ("[[[2,3],[4,5]],[]]", "[[2,3],[4,5]]"),
        ("not json", "not json"),
    ],
)
def test_shapes_read_as_extents(text: str, shown: str) -> None:
    assert shape_text(text) == shown


def test_the_tree_says_how_many_calls_launch_nothing() -> None:
    tree = OperatorTree.of(device_trace())
    # view and the two launch calls themselves own no kernel.
    assert tree.summary == "5 host slices in 5 rows, merged by path; 3 launch no kernel"
    tree.toggle_without_kernels()
    assert names(tree) == ["aten::mm", "aten::add"]
    assert tree.summary.endswith("3 launch no kernel, hidden")


def test_rows_show_shapes_where_these_tell_them_apart() -> None:
    trace = device_trace()
    assert "[2,3]x[3,4]" not in OperatorTree.of(trace).line(0, 120)
    tree = OperatorTree.of(trace, by_shape=True)
    assert tree.line(0, 120).startswith("▾ aten::mm  [2,3]x[3,4]")
    assert tree.summary.startswith("5 host slices in 5 rows, merged by path and input shapes")


def test_equal_siblings_say_how_many_they_are() -> None:
    trace = trace_of(*(("aten::mm", 10 * at, 5) for at in range(12)))
    tree = OperatorTree.of(trace, Shape.EQUAL_SIBLINGS)
    assert tree.line(0, 100).startswith("  12x aten::mm  ")
    assert tree.summary.startswith("12 host slices in 1 rows, by instance, equal siblings as one")


def test_siblings_sort_by_the_columns_in_sight_then_by_their_own_order() -> None:
    tree = OperatorTree.of(device_trace())
    tree.tree.close_all()
    orders = []
    for _ in range(7):
        tree.sort_by_next(140)
        orders.append(names(tree))
    by_time = ["aten::mm", "aten::add", "aten::view"]
    assert orders[0] == by_time, "all called once"
    assert orders[3] == by_time, "30 us, 10 us, nothing"
    assert tree.sort_column is None
    tree.invert()
    assert names(tree) == by_time[::-1]
    assert "operator▴" in tree.header(140)


def test_what_was_open_stays_open_when_the_order_changes() -> None:
    tree = OperatorTree.of(device_trace())
    tree.tree.close_all()
    tree.tree.toggle(0)
    tree.invert()
    assert names(tree) == ["aten::view", "aten::add", "aten::mm", "cudaLaunchKernel"]


def test_the_flat_table_starts_with_the_most_device_time() -> None:
    table = OperatorTable.of(device_trace())
    assert names(table) == ["aten::mm", "aten::add", "cudaLaunchKernel", "aten::view"]
    assert table.summary == "5 host slices in 4 rows, by name"
    table.toggle_without_kernels()
    assert names(table) == ["aten::mm", "aten::add"]


def test_without_a_device_dashes_stand_for_its_times() -> None:
    table = OperatorTable.of(trace_of(("aten::mm", 0, 5_000)))
    assert table.summary.endswith("CPU only: no GPU activity in this file")
    assert table.table.line(0, 120).split() == ["aten::mm", "1", "5.00", "µs", "5.00", "µs",
                                                "–", "–", "–", "operator"]  # fmt: skip


def test_a_filter_keeps_calls_that_match_and_what_launched_a_matching_kernel() -> None:
    trace = device_trace()
    assert names(OperatorTree.of(trace, scope=Scope("name:view"))) == ["aten::view"]
    assert names(OperatorTree.of(trace, scope=Scope("gemm"))) == ["aten::mm", "cudaLaunchKernel"]
    assert names(OperatorTable.of(trace, Scope("dur>=50us cat:cpu_op"))) == [
        "aten::mm", "aten::add",
    ]  # fmt: skip
    nothing = OperatorTree.of(trace, scope=Scope("name:nowhere"))
    assert nothing.summary == "0 host slices that pass the filter"
    with pytest.raises(UsageError):
        OperatorTree.of(trace, scope=Scope("dur>fast"))


def test_a_range_counts_what_lies_in_it_and_says_so() -> None:
    tree = OperatorTree.of(device_trace(), scope=Scope(span_ns=(60_000, 205_000)))
    assert tree.summary.startswith("2 host slices in 2 rows in the range, merged by path")
    assert names(tree) == ["aten::mm", "aten::add"]
    # 60-100 us of the call, 60-80 us of its kernel.
    assert tree.line(0, 120).split()[1:] == ["1", "40.00", "µs", "40.00", "µs",
                                             "20.00", "µs", "20.00", "µs", "1"]  # fmt: skip


def test_units_are_fixed_down_the_column_and_stand_in_its_title() -> None:
    tree = OperatorTree.of(device_trace())
    tree.set_unit(TimeUnit.MICROSECONDS)
    assert "CPU total µs" in tree.header(140)
    assert " 100.00 " in tree.line(0, 140)
    assert "µs" not in tree.line(0, 140)


def test_a_slice_leads_to_its_row_and_a_kernel_to_its_operators() -> None:
    trace = device_trace()
    gemm = next(row for row in range(len(trace.slices)) if trace.name_of(row) == "gemm")
    tree, table = OperatorTree.of(trace), OperatorTable.of(trace, by_shape=True)
    assert tree.name(tree.node_of(gemm)) == "aten::mm"
    assert table.name(table.place_of_slice(gemm)) == "aten::mm"
    assert (tree.node_of(-1), table.place_of_slice(999)) == (-1, -1)
