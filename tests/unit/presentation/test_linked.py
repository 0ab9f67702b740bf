"""What belongs to a slice, in few words."""

from tests.literal import kernel, launch, trace_of
from tracetui.analysis.links import links
from tracetui.model.arrays import NO_ID
from tracetui.presentation.linked import MAX_LINKED, link_texts, linked_ids


def names(trace, slice_id):
    return [trace.name_of(each) for each in linked_ids(trace, links(trace), slice_id)]


def row(trace, name):
    return next(each for each in range(len(trace.slices)) if trace.name_of(each) == name)


def test_an_operator_its_call_and_its_work_know_each_other():
    trace = trace_of(
        ("aten::mm", 0, 20_000), launch(1_000, 4_000, 1), kernel("gemm", 8_000, 90_000, 1)
    )

    assert names(trace, row(trace, "aten::mm")) == ["gemm"]
    assert names(trace, row(trace, "cudaLaunchKernel")) == ["gemm"]
    assert names(trace, row(trace, "gemm")) == ["cudaLaunchKernel", "aten::mm"]
    assert link_texts(trace, links(trace), row(trace, "aten::mm")) == [
        "device work below: 1, 90.00 µs"
    ]
    assert link_texts(trace, links(trace), row(trace, "gemm")) == [
        "launched by aten::mm",
        "launch 4.00 µs",
        "queued 3.00 µs",
    ]


def test_work_of_a_call_without_an_operator_is_launched_by_the_call():
    trace = trace_of(launch(0, 10, 1), kernel("early", 5, 10, 1))

    # It started before its call returned: nothing was queued.
    assert link_texts(trace, links(trace), row(trace, "early")) == [
        "launched by cudaLaunchKernel",
        "launch 10 ns",
    ]


def test_nothing_belongs_to_nothing():
    trace = trace_of(("aten::view", 0, 10), kernel("alone", 0, 5))
    link = links(trace)

    assert linked_ids(trace, link, NO_ID) == []
    assert link_texts(trace, link, NO_ID) == []
    assert link_texts(trace, link, row(trace, "aten::view")) == []
    assert link_texts(trace, link, row(trace, "alone")) == []
    assert linked_ids(trace, link, row(trace, "alone")) == []


def test_no_more_than_can_be_marked():
    n = MAX_LINKED + 10
    trace = trace_of(
        ("aten::mm", 0, 100), launch(0, 1, 1), *(kernel("k", 10 + each, 1, 1) for each in range(n))
    )

    assert len(names(trace, row(trace, "aten::mm"))) == MAX_LINKED
