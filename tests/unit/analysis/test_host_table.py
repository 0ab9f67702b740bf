"""The flat table of host calls."""

from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.host_table import HostTable, host_table
from tracetui.analysis.operators import annotation_stats, operator_stats
from tracetui.analysis.slice_sums import slice_sums, slice_sums_within, touching
from tracetui.model.slices import SliceKind


def rows_of(table: HostTable) -> list[tuple[str, int, int, int]]:
    """Return name, calls, total and self of each row."""
    return [
        (
            table.names[int(table.name_id[row])],
            int(table.calls[row]),
            int(table.total_ns[row]),
            int(table.self_ns[row]),
        )
        for row in range(len(table))
    ]


def test_calls_of_one_name_and_kind_are_one_row_the_longest_first() -> None:
    trace = trace_of(
        annotation("mm", 0, 100), ("mm", 10, 20), ("mm", 40, 30), ("mm", 45, 10), kernel("k", 0, 9)
    )
    table = host_table(trace, slice_sums(trace))
    # A call inside a call of its name counts again: 20 + 30 + 10.
    assert rows_of(table) == [("mm", 1, 100, 50), ("mm", 3, 60, 50)]
    assert table.kind.tolist() == [SliceKind.ANNOTATION, SliceKind.OPERATOR]


def test_shapes_tell_calls_apart() -> None:
    trace = trace_of(
        Row("mm", 0, 5, shape="[[2,3]]"), Row("mm", 10, 7, shape="[[4,4]]"),
        Row("mm", 20, 9, shape="[[2,3]]"), ("mm", 30, 1),
    )  # fmt: skip
    table = host_table(trace, slice_sums(trace), by_shape=True)
    shapes = [table.shapes[row] if row >= 0 else None for row in table.shape_id.tolist()]
    assert list(zip(shapes, table.total_ns.tolist(), strict=True)) == [
        ("[[2,3]]", 14), ("[[4,4]]", 7), (None, 1),
    ]  # fmt: skip


def test_a_part_of_the_trace_adds_its_part() -> None:
    trace = trace_of(("a", 0, 100), ("b", 10, 20), ("b", 60, 20), launch(62, 5, 1))
    sums = slice_sums_within(trace, 50, 70)
    table = host_table(trace, sums, touching(trace, 50, 70))
    assert rows_of(table) == [("a", 1, 20, 10), ("b", 1, 10, 5), ("cudaLaunchKernel", 1, 5, 5)]


def test_nothing_has_no_rows() -> None:
    assert len(host_table(trace_of(), slice_sums(trace_of()))) == 0


@given(host_and_device_rows())
def test_the_whole_says_what_the_statistics_by_name_say(rows: list[Row]) -> None:
    trace = trace_of(*rows)
    table = host_table(trace, slice_sums(trace))
    for kind, stats in (
        (SliceKind.OPERATOR, operator_stats(trace)),
        (SliceKind.ANNOTATION, annotation_stats(trace)),
    ):
        own = table.kind == kind
        for column in ("calls", "total_ns", "self_ns", "device_total_ns", "device_self_ns"):
            expected = getattr(stats, column)
            if expected is not None:
                found = dict(
                    zip(table.name_id[own].tolist(), getattr(table, column)[own], strict=True)
                )
                assert found == dict(zip(stats.name_id.tolist(), expected, strict=True)), column
