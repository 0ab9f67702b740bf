"""The pages of a comparison, on the MLP whose figures are known: gelu and mul become one kernel."""

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tracetui.compare.comparison import comparison
from tracetui.compare.trees import merged_tree
from tracetui.diagnosis.engine import findings
from tracetui.model.arrays import NO_ID
from tracetui.presentation.comparison.pieces import PiecesPage
from tracetui.presentation.comparison.tree import TreePage
from tracetui.presentation.comparison.why import DifferingFindings, WhyPage
from tracetui.presentation.lit import lit_spans
from tracetui.presentation.table import cell_width

N_STEPS = 3
WIDTHS = (20, 76, 96, 180)


@pytest.fixture(scope="module")
def fused():
    return comparison(steps_of(*[mlp()] * N_STEPS), steps_of(*[compiled_mlp()] * N_STEPS))


@pytest.fixture(scope="module")
def equal():
    return comparison(steps_of(*[mlp()] * N_STEPS), steps_of(*[mlp()] * N_STEPS))


def why(compared):
    sides = (compared.baseline.trace, compared.candidate.trace)
    return WhyPage(compared, DifferingFindings.of(*(findings(trace) for trace in sides)))


def pages(compared):
    return (why(compared), PiecesPage(compared), TreePage.of(compared))


def texts(page, width=100):
    return [page.line(row, width).text for row in range(page.n_lines(width))]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_window(fused, width):
    for page in pages(fused):
        assert all(cell_width(text) <= max(width, 60) for text in texts(page, width))
        assert cell_width(page.titles(width)) <= width
        for row in range(page.n_lines(width)):
            assert page.details(row, width)


def test_why_begins_with_the_answer_and_shows_what_fusing_saved(fused):
    lines = texts(why(fused))

    assert lines[0].startswith("B is 1.15x faster on the GPU (−96.00 µs of 735.00 µs per step")
    assert any("fused" in line and "−96.00 µs" in line and "█" in line for line in lines)


def test_why_lists_a_difference_with_both_slices(fused):
    page = why(fused)
    row = page.row_of_match(fused.differences[0], 100)
    line = page.line(row, 100)

    assert line.text.split() == [
        "fused",
        "−96.00",
        "µs",
        "gelu",
        "and",
        "mul",
        "→",
        "triton",
        "gelu",
        "mul",
    ] or (line.text.split()[:3] == ["fused", "−96.00", "µs"])
    assert fused.baseline.trace.name_of(line.baseline_id).startswith("vectorized_elementwise")
    assert fused.candidate.trace.name_of(line.candidate_id).startswith("triton_poi_fused")


def test_why_tells_the_kernels_of_one_operator_apart():
    def recording(first_ns, second_ns):
        kernels = (("scan_kernel", first_ns), ("sort_kernel", second_ns))
        return steps_of(*[[op("aten::topk", *kernels)]] * N_STEPS)

    lines = texts(why(comparison(recording(90_000, 50_000), recording(10_000, 20_000))), 160)
    assert any(line.strip().startswith("faster") and "topk: scan_kernel" in line for line in lines)
    assert any(line.strip().startswith("faster") and "topk: sort_kernel" in line for line in lines)


def test_why_of_equal_traces_says_that_nothing_differs(equal):
    lines = texts(why(equal))

    assert lines[0].startswith("No change on the GPU")
    assert any(line.startswith("Nothing differs") for line in lines)


def test_pieces_put_braces_around_what_became_one_kernel(fused):
    lines = texts(PiecesPage(fused), 120)
    group = [line for line in lines if "⎧" in line or "⎩" in line]

    assert len(group) == 2
    assert group[0].startswith("fused")
    assert "gelu" in group[0]
    assert "mul" in group[1]
    assert group[0].rstrip().endswith("−96.00 µs")
    assert len(lines) == 5


BEFORE = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
AFTER = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_32x5_tn"


@pytest.fixture(scope="module")
def swapped():
    before, after = (
        steps_of(*[[op("aten::mm", (name, 90_000))]] * N_STEPS) for name in (BEFORE, AFTER)
    )
    return comparison(before, after)


