"""A thread's own time as a line, against a count of every nanosecond."""

import numpy as np
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import nested_rows
from tracetui.analysis.innermost import (
    frame_tracks,
    innermost_frames,
    innermost_host,
    with_source,
)
from tracetui.model.arrays import NO_ID
from tracetui.model.tracks import TrackKind


def pieces(trace, found, track_id):
    first, after = found.track(track_id)
    return [
        (
            int(found.start_ns[row]),
            int(found.end_ns[row]),
            trace.name_of(found.slice_id[row]) if found.slice_id[row] != NO_ID else None,
        )
        for row in range(first, after)
    ]


def test_a_slice_shows_where_no_child_covers_it():
    trace = trace_of(
        annotation("fwd", 0, 100),
        ("aten::linear", 10, 50),
        ("aten::addmm", 20, 20),
        launch(25, 5, 1),
        ("aten::relu", 120, 10),
        Row("other thread", 0, 10, tid="2"),
        kernel("gemm", 30, 10, 1),
    )

    found = innermost_host(trace)

    assert pieces(trace, found, 0) == [
        (0, 10, "fwd"),
        (10, 20, "aten::linear"),
        (20, 25, "aten::addmm"),
        (25, 30, "cudaLaunchKernel"),
        (30, 40, "aten::addmm"),
        (40, 60, "aten::linear"),
        (60, 100, "fwd"),
        (100, 120, None),
        (120, 130, "aten::relu"),
    ]
    assert pieces(trace, found, 1) == [(0, 10, "other thread")]
    assert found.at(0, 39) == 4
    assert found.at(0, 130) == NO_ID
    assert found.at(1, 10) == NO_ID


def test_the_longest_of_a_window_is_by_time_inside_it_and_by_slice():
    trace = trace_of(("a", 0, 100), ("b", 30, 10), ("c", 200, 10))
    found = innermost_host(trace)

    def longest(start_ns, end_ns, track_id=0):
        (row,) = found.longest(np.array([track_id]), np.array([start_ns]), np.array([end_ns]))
        return trace.name_of(row) if row != NO_ID else None

    # a has 5 us before b and 5 after it, together as much as b: the earlier slice wins.
    assert longest(25, 45) == "a"
    assert longest(28, 41) == "b"
    assert longest(90, 205) is None
    assert longest(0, 50, track_id=NO_ID) is None
    assert longest(500, 600) is None
    assert longest(40, 40) is None


def test_frames_are_a_line_of_their_own_on_the_same_thread():
    trace = trace_of(
        ("aten::mm", 10, 20), Row("forward", 0, 100, "python_function"), Row("x", 0, 5, tid="2")
    )

    tracks = frame_tracks(trace)

    kinds = [track.kind for track in trace.tracks]
    frames = kinds.index(TrackKind.PYTHON)
    assert tracks[kinds.index(TrackKind.HOST)] == frames
    assert pieces(trace, innermost_frames(trace), frames) == [(0, 100, "forward")]
    assert [track for track in tracks.tolist() if track != NO_ID] == [frames, frames]


def test_a_trace_without_host_has_no_pieces():
    assert len(innermost_host(trace_of(kernel("gemm", 0, 10))).start_ns) == 0
    assert len(innermost_host(trace_of()).start_ns) == 0


@given(nested_rows(end_ns=300))
def test_every_nanosecond_has_its_innermost_slice(rows):
    trace = trace_of(*rows)
    found = innermost_host(trace)
    if not rows:
        assert len(found.start_ns) == 0
        return
    slices = trace.slices
    wanted = np.full(400, NO_ID)
    # Children come after their parents in the order of slices, so the deepest writes last.
    for row in range(len(slices)):
        wanted[int(slices.ts_ns[row]) : int(slices.end_ns[row])] = row

    got = np.full(400, NO_ID)
    for start, end, slice_id in zip(found.start_ns, found.end_ns, found.slice_id, strict=True):
        got[start:end] = slice_id

    assert got.tolist() == wanted.tolist()
    assert np.array_equal(found.start_ns[1:], found.end_ns[:-1])


def test_the_nearest_frame_above_that_says_file_and_line():
    names = ("main.py(1): run", "<built-in method run>", "nn.Module: Net_0", "net.py(4): forward")
    trace = trace_of(
        *(Row(each, 10 * at, 1_000 - 20 * at, "python_function") for at, each in enumerate(names)),
        Row("<built-in function lone>", 2_000, 10, "python_function"),
    )
    found = with_source(trace, np.array([0, 1, 2, 3, 4, NO_ID])).tolist()
    assert found == [0, 0, 0, 3, 4, NO_ID]


def test_a_trace_without_frames_has_no_sources():
    assert with_source(trace_of(), np.empty(0, np.int64)).tolist() == []
