"""What the memory table says, without a screen."""

import numpy as np
import pytest

from tests.literal import Row, trace_of, with_memory
from tests.unit.analysis.test_allocations import CPU, GPU, id_of, step_of_training
from tracetui.errors import UsageError
from tracetui.format import TimeUnit
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.memory import NO_ADDRESSES, NO_RECORDS, MemoryTable
from tracetui.presentation.memory_peak import curve_of
from tracetui.presentation.memory_rows import BEFORE, OUTSIDE
from tracetui.presentation.scope import Scope
from tracetui.presentation.table import cell_width


def rows(table: MemoryTable, width: int = 200) -> list[list[str]]:
    return [table.line(place, width).split("  ") for place in range(table.n_rows())]


def cells(table: MemoryTable) -> dict[str, list[str]]:
    """Return each row's cells by its name."""
    return {
        row[0]: row[1:] for row in (table.table.cells(place) for place in range(table.n_rows()))
    }


def two_devices() -> Trace:
    return with_memory(
        trace_of(Row("aten::mm", 0, 100, shape="[[2,3],[3,4]]")),
        (10, 4096, 4096, 0, *CPU),
        (20, 1024, 1024, 2048, *GPU),
        (30, -1024, 0, 2048, *GPU),
        addresses=(1, 2, 2),
    )


def test_the_operators_and_the_rest_add_up_to_the_peak() -> None:
    table = MemoryTable.of(step_of_training())
    assert table.summary == "cuda:0 peak 5.9 KiB at 30 ns in aten::addmm, forward, ProfilerStep#4"
    found = cells(table)
    assert list(found)[:3] == [BEFORE, "aten::addmm", "aten::linear"]
    # At the peak, of it, self, total, asked for, blocks.
    assert found[BEFORE] == ["4.9 KiB", "83.3 %", "–", "–", "–", "–"]
    assert found["aten::addmm"] == ["700 B", "11.7 %", "-500 B", "100 B", "700 B", "2"]
    assert found["aten::linear"] == ["300 B", "5.0 %", "0 B", "400 B", "300 B", "1"]
    assert found["aten::empty"] == ["0 B", "0.0 %", "300 B", "300 B", "0 B", "0"]
    assert found[OUTSIDE] == ["0 B", "0.0 %", "–", "–", "7 B", "1"]
    # Blocks are put down to operators, never to the annotations around them.
    assert found["forward"] == ["–", "–", "-2.0 KiB", "-1.6 KiB", "–", "–"]


def test_each_row_leads_to_a_call() -> None:
    trace = step_of_training()
    table = MemoryTable.of(trace)
    place = table.place_of_slice(id_of(trace, "aten::addmm"))
    assert table.slice_at(place) == id_of(trace, "aten::addmm")
    assert table.slice_at(0) == NO_ID
    assert table.place_of_slice(NO_ID) == -1
    assert table.place_of_slice(len(trace.slices)) == -1


def test_the_blocks_of_the_peak_have_who_asked_and_how_long_they_lived() -> None:
    trace = step_of_training()
    table = MemoryTable.of(trace, page="blocks")
    assert table.summary == (
        "3 blocks in the cuda:0 peak 5.9 KiB at 30 ns in aten::addmm, forward, ProfilerStep#4"
    )
    lines = [table.table.cells(place) for place in range(table.n_rows())]
    assert lines == [
        ["aten::addmm", "600 B", "10.0 %", "23 ns", "15 ns"],
        ["aten::linear", "300 B", "5.0 %", "13 ns", "kept"],
        ["aten::addmm", "100 B", "1.7 %", "30 ns", "65 ns"],
    ]
    assert table.row_lines(0) == [
        "aten::addmm",
        "size       600 B, 10.0 % of the peak",
        "allocated  at 23 ns",
        "released   at 38 ns, after 15 ns",
        "in         ProfilerStep#4 > forward > aten::linear > aten::addmm > cudaMalloc",
    ]
    assert "released   not in this recording" in table.row_lines(1)
    # The slice that is selected has its largest block; another of the name stands for it.
    assert table.place_of_slice(id_of(trace, "aten::addmm")) == 0
    assert table.place_of_slice(id_of(trace, "aten::empty_like")) == -1


