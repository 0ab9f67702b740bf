"""The verdict in words: the figures, the range they are about, and what they leave out."""

from dataclasses import replace

import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.bound import bound
from tracetui.analysis.utilization import utilization
from tracetui.presentation.bound import (
    bound_sentence,
    device_title,
    evidence,
    holder_text,
    worth_naming,
)
from tracetui.presentation.overview import overview_lines


def sentence(trace, **options):
    return bound_sentence(trace, utilization(trace), **options)


def test_a_busy_device_that_waits_a_little_says_how_much():
    trace = trace_of(
        launch(0, 10, 1), launch(90_000, 5_000, 2),
        kernel("gemm", 0, 90_000, 1), kernel("gemm", 96_000, 4_000, 2),
    )  # fmt: skip

    assert sentence(trace) == (
        "Compute-bound: the device is busy 94.0 % of the time and waits 5.0 % for the host,"
        " from its first to its last device work (100.00 µs)"
    )


def test_what_is_left_out_is_named_and_can_be_counted():
    trace = trace_of(
        kernel("a", 0, 30_000),
        Row("Activity Buffer Request", 30_000, 60_000, "overhead", "-1", "0"),
        kernel("b", 90_000, 10_000),
    )

    assert sentence(trace).startswith("Compute-bound: the device is busy 100.0 %")
    assert sentence(trace).endswith("(100.00 µs), without 60.00 µs of the profiler itself")
    assert sentence(trace, with_artefacts=True).startswith(
        "Not kept busy: the device is idle 60.0 % of the time, 100.0 % of that for reasons that"
    )


def test_communication_and_copies_have_their_own_words():
    comm = trace_of(kernel("ncclDevKernel_AllReduce", 0, 75), kernel("gemm", 75, 25))
    copy = trace_of(Row("Memcpy HtoD", 0, 75, "gpu_memcpy", "0", "7"), kernel("gemm", 75, 25))

    assert sentence(comm).startswith(
        "Communication-bound: the device is busy 100.0 % of the time, 75.0 % of that"
    )
    assert sentence(copy).startswith("Copy-bound: the device is busy 100.0 % of the time, 75.0 %")


def test_exposed_communication_belongs_into_the_sentence_whatever_the_verdict():
    # 60 us of work and of 40 us communication nobody hides 30: the same stream, then another's.
    busy = trace_of(
        kernel("gemm", 0, 60), kernel("ncclDevKernel", 50, 40, stream=9), kernel("gemm", 90, 10)
    )
    little = trace_of(kernel("gemm", 0, 96), kernel("ncclDevKernel", 96, 4))

    assert sentence(busy).startswith(
        "Compute-bound: the device is busy 100.0 % of the time and never waits for the host;"
        " 30.0 % of the time goes to communication with no kernel beside it, from its first"
    )
    assert "communication" not in sentence(little)


def test_a_device_that_waits_may_be_bound_by_communication():
    rows = [launch(0, 20, 1), kernel("gemm", 20, 10, 1), kernel("ncclDevKernel", 30, 50)]
    waiting = trace_of(*rows, launch(80, 20, 2), kernel("gemm", 100, 20, 2))
    longer = trace_of(*rows, launch(80, 70, 2), kernel("gemm", 150, 20, 2))

    # Of 100 us from 20 to 120: 80 busy, 50 of them communicating alone, 20 waiting for the call.
    assert sentence(waiting).startswith("Communication-bound: the device is busy 80.0 % of the")
    # Of 150 us: 80 busy, 70 waiting; communication is less than that, and is named all the same.
    assert sentence(longer).startswith(
        "Overhead-bound: the device is idle 46.7 % of the time, 100.0 % of that waiting for the"
        " host to launch; 33.3 % of the time goes to communication with no kernel beside it"
    )
    middle = trace_of(*rows, launch(80, 40, 2), kernel("gemm", 120, 20, 2))
    # Of 120 us: 80 busy, 40 waiting, and 50 communicating alone.
    assert sentence(middle).startswith(
        "Communication-bound: the device is busy 66.7 % of the time, 62.5 % of that communicating"
        " with no kernel beside it; it is idle 33.3 %, 100.0 % of that for the host, from its"
    )


def test_of_several_devices_the_busiest_speaks():
    trace = trace_of(kernel("a", 0, 10), kernel("b", 0, 100, device=1))

    assert sentence(trace).startswith("Compute-bound: GPU 1 is busy 100.0 %")
    assert sentence(trace).endswith("; 2 devices in this file")


@pytest.mark.parametrize(
    ("kind", "title"), [("cuda", "GPU 0"), ("hip", "GPU 0"), ("npu", "NPU 0"), ("mtia", "MTIA 0")]
)
def test_a_device_is_a_gpu_unless_it_is_called_otherwise(kind, title):
    (use,) = utilization(trace_of(kernel("a", 0, 10)))

    assert device_title(replace(use, kind=kind)) == title


def test_the_evidence_says_how_far_ahead_the_host_is():
    trace = trace_of(
        launch(0, 1_000, 1), launch(1_000, 1_000, 2),
        kernel("a", 1_000, 9_000, 1), kernel("b", 10_000, 1_000, 2),
    )  # fmt: skip
    found = bound(trace)

    assert found is not None
    # Queued for nothing and for 8 us; from their calls' starts 1 and 9 us, in 10 us.
    assert evidence(found) == (
        "launched ahead 100.0 %",
        "queued 4.00 µs (median)",
        "1.0 in the queue",
    )
    bare = bound(trace_of(kernel("a", 0, 10)))
    assert bare is not None
    assert evidence(bare) == ()


def test_who_held_the_idle_time_is_a_line_that_leads_there():
    rows: list[Row | tuple[str, int, int]] = []
    for number in range(3):
        at = number * 100_000
        rows += [
            ("aten::item", at, 40_000),
            Row("loop.py(3): run", at, 95_000, "python_function"),
            launch(at + 40_000, 1_000, number + 1),
            kernel("k", at + 42_000, 50_000, number + 1),
        ]
    trace = trace_of(annotation("fwd", 92_000, 1), *rows)

    (holder,) = worth_naming(trace, 292_000)

    assert holder_text(holder) == "host wait: aten::item in loop.py(3): run 96.00 µs in 2 gaps"
    line = next(line for line in overview_lines(trace, 100) if "aten::item in" in line.text)
    assert trace.name_of(line.slice_id) == "aten::item"
    assert worth_naming(trace, 10_000_000) == ()
