"""Forward and backward, worked out by hand."""

from dataclasses import replace

import numpy as np

from tests.literal import Row, trace_of
from tracetui.analysis.autograd import backward_of
from tracetui.model.flows import FlowTable
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace

ENGINE = "autograd::engine::evaluate_function: AddmmBackward0"
ROWS = (
    Row("aten::linear", 0, 30),
    Row("aten::addmm", 10, 15),
    Row(ENGINE, 400, 60, tid="2"),
    Row("AddmmBackward0", 405, 50, tid="2"),
    Row("aten::mm", 410, 20, tid="2"),
)
LINEAR, ADDMM, EVALUATE, BACKWARD, MM = range(5)


def with_sequence(trace: Trace, numbers: dict[int, int]) -> Trace:
    sequence = np.full(len(trace.slices), -1, np.int64)
    for row, number in numbers.items():
        sequence[row] = number
    return replace(trace, slices=replace(trace.slices, sequence=sequence), memo={})


def with_arrows(trace: Trace, category: str, *pairs: tuple[int, int]) -> Trace:
    starts, ends = zip(*pairs, strict=True)
    flows = FlowTable(
        np.full(len(pairs), len(trace.categories), np.int32),
        np.array(starts, np.int32),
        np.array(ends, np.int32),
    )
    categories = StringTable((*trace.categories.texts, category))
    return replace(trace, categories=categories, flows=flows, memo={})


def test_arrows_link_and_children_inherit() -> None:
    links = backward_of(with_arrows(trace_of(*ROWS), "fwdbwd", (ADDMM, EVALUATE)))
    assert links.forward_id.tolist() == [-1, -1, ADDMM, ADDMM, ADDMM]
    assert links.backward_id.tolist() == [-1, EVALUATE, -1, -1, -1]
    assert len(links) == 1


def test_arrow_to_the_node_counts_for_the_call_of_the_engine_around_it() -> None:
    links = backward_of(with_arrows(trace_of(*ROWS), "fwdbwd", (ADDMM, BACKWARD)))
    assert links.forward_id.tolist() == [-1, -1, ADDMM, ADDMM, ADDMM]
    assert links.backward_id[ADDMM] == EVALUATE


def test_arrows_of_launches_do_not_mix_in() -> None:
    links = backward_of(with_arrows(trace_of(*ROWS), "ac2g", (ADDMM, EVALUATE)))
    assert len(links) == 0


def test_sequence_numbers_link_where_there_are_no_arrows() -> None:
    """Two forward operators share the number: torch links the later one."""
    numbers = {LINEAR: 43, ADDMM: 43, EVALUATE: 43, BACKWARD: 43}
    links = backward_of(with_sequence(trace_of(*ROWS), numbers))
    assert links.forward_id.tolist() == [-1, -1, ADDMM, ADDMM, ADDMM]
    assert links.backward_id.tolist() == [-1, EVALUATE, -1, -1, -1]


def test_a_number_used_only_later_links_nothing() -> None:
    trace = trace_of(Row("MulBackward0", 0, 10, tid="2"), Row("aten::mul", 50, 10, tid="3"))
    assert len(backward_of(with_sequence(trace, {0: 5, 1: 5}))) == 0


def test_several_backward_operators_share_a_forward() -> None:
    trace = trace_of(
        Row("aten::mul", 0, 10),
        Row("MulBackward0", 50, 10, tid="2"),
        Row("MulBackward0", 30, 10, tid="3"),
    )
    links = backward_of(with_arrows(trace, "fwdbwd", (0, 1), (0, 2)))
    assert links.forward_id.tolist() == [-1, 0, 0]
    assert links.backward_id[0] == 2


def test_empty_trace() -> None:
    assert len(backward_of(trace_of())) == 0