def test_what_lives_on_is_the_longest_lived() -> None:
    table = MemoryTable.of(step_of_training(), page="blocks")
    table.table.sort_by(4)
    assert [row[-1].strip() for row in rows(table)] == ["kept", "65 ns", "15 ns"]


def test_a_block_is_named_with_the_shapes_that_were_given() -> None:
    trace = two_devices()
    table = MemoryTable.of(trace, page="blocks")
    assert table.table.cells(0)[0] == "aten::mm [2,3]x[3,4]"


def test_a_block_that_no_operator_asked_for_is_outside() -> None:
    trace = with_memory(
        trace_of(Row("a", 50, 5)), (10, 8, 8, 0, *CPU), (20, 9, 17, 0, *CPU), addresses=(1, 2)
    )
    blocks = MemoryTable.of(trace, page="blocks")
    assert [blocks.table.cells(place)[0] for place in range(2)] == [OUTSIDE] * 2
    assert blocks.slice_at(0) == NO_ID
    table = MemoryTable.of(trace)
    assert cells(table) == {OUTSIDE: ["17 B", "100.0 %", "–", "–", "17 B", "2"]}
    assert table.row_lines(0) == [
        OUTSIDE,
        "at peak    17 B, 100.0 % of 17 B",
        "asked for  17 B in 2 blocks",
    ]
    assert table.chart(60, 8, 0, None)[-1].text.startswith("of the row")


def test_the_pane_says_what_ran_at_the_peak() -> None:
    table = MemoryTable.of(step_of_training())
    assert table.peak_lines() == [
        "The peak: 5.9 KiB at 30 ns",
        "reserved   7.8 KiB",
        "step       ProfilerStep#4",
        "annotation forward",
        "running    forward > aten::linear > aten::addmm",
    ]
    assert table.row_lines(1) == [
        "aten::addmm",
        "at peak    700 B, 11.7 % of 5.9 KiB",
        "asked for  700 B in 2 blocks",
        "self       -500 B, allocated less released",
        "total      100 B, with what it calls",
    ]
    assert table.row_lines(0)[1] == "at peak    4.9 KiB of 5.9 KiB"
    table.set_unit(TimeUnit.MICROSECONDS)
    assert table.peak_lines()[0] == "The peak: 5.9 KiB at 0.03 µs"
    assert table.chart(80, 8, 0, None)[-2].text.split()[-2:] == ["0.10", "µs"]


def test_an_annotation_says_where_its_blocks_are() -> None:
    trace = step_of_training()
    table = MemoryTable.of(trace)
    lines = table.row_lines(table.place_of_slice(id_of(trace, "forward")))
    assert lines[1:] == [
        "blocks are put down to the operators in it",
        "self       -2.0 KiB, allocated less released",
        "total      -1.6 KiB, with what it calls",
    ]


def test_a_range_has_its_own_peak_and_a_filter_its_own_rows() -> None:
    trace = step_of_training()
    table = MemoryTable.of(trace, Scope(span_ns=(55, 100)))
    # What was there at its start; addmm, which brought it, is over.
    assert table.summary == "cuda:0 peak of the range 5.3 KiB at 55 ns in forward, ProfilerStep#4"
    some = MemoryTable.of(trace, Scope("name:addmm"))
    assert list(cells(some)) == ["aten::addmm"]
    blocks = MemoryTable.of(trace, Scope("name:linear"), page="blocks")
    assert blocks.summary.startswith("1 block that pass the filter in the cuda:0 peak")
    assert blocks.n_rows() == 1
    none = MemoryTable.of(trace, Scope("name:nowhere"))
    assert none.n_rows() == 0
    assert none.empty_text == "Nothing was allocated that pass the filter."
    with pytest.raises(UsageError):
        MemoryTable.of(trace, Scope("dur>>5"))


