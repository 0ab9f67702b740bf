"""What the rows of the timeline are called."""

from tests.literal import Row, kernel, trace_of
from tracetui.model.tracks import TrackKind
from tracetui.presentation.lane_titles import lane_title
from tracetui.presentation.timeline import lane_index


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
