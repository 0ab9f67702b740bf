import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.model.builder import AsyncMark, BeginEnd, EventKey, TraceBuilder
from tracetui.model.slices import SliceFlag, SliceKind
from tracetui.model.trace import Origin
from tracetui.model.tracks import TrackKind


def _built(builder):
    return builder.build(Origin("f", 0, "f", "f"))


def test_the_profilers_own_span_does_not_move_the_origin():
    trace = trace_of(Row("PyTorch Profiler (0)", 0, 99_000, "Trace", "Spans", "x"), ("a", 500, 10))

    assert trace.origin_ns == 500
    assert trace.end_ns == 10


def test_device_work_lies_flat_on_its_stream_and_annotations_beside_it():
    trace = trace_of(
        Row("fwd", 99, 50, "gpu_user_annotation", "0", "7"),
        kernel("k", 100, 10),
        kernel("l", 102, 3),
    )

    kinds = [track.kind for track in trace.tracks]
    assert kinds == [TrackKind.DEVICE, TrackKind.DEVICE_ANNOTATION]
    assert trace.slices.parent_id.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("cpu_op", SliceKind.OPERATOR),
        ("Operator", SliceKind.OPERATOR),
        ("cuda_driver", SliceKind.RUNTIME),
        ("privateuse1_runtime", SliceKind.RUNTIME),
        ("Memcpy", SliceKind.MEMCPY),
        ("gpu_user_annotation", SliceKind.DEVICE_ANNOTATION),
        ("", SliceKind.OTHER),
    ],
)
def test_the_category_decides_the_kind(category, kind):
    assert trace_of(Row("x", 0, 1, category)).slices.kind.tolist() == [kind]


def test_a_kernel_that_swallows_the_next_one_is_flagged():
    trace = trace_of(kernel("fmha", 0, 3_400_000_000), kernel("gemm", 10_000, 10_000))

    assert trace.slices.flags.tolist() == [SliceFlag.IMPOSSIBLE, 0]
    assert sum(trace.report.flagged.values()) == 1


def test_begins_and_ends_pair_up_and_the_unfinished_runs_to_the_end():
    builder = TraceBuilder()
    outer, inner, nameless, stray = (
        builder.key(EventKey("", name, "1", tid))
        for name, tid in (("outer", "1"), ("inner", "1"), ("", "1"), ("stray", "2"))
    )
    builder.begin_ends += [
        BeginEnd(True, outer, 10, 0),
        BeginEnd(True, inner, 20, 1),
        BeginEnd(False, nameless, 30, 2),
        BeginEnd(False, stray, 5, 3),
        BeginEnd(True, inner, 40, 4),
        BeginEnd(False, stray, 60, 5),
    ]
    trace = _built(builder)

    spans = {
        (trace.name_of(i), int(t), int(d))
        for i, (t, d) in enumerate(zip(trace.slices.ts_ns, trace.slices.dur_ns, strict=True))
    }
    assert spans == {("outer", 0, 50), ("inner", 10, 10), ("inner", 30, 20)}
    assert trace.report.skipped["end without a begin"] == 2
    assert trace.report.flagged["begin without an end"] == 2


def test_asynchronous_marks_pair_by_name_within_an_id_though_they_cross():
    builder = TraceBuilder()
    a, b = (builder.key(EventKey("c", name, "1", "1", is_async=True)) for name in "ab")
    builder.async_marks += [
        AsyncMark(True, a, "7", 0, 0),
        AsyncMark(True, b, "7", 1, 1),
        AsyncMark(False, a, "7", 3, 2),
        AsyncMark(False, b, "7", 4, 3),
    ]
    trace = _built(builder)

    assert trace.slices.dur_ns.tolist() == [3, 3]
    assert not trace.report.has_warnings


def test_building_again_does_not_change_the_trace_that_was_built():
    builder = TraceBuilder()
    key = builder.key(EventKey("", "x", "1", "1"))
    builder.begin_ends.append(BeginEnd(True, key, 0, 0))
    first = _built(builder)
    builder.begin_ends.append(BeginEnd(False, key, 9, 1))

    assert _built(builder).report.flagged == {}
    assert first.report.flagged == {"begin without an end": 1}


def test_columns_are_read_only():
    trace = trace_of(annotation("a", 0, 10), launch(1, 2, 5), kernel("k", 4, 5, 5))

    with pytest.raises(ValueError, match="read-only"):
        trace.slices.ts_ns[0] = 3


def test_device_work_that_starts_before_its_launch_is_flagged():
    trace = trace_of(
        launch(1_000, 100, 7),
        kernel("early", 900, 50, 7),
        launch(2_000, 100, 8),
        kernel("on time", 2_000, 50, 8),
        launch(3_000, 100, 9),
        launch(9_000, 100, 9, tid="2"),
        kernel("of one of two processes", 3_500, 50, 9),
    )

    flagged = {
        trace.name_of(row)
        for row in range(len(trace.slices))
        if trace.slices.flags[row] & SliceFlag.BEFORE_LAUNCH
    }
    assert flagged == {"early"}
    assert list(trace.report.flagged.values()) == [1]
    assert "clock skew" in next(iter(trace.report.flagged))
