"""What waited for what, on graphs small enough to draw."""

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.waits import device_waits, handovers, host_waits
from tracetui.model.arrays import NO_ID
from tracetui.model.tracks import TrackKind


def sync(ts_ns, dur_ns, tid="1"):
    return Row("cudaStreamSynchronize", ts_ns, dur_ns, "cuda_runtime", tid=tid)


def waited_for(trace):
    found = device_waits(trace)
    return {
        trace.name_of(int(found.slice_id[row])): (
            trace.name_of(int(found.slice_id[before])) if before != NO_ID else None
        )
        for row, before in enumerate(found.before.tolist())
    }


def test_work_waits_for_its_stream_if_that_was_busy_when_its_call_began():
    trace = trace_of(
        launch(0, 10, 1), launch(100, 10, 2), launch(400, 10, 3),
        kernel("first", 50, 150, 1), kernel("queued", 210, 90, 2), kernel("late", 405, 10, 3),
    )  # fmt: skip

    assert waited_for(trace) == {"first": None, "queued": "first", "late": None}


def test_work_of_an_unknown_call_waits_for_its_stream():
    assert waited_for(trace_of(kernel("a", 0, 10), kernel("b", 500, 10))) == {"a": None, "b": "a"}


def test_work_that_starts_when_another_streams_ends_waited_for_that():
    trace = trace_of(
        launch(0, 10, 1), launch(20, 10, 2), launch(40, 10, 3),
        kernel("gemm", 50, 50_000, 1), kernel("reduce", 50_060, 100, 2, stream=9),
        kernel("much later", 90_000, 100, 3, stream=11),
    )  # fmt: skip

    # The last starts 39.8 us after anything ended: nobody knows what it waited for.
    assert waited_for(trace) == {"gemm": None, "reduce": "gemm", "much later": None}


def test_streams_of_other_devices_explain_nothing():
    trace = trace_of(
        launch(0, 10, 1), launch(20, 10, 2),
        kernel("gemm", 50, 500, 1), kernel("elsewhere", 560, 100, 2, device=1),
    )  # fmt: skip

    assert waited_for(trace)["elsewhere"] is None


def test_a_synchronise_call_waits_for_what_ends_last_before_it_returns():
    trace = trace_of(
        launch(0, 10, 1), sync(20, 500), sync(600, 10),
        kernel("a", 30, 100, 1), kernel("b", 150, 300), kernel("c", 500, 900),
    )  # fmt: skip

    (found,) = host_waits(trace).values()

    device = device_waits(trace)
    assert found.end_ns.tolist() == [520]
    assert trace.name_of(int(device.slice_id[found.row[0]])) == "b"


def test_a_copy_that_returns_after_its_own_work_has_waited_for_it():
    trace = trace_of(
        launch(0, 500, 1, name="cudaMemcpyAsync"), launch(600, 20, 2),
        Row("Memcpy DtoH (Device -> Pageable)", 100, 300, "gpu_memcpy", "0", "7", 1),
        kernel("k", 610, 50, 2),
    )  # fmt: skip

    (found,) = host_waits(trace).values()

    assert found.end_ns.tolist() == [500]
    assert trace.name_of(int(found.call_id[0])) == "cudaMemcpyAsync"


def test_a_thread_takes_over_from_the_one_that_worked_while_it_did_nothing():
    trace = trace_of(
        ("aten::forward", 0, 100_000),
        annotation("step", 0, 500_000),
        Row("aten::backward", 101_000, 200_000, tid="2"),
        ("aten::optimizer", 305_000, 10_000),
        Row("aten::next_backward", 320_000, 10_000, tid="2"),
    )
    tracks = {
        track.tid: track_id
        for track_id, track in enumerate(trace.tracks)
        if track.kind == TrackKind.HOST
    }

    found = handovers(trace)

    main, other = found[tracks["1"]], found[tracks["2"]]
    assert (main.at_ns.tolist(), main.from_track.tolist()) == ([301_000], [tracks["2"]])
    # Before its first slice nothing of it ran; its gap of 19 us is too short to mean anything.
    assert (other.at_ns.tolist(), other.from_track.tolist()) == ([100_000], [tracks["1"]])


def test_one_thread_takes_over_from_nobody():
    assert handovers(trace_of(("a", 0, 10), ("b", 90_000, 10))) == {}
    assert handovers(trace_of()) == {}
    assert host_waits(trace_of()) == {}
    assert len(device_waits(trace_of())) == 0
