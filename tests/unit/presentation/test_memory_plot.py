"""The memory chart: heights, axis, peak and times, counted in cells."""

from tests.literal import trace_of, with_memory
from tracetui.analysis.memory import MemoryCurve, memory_use
from tracetui.presentation.memory_plot import AXIS_WIDTH, chart_lines

WIDTH = AXIS_WIDTH + 40


def curve_of(*records: tuple[int, int, int, int]) -> MemoryCurve:
    """Return the curve of records of time, bytes, total allocated and total reserved."""
    use = memory_use(with_memory(trace_of(), *((*record, 1, 0) for record in records)))
    assert use is not None
    (curve,) = use.curves
    return curve


def drawn(curve: MemoryCurve, span: tuple[int, int] = (0, 39), height: int = 7) -> list[str]:
    lines = chart_lines(curve, curve.peak(), span, WIDTH, height)
    assert len(lines) == height
    return [line.text for line in lines]


def test_each_column_is_as_high_as_what_was_allocated_in_it() -> None:
    # Nothing, half, all from 20, a quarter from 30: four rows of eight eighths.
    curve = curve_of((10, 512, 512, 0), (20, 512, 1024, 0), (30, -768, 256, 0))
    peak, top, upper, lower, foot, times, held = drawn(curve)
    assert peak == " " * (AXIS_WIDTH + 20) + "▾ peak 1.0 KiB"
    assert top == "   1.0 KiB " + " " * 20 + "█" * 10 + " " * 10
    assert upper == " " * (AXIS_WIDTH + 20) + "█" * 10 + " " * 10
    assert lower == " " * (AXIS_WIDTH + 10) + "█" * 20 + " " * 10
    assert foot == "       0 B " + " " * 10 + "█" * 30
    assert held == ""
    assert times.split() == ["0", "ns", "19", "ns", "39", "ns"]


def test_a_little_is_seen_and_a_short_peak_is_not_lost() -> None:
    # 1 of 4096 bytes is less than an eighth of a cell; the peak lasts for 1 of 400 ns.
    curve = curve_of((0, 1, 1, 0), (200, 4095, 4096, 0), (201, -4095, 1, 0))
    *_, foot, _times, _held = drawn(curve, (0, 399))
    assert foot[AXIS_WIDTH:] == "▁" * 20 + "█" + "▁" * 19


def test_reserved_memory_is_a_line_above() -> None:
    curve = curve_of((0, 512, 512, 1024))
    _peak, top, *_, foot, _times, _held = drawn(curve)
    assert top == "   1.0 KiB " + "─" * 40
    assert foot.endswith("█" * 40)


def test_reserved_memory_far_above_is_said() -> None:
    curve = curve_of((0, 512, 512, 4096))
    peak, top, *_ = drawn(curve)
    assert peak == " " * AXIS_WIDTH + "▾ peak 512 B; reserved 4.0 KiB, above t…"
    assert top == "     512 B " + "█" * 40


def test_a_high_level_that_hardly_changes_is_drawn_from_near_its_foot() -> None:
    # 1000 to 1100: a quarter of the difference below 1000 is 975.
    curve = curve_of((0, 50, 1000, 0), (20, 100, 1100, 0))
    _peak, top, *_, foot, _times, _held = drawn(curve)
    assert top.startswith("   1.1 KiB ")
    assert foot.startswith("     975 B ")
    assert top[AXIS_WIDTH:] == " " * 20 + "█" * 20
    assert foot[AXIS_WIDTH:] == "▆" * 20 + "█" * 20


def test_a_peak_beyond_the_stretch_is_said_and_not_marked() -> None:
    curve = curve_of((10, 512, 512, 0), (30, -512, 0, 0))
    after = chart_lines(curve, curve.peak(), (20, 39), WIDTH, 6)[0]
    before = chart_lines(curve, curve.peak(), (0, 5), WIDTH, 6)[0]
    assert after.text.strip() == "peak 512 B; it lies before this stretch"
    assert before.text.strip() == "peak 512 B; it lies after this stretch"
    assert after.marks == ()


def test_a_peak_at_the_right_edge_has_its_words_on_the_left() -> None:
    curve = curve_of((39, 512, 512, 0))
    (line, *_) = chart_lines(curve, curve.peak(), (0, 39), WIDTH, 6)
    assert line.text.endswith("peak 512 B ▾")
    assert line.text.index("▾") == line.selected == AXIS_WIDTH + 39


def test_without_room_there_is_no_chart() -> None:
    curve = curve_of((0, 512, 512, 0))
    assert chart_lines(curve, curve.peak(), (0, 39), 29, 9) == []
    assert chart_lines(curve, curve.peak(), (0, 39), 80, 4) == []


def test_one_moment_is_a_chart_too() -> None:
    curve = curve_of((5, 512, 512, 0))
    assert drawn(curve, (5, 5))[-3].endswith("█")
