"""What the kernel table says, without a screen."""

from tests.literal import Row, kernel, launch, trace_of
from tracetui.format import TimeUnit
from tracetui.presentation.kernels import KernelTable, histogram, history
from tracetui.presentation.scope import Scope


def copy(ts_ns: int, dur_ns: int, n_bytes: int) -> Row:
    return Row("Memcpy HtoD", ts_ns, dur_ns, "gpu_memcpy", "0", "7", n_bytes=n_bytes)


def device_trace():
    """Two gemms of 40 us and one of 100 us, 20 us of relu, 10 us of copies."""
    return trace_of(
        ("aten::mm", 0, 5_000), launch(1_000, 2_000, 1),
        kernel("gemm", 10_000, 40_000, 1), kernel("gemm", 60_000, 40_000),
        kernel("gemm", 200_000, 100_000), kernel("relu", 310_000, 20_000),
        copy(340_000, 4_000, 1024), copy(350_000, 6_000, 3072),
    )  # fmt: skip


def rows(table: KernelTable, width: int = 200) -> list[str]:
    return [table.table.line(place, width) for place in range(len(table.table))]


def test_copies_are_rows_with_what_they_moved_and_can_be_left_out() -> None:
    table = KernelTable.of(device_trace())
    assert table.summary == ("4 kernels, 2 copies, 3 names: 210.00 µs in sum, 85.7 % in gemm")
    assert [row.split()[0] for row in rows(table)] == ["gemm", "relu", "Memcpy"]
    assert "4.0 KiB" in rows(table, 260)[2]
    alone = KernelTable.of(device_trace(), with_copies=False)
    assert alone.summary.startswith("4 kernels, 2 names: 200.00 µs")


def test_a_filter_and_a_range_restrict_the_runs_that_count() -> None:
    long = KernelTable.of(device_trace(), Scope("dur>50us cat:kernel"))
    assert long.summary == (
        "1 kernel, 1 name that pass the filter: 100.00 µs in sum, 100.0 % in gemm"
    )
    part = KernelTable.of(device_trace(), Scope(span_ns=(80_000, 250_000)))
    # 80-100 us of the second gemm, 200-250 us of the third.
    assert part.summary.startswith("2 kernels, 1 name in the range: 70.00 µs in sum")
    assert part.distribution(0, 80)[2].startswith("mean 35.00 µs  median 35.00 µs")
    assert KernelTable.of(device_trace(), Scope("nothing")).summary == (
        "0 kernels that pass the filter"
    )


def test_columns_that_have_no_room_are_counted_in_the_title() -> None:
    table = KernelTable.of(device_trace()).table
    assert "grid" in table.header(280)
    assert "columns: S" not in table.header(280)
    # 80 cells leave 54 for columns: class, calls, sum and share take 40, median would make it 52.
    narrow = table.header(80)
    assert "grid" not in narrow
    assert "columns: S" in narrow
    titles = [column.title for column in table.columns]
    table.hidden = frozenset(titles.index(each) for each in ("class", "share", "median", "mean"))
    assert "min" in table.header(80)


def test_sorting_goes_through_the_columns_in_sight() -> None:
    table = KernelTable.of(device_trace()).table
    seen = []
    for _ in range(len(table.in_sight(80)) + 1):
        table.sort_by_next(80)
        seen.append(table.columns[table.sort_column].title)
    assert seen[-1] == "sum", "all round once"
    assert "grid" not in seen


def test_times_in_one_unit_line_up() -> None:
    table = KernelTable.of(device_trace())
    table.set_unit(TimeUnit.MILLISECONDS)
    assert "sum ms▾" in table.table.header(120)
    assert "0.1800" in rows(table, 120)[0]
    assert len({len(row) for row in rows(table, 120)}) == 1


def test_a_row_leads_to_its_longest_run() -> None:
    trace = device_trace()
    table = KernelTable.of(trace)
    assert int(trace.slices.ts_ns[table.slice_at(0)]) == 200_000
    assert table.place_of_slice(table.slice_at(1)) == 1
    assert table.place_of_slice(-1) == -1


def test_the_distribution_warns_where_the_mean_misleads() -> None:
    trace = trace_of(*(kernel("k", 1_000 * at, 10) for at in range(9)), kernel("k", 90_000, 900))
    lines = KernelTable.of(trace).distribution(0, 80)
    # (9 x 10 + 900) / 10.
    assert lines[:3] == [
        "k",
        "launched by no operator in this file",
        "mean 99 ns  median 10 ns; the mean misleads: a few runs are long",
    ]


def test_bars_never_lose_what_is_not_zero() -> None:
    dur_ns = KernelTable.of(device_trace()).inside_ns[:1].repeat(3)
    assert history(dur_ns, 10) == "███"
    assert histogram(dur_ns).strip() == "█"


def test_a_row_says_whose_kernel_it_is_and_whether_it_uses_tensor_cores() -> None:
    names = ("ampere_sgemm_128x64_tn", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "my_kernel")
    trace = trace_of(*(kernel(name, 1_000 * at, 900 - at) for at, name in enumerate(names)))
    table = KernelTable.of(trace)
    assert [row.split()[-2:] for row in rows(table, 300)] == [
        ["no", "cublas"],
        ["yes", "nvjet"],
        ["–", "–"],
    ]
