"""What the rows of the timeline are called."""

import pytest

from tests.literal import Row, kernel, trace_of
from tracetui.model.tracks import Track, TrackKind
from tracetui.presentation.lane_titles import lane_title
from tracetui.presentation.lanes import lane_index


def titles(trace, kind, *, folded=False):
    index = lane_index(trace)
    found = []
    for track_id, track in enumerate(trace.tracks):
        own = index.lanes_of(track_id)
        if track.kind == kind:
            lanes = (index.folded[track_id],) if folded else own
            found += [lane_title(track, lane, len(own)) for lane in lanes]
    return found


def test_levels_below_the_first_are_named_by_what_fills_them():
    trace = trace_of(("aten::linear", 0, 100), ("aten::mm", 10, 20))

    assert titles(trace, TrackKind.HOST) == ["▾thread 1", "  operator"]
    assert titles(trace, TrackKind.HOST, folded=True) == ["▸thread 1"]


def test_tracks_of_other_kinds_say_so():
    trace = trace_of(
        Row("forward", 0, 10, "python_function"),
        Row("Stream Sync", 0, 10, "cuda_sync", "0", "7"),
        Row("Buffer Flush", 0, 10, "overhead", "-1", "0"),
        kernel("gemm", 0, 10),
    )

    assert titles(trace, TrackKind.PYTHON) == [" py thread 1"]
    assert titles(trace, TrackKind.SYNC)[0].startswith(" sync GPU 0")
    assert titles(trace, TrackKind.OVERHEAD)[0].startswith(" overhead ")
    assert titles(trace, TrackKind.DEVICE) == [" GPU 0 stream 7"]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (30, " thread 252863 (python3)"),
        (24, " thread 252863 (python3)"),
        (23, " thread 252863"),
        (13, " 252863"),
        (5, " 2…63"),
    ],
)
def test_where_room_is_short_the_number_of_the_thread_stays(width, expected):
    track = Track(TrackKind.HOST, "1", "252863", "python3", "thread 252863 (python3)")
    lane = lane_index(trace_of(("aten::mm", 0, 10))).lanes[0]
    assert lane_title(track, lane, 1, width) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (TrackKind.PYTHON, " py 252863"),
        (TrackKind.DEVICE_ANNOTATION, " steps GPU 0 s7"),
        (TrackKind.SYNC, " sync GPU 0 s40"),
        (TrackKind.PROFILER, " profiler"),
    ],
)
def test_kinds_keep_their_word_where_room_is_short(kind, expected):
    device = 0 if kind in (TrackKind.DEVICE_ANNOTATION, TrackKind.SYNC) else -1
    name = "thread 252863 (python3)" if kind == TrackKind.PYTHON else "PyTorch Profiler"
    stream = 40 if kind == TrackKind.SYNC else 7
    track = Track(kind, "1", "252863", "python3", name, device, stream)
    lane = lane_index(trace_of(("aten::mm", 0, 10))).lanes[0]
    assert lane_title(track, lane, 1, 15) == expected


def test_a_name_without_its_number_is_shortened_around_its_middle():
    track = Track(TrackKind.HOST, "1", "77", "python3", "pt_autograd_worker")
    lane = lane_index(trace_of(("aten::mm", 0, 10))).lanes[0]
    assert lane_title(track, lane, 1, 15) == " pt_aut…er (77)"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (40, " thread 0 (python) (2662278912)"),
        (22, " thread 0 (2662278912)"),
        (15, " thread 0"),
    ],
)
def test_a_thread_of_two_numbers_keeps_the_short_one(width, expected):
    track = Track(TrackKind.HOST, "1", "2662278912", "python3", "thread 0 (python)")
    lane = lane_index(trace_of(("aten::mm", 0, 10))).lanes[0]
    assert lane_title(track, lane, 1, width) == expected


def test_a_shadow_of_a_stream_gives_up_its_device_last():
    track = Track(TrackKind.DEVICE_ANNOTATION, "0", "40", "python3", "", 0, 40)
    lane = lane_index(trace_of(("aten::mm", 0, 10))).lanes[0]
    assert lane_title(track, lane, 1, 15) == " steps 0 s40"