def test_devices_take_turns_the_accelerator_first() -> None:
    trace = two_devices()
    first = MemoryTable.of(trace)
    assert first.summary == "cuda:0 peak 1.0 KiB at 20 ns in aten::mm; cpu 4.0 KiB (d)"
    assert (first.device, first.next_device()) == ("cuda:0", "cpu")
    second = MemoryTable.of(trace, device=first.next_device())
    assert second.summary == "cpu peak 4.0 KiB at 10 ns in aten::mm; cuda:0 1.0 KiB (d)"
    assert second.next_device() == "cuda:0"
    assert second.use is not None
    assert curve_of(second.use, "xpu:3").device == "cuda:0"


def test_without_records_the_flag_is_named() -> None:
    table = MemoryTable.of(trace_of(Row("a", 0, 5)))
    assert table.summary == NO_RECORDS
    assert NO_RECORDS == "no memory records in this file; profile_memory=True brings them"
    assert (table.n_rows(), table.device, table.next_device()) == (0, "", "")
    assert table.chart(80, 10, 0, None) == []
    assert table.row_lines(0) == table.peak_lines() == []
    assert table.place_of_slice(0) == -1
    assert table.empty_text == NO_RECORDS
    table.set_unit(TimeUnit.MILLISECONDS)
    assert table.header(60).startswith("operator")


def test_without_addresses_shares_of_the_peak_are_not_known() -> None:
    trace = with_memory(trace_of(Row("a", 0, 5)), (1, 8, 8, 0, *CPU), (2, -8, 0, 0, *CPU))
    table = MemoryTable.of(trace)
    assert cells(table) == {"a": ["–", "–", "0 B", "0 B", "8 B", "1"]}
    assert table.row_lines(0)[1] == "at peak    not known: this file has no addresses"
    blocks = MemoryTable.of(trace, page="blocks")
    assert (blocks.n_rows(), blocks.empty_text) == (0, NO_ADDRESSES)


@pytest.mark.parametrize("page", ["operators", "blocks"])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_rows_and_chart_fit_their_width(page, width) -> None:
    table = MemoryTable.of(step_of_training(), page=page)
    lines = [table.header(width), *(table.line(place, width) for place in range(table.n_rows()))]
    lines += [line.text for line in table.chart(width, 9, 1, None)]
    assert all(cell_width(line) <= width for line in lines)
    assert len(table.chart(width, 9, 1, None)) == 9


def test_the_chart_shows_the_range_else_what_the_timeline_shows() -> None:
    trace = step_of_training()
    whole = MemoryTable.of(trace).chart(60, 8, -1, None)
    window = MemoryTable.of(trace).chart(60, 8, -1, (20, 40))
    chosen = MemoryTable.of(trace, Scope(span_ns=(60, 100))).chart(60, 8, -1, (20, 40))
    assert [lines[-2].text.split() for lines in (whole, window, chosen)] == [
        ["0", "ns", "50", "ns", "100", "ns"],
        ["20", "ns", "30", "ns", "40", "ns"],
        ["60", "ns", "80", "ns", "100", "ns"],
    ]


def test_what_the_row_held_is_drawn_under_its_time() -> None:
    trace = step_of_training()
    table = MemoryTable.of(trace)
    place = table.place_of_slice(id_of(trace, "aten::addmm"))
    # One cell for each nanosecond from 0: from 23 on, more from 30, little from 38, until 95.
    strip = table.chart(111, 8, place, (0, 99))[-1].text[11:]
    assert len(strip) == 100
    assert strip[22] == " "
    assert set(strip[23:30]) == {"▇"}
    assert set(strip[30:38]) == {"█"}
    assert set(strip[38:95]) == {"▂"}
    assert set(strip[95:]) == {" "}
    assert table.chart(111, 8, 0, (0, 99))[-1].text == ""


def test_sorting_follows_amounts_and_unknown_comes_last() -> None:
    table = MemoryTable.of(step_of_training())
    titles = [column.title for column in table.columns]
    assert titles == ["operator", "at peak", "share", "self", "total", "asked for", "blocks"]
    table.table.sort_by(titles.index("total"))
    named = [table.table.cells(place)[0] for place in range(table.n_rows())]
    assert named[0] == "aten::linear"
    assert set(named[-2:]) == {OUTSIDE, BEFORE}
    assert np.array_equal(np.sort(table.table.order), np.arange(table.n_rows()))