def lit(line):
    return [line[start:stop] for start, stop in lit_spans(line)]


@pytest.mark.parametrize("width", [79, 119, 199])
def test_only_the_words_in_which_two_kernels_differ_are_lit(swapped, width):
    line = PiecesPage(swapped).line(0, width)

    assert line.text.startswith("other")
    assert [line.text[start:stop] for start, stop in line.lit] == ["128x128", "128x256"]


def test_details_and_the_answer_light_the_whole_names_differing_words(swapped):
    details = PiecesPage(swapped).details(0, 80)
    page = why(swapped)
    difference = page.line(page.row_of_match(0, 100), 100).text

    assert [lit(line) for line in details if line in (f"A: {BEFORE}", f"B: {AFTER}")] == [
        ["128x128"],
        ["128x256"],
    ]
    assert difference.startswith("  other")
    assert lit(difference) == ["128x128", "128x256"]


def test_what_is_the_same_or_fused_is_dark(fused):
    page = PiecesPage(fused)
    assert all(not page.line(row, 119).lit for row in range(page.n_lines(119)))


def test_a_narrow_page_leaves_the_names_room_for_the_second_time(swapped):
    narrow, wide = (PiecesPage(swapped).line(0, width).text for width in (79, 199))

    assert narrow.count("90.00 µs") == 1
    assert wide.count("90.00 µs") == 2
    assert "mm: ampere" in wide
    assert "mm: ampere" not in narrow


def test_only_differences_leave_the_fused_group(fused):
    page = PiecesPage(fused)
    page.show_only_differences(wanted=True)

    assert page.n_lines(120) == 2
    page.show_only_differences(wanted=False)
    assert page.n_lines(120) == 5


def test_tree_has_the_largest_difference_first_and_marks_one_sided_nodes(fused):
    lines = texts(TreePage.of(fused), 200)

    assert "only" in lines[0]
    assert any("aten::gelu" in line and "only A" in line for line in lines)
    assert any("triton_poi_fused" in line and "only B" in line for line in lines)


def test_closing_a_node_hides_what_is_below_it(fused):
    page = TreePage.of(fused)
    n_all = page.n_lines(120)
    row = next(row for row in range(n_all) if "▾" in page.line(row, 120).text)

    page.toggle(row)
    assert page.n_lines(120) < n_all
    assert "▸" in page.line(row, 120).text
    page.toggle(row)
    assert page.n_lines(120) == n_all


def test_the_tree_names_kernels_shortly():
    long_name = "void cudnn::ops::scale_kernel<float>(float*, float const*, int)"
    recording = steps_of(*[[op("aten::mul", (long_name, 5_000))]] * N_STEPS)
    page = TreePage.of(comparison(recording, recording))

    lines = texts(page, 180)
    assert any("scale_kernel" in line for line in lines)
    assert not any("void " in line or "const*" in line for line in lines)


def test_merged_tree_holds_every_piece_of_work_once(fused):
    def units(nodes):
        for node in nodes:
            if node.is_unit:
                yield node
            yield from units(node.children)

    found = list(units(merged_tree(fused)))
    sides = [
        sorted(side.slice_id for side in (getattr(node, name) for node in found) if side)
        for name in ("baseline", "candidate")
    ]

    assert sides[0] == sorted(unit.slice_id for unit in fused.baseline_work.units)
    assert sides[1] == sorted(unit.slice_id for unit in fused.candidate_work.units)


def test_equal_traces_have_no_one_sided_node(equal):
    def nodes(level):
        for node in level:
            yield node
            yield from nodes(node.children)

    assert all(node.baseline and node.candidate for node in nodes(merged_tree(equal)))
    assert all(node.gpu_delta_ns == 0 for node in nodes(merged_tree(equal)))


def test_recordings_without_work_have_pages_too():
    empty = comparison(steps_of([op("aten::view")]), steps_of([op("aten::view")]))

    for page in pages(empty):
        for row in range(page.n_lines(80)):
            line = page.line(row, 80)
            assert line.baseline_id >= NO_ID
